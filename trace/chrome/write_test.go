package chrome_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"swimlane/internal/trace/check"
	"swimlane/trace"
	"swimlane/trace/chrome"
)

// events is a section of events that are ready made.
type events []func(trace.Sink)

func (e events) Len() int { return len(e) }

func (e events) Walk(from, to int, sink trace.Sink) {
	for _, f := range e[from:to] {
		f(sink)
	}
}

func slice(s trace.Slice) func(trace.Sink)     { return func(k trace.Sink) { k.Slice(&s) } }
func flow(f trace.Flow) func(trace.Sink)       { return func(k trace.Sink) { k.Flow(&f) } }
func counter(c trace.Counter) func(trace.Sink) { return func(k trace.Sink) { k.Counter(&c) } }

// picture is a picture of one process with two lanes.
func picture(sections ...trace.Section) *trace.Picture {
	return &trace.Picture{
		Processes: []trace.Process{{PID: 4, Name: "Worker View", Sort: 4}},
		Lanes:     []trace.Lane{{Process: 0, TID: 10000, Name: "AIC_0", Sort: 10000}, {Process: 0, TID: 10010, Name: `AIV "1"`, Sort: 10010}},
		Sections:  sections,
	}
}

func write(t *testing.T, p *trace.Picture, opt chrome.Options) (string, chrome.Counts) {
	t.Helper()
	var b bytes.Buffer
	counts, err := chrome.Write(context.Background(), &b, p, opt)
	if err != nil {
		t.Fatal(err)
	}
	if counts.Bytes != int64(b.Len()) {
		t.Errorf("%d bytes counted, %d written", counts.Bytes, b.Len())
	}
	return b.String(), counts
}

// TestText is the whole text of a small trace: the field order of
// spec/converter.md §1, one event a line, times with three decimals.
func TestText(t *testing.T) {
	minus := int64(-1)
	p := picture(events{
		slice(trace.Slice{Lane: 0, Start: 1800, End: 4000, ID: 0, Name: []byte("QK(t0)"), Category: "event", Args: []trace.Arg{
			{Key: "event-hint", Kind: trace.Text, Text: []byte("Task:t0")}, {Key: "duration-us", Kind: trace.Micros, Num: 2200}, {Key: "taskId", Num: 1<<64 - 1}}}),
		slice(trace.Slice{Lane: 1, Start: 0, End: 0, ID: trace.NoID, Name: []byte("complete(1)"), Category: "scheduler", Color: "good", Args: []trace.Arg{
			{Key: "loop_iter", Kind: trace.Int, Num: uint64(minus)}, {Key: "pass", Kind: trace.Bool}, {Key: "again", Kind: trace.Bool, Num: 1},
			{Key: "depths", Kind: trace.Triple, Three: [3]int32{1, -2, 3}}, {Key: "task_id", Kind: trace.Null}}}),
		slice(trace.Slice{Lane: 1, Start: 5, End: 1005, ID: trace.NoID, Name: []byte("upload"), Category: "host_h2d", Color: "thread_state_iowait", NameFirst: true,
			Args: []trace.Arg{{Key: "bytes", Kind: trace.Int, Num: 4096}}}),
	}, events{
		flow(trace.Flow{ID: 7, Name: "dependency", From: trace.Point{Lane: 0, Time: 1800, Bind: 0}, To: trace.Point{Lane: 1, Time: 6000, Bind: 2}, Counted: true, InputTasks: 2, OutputTasks: 1}),
		flow(trace.Flow{ID: 8, Name: "submit→dispatch", From: trace.Point{Lane: 0, Time: 1, Bind: trace.NoID}, To: trace.Point{Lane: 1, Time: 6000, Bind: trace.NoID}}),
		counter(trace.Counter{Process: 0, TID: 3999, Time: 1040, Name: "shared_ready_queue", Category: "queue", Values: []trace.Arg{{Key: "AIC", Kind: trace.Int, Num: 1}, {Key: "AIV", Kind: trace.Int}}}),
	})
	p.Metadata = []trace.Field{{Key: "layout", JSON: []byte(`"x"`)}, {Key: "n", JSON: []byte(`1.500`)}}
	const want = `{"traceEvents":[
{"args":{"name":"Worker View"},"cat":"__metadata","name":"process_name","ph":"M","pid":4},
{"args":{"sort_index":4},"cat":"__metadata","name":"process_sort_index","ph":"M","pid":4},
{"args":{"name":"AIC_0"},"cat":"__metadata","name":"thread_name","ph":"M","pid":4,"tid":10000},
{"args":{"sort_index":10000},"cat":"__metadata","name":"thread_sort_index","ph":"M","pid":4,"tid":10000},
{"args":{"name":"AIV \"1\""},"cat":"__metadata","name":"thread_name","ph":"M","pid":4,"tid":10010},
{"args":{"sort_index":10010},"cat":"__metadata","name":"thread_sort_index","ph":"M","pid":4,"tid":10010},
{"args":{"event-hint":"Task:t0","duration-us":2.200,"taskId":18446744073709551615},"cat":"event","id":0,"name":"QK(t0)","ph":"X","pid":4,"tid":10000,"ts":1.800,"dur":2.200},
{"args":{"loop_iter":-1,"pass":false,"again":true,"depths":[1,-2,3],"task_id":null},"cat":"scheduler","cname":"good","name":"complete(1)","ph":"X","pid":4,"tid":10010,"ts":0.000,"dur":0.000},
{"name":"upload","cat":"host_h2d","ph":"X","pid":4,"tid":10010,"ts":0.005,"dur":1.000,"cname":"thread_state_iowait","args":{"bytes":4096}},
{"cat":"flow","id":7,"name":"dependency","ph":"s","pid":4,"tid":10000,"ts":1.800,"input_task_count":2,"output_task_count":1,"bind_id":0},
{"cat":"flow","id":7,"name":"dependency","ph":"f","pid":4,"tid":10010,"ts":6.000,"bp":"e","input_task_count":2,"output_task_count":1,"bind_id":2},
{"cat":"flow","id":8,"name":"submit→dispatch","ph":"s","pid":4,"tid":10000,"ts":0.001},
{"cat":"flow","id":8,"name":"submit→dispatch","ph":"f","pid":4,"tid":10010,"ts":6.000,"bp":"e"},
{"args":{"AIC":1,"AIV":0},"cat":"queue","name":"shared_ready_queue","ph":"C","pid":4,"tid":3999,"ts":1.040}
],
"metadata":{
"layout":"x",
"n":1.500
}}
`
	text, counts := write(t, p, chrome.Options{Workers: 1})
	if text != want {
		t.Errorf("wrote\n%s\nwant\n%s", text, want)
	}
	if counts.Slices != 3 || counts.Flows != 2 || counts.Counters != 1 || counts.Events() != 8 {
		t.Errorf("counts %+v", counts)
	}
}

