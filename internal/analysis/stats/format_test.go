package stats_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"swimlane/internal/analysis/stats"
)

// table has two functions, one of them without scheduler times.
func table() *stats.Table {
	f := []stats.Function{
		{ID: -1, Name: "func_-1_", Count: 2, Timed: 2, Exec: 100, TimedExec: 100, Latency: 200, Head: -10, Tail: 110, Prop: -12, Local: 2},
		{ID: 3, Name: "a,\"b\"\n", Count: 1, Exec: 7, Local: 1},
	}
	return &stats.Table{
		Source: "r.json", Level: 4, Producer: "aicpu", Hz: 1_000_000, Timed: true, Functions: f, Span: 300, HasSpan: true, Tasks: 3, Cores: 2,
		Total:   stats.Function{Name: "TOTAL", Count: 3, Timed: 2, Exec: 107, TimedExec: 100, Latency: 200, Head: -10, Tail: 110, Prop: -12, Local: 3},
		Threads: []stats.Thread{{Name: "Sched_0", Busy: 1000, Idle: 3000}, {Name: "Sched_1"}},
	}
}

func text(t *testing.T, write func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestText(t *testing.T) {
	out := text(t, table().Text)
	for _, want := range []string{
		"\n-1       func_-1_         2          50.00           100.00   50.0%             -5.00            55.00         -6.00           1.00\n",
		"\n3        a,\"b\"\\n          1           7.00                -       -                 -                -             -           1.00\n",
		"\nTOTAL                     3         107.00           200.00\n\nTotal Test Time: 300.00 us (from earliest dispatch to latest finish)\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	for _, tab := range []*stats.Table{table(), {Level: 1, Hz: 1}, {Level: 1, Hz: 1, HasSpan: true, Functions: make([]stats.Function, 3)}} {
		if got, want := strings.Count(text(t, tab.Text), "\n"), tab.TextLines(); got != want {
			t.Errorf("%d lines, TextLines says %d", got, want)
		}
	}
}

// TestShort: the same figures, fewer lines.
func TestShort(t *testing.T) {
	long, short := text(t, table().Text), text(t, func(w io.Writer) error { return table().Short(w, 40) })
	for line := range strings.Lines(short) {
		if !strings.Contains(long, line) {
			t.Errorf("only in the short form: %s", line)
		}
	}
	if got := strings.Count(short, "\n"); got != 10 {
		t.Errorf("%d lines, want 10", got)
	}
}

// Of many functions those with the most kernel time are shown.
func TestShortOfMany(t *testing.T) {
	many := &stats.Table{Level: 1, Hz: 1e6}
	for i := range 100 {
		many.Functions = append(many.Functions, stats.Function{ID: int32(i), Name: fmt.Sprintf("f%d", i), Count: 1, Exec: uint64(i)})
	}
	out := text(t, func(w io.Writer) error { return many.Short(w, 20) })
	if n := strings.Count(out, "\n"); n > 20 {
		t.Errorf("%d lines, want at most 20", n)
	}
	for _, want := range []string{"\n99 ", "\n89 ", "… and 89 more functions with less kernel time: swimlane stats"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "\n88 ") {
		t.Error("a function with less kernel time is shown")
	}
}

func TestCSV(t *testing.T) {
	rows, err := csv.NewReader(strings.NewReader(text(t, table().CSV))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{
		{"-1", "func_-1_", "2", "2", "50", "100", "50", "-5", "55", "-6", "1"},
		{"3", "a,\"b\"\n", "1", "0", "7", "", "", "", "", "", "1"},
	}
	if len(rows) != 3 || len(rows[0]) != 11 || fmt.Sprintf("%q", rows[1:]) != fmt.Sprintf("%q", want) {
		t.Errorf("%q, want %q", rows, want)
	}
}

func TestJSON(t *testing.T) {
	var doc struct {
		Span      float64 `json:"span_us"`
		Kind      string  `json:"span_kind"`
		Functions []struct {
			Name    string   `json:"func_name"`
			Latency *float64 `json:"avg_latency_us"`
		} `json:"functions"`
		Threads []struct {
			Idle float64 `json:"idle_us"`
		} `json:"scheduler_threads"`
	}
	if err := json.Unmarshal([]byte(text(t, table().JSON)), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Span != 300 || doc.Kind != "dispatch_to_finish" || len(doc.Functions) != 2 || *doc.Functions[0].Latency != 100 ||
		doc.Functions[1].Latency != nil || doc.Functions[1].Name != "a,\"b\"\n" || doc.Threads[0].Idle != 3 {
		t.Errorf("%+v", doc)
	}
	empty := text(t, (&stats.Table{Level: 2, Hz: 1}).JSON)
	for _, want := range []string{`"functions": []`, `"scheduler_threads": []`, `"span_us": null`, `"span_kind": null`, `"producer": null`} {
		if !strings.Contains(empty, want) {
			t.Errorf("no %s in %s", want, empty)
		}
	}
}

func TestIdleTimes(t *testing.T) {
	threads := func(n int) *stats.Table {
		out := &stats.Table{}
		for i := range n {
			out.Threads = append(out.Threads, stats.Thread{Name: fmt.Sprintf("S%d", i), Busy: 1000, Idle: int64(1000 * i)})
		}
		out.Threads = append(out.Threads, stats.Thread{Name: "nothing"})
		return out
	}
	for n, want := range map[int]string{
		0: "",
		2: "S0 0.00 us (0.0%)|S1 1.00 us (50.0%)",
		7: "S0 0.0%|S1 50.0%|S2 66.7%|S3 75.0%|S4 80.0%|S5 83.3%|S6 85.7%",
	} {
		if got := strings.Join(threads(n).IdleTimes(), "|"); got != want {
			t.Errorf("%d threads: %q, want %q", n, got, want)
		}
	}
	// Every thread is named, however many there are.
	if got := threads(25).IdleTimes(); len(got) != 25 || got[24] != "S24 96.0%" {
		t.Errorf("25 threads: %q", got)
	}
}

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{"QK": "QK", "矩阵→\"q\"": "矩阵→\"q\"", "a\nb\x1b[0m\x00": `a\nb\x1b[0m\x00`} {
		if got := stats.Printable(in); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
