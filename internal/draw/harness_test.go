package draw_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"swimlane/capture"
	"swimlane/internal/draw"
	"swimlane/internal/names"
	"swimlane/internal/taskgraph"
	"swimlane/internal/trace/check"
	"swimlane/timeline"
	"swimlane/trace/chrome"
)

// object and list are JSON values in the making.
type (
	object = map[string]any
	list   = []any
)

// settings are what a user can choose about a picture.
type settings struct {
	deps       string // text of deps.json, "" if there is none
	names      *names.Map
	appearance bool // streams in the order of the file
	overhead   bool
	idle       bool
	workers    int
	unmarked   bool // missing records are not marked
	raw        bool // only the text of the trace is wanted, which another test parses and checks
}

// drawn is a capture on its whole way from text to a trace and back.
type drawn struct {
	t        *testing.T
	timeline *timeline.Timeline
	picture  *draw.Picture
	counts   chrome.Counts
	text     []byte

	events   []event
	bars     map[lane][]*event // for holder
	process  map[int64]string
	sort     map[int64]int64
	lane     map[lane]string
	laneSort map[lane]int64
	metadata object
}

// lane is a lane by its numbers.
type lane struct{ pid, tid int64 }

// event is an event of a trace. Times are ns.
type event struct {
	lane
	ph, name, cat, cname, bp string
	ts, dur                  int64
	id, bind                 int64 // −1: none
	in, out                  int64 // −1: none
	args                     object
}

func (e *event) end() int64 { return e.ts + e.dur }