// TestEmpty: a picture without events is a document too; one of an undescribed process has no name.
func TestEmpty(t *testing.T) {
	p := picture(events{}, events{})
	p.Processes = append(p.Processes, trace.Process{PID: 2})
	text, counts := write(t, p, chrome.Options{})
	if counts.Events() != 0 || !json.Valid([]byte(text)) || strings.Contains(text, `"pid":2`) {
		t.Errorf("counts %+v, wrote %s", counts, text)
	}
	report, err := check.JSON(strings.NewReader(text))
	if err != nil || !report.Clean() {
		t.Errorf("a viewer would object: %v, %+v", err, report)
	}
}

// TestMicros: µs with three decimals, exact at every size (field reports 6 and 7).
func TestMicros(t *testing.T) {
	for ns, want := range map[int64]string{
		0: "0.000", 1: "0.001", 10: "0.010", 250: "0.250", 999: "0.999", 1000: "1.000", 1001: "1.001", 999_999: "999.999", 1_000_000: "1000.000",
		-1: "-0.001", -1500: "-1.500", 1692108548132154500: "1692108548132154.500",
		math.MaxInt64: "9223372036854775.807", math.MinInt64: "-9223372036854775.808",
	} {
		if got := string(chrome.AppendMicros(nil, ns)); got != want {
			t.Errorf("%d ns: %s, want %s", ns, got, want)
		}
	}
	rnd := rand.New(rand.NewPCG(1, 9))
	for range 20_000 {
		ns := int64(rnd.Uint64() >> (1 + rnd.IntN(63)))
		want := new(big.Rat).SetFrac64(ns, 1000).FloatString(3)
		if got := string(chrome.AppendMicros([]byte("x"), ns)); got != "x"+want {
			t.Fatalf("%d ns: %s, want %s behind what was there", ns, got, want)
		}
	}
}

// TestStrings: whatever a name holds, the file is JSON and says the same.
func TestStrings(t *testing.T) {
	for _, name := range []string{
		"plain", "", `quote " backslash \ slash /`, "\x00\x01\x1f\x7f", "line\nfeed\ttab\r", "中文", "👩‍👩‍👧‍👦", "<b>&amp;</b>", "\u2028\u2029", "e\u0301", strings.Repeat("long ", 5000),
	} {
		p := picture(events{slice(trace.Slice{ID: trace.NoID, End: 1, Name: []byte(name), Category: "event", Args: []trace.Arg{{Key: "text", Kind: trace.Text, Text: []byte(name)}}})})
		p.Lanes[0].Name, p.Processes[0].Name = name, name+"."
		text, _ := write(t, p, chrome.Options{})
		var doc struct {
			TraceEvents []struct {
				Name, Ph string
				Args     map[string]any
			}
		}
		if err := json.Unmarshal([]byte(text), &doc); err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		last := doc.TraceEvents[len(doc.TraceEvents)-1]
		if last.Name != name || last.Args["text"] != name {
			t.Errorf("%q reads back as %q and %q", name, last.Name, last.Args["text"])
		}
		if doc.TraceEvents[0].Args["name"] != name+"." || doc.TraceEvents[2].Args["name"] != name {
			t.Errorf("%q reads back as %q in the name of a lane", name, doc.TraceEvents[2].Args["name"])
		}
	}
}

