package hostlog_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"swimlane/internal/hostlog"
)

// simulated are options that leave nothing to this process and its system.
func simulated(out io.Writer) (hostlog.Options, *script) {
	clock := &script{mono: 1000, wall: 1_700_000_000_000_000_000}
	return hostlog.Options{
		Output: out, PID: 41, Clock: clock, Thread: func() int64 { return 410 }, Handle: func(tid int64) uint64 { return uint64(tid) << 12 },
	}, clock
}

func TestBytesOfLog(t *testing.T) { // the forms of spec/host-log.md §1.3, §2.1 and §3.1
	var out bytes.Buffer
	options, clock := simulated(&out)
	options.Threshold = hostlog.Info
	l := hostlog.New(options)
	l.Message(hostlog.Debug, "main", "not written")
	if out.Len() > 0 {
		t.Fatalf("%q was written for a record below the threshold", out.String())
	}
	clock.mono = 1500
	l.Span(hostlog.Entry{Inv: 1<<32 + 7, HID: "ABCdef0123456789", Depth: 2, Name: "host.odd name", TS: 1250, Dur: 40, Attrs: []hostlog.Attr{
		hostlog.Int("run_id", uint64(7)), {Key: "reason", Value: "submit failed: [fatal]"}, {Key: "role", Value: "facade"},
	}})
	clock.mono = 1600
	l.Span(hostlog.Entry{TID: 411, Name: "chip.run", TS: 0, Dur: math.MaxInt64})
	l.Message(hostlog.Info, "ns::load_callable", "registered kernel %d\n", 3)
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	want := `[mono_ns=1500][T0x19a000][TIMING] clock_anchor: [CLOCK_ANCHOR] v=1 pid=41 mono_ns=1500 wall_ns=1700000000000000000
[mono_ns=1500][T0x19a000][TIMING] emit_host_span: [STRACE] v=1 pid=41 tid=410 inv=4294967303 hid=abcdef0123456789 depth=2 name=host.odd%20name ts=1250 dur=40 run_id=7 reason=submit%20failed%3A%20%5Bfatal%5D role=facade
[mono_ns=1600][T0x19b000][TIMING] emit_host_span: [STRACE] v=1 pid=41 tid=411 inv=0 hid=0 depth=0 name=chip.run ts=0 dur=9223372036854775807 ` + `
[mono_ns=1600][T0x19a000][INFO] load_callable: registered kernel 3
`
	if out.String() != want {
		t.Errorf("\n%s\nwant\n%s", out.String(), want)
	}
}

func TestThresholds(t *testing.T) { // §1.3
	for threshold, want := range map[hostlog.Level]string{
		hostlog.Debug: "DEBUG INFO TIMING WARN ERROR", hostlog.Info: "INFO TIMING WARN ERROR", hostlog.Timing: "TIMING WARN ERROR",
		hostlog.Warn: "WARN ERROR", hostlog.Error: "ERROR", hostlog.Nothing: "",
	} {
		var out bytes.Buffer
		options, _ := simulated(&out)
		options.Threshold = threshold
		l := hostlog.New(options)
		for level := hostlog.Debug; level <= hostlog.Nothing; level++ {
			l.Message(level, "f", "%v", level)
		}
		l.Span(hostlog.Entry{Name: "a"})
		var got []string
		spans := false
		for line := range strings.Lines(out.String()) {
			m := envelope.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
			if m[4] == "f" {
				if m[3] != m[5] {
					t.Errorf("%s has the message %s", m[3], m[5])
				}
				got = append(got, m[3])
			}
			spans = spans || m[4] == "emit_host_span"
		}
		if strings.Join(got, " ") != want || spans != strings.Contains(want, "TIMING") {
			t.Errorf("threshold %v: messages %q, spans %v, want %s", threshold, got, spans, want)
		}
	}
	if _, err := hostlog.ParseLevel("LOUD"); err == nil {
		t.Error("LOUD is no level")
	}
}

