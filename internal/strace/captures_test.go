package strace_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"swimlane/internal/parity"
	"swimlane/internal/strace"
	"swimlane/internal/trace/check"
	"swimlane/trace"
	"swimlane/trace/chrome"
)

// TestCaptures compares what is printed and drawn of every real log with what the
// reference made of it: tables byte for byte, traces as parsed documents, with the
// differences of docs/differences.md applied to the reference.
func TestCaptures(t *testing.T) {
	references, err := filepath.Glob(filepath.Join(parity.Shared(t), "captures", "*", "reference", "strace.txt"))
	if err != nil || len(references) < 70 {
		t.Fatalf("%d captures with references (%v), there were 70", len(references), err)
	}
	moved, arrows := 0, 0
	for _, path := range references {
		dir := filepath.Dir(path)
		t.Run(filepath.Base(filepath.Dir(dir)), func(t *testing.T) {
			logs, err := filepath.Glob(filepath.Join(filepath.Dir(dir), "host.*.log*"))
			if err != nil || len(logs) == 0 {
				t.Fatalf("no logs: %v", err)
			}
			tables, err := strace.Read(strace.KeepTimes, nil, logs, nil)
			if err != nil {
				t.Fatal(err)
			}
			r := tables.Runs()
			for name, table := range map[string]texter{"strace.txt": strace.NewStages(r), "strace_rounds.txt": strace.NewRounds(r), "strace_tree.txt": strace.NewTrees(r)} {
				equal(t, name, printed(t, table), string(parity.Unpacked(t, filepath.Join(dir, name))))
			}

			l, err := strace.Read(strace.KeepAll, nil, logs, nil)
			if err != nil {
				t.Fatal(err)
			}
			p, _ := l.RunsPicture(l.Runs())
			ref := reference(t, filepath.Join(dir, "strace_trace.json"))
			moved += ref.apart()
			same(t, "--trace-out", raw(t, p), ref)

			ref = reference(t, filepath.Join(dir, "strace_swimlane.json"))
			arrows += ref.arrows(t)
			same(t, "--swimlane", raw(t, hosts(t, l, nil).Picture), ref)
		})
	}
	// The differences are there to be applied.
	if moved == 0 || arrows == 0 {
		t.Errorf("%d bars moved to lanes of their own, %d arrows", moved, arrows)
	}
}

// rawDocument is a trace file as it is, apart from times, which are whole ns.
type rawDocument map[string]any

func parse(t *testing.T, b []byte) rawDocument {
	t.Helper()
	var d rawDocument
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	if err := dec.Decode(&d); err != nil {
		t.Fatal(err)
	}
	for _, e := range d.events() {
		for _, key := range []string{"ts", "dur"} {
			if us, ok := e[key]; ok {
				f, err := strconv.ParseFloat(string(us.(json.Number)), 64)
				if err != nil {
					t.Fatal(err)
				}
				e[key] = int64(math.Round(1000 * f))
			}
		}
		for _, key := range []string{"pid", "tid"} {
			if id, ok := e[key].(json.Number); ok {
				e[key], _ = id.Int64()
			}
		}
	}
	return d
}

func (d rawDocument) events() []map[string]any {
	var out []map[string]any
	for _, e := range d["traceEvents"].([]any) {
		out = append(out, e.(map[string]any))
	}
	return out
}

// raw is the file of a picture, which must be clean.
func raw(t *testing.T, p *trace.Picture) rawDocument {
	t.Helper()
	var b bytes.Buffer
	if _, err := chrome.Write(context.Background(), &b, p, chrome.Options{}); err != nil {
		t.Fatal(err)
	}
	if r, err := check.JSON(bytes.NewReader(b.Bytes())); err != nil || !r.Clean() {
		t.Errorf("a viewer would not show it whole: %v %+v", err, r)
	}
	return parse(t, b.Bytes())
}

// reference reads a stored trace, with the difference in form that all have: names
// of processes and lanes are of the category __metadata, the former without a tid.
func reference(t *testing.T, path string) rawDocument {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d := parse(t, b)
	for _, e := range d.events() {
		if e["ph"] == "M" {
			e["cat"] = "__metadata"
			if e["name"] == "process_name" {
				delete(e, "tid")
			}
		}
	}
	return d
}

