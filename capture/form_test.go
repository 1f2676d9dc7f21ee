package capture_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"swimlane/capture"
	"swimlane/internal/parity"
)

// inForm writes a records file in another form.
func inForm(t *testing.T, text string, form capture.Form, runtime string) (string, *capture.Conversion) {
	t.Helper()
	rec, err := capture.ReadFrom(strings.NewReader(text), "in.json", capture.Options{Extras: true})
	if err != nil {
		t.Fatal(err)
	}
	conv, err := capture.Convert(rec, form, runtime)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := conv.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.String(), conv
}

// decoded decodes a text with exact numbers.
func decoded(t *testing.T, text string) map[string]any {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var out map[string]any
	if err := dec.Decode(&out); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return out
}

// asN1 is example N1 of spec/newest.md §17 with one further key at every level.
const asN1 = `{"chip_swimlane_level":3,
"metadata":{"runtime":"host_build_graph","clock_freq_hz":1000000000,"num_cores":1,"core_types":["aiv"],"later":{"a":[1,2.5]}},
"aicore_tasks":[[0,4611686031312289792,7,120,180,10,5]],
"scheduler_tasks":{"producer":"aicore","records":[[0,7,115,185,5]]},
"scheduler_records":{"streams":[{"platform":"a5","producer":"aicore","scheduler_id":2,"worker_id":6,"core_type":"aiv","physical_core_id":9,
 "capture":{"committed":2,"dropped":0,"truncated":false},"later":true,
 "records":[{"start_cycles":100,"end_cycles":110,"run_epoch":5,"loop_iter":0,"kind":"state_probe","tasks_processed":1,"task_id":4611686031312289792},
            {"start_cycles":111,"end_cycles":119,"run_epoch":5,"loop_iter":1,"kind":"idle","tasks_processed":0,"task_id":null}],
 "metrics":[{"record_index":0,"claim_retries":2,"shared_at_end":[3,4,5],"shared_at_start":[0,1,2]}]}]},
"aicpu_lifecycle_records":[{"aicpu_thread_id":0,"handshake_start_cycles":90,"register_release_start_cycles":97,"exit_wait_end_cycles":184,"later":"x"}],
"later":[null]}`

// TestForms holds a file of either form against what the formats say it looks
// like: spec/records.md §2 for the one, the example itself for the other. The id
// g3t0 is graph 3, node 0: high word 1 over 3<<10 there.
func TestForms(t *testing.T) {
	older := strings.NewReplacer(
		`"runtime":"host_build_graph",`, "",
		`"later":{"a":[1,2.5]}`, `"later":{"a":[1,2.5]},"converted_from":{"run_epoch":5}`,
		"4611686031312289792", "4294970368", // 1<<32 | 3<<10
		"120,180,10,5]", "120,180,10]",
		"115,185,5]", "115,185]",
		`"run_epoch":5,"loop_iter"`, `"loop_iter"`,
		`{"producer":"aicore","records"`, `{"schema_version":1,"producer":"aicore","records"`,
		`{"streams"`, `{"schema_version":1,"streams"`,
		`{"platform":"a5",`, `{"platform":"a5","runtime":"host_build_graph",`,
	).Replace(asN1)
	text, conv := inForm(t, asN1, capture.FormSeed, "")
	equal(t, decoded(t, text), decoded(t, older))
	equal(t, conv.Lost(), []string(nil))
	equal(t, conv.Notes(), []string{"run_epoch 5 has no place in this form; it stands in metadata.converted_from"})

	back, conv := inForm(t, text, capture.FormNewest, "")
	equal(t, decoded(t, back), decoded(t, asN1))
	equal(t, conv.Lost(), []string(nil))
	equal(t, conv.Notes(), []string(nil))
	equal(t, strings.HasPrefix(back, "{\n  \"chip_swimlane_level\": 3,\n  \"metadata\": {\n    \"runtime\": \"host_build_graph\",\n"), true)

	// What the older form says of its origin is known to every reader of it.
	rec := accept(t, text)
	equal(t, rec.Warnings, []capture.Warning{{Code: "unknown-keys", Count: 2,
		Text: fileName + " has keys that no generation of captures writes; they were ignored: later, metadata.later"}})
}