// many is a section of n bars, one behind the other, that can be walked in ranges.
type many struct {
	n     int
	lane  int32
	walks *atomic.Int64
}

func (m many) Len() int { return m.n }

func (m many) Walk(from, to int, sink trace.Sink) {
	m.walks.Add(1)
	for i := from; i < to; i++ {
		sink.Slice(&trace.Slice{Lane: m.lane, Start: int64(i) * 10, End: int64(i)*10 + 7, ID: int64(i), Name: fmt.Appendf(nil, "bar %d", i), Category: "event"})
	}
}

// TestOrder: ranges that are formatted side by side are written in order.
func TestOrder(t *testing.T) {
	var walks atomic.Int64
	sections := []trace.Section{many{1, 0, &walks}, many{30_011, 0, &walks}, events{}, many{2048, 1, &walks}, many{2049, 1, &walks}}
	var want string
	for _, workers := range []int{1, 2, 7, 64, 0} {
		var last atomic.Int64
		calls := 0
		text, counts := write(t, picture(sections...), chrome.Options{Workers: workers, Progress: func(done, all int64) {
			calls++
			if all != 34_109 || done <= last.Load() || done > all {
				t.Errorf("progress %d of %d after %d", done, all, last.Load())
			}
			last.Store(done)
		}})
		if counts.Slices != 34_109 || last.Load() != 34_109 {
			t.Errorf("%d workers: counts %+v, progress %d", workers, counts, last.Load())
		}
		if want == "" {
			want = text
		}
		if text != want {
			t.Errorf("%d workers write another text", workers)
		}
	}
	at := 0
	for i := range 30_011 {
		next := strings.Index(want[at:], fmt.Sprintf(`"name":"bar %d"`, i))
		if next < 0 {
			t.Fatalf("bar %d is missing or too early", i)
		}
		at += next
	}
	if walks.Load() < 5*15 {
		t.Errorf("%d ranges only: nothing to do side by side", walks.Load())
	}
}

// full takes a number of bytes, then fails.
type full struct{ room int }

var errFull = errors.New("disk full")

func (f *full) Write(b []byte) (int, error) {
	if len(b) > f.room {
		n := f.room
		f.room = 0
		return n, errFull
	}
	f.room -= len(b)
	return len(b), nil
}

// TestWriteError: the first error ends the writing, whenever it comes.
func TestWriteError(t *testing.T) {
	var walks atomic.Int64
	text, _ := write(t, picture(many{20_000, 0, &walks}), chrome.Options{})
	for _, room := range []int{0, 10, 700, 100_000, len(text) - 1} {
		for _, workers := range []int{1, 3} {
			counts, err := chrome.Write(context.Background(), &full{room}, picture(many{20_000, 0, &walks}), chrome.Options{Workers: workers})
			if !errors.Is(err, errFull) {
				t.Errorf("room for %d bytes: error %v", room, err)
			}
			if counts.Bytes > int64(room) {
				t.Errorf("room for %d bytes: %d counted", room, counts.Bytes)
			}
		}
	}
	if _, err := chrome.Write(context.Background(), &full{len(text)}, picture(many{20_000, 0, &walks}), chrome.Options{}); err != nil {
		t.Errorf("exactly enough room: %v", err)
	}
}

// slow gives up when somebody cancels.
type slow struct {
	many
	cancel context.CancelFunc
}

func (s slow) Walk(from, to int, sink trace.Sink) {
	if from > 4000 {
		s.cancel()
	}
	s.many.Walk(from, to, sink)
}

// TestCancel: no more is written once the context is done.
func TestCancel(t *testing.T) {
	var walks atomic.Int64
	for _, workers := range []int{1, 4} {
		ctx, cancel := context.WithCancel(context.Background())
		begin := time.Now()
		counts, err := chrome.Write(ctx, io.Discard, picture(slow{many{5_000_000, 0, &walks}, cancel}), chrome.Options{Workers: workers})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		if d := time.Since(begin); d > 10*time.Second {
			t.Errorf("stopped after %v", d)
		}
		if counts.Slices > 1_000_000 {
			t.Errorf("%d slices after the end", counts.Slices)
		}
		cancel()
		if _, err := chrome.Write(ctx, io.Discard, picture(many{1, 0, &walks}), chrome.Options{}); !errors.Is(err, context.Canceled) {
			t.Errorf("a context that was done before: error %v", err)
		}
	}
}
