package mark_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"swimlane/internal/parity"
	"swimlane/internal/trace/mark"
)

var label = mark.Options{Label: func(dst []byte, task uint64) []byte { return fmt.Appendf(dst, "t%d", task) }}

func on(ids ...uint64) func(uint64) bool {
	return func(task uint64) bool {
		for _, id := range ids {
			if id == task {
				return true
			}
		}
		return false
	}
}

// example is the trace of spec/sched-overhead.md §10.6.
const example = `{"traceEvents": [
 {"name": "kernel_a(t1)", "ph": "X", "pid": 4, "tid": 1, "ts": 0, "dur": 10, "args": {"taskId": 1}},
 {"name": "kernel_b(t2)", "ph": "X", "pid": 4, "tid": 2, "ts": 0, "dur": 19, "args": {"taskId": 2}},
 {"name": "kernel_c(t3)", "ph": "X", "pid": 4, "tid": 2, "ts": 20, "dur": 10, "args": {"taskId": 3}},
 {"name": "kernel_a(t1)", "ph": "X", "pid": 3, "tid": 1, "ts": 0, "dur": 10, "args": {"taskId": 1}},
 {"name": "dummy(t99)", "ph": "X", "pid": 4, "tid": 9, "ts": 0, "dur": 1, "args": {"task_id": 99}},
 {"name": "dependency", "ph": "s", "pid": 4, "tid": 1, "ts": 0, "id": 100}, {"name": "dependency", "ph": "f", "pid": 4, "tid": 2, "ts": 20, "id": 101},
 {"name": "taskless", "ph": "i", "pid": 4, "id": 102, "args": {"taskId": 2}}], "metadata": {"unit": "µs"}}`

type event struct {
	Name string
	ID   *int
}

// parsed are the names of the events of a trace, and its ids.
func parsed(t *testing.T, text string) (names []string, ids []int) {
	t.Helper()
	var doc struct{ TraceEvents []event }
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	for _, e := range doc.TraceEvents {
		names = append(names, e.Name)
		if e.ID != nil {
			ids = append(ids, *e.ID)
		}
	}
	return names, ids
}

func TestExample(t *testing.T) {
	var static, observed bytes.Buffer
	seen, err := mark.Trace(context.Background(), strings.NewReader(example), []mark.Copy{{&static, on(1, 3)}, {&observed, on(2, 3)}}, label)
	if err != nil {
		t.Fatal(err)
	}
	rest := " kernel_a(t1) dummy(t99) dependency dependency taskless [100 101 102]"
	for _, c := range []struct {
		out  *bytes.Buffer
		want string
	}{{&static, "kernel_a(t1) ·(t2) kernel_c(t3)"}, {&observed, "·(t1) kernel_b(t2) kernel_c(t3)"}} {
		names, ids := parsed(t, c.out.String())
		if got := fmt.Sprint(strings.Join(names, " "), " ", ids); got != c.want+rest {
			t.Errorf("names\n got %s\nwant %s", got, c.want+rest)
		}
	}
	if got := mark.Missing([]uint64{1, 2, 3}, seen); got != "" {
		t.Errorf("missing: %s", got)
	}
	cut := strings.Replace(example, `"pid": 4, "tid": 2, "ts": 0`, `"pid": 5, "tid": 2, "ts": 0`, 1)
	seen, err = mark.Trace(context.Background(), strings.NewReader(cut), []mark.Copy{{io.Discard, on(1, 3)}, {io.Discard, on(2, 3)}}, label)
	if got := mark.Missing([]uint64{1, 2, 3}, seen); err != nil || got != "missing 1 critical task(s): 2" {
		t.Errorf("missing %q, %v", got, err)
	}
	if got := mark.Missing([]uint64{4, 5, 6, 7, 8, 9, 10}, seen); got != "missing 7 critical task(s): 4, 5, 6, 7, 8" {
		t.Errorf("missing %q", got)
	}
}