// convert draws a records file and demands that no viewer would object to the trace.
func convert(t *testing.T, records string, s settings) *drawn {
	t.Helper()
	d, err := tryConvert(t, records, s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// tryConvert is convert for captures that may be refused.
func tryConvert(t *testing.T, records string, s settings) (*drawn, error) {
	t.Helper()
	rec, err := capture.ReadFrom(strings.NewReader(records), "records.json", capture.Options{StreamsByAppearance: s.appearance})
	if err != nil {
		return nil, err
	}
	var graph *taskgraph.Graph
	if s.deps != "" {
		deps, err := capture.ReadDepsFrom(strings.NewReader(s.deps), "deps.json")
		if err != nil {
			return nil, err
		}
		if graph, err = taskgraph.New(deps); err != nil {
			return nil, err
		}
	}
	tl, err := timeline.New(rec, graph)
	if err != nil {
		return nil, err
	}
	if s.unmarked {
		tl.Losses = nil
	}
	d := &drawn{t: t, timeline: tl}
	if d.picture, err = draw.New(tl, draw.Options{Names: s.names, Overhead: s.overhead, Idle: s.idle}); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if d.counts, err = chrome.Write(context.Background(), &out, d.picture.Trace(), chrome.Options{Workers: s.workers}); err != nil {
		return nil, err
	}
	d.text = out.Bytes()
	if !s.raw {
		d.parse()
		d.clean()
	}
	return d, nil
}

// clean asks the independent checker what a viewer would do to the trace.
func (d *drawn) clean() {
	d.t.Helper()
	report, err := check.JSON(bytes.NewReader(d.text))
	if err != nil {
		d.t.Fatal(err)
	}
	for _, f := range report.Findings {
		if f.Rule == "flow-to-itself" && f.Count == d.releasesToThemselves() {
			continue
		}
		if f.Severity != check.Note {
			d.t.Errorf("a viewer would object: %s ×%d: %q", f.Rule, f.Count, f.Examples)
		}
	}
}

// releasesToThemselves counts the arrows that lead from a complete record to
// itself: something it released was published just as it ended, as in example
// C14 of spec/converter.md.
func (d *drawn) releasesToThemselves() int64 {
	n := int64(0)
	for _, a := range d.arrows("complete→ready") {
		from, err1 := d.holder(a.from)
		to, err2 := d.holder(a.to)
		if err1 == nil && err2 == nil && from.lane == to.lane && from.ts == to.ts && from.name == to.name {
			n++
		}
	}
	return n
}

// micros is how a time must be written (field reports 6 and 7).
var micros = regexp.MustCompile(`^[0-9]+\.[0-9]{3}$`)

// ns turns a time as written into ns, exactly.
func ns(t *testing.T, what string, text json.Number) int64 {
	if !micros.MatchString(text.String()) {
		t.Fatalf("%s is written %s, want µs with three decimals", what, text)
	}
	n, err := strconv.ParseInt(strings.Replace(text.String(), ".", "", 1), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// us writes ns as the specification writes times.
func us(ns int64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%d.%03d", ns/1000, ns%1000), "0"), ".")
}

// parse reads the trace back with a parser that knows nothing of the writer.
func (d *drawn) parse() {
	d.t.Helper()
	dec := json.NewDecoder(bytes.NewReader(d.text))
	dec.UseNumber()
	var doc struct {
		TraceEvents []object `json:"traceEvents"`
		Metadata    object   `json:"metadata"`
	}
	if err := dec.Decode(&doc); err != nil {
		d.t.Fatalf("the trace is not JSON: %v\n%.2000s", err, d.text)
	}
	d.metadata = doc.Metadata
	d.process, d.sort = map[int64]string{}, map[int64]int64{}
	d.lane, d.laneSort = map[lane]string{}, map[lane]int64{}
	for _, raw := range doc.TraceEvents {
		e := d.event(raw)
		if e.ph != "M" {
			d.events = append(d.events, e)
			continue
		}
		switch e.name {
		case "process_name":
			d.process[e.pid] = e.args["name"].(string)
		case "process_sort_index":
			d.sort[e.pid] = number(d.t, e.args["sort_index"])
		case "thread_name":
			if old, ok := d.lane[e.lane]; ok {
				d.t.Errorf("lane %v is named %q and %q", e.lane, old, e.args["name"])
			}
			d.lane[e.lane] = e.args["name"].(string)
		case "thread_sort_index":
			d.laneSort[e.lane] = number(d.t, e.args["sort_index"])
		}
	}
}

func (d *drawn) event(raw object) event {
	text := func(key string) string { s, _ := raw[key].(string); return s }
	integer := func(key string) int64 {
		if v, ok := raw[key]; ok {
			return number(d.t, v)
		}
		return -1
	}
	e := event{
		lane: lane{integer("pid"), integer("tid")},
		ph:   text("ph"), name: text("name"), cat: text("cat"), cname: text("cname"), bp: text("bp"),
		id: integer("id"), bind: integer("bind_id"), in: integer("input_task_count"), out: integer("output_task_count"),
	}
	e.args, _ = raw["args"].(object)
	if e.ph != "M" {
		e.ts = ns(d.t, "ts of "+e.name, raw["ts"].(json.Number))
	}
	if e.ph == "X" {
		e.dur = ns(d.t, "dur of "+e.name, raw["dur"].(json.Number))
	}
	return e
}

func number(t *testing.T, v any) int64 {
	n, ok := v.(json.Number)
	if !ok {
		t.Fatalf("%v (%T) is not a number", v, v)
	}
	i, err := n.Int64()
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// slices are the bars that f accepts, in the order of the file.
func (d *drawn) slices(f func(*event) bool) []event {
	var out []event
	for i := range d.events {
		if e := &d.events[i]; e.ph == "X" && f(e) {
			out = append(out, *e)
		}
	}
	return out
}

func (d *drawn) onLane(l lane) []event {
	return d.slices(func(e *event) bool { return e.lane == l })
}

func (d *drawn) inProcess(pid int64) []event {
	return d.slices(func(e *event) bool { return e.pid == pid })
}

// slice is the only bar of that name in a process.
func (d *drawn) slice(pid int64, name string) event {
	d.t.Helper()
	found := d.slices(func(e *event) bool { return e.pid == pid && e.name == name })
	if len(found) != 1 {
		d.t.Fatalf("%d slices %q in process %d, want one; there are %q", len(found), name, pid, names1(d.inProcess(pid)))
	}
	return found[0]
}

func names1(events []event) []string {
	var out []string
	for _, e := range events {
		out = append(out, e.name)
	}
	return out
}

// laneNames are the names of a process's lanes in the order of their numbers.
func (d *drawn) laneNames(pid int64) []string {
	var tids []int64
	for l := range d.lane {
		if l.pid == pid {
			tids = append(tids, l.tid)
		}
	}
	slices.Sort(tids)
	out := make([]string, len(tids))
	for i, tid := range tids {
		out[i] = d.lane[lane{pid, tid}]
	}
	return out
}

// arrow is a flow with both its ends.
type arrow struct {
	id       int64
	name     string
	from, to event
}

// String shows an arrow as `name pid/tid@µs → pid/tid@µs`.
func (a arrow) String() string {
	return fmt.Sprintf("%s %d/%d@%s → %d/%d@%s", a.name, a.from.pid, a.from.tid, us(a.from.ts), a.to.pid, a.to.tid, us(a.to.ts))
}

// counted is String with the numbers of blocks.
func (a arrow) counted() string { return fmt.Sprintf("%v out %d in %d", a, a.from.out, a.from.in) }

// arrows joins the halves of all flows and holds them to the form of the file.
func (d *drawn) arrows(want ...string) []arrow {
	d.t.Helper()
	var out []arrow
	at := map[int64]int{}
	for _, e := range d.events {
		switch e.ph {
		case "s":
			if _, ok := at[e.id]; ok {
				d.t.Errorf("flow id %d is used twice (field report 30)", e.id)
			}
			at[e.id] = len(out)
			out = append(out, arrow{id: e.id, name: e.name, from: e})
		case "f":
			i, ok := at[e.id]
			if !ok {
				d.t.Errorf("flow %d has its f before its s in the file (field report 96)", e.id)
				continue
			}
			out[i].to = e
			if s := out[i].from; e.bp != "e" || s.name != e.name || s.cat != e.cat || s.in != e.in || s.out != e.out {
				d.t.Errorf("the halves of flow %d do not belong together: %+v, %+v", e.id, s, e)
			}
		}
	}
	for _, a := range out {
		if a.to.ph == "" {
			d.t.Errorf("flow %d has no f", a.id)
		}
	}
	if len(want) > 0 {
		out = slices.DeleteFunc(out, func(a arrow) bool { return !slices.Contains(want, a.name) })
	}
	return out
}

// dependencies are the arrows of the graph's edges in one view.
func (d *drawn) dependencies(pid int64) []arrow {
	d.t.Helper()
	return slices.DeleteFunc(d.arrows("dependency", "hb_violation"), func(a arrow) bool { return a.from.pid != pid })
}

// wantArrows compares arrows, in any order.
func (d *drawn) wantArrows(got []arrow, show func(arrow) string, want ...string) {
	d.t.Helper()
	var have []string
	for _, a := range got {
		have = append(have, show(a))
	}
	slices.Sort(have)
	slices.Sort(want)
	if !slices.Equal(have, want) {
		d.t.Errorf("arrows:\n  %s\nwant:\n  %s", strings.Join(have, "\n  "), strings.Join(want, "\n  "))
	}
}

// holder is the bar that an arrow's end belongs to: the one it names, else the
// innermost one of its lane that holds it. It says what is wrong with the end.
func (d *drawn) holder(e event) (event, error) {
	if d.bars == nil {
		d.bars = map[lane][]*event{}
		for i := range d.events {
			if x := &d.events[i]; x.ph == "X" {
				d.bars[x.lane] = append(d.bars[x.lane], x)
			}
		}
	}
	var best *event
	for _, x := range d.bars[e.lane] {
		if e.ts < x.ts || e.ts >= x.end() && (x.dur > 0 || e.ts > x.ts) {
			continue
		}
		if e.bind >= 0 && x.id != e.bind {
			continue
		}
		if best == nil || x.ts >= best.ts {
			best = x
		}
	}
	if best == nil {
		return event{}, fmt.Errorf("%s end of %s %d at %d/%d@%s lies in no bar (bind_id %d)", e.ph, e.name, e.id, e.pid, e.tid, us(e.ts), e.bind)
	}
	return *best, nil
}

// seated demands that every arrow starts and ends inside a bar, its own where it names one.
func (d *drawn) seated() {
	d.t.Helper()
	dispatched := map[int64][2]string{} // the row that an arrow is for, per view, by the id of the first of the two
	for _, a := range d.arrows() {
		for _, e := range []event{a.from, a.to} {
			h, err := d.holder(e)
			if err != nil {
				d.t.Error(err)
				continue
			}
			// The two arrows of a row follow each other (spec/converter.md §5.4); only one of them names its bar.
			if a.name == "dispatch" && e.pid != 2 {
				first := a.id
				if e.pid == 3 {
					first = a.id - 1
				}
				pair := dispatched[first]
				pair[e.pid-3] = fmt.Sprint(h.name, h.args["event-hint"])
				dispatched[first] = pair
			}
		}
	}
	for id, pair := range dispatched {
		if pair[0] != pair[1] {
			d.t.Errorf("dispatch arrows %d and %d end in bars of %s and %s", id, id+1, pair[1], pair[0])
		}
	}
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func equalSlices[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n  %v\nwant:\n  %v", what, got, want)
	}
}

// span says where a bar lies, for comparisons.
func span(e event) string {
	return fmt.Sprintf("%s %d/%d %s–%s", e.name, e.pid, e.tid, us(e.ts), us(e.end()))
}

func spans(events []event) []string {
	var out []string
	for _, e := range events {
		out = append(out, span(e))
	}
	return out
}

// jsonText is the JSON text of a value.
func jsonText(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// writeTo draws a capture straight into w.
func writeTo(t *testing.T, records, graph string, w io.Writer) {
	t.Helper()
	rec, err := capture.ReadFrom(strings.NewReader(records), "records.json", capture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	deps, err := capture.ReadDepsFrom(strings.NewReader(graph), "deps.json")
	if err != nil {
		t.Fatal(err)
	}
	g, err := taskgraph.New(deps)
	if err != nil {
		t.Fatal(err)
	}
	tl, err := timeline.New(rec, g)
	if err != nil {
		t.Fatal(err)
	}
	pic, err := draw.New(tl, draw.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := chrome.Write(context.Background(), w, pic.Trace(), chrome.Options{}); err != nil {
		t.Fatal(err)
	}
}