// TestFormAssumedRun: a run that only the form wants is told from one that the
// capture names, and does not outlive the form.
func TestFormAssumedRun(t *testing.T) {
	const older = `{"chip_swimlane_level":1,"metadata":{"clock_freq_hz":1000,"core_types":["aic"],"co_captured":["pmu"]},"aicore_tasks":[[0,5,1,100,200,10]]}`
	assumed := func(text string) map[string]any {
		from, _ := decoded(t, text)["metadata"].(map[string]any)["converted_from"].(map[string]any)
		return from
	}
	newest, conv := inForm(t, older, capture.FormNewest, capture.RuntimeTMR)
	equal(t, conv.Notes()[0], "the capture names no run; run_epoch 1 is written")
	equal(t, assumed(newest), map[string]any{"run_epoch_assumed": true})
	rec := accept(t, newest)
	equal(t, rec.Runs, []capture.Run{{Epoch: 1, Known: true}})
	equal(t, rec.Meta.Origin.Assumed, true)
	again, conv := inForm(t, newest, capture.FormNewest, "")
	equal(t, decoded(t, again), decoded(t, newest))
	equal(t, conv.Notes(), []string(nil))
	back, conv := inForm(t, newest, capture.FormSeed, "")
	equal(t, assumed(back), map[string]any{"runtime": capture.RuntimeTMR}) // no stream has it
	equal(t, conv.Notes(), []string(nil))
	// The capture's own run is none of that.
	named, _ := inForm(t, strings.Replace(newest, `{"run_epoch_assumed":true}`, `{}`, 1), capture.FormNewest, "")
	equal(t, len(assumed(named)), 0)
}

// TestFormIDs: numbers of tasks by spec/records.md §0.3 and spec/newest.md §4.1.
func TestFormIDs(t *testing.T) {
	const none = 0
	for _, x := range []struct {
		runtime       string
		older, newest uint64
	}{
		{capture.RuntimeTMR, 7, 7},
		{capture.RuntimeTMR, 1<<33 + 5, 1<<33 + 5},
		{capture.RuntimeTMR, 255<<32 | 9, 255<<32 | 9},
		{capture.RuntimeTMR, 256 << 32, none},
		{capture.RuntimeHBG, 12, 12},
		{capture.RuntimeHBG, 1<<32 | 3<<10, 4611686031312289792},     // g3t0
		{capture.RuntimeHBG, 1<<32 | 7<<10 | 5, 4611686048492158981}, // g7t5
		{capture.RuntimeHBG, 1<<32 | 0xfffff<<10 | 1023, 1<<62 | 0xfffff<<32 | 1023},
		{capture.RuntimeHBG, 1<<32 | 1<<30, none}, // a parent has 20 bits
		{capture.RuntimeHBG, 2 << 32, none},
		{capture.RuntimeHBG, none, 9223372036854775810},   // p2
		{capture.RuntimeHBG, none, 1<<62 | 3<<32 | 1024},  // an index has 10 bits
		{capture.RuntimeHBG, none, 1<<62 | 1<<52 | 3<<32}, // reserved bits
		{capture.RuntimeHBG, none, 1<<32 | 9},             // t9, but with a parent
		{capture.RuntimeHBG, 1<<64 - 1, 1<<64 - 1},        // no task
		{capture.RuntimeTMR, 1<<64 - 1, 1<<64 - 1},
	} {
		check := func(from string, id uint64, form capture.Form, want uint64) {
			section := "aicpu_orchestrator_phases"
			if x.runtime == capture.RuntimeHBG {
				section = "host_orchestrator_phases"
			}
			text := fmt.Sprintf(`{"chip_swimlane_level":1,"metadata":{%s"clock_freq_hz":1},%q:[[{"task_id":%d}]]}`, from, section, id)
			out, conv := inForm(t, text, form, x.runtime)
			if want == none {
				equal(t, conv.Lost(), []string{fmt.Sprintf("which task 1 record(s) are about: the ids of this form have no number for theirs (the first is %d)", id)})
				equal(t, conv.Holds(id), false)
				return
			}
			if len(conv.Lost()) > 0 || !strings.Contains(out, fmt.Sprintf(`"task_id": %d,`, want)) {
				t.Errorf("%s %d in form %v: want %d, lost %q, got\n%s", x.runtime, id, form, want, conv.Lost(), out)
			}
			equal(t, conv.Holds(id), true)
			equal(t, conv.Renames(id), id != want)
		}
		if x.older != none {
			check("", x.older, capture.FormNewest, x.newest)
		}
		if x.newest != none {
			check(fmt.Sprintf(`"runtime":%q,`, x.runtime), x.newest, capture.FormSeed, x.older)
		}
	}
}