// TestForm: the form is that of json.dump(trace, indent=2, ensure_ascii=False) in Python
// with a line feed behind it, but for numbers, which keep their text.
func TestForm(t *testing.T) {
	in := `{"a":[],"traceEvents":[{},{"name":"K\u00e4fer \"\u6f22\"","ph":"X","pid":4.0,"args":{"x":[1,[2.50,-0,1e3]],"taskId":"18446744073709551615","e":{}}},
		7,{"args":{"taskId":5},"pid":4,"name":"\ud83d\ude00\t","ph":"X"}],"b":{"c":null,"d":[true,false]}}`
	want := `{
  "a": [],
  "traceEvents": [
    {},
    {
      "name": "Käfer \"漢\"",
      "ph": "X",
      "pid": 4.0,
      "args": {
        "x": [
          1,
          [
            2.50,
            -0,
            1e3
          ]
        ],
        "taskId": "18446744073709551615",
        "e": {}
      }
    },
    7,
    {
      "args": {
        "taskId": 5
      },
      "pid": 4,
      "name": "·(t5)",
      "ph": "X"
    }
  ],
  "b": {
    "c": null,
    "d": [
      true,
      false
    ]
  }
}
`
	var out bytes.Buffer
	seen, err := mark.Trace(context.Background(), strings.NewReader(in), []mark.Copy{{&out, on(1<<64 - 1)}}, label)
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	if !seen[1<<64-1] || len(seen) != 1 {
		t.Errorf("seen %v", seen)
	}
	var again bytes.Buffer
	if _, err := mark.Trace(context.Background(), strings.NewReader(want), []mark.Copy{{&again, on(1<<64-1, 5)}}, label); err != nil || again.String() != want {
		t.Errorf("a copy of a copy differs: %v\n%s", err, again.String())
	}
}

// TestEpoch: bars of other runs than the one that was analysed are on no path.
func TestEpoch(t *testing.T) {
	in := `{"traceEvents":[
{"name":"A(t1)","ph":"X","pid":4,"args":{"taskId":1,"run_epoch":7}},{"name":"B(t1)","ph":"X","pid":4,"args":{"taskId":1,"run_epoch":8}},
{"name":"C(t2)","ph":"X","pid":4,"args":{"taskId":2,"run_epoch":8}}]}`
	epoch := uint64(7)
	opt := label
	opt.Epoch = &epoch
	var out bytes.Buffer
	seen, err := mark.Trace(context.Background(), strings.NewReader(in), []mark.Copy{{&out, on(1, 2)}}, opt)
	if err != nil {
		t.Fatal(err)
	}
	names, _ := parsed(t, out.String())
	if got := strings.Join(names, " "); got != "A(t1) ·(t1) ·(t2)" {
		t.Errorf("names %s", got)
	}
	if got := mark.Missing([]uint64{1, 2}, seen); got != "missing 1 critical task(s): 2" {
		t.Error(got)
	}
}

func TestRefused(t *testing.T) {
	for in, want := range map[string]string{
		`[]`:                       `found an array, expected an object with "traceEvents"`,
		`{"events":[]}`:            `found no "traceEvents"`,
		`{"traceEvents":{}}`:       `found an object, expected the list of events`,
		`{"traceEvents":[{}`:       `the file is incomplete`,
		`{"traceEvents":[{},]}`:    `expected a value behind the comma`,
		`{"traceEvents":[]} x`:     `behind the JSON value`,
		``:                         `found the end of the file`,
		`{"traceEvents":[{"a":1 2`: `expected ',' or '}'`,
		`{"traceEvents":[{"name":["` + strings.Repeat(`a","`, 6<<20) + `"]}]}`: `found an event longer than 16 MiB`,
		strings.Repeat(`{"traceEvents":[`, 1) + strings.Repeat("[", 100):       `nesting deeper than`,
	} {
		var out bytes.Buffer
		_, err := mark.Trace(context.Background(), strings.NewReader(in), []mark.Copy{{&out, on()}}, label)
		if err == nil || !strings.Contains(err.Error(), want) || mark.IsWrite(err) {
			t.Errorf("%.40s: error %v, want one with %q", in, err, want)
		}
	}
}

type full struct{ room int }

func (f *full) Write(b []byte) (int, error) {
	if f.room -= len(b); f.room < 0 {
		return 0, errors.New("no space left")
	}
	return len(b), nil
}

// TestFull: a copy that cannot be written is no mistake of the trace.
func TestFull(t *testing.T) {
	for _, room := range []int{0, 300 << 10} {
		in := &generated{events: 5000}
		_, err := mark.Trace(context.Background(), in, []mark.Copy{{io.Discard, on()}, {&full{room}, on()}}, label)
		if !mark.IsWrite(err) || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("room for %d: error %v", room, err)
		}
	}
}

func TestInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := mark.Trace(ctx, &generated{events: 1 << 30}, []mark.Copy{{io.Discard, on()}}, label); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// generated is a trace of any number of events.
type generated struct {
	events, n int
	left      []byte
	most      uint64 // memory in use at most, looked at now and then
	bytes     int64
}

func (g *generated) Read(b []byte) (int, error) {
	if len(g.left) == 0 {
		switch {
		case g.n == 0:
			g.left = []byte(`{"traceEvents":[`)
		case g.n <= g.events:
			comma := ","
			if g.n == 1 {
				comma = ""
			}
			g.left = fmt.Appendf(g.left[:0], `%s{"args":{"event-hint":"Task:t%d, FuncId:0, CoreId:1","fanout-hint":"0: []","taskId":%d},"name":"K(t%d)","ph":"X","pid":4,"tid":10,"ts":%d,"dur":1}`,
				comma, g.n, g.n%1000, g.n%1000, g.n)
		case g.n == g.events+1:
			g.left = []byte(`]}`)
		default:
			return 0, io.EOF
		}
		if g.n%10_000 == 0 {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			g.most = max(g.most, m.HeapInuse)
		}
		g.n++
	}
	n := copy(b, g.left)
	g.left = g.left[n:]
	g.bytes += int64(n)
	return n, nil
}

// TestStreams: memory does not depend on the size of the trace.
func TestStreams(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 100 MB to nowhere")
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	in := &generated{events: 300_000}
	if _, err := mark.Trace(context.Background(), in, []mark.Copy{{io.Discard, on()}, {io.Discard, on(1)}}, label); err != nil {
		t.Fatal(err)
	}
	if used := int64(in.most) - int64(m.HeapInuse); in.bytes < 40<<20 || used > 8<<20 {
		t.Errorf("a trace of %d bytes took %d bytes of memory", in.bytes, used)
	}
}

// TestReal: copies of real traces are the same but for the names of the bars.
func TestReal(t *testing.T) {
	root := filepath.Join(parity.Shared(t), "captures")
	for _, name := range []string{"a2a3sim_tmr_fanin_l4_deps", "a5sim_tmr_mixed_example_l4_deps__TestMixedExample_case1", "gs_a2a3_hbg_graph_nodes_l4"} {
		text := parity.Unpacked(t, filepath.Join(root, name, "reference", "trace.json.gz"))
		var out bytes.Buffer
		_, err := mark.Trace(context.Background(), bytes.NewReader(text), []mark.Copy{{&out, on(0)}}, label)
		if err != nil {
			t.Fatal(err)
		}
		var in, copied map[string]any
		if err := json.Unmarshal(text, &in); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(out.Bytes(), &copied); err != nil {
			t.Fatal(err)
		}
		renamed := 0
		for i, e := range in["traceEvents"].([]any) {
			a, b := e.(map[string]any), copied["traceEvents"].([]any)[i].(map[string]any)
			args, _ := a["args"].(map[string]any)
			if id, ok := args["taskId"].(float64); ok && a["pid"].(float64) == 4 && id != 0 {
				if want := fmt.Sprintf("·(t%d)", uint64(id)); b["name"] != want {
					t.Fatalf("%s: %v became %v, want %s", name, a["name"], b["name"], want)
				}
				b["name"] = a["name"]
				renamed++
			}
		}
		x, _ := json.Marshal(in)
		y, _ := json.Marshal(copied)
		if !bytes.Equal(x, y) || renamed == 0 {
			t.Errorf("%s: the copy differs, or nothing was renamed (%d)", name, renamed)
		}
	}
}

func FuzzTrace(f *testing.F) {
	f.Add([]byte(example))
	f.Add([]byte(`{"traceEvents":[{"name":1,"ph":"X","pid":"4","args":{"taskId":-1}},{"ph":"X","pid":4,"args":{"taskId":1}}]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		var out bytes.Buffer
		if _, err := mark.Trace(context.Background(), bytes.NewReader(in), []mark.Copy{{&out, on()}}, label); err != nil {
			return
		}
		if !json.Valid(out.Bytes()) || !json.Valid(in) {
			t.Errorf("%q became %q", in, out.Bytes())
		}
	})
}
