package check_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"swimlane/internal/trace/check"
)

// named names process 1 and its lanes 10 to 12, so that a test of one rule
// does not also show the notes on missing names. It is events 0 to 3.
const named = `{"ph":"M","name":"process_name","pid":1,"args":{"name":"P"}},
{"ph":"M","name":"thread_name","pid":1,"tid":10,"args":{"name":"L10"}},
{"ph":"M","name":"thread_name","pid":1,"tid":11,"args":{"name":"L11"}},
{"ph":"M","name":"thread_name","pid":1,"tid":12,"args":{"name":"L12"}}`

// x writes a slice of process 1. The name stands there as it is.
func x(name string, tid int, ts, dur string) string {
	return fmt.Sprintf(`{"ph":"X","name":"%s","pid":1,"tid":%d,"ts":%s,"dur":%s}`, name, tid, ts, dur)
}

// xid writes a slice of process 1 with an id.
func xid(id, tid int, ts, dur string) string {
	return fmt.Sprintf(`{"ph":"X","name":"n%d","id":%d,"pid":1,"tid":%d,"ts":%s,"dur":%s}`, id, id, tid, ts, dur)
}

// start and finish write the ends of a flow of process 1.
func start(id any, tid int, ts string) string {
	return fmt.Sprintf(`{"ph":"s","id":%v,"cat":"c","name":"d","pid":1,"tid":%d,"ts":%s}`, id, tid, ts)
}

func finish(id any, tid int, ts string) string {
	return fmt.Sprintf(`{"ph":"f","bp":"e","id":%v,"cat":"c","name":"d","pid":1,"tid":%d,"ts":%s}`, id, tid, ts)
}

// with adds members to an event.
func with(event, members string) string {
	return strings.TrimSuffix(event, "}") + "," + members + "}"
}

func events(evs ...string) string {
	return `{"traceEvents":[` + strings.Join(evs, ",\n") + `]}`
}

// onLanes is a trace of the named lanes.
func onLanes(evs ...string) string {
	return events(append([]string{named}, evs...)...)
}

func mustCheck(t *testing.T, text string) *check.Report {
	t.Helper()
	rep, err := check.JSON(strings.NewReader(text))
	if err != nil {
		t.Fatalf("JSON: %v\n%s", err, text)
	}
	return rep
}

// found lists the findings as "slug:count", sorted.
func found(rep *check.Report) string {
	var out []string
	for _, f := range rep.Findings {
		out = append(out, fmt.Sprintf("%s:%d", f.Rule, f.Count))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// A ruleTest is a trace and every finding it must have, no more.
type ruleTest struct {
	name  string
	trace string
	want  string // "slug:count", sorted
	clean bool
}

func runRules(t *testing.T, tests []ruleTest) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rep := mustCheck(t, tt.trace)
			if got := found(rep); got != tt.want {
				t.Errorf("found %q, want %q\nexamples: %v\ntrace: %s", got, tt.want, rep.Findings, tt.trace)
			}
			if rep.Clean() != tt.clean {
				t.Errorf("Clean() = %v, want %v", rep.Clean(), tt.clean)
			}
			for _, f := range rep.Findings {
				if f.Explain == "" || len(f.Examples) == 0 || len(f.Examples) > 5 || int64(len(f.Examples)) > f.Count {
					t.Errorf("finding %+v: want a sentence and one to five places", f)
				}
			}
		})
	}
}

func TestCounts(t *testing.T) {
	rep := mustCheck(t, onLanes(
		x("a", 10, "0", "4"), x("b", 11, "4", "4"), start(1, 10, "0"), finish(1, 11, "4"),
		`{"ph":"C","name":"q","pid":2,"tid":9,"ts":1,"args":{"AIC":1,"AIV":2.5}}`,
		`{"ph":"B","name":"b","pid":1,"tid":12,"ts":1}`, `{"ph":"E","pid":1,"tid":12,"ts":2}`,
	))
	got := *rep
	got.Findings = nil
	want := check.Report{Events: 11, Slices: 3, Flows: 2, Counters: 1, Metadata: 4, Lanes: 3, Processes: 2}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("counts %+v, want %+v", got, want)
	}
	if got := found(rep); got != "process-unnamed:1" || !rep.Clean() {
		t.Errorf("found %q, want only the note on process 2", got)
	}
}