// TestFormLosses: what a form cannot hold is named, and what is assumed is said.
func TestFormLosses(t *testing.T) {
	named := func(rows, sched string) string {
		return `{"chip_swimlane_level":2,"metadata":{"runtime":"tensormap_and_ringbuffer","clock_freq_hz":1},"aicore_tasks":` + rows +
			`,"scheduler_tasks":{"producer":"aicpu","records":` + sched + `}}`
	}
	two := named("[[0,7,1,1000,1100,0,11],[0,7,1,5000,5150,0,12]]", "[[0,1,950,1150,11],[0,1,4950,5200,12]]") // example N2
	launches := `{"chip_swimlane_level":1,"metadata":{"clock_freq_hz":1,"run_boundaries":[[4,1000],[5,2000]]},"aicore_tasks":[[0,7,1,1500,1600],[0,7,1,2500,2600]]}`
	const idle = `"records":[{"start_cycles":5,"end_cycles":6,"loop_iter":0,"kind":"dispatch","tasks_processed":0,"task_id":null}]`
	mixed := `{"chip_swimlane_level":3,"metadata":{"clock_freq_hz":1},"scheduler_records":{"schema_version":1,"streams":[
		{"runtime":"tensormap_and_ringbuffer","producer":"aicpu","scheduler_id":2,` + idle + `},{"runtime":"host_build_graph","producer":"aicpu","scheduler_id":0,` + idle + `}]}}`
	archived := `{"chip_swimlane_level":3,"metadata":{"clock_freq_hz":1},"aicpu_scheduler_phases":[[{"start_cycles":5,"end_cycles":4,"record_index":1}]]}`
	for _, x := range []struct {
		text string
		form capture.Form
		want []string
	}{
		{two, capture.FormNewest, nil},
		{two, capture.FormSeed, []string{"which run a record belongs to: the file holds 2 runs (epochs 11, 12), and rows of this form name none"}},
		{launches, capture.FormSeed, nil},
		{launches, capture.FormNewest, []string{"where its 2 kernel launches begin, and the lane that shows them: rows name a run, and nothing says when one started"}},
		{archived, capture.FormSeed, []string{"1 phase record(s) that end before they start, which this form does not allow",
			"the record_index of 1 phase record(s): metrics have one of their own"}},
		{strings.Replace(named("[[0,7,1,1000,1100,0]]", "[[0,1,950,1150]]"), `}}`, `},"scheduler_records":{"streams":[{"records":[
			{"start_cycles":1,"end_cycles":2,"run_epoch":3,"loop_iter":0,"kind":"idle","tasks_processed":0,"task_id":null}]}]}}`, 1),
			capture.FormNewest, []string{"that some records name no run: in this form each row names one"}},
		{strings.NewReplacer("1600]", "1600,0,11]", "2600]", "2600,0,12]", `"metadata":{`, `"metadata":{"runtime":"tensormap_and_ringbuffer",`).Replace(launches), capture.FormSeed,
			[]string{"the runs that its records name beside its kernel launches"}},
		{mixed, capture.FormSeed, nil},
		{mixed, capture.FormNewest, []string{"the runtime that 1 scheduler stream(s) name, which is not 'tensormap_and_ringbuffer'"}},
	} {
		_, conv := inForm(t, x.text, x.form, capture.RuntimeTMR)
		equal(t, conv.Lost(), x.want)
	}

	// Streams keep their order in the file, and the runtime that they name.
	text, _ := inForm(t, mixed, capture.FormSeed, "")
	first, second := strings.Index(text, `"runtime": "tensormap_and_ringbuffer"`), strings.Index(text, `"runtime": "host_build_graph"`)
	if first < 0 || second < first {
		t.Errorf("streams in another order, or without their runtimes:\n%s", text)
	}

	// A retained run says which it is.
	kept, conv := inForm(t, `{"chip_swimlane_level":1,"metadata":{"runtime":"tensormap_and_ringbuffer","clock_freq_hz":1,"collection":{"run_epoch":12}},"aicore_tasks":[[0,7,1,5,6]]}`, capture.FormNewest, "")
	if equal(t, conv.Notes(), []string(nil)); !strings.Contains(kept, "[0, 7, 1, 5, 6, 0, 12]") {
		t.Errorf("the run is lost:\n%s", kept)
	}

	_, conv = inForm(t, named("[[0,7,1,1000,1100,0]]", "[[0,1,950,1150]]"), capture.FormNewest, "")
	equal(t, conv.Notes(), []string{"the capture names no run; run_epoch 1 is written"})
	rec := accept(t, `{"chip_swimlane_level":1,"metadata":{"clock_freq_hz":1}}`)
	if _, err := capture.Convert(rec, capture.FormNewest, ""); !errors.Is(err, capture.ErrNoRuntime) {
		t.Errorf("got %v, want ErrNoRuntime", err)
	}
	if _, err := capture.Convert(rec, capture.FormSeed, ""); err != nil {
		t.Error(err)
	}
	conv, err := capture.Convert(rec, capture.FormNewest, capture.RuntimeTMR)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, conv.Notes(), []string{"the capture names no run; run_epoch 1 is written", "the capture names no runtime; 'tensormap_and_ringbuffer' is written"})
	rec = accept(t, two)
	if _, err := capture.Convert(rec, capture.FormSeed, capture.RuntimeHBG); err == nil ||
		err.Error() != fileName+" is of the runtime 'tensormap_and_ringbuffer', not 'host_build_graph'" {
		t.Errorf("got %v", err)
	}
}