// apart gives the lanes of runs our ids, and what overlaps lanes of its own. It
// returns the number of bars moved.
func (d rawDocument) apart() (moved int) {
	type lane struct{ pid, tid int64 }
	bars := map[lane][]map[string]any{}
	names := map[lane]string{}
	for _, e := range d.events() {
		if _, ok := e["tid"]; !ok {
			continue
		}
		l := lane{e["pid"].(int64), e["tid"].(int64) + 1}
		e["tid"] = l.tid
		if e["ph"] == "X" {
			bars[l] = append(bars[l], e)
		} else {
			names[l] = e["args"].(map[string]any)["name"].(string)
		}
	}
	next := map[int64]int64{}
	for _, tid := range []int64{1, 2} {
		for l, list := range bars {
			if l.tid != tid {
				continue
			}
			ts := func(e map[string]any) int64 { return e["ts"].(int64) }
			end := func(e map[string]any) int64 { return ts(e) + e["dur"].(int64) }
			slices.SortStableFunc(list, func(a, b map[string]any) int { return cmp.Or(cmp.Compare(ts(a), ts(b)), cmp.Compare(end(b), end(a))) })
			var rows [][]map[string]any
		next:
			for _, e := range list {
				for i, row := range rows {
					if !slices.ContainsFunc(row, func(o map[string]any) bool { return end(o) > ts(e) && end(o) < end(e) }) {
						rows[i] = append(row, e)
						continue next
					}
				}
				rows = append(rows, []map[string]any{e})
			}
			for i, row := range rows[1:] {
				next[l.pid]++
				id := 2 + next[l.pid]
				d["traceEvents"] = append(d["traceEvents"].([]any), map[string]any{"ph": "M", "cat": "__metadata", "name": "thread_name",
					"pid": l.pid, "tid": id, "args": map[string]any{"name": fmt.Sprintf("%s (%d)", names[l], i+2)}})
				for _, e := range row {
					e["tid"] = id
					moved++
				}
			}
		}
	}
	return moved
}

// arrows moves what arrows say to the dispatches that they lead to, binds their ends
// to these, and lets them leave inside the submit. It returns how many there are.
func (d rawDocument) arrows(t *testing.T) (n int) {
	t.Helper()
	at := map[string]map[string]any{} // a bar by its lane, its name and its start or, for submits, its end
	key := func(e map[string]any, name string, time int64) string {
		return fmt.Sprint(e["pid"], " ", e["tid"], " ", name, " ", time)
	}
	for _, e := range d.events() {
		if e["ph"] == "X" {
			switch name := e["name"].(string); {
			case strings.HasSuffix(name, ".dispatch"):
				at[key(e, "dispatch", e["ts"].(int64))] = e
			case strings.HasSuffix(name, ".submit"):
				at[key(e, "submit", e["ts"].(int64)+e["dur"].(int64))] = e
			}
		}
	}
	for _, e := range d.events() {
		ts, _ := e["ts"].(int64)
		switch e["ph"] {
		case "s":
			if at[key(e, "submit", ts)] != nil {
				e["ts"] = ts - 1
			}
			delete(e, "args")
			n++
		case "f":
			bar := at[key(e, "dispatch", ts)]
			if bar == nil {
				t.Fatalf("no dispatch for the arrow %v", e)
			}
			bar["args"].(map[string]any)["dispatch_key"] = e["args"].(map[string]any)["dispatch_key"]
			delete(e, "args")
			e["bp"] = "e"
		}
	}
	return n
}

// same compares documents: events as a multiset, everything else as it is.
func same(t *testing.T, what string, got, want rawDocument) {
	t.Helper()
	events := func(d rawDocument) []string {
		var out []string
		for _, e := range d.events() {
			b, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, string(b))
		}
		slices.Sort(out)
		return out
	}
	g, w := events(got), events(want)
	for len(g) > 0 || len(w) > 0 {
		switch {
		case len(w) == 0 || len(g) > 0 && g[0] < w[0]:
			t.Errorf("%s: not in the reference: %s", what, g[0])
			g = g[1:]
		case len(g) == 0 || w[0] < g[0]:
			t.Errorf("%s: only in the reference: %s", what, w[0])
			w = w[1:]
		default:
			g, w = g[1:], w[1:]
		}
	}
	delete(got, "traceEvents")
	delete(want, "traceEvents")
	equal(t, what+": the fields beside the events", fmt.Sprint(got), fmt.Sprint(want))
}

// TestMadeTrees draws the logs of trees of several ranks, in which threads do things
// at once, and foreign producers and torn records appear: viewers show all of it.
func TestMadeTrees(t *testing.T) {
	var logs []string
	for _, depth := range []string{"*", "*/*"} {
		found, err := filepath.Glob(filepath.Join(parity.Shared(t), "captures", "l3", depth, "host.*.log"))
		if err != nil {
			t.Fatal(err)
		}
		logs = append(logs, found...)
	}
	bars, sides := 0, 0
	for dir, files := range byDirectory(logs) {
		l, err := strace.Read(strace.KeepAll, nil, files, nil)
		if err != nil {
			t.Fatal(err)
		}
		p, n := l.RunsPicture(l.Runs())
		if got := raw(t, p).events(); len(got) < n {
			t.Errorf("%s: %d events of %d bars", dir, len(got), n)
		}
		h := hosts(t, l, nil)
		bars += h.Host
		for _, e := range raw(t, h.Picture).events() {
			args, _ := e["args"].(map[string]any)
			if name, ok := args["name"].(string); ok && strings.HasSuffix(name, " (2)") {
				sides++
			}
		}
	}
	if bars == 0 || sides == 0 {
		t.Errorf("%d bars of hosts, %d further lanes", bars, sides)
	}
}

func byDirectory(files []string) map[string][]string {
	out := map[string][]string{}
	for _, f := range files {
		out[filepath.Dir(f)] = append(out[filepath.Dir(f)], f)
	}
	return out
}