func TestLimits(t *testing.T) { // §1.3, §2.3
	write := func(e hostlog.Entry) (line string, s hostlog.Span) {
		t.Helper()
		var out bytes.Buffer
		options, _ := simulated(&out)
		l := hostlog.New(options)
		l.Span(e)
		got := read(t, out.String())
		if err := l.Close(); err != nil || len(got.Spans) != 1 {
			t.Fatalf("%d spans, error %v", len(got.Spans), err)
		}
		_, line, _ = strings.Cut(out.String(), "\n")
		return line, got.Spans[0]
	}
	name := func(text string) string {
		line, _ := write(hostlog.Entry{Name: text})
		_, rest, _ := strings.Cut(line, " name=")
		rest, _, _ = strings.Cut(rest, " ")
		return rest
	}
	x := strings.Repeat("x", 300)
	for text, want := range map[string]string{
		x[:64]:           x[:64],
		x[:65]:           x[:63] + "~",
		x[:61] + " ":     x[:61] + "%20",
		x[:62] + " ":     x[:62] + "~",
		x[:61] + "  ":    x[:61] + "~", // the last whole unit makes room
		x[:60] + "é":     x[:60] + "%C3~",
		"a=b c%d[e]\n~":  "a%3Db%20c%25d%5Be%5D%0A~",
		"\x00\x1f\x7f é": "%00%1F%7F%20%C3%A9",
	} {
		if got := name(text); got != want {
			t.Errorf("name %q is written as %q, want %q", text, got, want)
		}
	}
	for value, want := range map[string]string{
		x[:190]:       "k=" + x[:190],
		x[:191]:       "k=" + x[:189] + "~",
		x[:187] + "%": "k=" + x[:187] + "%25",
		x[:188] + "%": "k=" + x[:188] + "~",
		"a=b":         "k=a=b",
		"":            "k=",
	} {
		if _, s := write(hostlog.Entry{Name: "a", Attrs: []hostlog.Attr{{Key: "k", Value: value}}}); s.Attrs != want {
			t.Errorf("value %q is written as %q, want %q", value, s.Attrs, want)
		}
	}

	// The largest record that there can be.
	var out bytes.Buffer
	options := hostlog.Options{
		Output: &out, PID: math.MaxInt, Clock: &script{math.MaxInt64, math.MaxInt64},
		Thread: func() int64 { return math.MaxInt64 }, Handle: func(int64) uint64 { return math.MaxUint64 },
	}
	l := hostlog.New(options)
	l.Span(hostlog.Entry{Inv: math.MaxUint64, HID: "ffffffffffffffff", Depth: math.MaxInt, Name: x, Dur: math.MaxInt64, Attrs: []hostlog.Attr{{Key: "k", Value: x}}})
	l.Span(hostlog.Entry{Inv: math.MaxUint64, HID: "ffffffffffffffff", Depth: math.MaxInt, Name: x, TS: math.MaxInt64, Attrs: []hostlog.Attr{{Key: "k", Value: x}}})
	l.Message(hostlog.Error, "f", "%s", x+x)
	l.Message(hostlog.Error, "f", "%s", strings.Repeat("é", 300))
	lines := strings.SplitAfter(out.String(), "\n")
	for _, line := range lines {
		if len(line) > 512 {
			t.Errorf("%d bytes: %s", len(line), line)
		}
	}
	if got := read(t, out.String()); len(got.Spans) != 2 || got.Spans[0].Name != x[:63]+"~" {
		t.Errorf("%d spans, want 2: %+v", len(got.Spans), got.Spans)
	}
	if message := lines[3]; len(message) != 512 || !strings.HasSuffix(message, "xx~\n") {
		t.Errorf("a long message has %d bytes: %s", len(message), message)
	}
	if message := lines[4]; len(message) < 511 || !strings.HasSuffix(message, "é~\n") {
		t.Errorf("a long message has %d bytes: %s", len(message), message)
	}
}