// TestShownRuntime: what only one runtime writes shows it (spec/records.md §2.9–§2.11).
func TestShownRuntime(t *testing.T) {
	phase := func(producer, kind string) string {
		return fmt.Sprintf(`"scheduler_records":{"schema_version":1,"streams":[{"producer":%q,"records":[
			{"start_cycles":1,"end_cycles":2,"loop_iter":0,"kind":%q,"tasks_processed":0,"task_id":null}]}]}`, producer, kind)
	}
	for _, x := range []struct{ section, runtime, why string }{
		{`"aicpu_orchestrator_phases":[[]]`, capture.RuntimeTMR, "records of an AICPU orchestrator"},
		{`"host_orchestrator_phases":[[]]`, capture.RuntimeHBG, "records of a host orchestrator"},
		{`"host_device_uploads":[{"start_host_ns":1,"end_host_ns":2}]`, capture.RuntimeHBG, "records of a host orchestrator"},
		{phase("aicore", "idle"), capture.RuntimeHBG, "records of AICore schedulers"},
		{phase("aicpu", "graph_prepare"), capture.RuntimeHBG, `"graph_prepare" records`},
		{phase("aicpu", "resolve_standalone"), capture.RuntimeHBG, `"resolve_standalone" records`},
		{phase("aicpu", "dispatch"), "", ""},
		{`"aicore_tasks":[]`, "", ""},
	} {
		rec := accept(t, `{"chip_swimlane_level":4,"metadata":{"clock_freq_hz":1},`+x.section+"}")
		runtime, why := capture.ShownRuntime(rec)
		equal(t, [2]string{runtime, why}, [2]string{x.runtime, x.why})
		for _, named := range []string{capture.RuntimeTMR, capture.RuntimeHBG} {
			_, err := capture.Convert(rec, capture.FormNewest, named)
			if refused := x.runtime != "" && x.runtime != named; (err != nil) != refused {
				t.Errorf("%s as %s: %v", x.section, named, err)
			}
		}
	}
}

// FuzzForms: whatever can be read can be written in either form, and what is
// said to lose nothing reads back as the same records.
func FuzzForms(f *testing.F) {
	seed(f, "records")
	f.Add(asN1)
	for _, args := range parity.CorpusEntries(f, "FuzzRecords") {
		f.Add(args[0])
	}
	f.Fuzz(checkForms)
}

func checkForms(t *testing.T, text string) {
	opt := capture.Options{Extras: true}
	rec, err := capture.ReadFrom(strings.NewReader(text), "in.json", opt)
	if err != nil {
		return
	}
	for _, form := range []capture.Form{capture.FormSeed, capture.FormNewest} {
		for _, runtime := range []string{capture.RuntimeTMR, capture.RuntimeHBG} {
			conv, err := capture.Convert(rec, form, runtime)
			if err != nil {
				continue
			}
			var out bytes.Buffer
			if err := conv.Write(&out); err != nil {
				t.Fatal(err)
			}
			if !json.Valid(out.Bytes()) {
				t.Fatalf("%v: no JSON:\n%s", form, out.Bytes())
			}
			if len(conv.Lost()) > 0 {
				continue
			}
			back, err := capture.ReadFrom(bytes.NewReader(out.Bytes()), "in.json", opt)
			if err != nil {
				t.Fatalf("%v loses nothing, but: %v\n%s", form, err, out.Bytes())
			}
			checkSame(t, rec, back, conv)
			again, err := capture.Convert(back, form, runtime)
			if err != nil {
				t.Fatal(err)
			}
			var twice bytes.Buffer
			if err := again.Write(&twice); err != nil || !bytes.Equal(twice.Bytes(), out.Bytes()) {
				t.Fatalf("%v once and twice differ (%v):\n%s\n%s", form, err, out.Bytes(), twice.Bytes())
			}
		}
	}
}

