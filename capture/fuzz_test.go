package capture_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"swimlane/capture"
)

// seed adds the hand-written files of testdata/<dir>.
func seed(f *testing.F, dir string) {
	paths, err := filepath.Glob(filepath.Join("testdata", dir, "*"))
	if err != nil || len(paths) == 0 {
		f.Fatalf("no seeds in %s: %v", dir, err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
}

// FuzzRecords reads anything as a records file: what is refused is refused in
// words, what is accepted keeps the promises of package capture, and neither
// depends on how the text is cut or on the order of its sections.
func FuzzRecords(f *testing.F) {
	seed(f, "records")
	f.Fuzz(checkRecordsText)
}

func checkRecordsText(t *testing.T, text string) {
	opt := capture.Options{Extras: true}
	rec, err := capture.ReadFrom(strings.NewReader(text), "in.json", opt)
	again, againErr := capture.ReadFrom(iotest.OneByteReader(strings.NewReader(text)), "in.json", opt)
	if !reflect.DeepEqual(rec, again) || !sameError(err, againErr) {
		t.Fatalf("by bytes: got %v, at once %v", againErr, err)
	}
	if _, plain := capture.ReadFrom(strings.NewReader(text), "in.json", capture.Options{}); !sameError(err, plain) {
		t.Fatalf("with extras: got %v, without %v", err, plain)
	}
	checkSections(t, text, rec, err)
	if err != nil {
		checkError(t, err)
		if rec != nil {
			t.Fatal("refused, but something was returned")
		}
		return
	}
	if !json.Valid([]byte(text)) {
		t.Fatal("accepted, but it is no JSON")
	}
	checkPromises(t, rec)
	byOrder, err := capture.ReadFrom(strings.NewReader(text), "in.json", capture.Options{StreamsByAppearance: true})
	if err != nil || len(byOrder.Streams) > len(rec.Streams) {
		t.Fatalf("by appearance: %v", err)
	}
}

func sameError(a, b error) bool {
	return (a == nil) == (b == nil) && (a == nil || a.Error() == b.Error())
}

func checkError(t *testing.T, err error) {
	t.Helper()
	var e *capture.Error
	if !errors.As(err, &e) || e.Text == "" || !strings.HasPrefix(err.Error(), e.Text) || len(err.Error()) > 2000 {
		t.Fatalf("got %v", err)
	}
	if !errors.Is(err, capture.ErrSyntax) && !errors.Is(err, capture.ErrInvalid) && !errors.Is(err, capture.ErrUnsupported) {
		t.Fatalf("%v has no class", err)
	}
}

// checkSections reads the same sections in another order.
func checkSections(t *testing.T, text string, rec *capture.Records, err error) {
	t.Helper()
	if errors.Is(err, capture.ErrSyntax) {
		return
	}
	var d map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &d) != nil {
		t.Fatalf("no JSON, but %v", err)
	}
	// A section that another one displaces is read or passed over, depending on which comes first.
	if d["aicpu_tasks"] != nil && d["scheduler_tasks"] != nil || d["aicpu_scheduler_phases"] != nil && d["scheduler_records"] != nil {
		return
	}
	var parts []string
	for key, v := range d {
		k, _ := json.Marshal(key)
		parts = append(parts, string(k)+":"+string(v))
	}
	slices.Sort(parts)
	for range 2 {
		slices.Reverse(parts)
		got, gotErr := capture.ReadFrom(strings.NewReader("{"+strings.Join(parts, ",")+"}"), "in.json", capture.Options{Extras: true})
		if !reflect.DeepEqual(rec, got) || ruleOf(err) != ruleOf(gotErr) {
			t.Fatalf("sections in another order: got %v, want %v", gotErr, err)
		}
	}
}

// checkPromises checks what readers of the columns rely on.
func checkPromises(t *testing.T, rec *capture.Records) {
	t.Helper()
	if rec.Level < 1 || rec.Level > 4 || rec.Meta.ClockHz == 0 || len(rec.Kinds) < 28 {
		t.Fatalf("level %d, clock %d, %d kinds", rec.Level, rec.Meta.ClockHz, len(rec.Kinds))
	}
	k := &rec.Tasks
	n := k.Len()
	if len(k.Task) != n || len(k.Reg) != n || len(k.Start) != n || len(k.End) != n || len(k.Receive) != n {
		t.Fatal("kernel columns of different lengths")
	}
	type key struct {
		core, run int32
		reg       uint64
	}
	keys := map[key]bool{}
	keyOf := func(of capture.Keys, i int) key {
		run := int32(0)
		if of.Run != nil {
			run = of.Run[i]
		}
		return key{of.Core[i], run, of.Reg[i]}
	}
	for i := range n {
		if k.Core[i] < 0 || k.Receive[i] == 0 || k.Receive[i] > k.Start[i] || k.Start[i] > k.End[i] || keys[keyOf(k.Keys(), i)] {
			t.Fatalf("kernel row %d breaks a rule", i)
		}
		keys[keyOf(k.Keys(), i)] = true
	}
	q := &rec.Sched
	n = q.Len()
	if len(q.Reg) != n || len(q.Dispatch) != n || len(q.Finish) != n || n > 0 && !q.Present || q.Present != (q.Producer != "") {
		t.Fatalf("scheduler columns: %+v", q)
	}
	partner := map[key]bool{}
	for i := range n {
		if q.Core[i] < 0 || q.Dispatch[i] == 0 || q.Dispatch[i] > q.Finish[i] || partner[keyOf(q.Keys(), i)] {
			t.Fatalf("scheduler row %d breaks a rule", i)
		}
		partner[keyOf(q.Keys(), i)] = true
	}
	for key := range keys {
		if rec.Level > 1 && !partner[key] && !rec.Loss.Declared {
			t.Fatalf("%v has no scheduler row", key)
		}
	}
	for i := range rec.Streams {
		checkPhases(t, rec, &rec.Streams[i].Phases)
	}
	origin := rec.HostOrigin()
	for _, u := range rec.Uploads {
		if u.Start < origin || u.End < u.Start {
			t.Fatalf("upload %+v", u)
		}
	}
	for _, lane := range append(slices.Clone(rec.HostOrc), rec.DeviceOrc...) {
		if m := lane.Len(); len(lane.Index) != m || len(lane.Task) != m || len(lane.Has) != m || len(lane.End) != m {
			t.Fatal("orchestrator columns of different lengths")
		}
	}
	for _, lane := range rec.HostOrc {
		for j := range lane.Start {
			if lane.Start[j] < origin || lane.End[j] < lane.Start[j] {
				t.Fatalf("submit %d breaks a rule", j)
			}
		}
	}
}

func checkPhases(t *testing.T, rec *capture.Records, p *capture.Phases) {
	t.Helper()
	n := p.Len()
	if len(p.Flags) != n || len(p.Start) != n || len(p.End) != n || len(p.Loop) != n || len(p.Processed) != n || len(p.Task) != n ||
		p.Depth != nil && len(p.Depth) != n || p.Extra != nil && len(p.Extra) != n {
		t.Fatal("phase columns of different lengths")
	}
	for j := range n {
		if int(p.Kind[j]) >= len(rec.Kinds) {
			t.Fatalf("kind %d of %d", p.Kind[j], len(rec.Kinds))
		}
		if p.Flags[j]&capture.HasDepths != 0 && p.Depth == nil {
			t.Fatal("depths without a column")
		}
	}
	for _, extra := range p.Extra {
		if !json.Valid([]byte("{" + string(extra) + "}")) {
			t.Fatalf("extra fields %s", extra)
		}
	}
}

// FuzzDeps reads anything as a task graph and compares it with encoding/json.
func FuzzDeps(f *testing.F) {
	seed(f, "deps")
	f.Fuzz(checkDepsText)
}

func checkDepsText(t *testing.T, text string) {
	deps, err := readDeps(text)
	again, againErr := capture.ReadDepsFrom(iotest.OneByteReader(strings.NewReader(text)), "run/deps.json")
	if !reflect.DeepEqual(deps, again) || !sameError(err, againErr) {
		t.Fatalf("by bytes: got %v, at once %v", againErr, err)
	}
	if err != nil {
		checkError(t, err)
		return
	}
	checkDeps(t, text, deps)
}

// checkDeps counts what encoding/json finds in the same text.
func checkDeps(t *testing.T, text string, deps *capture.Deps) {
	t.Helper()
	var d map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatalf("accepted, but %v", err)
	}
	var edges, tasks []json.RawMessage
	edgesFound := json.Unmarshal(d["edges"], &edges) == nil && edges != nil
	if deps.NoEdges == edgesFound || len(deps.Pred) != len(deps.Succ) || len(deps.Pred)+int(deps.Skipped) != len(edges) {
		t.Fatalf("%d edges, %d skipped, want %d", len(deps.Pred), deps.Skipped, len(edges))
	}
	_ = json.Unmarshal(d["tasks"], &tasks)
	n := len(deps.Task)
	if n > len(tasks) || len(deps.Kernel) != n || len(deps.Block) != n || len(deps.Has) != n {
		t.Fatalf("%d tasks of %d", n, len(tasks))
	}
	for i := range n {
		if deps.Block[i] < 1 {
			t.Fatalf("block_num %d", deps.Block[i])
		}
	}
}