// failing is an output that fails, after so many bytes, as long as it shall.
type failing struct {
	bytes.Buffer
	fail  bool
	after int
}

var errFull = errors.New("disk full")

func (f *failing) Write(b []byte) (int, error) {
	if !f.fail {
		return f.Buffer.Write(b)
	}
	n, _ := f.Buffer.Write(b[:min(f.after, len(b))])
	return n, errFull
}

func TestLossesAreReported(t *testing.T) { // §3.2
	out := &failing{}
	options, _ := simulated(out)
	l := hostlog.New(options)
	span := func() { l.Span(hostlog.Entry{Name: "a"}) }
	span()
	out.fail = true
	span()
	span()
	l.Span(hostlog.Entry{Name: "a", TS: -1})
	out.fail = false
	span()
	l.Span(hostlog.Entry{Name: "a", HID: "0xff"})
	span()
	l.Span(hostlog.Entry{Name: "", Dur: 3})
	err := l.Close()
	span() // too late
	want := []string{
		"[mono_ns=1000][T0x19a000][ERROR] host_log_drops: [HOSTLOG_DROPS] v=1 pid=41 new=3 total=3 queue_full=0 claim_exhausted=0 output_failed=2 not_admitted=1",
		"[mono_ns=1000][T0x19a000][ERROR] host_log_drops: [HOSTLOG_DROPS] v=1 pid=41 new=1 total=4 queue_full=0 claim_exhausted=0 output_failed=2 not_admitted=2",
		"[mono_ns=1000][T0x19a000][ERROR] host_log_drops: [HOSTLOG_DROPS] v=1 pid=41 new=1 total=5 queue_full=0 claim_exhausted=0 output_failed=2 not_admitted=3",
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		if strings.Contains(line, "DROPS") {
			got = append(got, strings.TrimSuffix(line, "\n"))
		}
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("reports\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	r := read(t, out.String())
	if len(r.Spans) != 3 || r.Incomplete() != 0 || len(r.Anchors()) != 1 {
		t.Errorf("%d spans, %d incomplete, %d anchors, want 3, 0 and 1", len(r.Spans), r.Incomplete(), len(r.Anchors()))
	}
	if !errors.Is(err, errFull) || !strings.Contains(err.Error(), "5 record(s)") {
		t.Errorf("Close returned %v, want the first cause and how many it were", err)
	}
	if d := l.Drops(); d.Total != 6 || d.NotAdmitted != 4 {
		t.Errorf("%+v, want a record after Close to be counted", d)
	}
}

// TestTornWrites lets writes stop at each byte of the anchor, of a span and of a report.
func TestTornWrites(t *testing.T) {
	for after := range 260 {
		out := &failing{after: after}
		options, _ := simulated(out)
		l := hostlog.New(options)
		span := func(fail bool) {
			out.fail = fail
			l.Span(hostlog.Entry{Name: "a", Attrs: []hostlog.Attr{{Key: "k", Value: "v"}}})
		}
		span(true)  // the anchor
		span(false) // 1
		span(true)
		span(true)
		span(false) // 2
		l.Close()
		r := read(t, out.String())
		whole := 0
		for _, s := range r.Spans {
			if s.Attrs == "k=v" && s.Dur == 0 {
				whole++
			}
		}
		// Those that failed may have been written up to their last bytes. A torn anchor
		// does not count.
		if whole < 2 || r.Parsed > 4 || len(r.Drops()) != 1 || r.Drops()[0].Total != 3 || len(r.Anchors()) != 1 || r.Anchors()[0].WallNS != 1_700_000_000_000_000_000 {
			t.Fatalf("after %d bytes: %d whole spans of %d, drops %+v, anchors %v in\n%s", after, whole, r.Parsed, r.Drops(), r.Anchors(), out.String())
		}
	}
}

func TestBinding(t *testing.T) { // §1.1
	first, second := t.TempDir(), t.TempDir()
	var out bytes.Buffer
	options, _ := simulated(&out)
	l := hostlog.New(options)
	span := func(name string) { l.Span(hostlog.Entry{Name: name}) }
	span("before")
	for _, dir := range []string{"", first, second, ""} {
		if err := l.Bind(dir); err != nil {
			t.Fatal(err)
		}
	}
	span("after")
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	path := filepath.Join(first, "host.41.log")
	for range 2 { // opened to append
		l = hostlog.New(options)
		if err := l.Bind(first); err != nil {
			t.Fatal(err)
		}
		span("again")
		l.Close()
	}
	names := func(r *hostlog.Records, err error) string {
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, s := range r.Spans {
			all = append(all, s.Name)
		}
		return strings.Join(all, " ")
	}
	if got := names(hostlog.ReadAll(&out, "-")); got != "before" {
		t.Errorf("before the directory was bound: %q", got)
	}
	if got := names(hostlog.ReadAll(nil, first)); got != "after again again" {
		t.Errorf("in %s: %q", path, got)
	}
	log, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(oracle(log).anchors[41]); n != 3 || !strings.Contains(strings.SplitAfter(string(log), "\n")[0], "[CLOCK_ANCHOR]") {
		t.Errorf("%d anchors of three logs, want one before the first record of each:\n%s", n, log)
	}
	if files, err := os.ReadDir(second); err != nil || len(files) > 0 {
		t.Errorf("a second directory holds %v, error %v", files, err)
	}
}

func TestBoundButNotThere(t *testing.T) { // §1.1: dropped and counted, never diverted
	dir := filepath.Join(t.TempDir(), "later")
	var out bytes.Buffer
	options, _ := simulated(&out)
	l := hostlog.New(options)
	if err := l.Bind(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v, want one that says that %s is not there", err, dir)
	}
	l.Span(hostlog.Entry{Name: "a"})
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	l.Span(hostlog.Entry{Name: "b"})
	l.Close()
	r, err := hostlog.ReadAll(nil, dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Spans) != 1 || len(r.Drops()) != 1 || r.Drops()[0].OutputFailed != 1 || out.Len() > 0 {
		t.Errorf("%d spans, drops %+v, %d bytes elsewhere, want 1, one that failed, none", len(r.Spans), r.Drops(), out.Len())
	}
}

func TestNoLog(t *testing.T) {
	var l *hostlog.Log
	l.Span(hostlog.Entry{Name: "a"})
	l.Message(hostlog.Error, "f", "x")
	if err := errors.Join(l.Bind("x"), l.ChipRun(&hostlog.ChipRun{}), l.Close()); err != nil || l.NextInv() != 0 || l.Drops().Total != 0 {
		t.Errorf("a nil log does something: %v", err)
	}
}

// TestManyThreads: every record of every goroutine is there, whole, behind one anchor.
func TestManyThreads(t *testing.T) {
	const threads, each = 8, 200
	dir := t.TempDir()
	l := hostlog.New(hostlog.Options{}) // this process, on this system
	if err := l.Bind(dir); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range threads {
		all.Go(func() {
			for i := range each {
				l.Span(hostlog.Entry{Inv: l.NextInv(), Name: "a", TS: int64(i)})
				l.Message(hostlog.Warn, "f", "%d", i)
			}
		})
	}
	all.Wait()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	r, err := hostlog.ReadAll(nil, filepath.Join(dir, hostlog.FileName(os.Getpid())))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[uint64]bool{}
	for _, s := range r.Spans {
		seen[s.Inv] = s.PID == os.Getpid() && s.TID > 0
	}
	for inv := range uint64(threads * each) {
		if !seen[inv+1] {
			t.Fatalf("run %d is not in the log, or of another process", inv+1)
		}
	}
	if w := r.Warnings(); len(w) > 0 || len(r.Anchors()) != 1 || len(r.Spans) != threads*each {
		t.Errorf("warnings %v, anchors %v, %d spans", w, r.Anchors(), len(r.Spans))
	}
}