func TestExampleSaysWhere(t *testing.T) {
	text := onLanes(x("long", 10, "2", "2"), x("QK(t7)", 10, "3", "2"))
	rep := mustCheck(t, text)
	if len(rep.Findings) != 1 || len(rep.Findings[0].Examples) != 1 {
		t.Fatalf("findings %+v, want one with one place", rep.Findings)
	}
	got := rep.Findings[0].Examples[0]
	at := strings.Index(text, `{"ph":"X","name":"QK(t7)"`)
	for _, want := range []string{"event 5 ", fmt.Sprintf("byte %d)", at), `"QK(t7)"`, "pid 1", "tid 10", "ts 3.000", "ends at 5.000", "4.000"} {
		if !strings.Contains(got, want) {
			t.Errorf("example %q does not say %q", got, want)
		}
	}
}

func TestExamplesAreCapped(t *testing.T) {
	var evs []string
	for i := range 40 {
		evs = append(evs, fmt.Sprintf(`{"ph":"X","name":"a","pid":1,"tid":10,"ts":%d}`, i))
	}
	rep := mustCheck(t, onLanes(evs...))
	if got := found(rep); got != "dur-missing:40" {
		t.Fatalf("found %q", got)
	}
	if n := len(rep.Findings[0].Examples); n != 5 {
		t.Errorf("%d examples, want 5", n)
	}
}

func TestFindingsWorstFirst(t *testing.T) {
	rep := mustCheck(t, onLanes(
		finish(1, 10, "1"), x("", 10, "0", "5"), `{"ph":"X","name":"a","pid":1,"tid":11,"ts":0}`,
		`{"ph":"X","name":"a","pid":1,"ts":0,"dur":1}`))
	if !slices.IsSortedFunc(rep.Findings, func(a, b check.Finding) int { return int(a.Severity) - int(b.Severity) }) {
		t.Errorf("findings not sorted by severity: %+v", rep.Findings)
	}
	if n := len(rep.Findings); n < 4 {
		t.Errorf("%d findings, want one of each severity", n)
	}
}

func TestSeverityString(t *testing.T) {
	want := map[check.Severity]string{check.Drop: "drop", check.Move: "move", check.Bind: "bind", check.Note: "note", 9: "severity(9)"}
	for s, w := range want {
		if s.String() != w {
			t.Errorf("severity %d is %q, want %q", int(s), s, w)
		}
	}
}

// A trace must mean the same however its bytes arrive.
func TestOneByteReads(t *testing.T) {
	text := onLanes(
		with(x("n\\u00e4me", 10, "0.5", "2.25"), `"args":{"a" : [1, {"b":null}], "c":"\u4e2d"}`),
		x("b", 10, "1", "9"), start(`"ff"`, 10, "0.5"), finish(255, 10, "1e0"))
	want := mustCheck(t, text)
	for name, r := range map[string]io.Reader{
		"one byte": iotest.OneByteReader(strings.NewReader(text)),
		"data+EOF": iotest.DataErrReader(strings.NewReader(text)),
		"half":     iotest.HalfReader(strings.NewReader(text)),
	} {
		got, err := check.JSON(r)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if fmt.Sprint(*got) != fmt.Sprint(*want) {
			t.Errorf("%s: %+v, want %+v", name, *got, *want)
		}
	}
}

func TestReadError(t *testing.T) {
	boom := errors.New("boom")
	text := onLanes(x("a", 10, "0", "1"))
	for _, n := range []int{0, 40, len(text) - 5} {
		_, err := check.JSON(io.MultiReader(strings.NewReader(text[:n]), iotest.ErrReader(boom)))
		if !errors.Is(err, boom) {
			t.Errorf("error after %d bytes: %v, want boom", n, err)
		}
	}
	// An array may be cut off, but not by an error of the reader.
	_, err := check.JSON(io.MultiReader(strings.NewReader("["+x("a", 10, "0", "1")+","), iotest.ErrReader(boom)))
	if !errors.Is(err, boom) {
		t.Errorf("array form: %v, want boom", err)
	}
}

// A token may be longer than what is looked at at a time, and every token of
// a long file has to survive its edge.
func TestLongTokensAndFiles(t *testing.T) {
	long := strings.Repeat("注意力", 100_000)
	rep := mustCheck(t, onLanes(
		with(x(long, 10, "0", "4"), `"args":{"`+long+`":"`+long+`\n"}`),
		x("b", 10, "0."+strings.Repeat("0", 200_000), "4")))
	if got := found(rep); got != "" || rep.Slices != 2 {
		t.Errorf("long tokens: found %q in %d slices, want nothing in 2", got, rep.Slices)
	}
	rep = mustCheck(t, string(synthetic(3000)))
	if got := found(rep); got != "" || rep.Slices != 6000 || rep.Flows != 4*2999 || rep.Lanes != 144 {
		t.Errorf("long file: found %q, %+v", got, *rep)
	}
}