// checkSame compares what was read back with the capture.
func checkSame(t *testing.T, rec, back *capture.Records, conv *capture.Conversion) {
	t.Helper()
	want := conv.Records()
	same := func(what string, a, b any) {
		t.Helper()
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("%s: %+v, read back %+v", what, a, b)
		}
	}
	ids := func(have, now []uint64, valid func(int) bool) {
		t.Helper()
		if len(have) != len(now) {
			t.Fatalf("%d ids, read back %d", len(have), len(now))
		}
		for i := range have {
			if valid(i) && (!conv.Holds(have[i]) || conv.Renames(have[i]) == (have[i] == now[i])) {
				t.Fatalf("task %d is %d", have[i], now[i])
			}
		}
	}
	always := func(int) bool { return true }
	a, b := rec.Tasks, back.Tasks
	ids(a.Task, b.Task, always)
	a.Task, b.Task, a.Run, b.Run = nil, nil, nil, nil
	same("kernel rows", a, b)
	p, q := rec.Sched, back.Sched
	p.Run, q.Run = nil, nil
	same("scheduler rows", p, q)
	same("level", rec.Level, back.Level)
	want.Dialect.Label = back.Dialect.Label
	same("dialect", want.Dialect, back.Dialect)
	same("loss", rec.Loss, back.Loss)
	same("launches", rec.Launches, back.Launches)
	same("uploads", len(rec.Uploads), len(back.Uploads))
	same("life cycle", rec.Lifecycle, back.Lifecycle)
	same("host", rec.HostMode(), back.HostMode())
	same("origin", rec.HostOrigin(), back.HostOrigin())
	if len(rec.Streams) != len(back.Streams) {
		t.Fatalf("%d streams, read back %d", len(rec.Streams), len(back.Streams))
	}
	for i := range rec.Streams {
		x, y := rec.Streams[i].Phases, back.Streams[i].Phases
		ids(x.Task, y.Task, func(j int) bool { return x.Flags[j]&capture.HasTask != 0 })
		kinds := func(p *capture.Phases, all []capture.Kind) (out []capture.Kind) {
			for _, k := range p.Kind {
				out = append(out, all[k])
			}
			return out
		}
		same("kinds", kinds(&x, rec.Kinds), kinds(&y, back.Kinds))
		same("flags", x.Flags, y.Flags)
		same("starts", x.Start, y.Start)
		same("ends", x.End, y.End)
		same("loops", x.Loop, y.Loop)
		same("processed", x.Processed, y.Processed)
		same("gap", rec.Streams[i].Gap, back.Streams[i].Gap)
		same("producer", rec.Streams[i].Producer, back.Streams[i].Producer)
		for j := range x.Flags {
			if x.Flags[j]&capture.HasDepths != 0 {
				same("depths", x.Depth[j], y.Depth[j])
			}
		}
	}
	for _, lanes := range [][2][]capture.Submits{{rec.DeviceOrc, back.DeviceOrc}, {rec.HostOrc, back.HostOrc}} {
		if len(lanes[0]) != len(lanes[1]) {
			t.Fatalf("%d lanes, read back %d", len(lanes[0]), len(lanes[1]))
		}
		for i := range lanes[0] {
			x, y := lanes[0][i], lanes[1][i]
			ids(x.Task, y.Task, func(j int) bool { return x.Has[j] })
			same("names", x.Has, y.Has)
			same("submits", [3]any{x.Index, x.Start, x.End}, [3]any{y.Index, y.Start, y.End})
		}
	}
	if known := func(r *capture.Records) bool {
		return slices.ContainsFunc(r.Runs, func(run capture.Run) bool { return run.Known })
	}; rec.Launches != nil && !known(back) {
		t.Fatal("no launch is a run")
	}
}
