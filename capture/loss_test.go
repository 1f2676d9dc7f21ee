package capture_test

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"swimlane/capture"
)

// spec/records.md §9 no. 14: missing scheduler rows are drawable only where the
// file declares that records were lost, in any of three ways.
func TestDeclaredLoss(t *testing.T) {
	stream := func(c string) doc {
		return level2("[]", "[]").with("scheduler_records", raw(`{"schema_version": 1, "streams": [{"records": [], "capture": `+c+`}]}`))
	}
	meta := func(fields string) doc {
		return level2("[]", "[]").with("metadata", raw(`{"clock_freq_hz": 1, `+fields+`}`))
	}
	kinds := func(counts string) doc {
		return meta(`"capture_accounting": {"policy": "drop", "kinds": {"AICPU_TASK": {"total": 9, "collected": 9}, "AICORE_TASK": ` + counts + `}, "stalls": {"count": 1, "real_ns": 5}}`)
	}
	aicore := func(n int64) []capture.KindLoss { return []capture.KindLoss{{Kind: "AICORE_TASK", N: n}} }
	tests := []struct {
		d    doc
		want capture.Loss
	}{
		{level2("[]", "[]"), capture.Loss{}},
		{stream(`{"committed": 5, "dropped": 0, "truncated": false}`), capture.Loss{}},
		{stream(`{"committed": 5, "dropped": 2, "truncated": true}`), capture.Loss{Streams: 2, Declared: true}},
		{stream(`{"dropped": "2"}`), capture.Loss{Streams: 2, Declared: true}},
		{stream(`{"truncated": true}`), capture.Loss{Declared: true}},
		{stream(`{"dropped": -2, "truncated": "yes"}`), capture.Loss{}},
		{kinds(`{"total": 9, "collected": 9, "dropped": 0, "host_lost": 0, "unflushed": 0}`), capture.Loss{}},
		{kinds(`{"dropped": 3}`), capture.Loss{Accounting: 3, Kinds: aicore(3), Declared: true}},
		{kinds(`{"host_lost": 4}`), capture.Loss{Accounting: 4, Kinds: aicore(4), Declared: true}},
		{kinds(`{"unflushed": 5}`), capture.Loss{Accounting: 5, Kinds: aicore(5), Declared: true}},
		{kinds(`{"total": 100, "collected": 88, "dropped": 3, "host_lost": 4, "unflushed": 5}`), capture.Loss{Accounting: 12, Kinds: aicore(12), Declared: true}},
		{kinds(`{"dropped": 9223372036854775807, "host_lost": 9223372036854775807, "unflushed": -1}`), capture.Loss{Accounting: math.MaxInt64, Kinds: aicore(math.MaxInt64), Declared: true}},
		{kinds(`5`), capture.Loss{}},
		{meta(`"capture_accounting": [{"dropped": 3}]`), capture.Loss{}},
		{meta(`"host_capture": {"status": "complete", "dropped_records": 0}`), capture.Loss{}},
		{meta(`"host_capture": {"status": "dropped", "dropped_records": 2}`), capture.Loss{Host: 2, Declared: true}},
		{meta(`"host_capture": {"status": "complete", "dropped_records": 2}`), capture.Loss{Host: 2, Declared: true}},
		{meta(`"host_capture": {"status": "dropped"}`), capture.Loss{Declared: true}},
	}
	for _, tt := range tests {
		equal(t, accept(t, tt.d.String()).Loss, tt.want)
		missing := tt.d.with("aicore_tasks", raw(`[[0,7,7,120,180,10],[1,8,3,120,180,10]]`), "scheduler_tasks", schedTasks("1", `"aicpu"`, `[[0,7,115,185],[4,4,1,1]]`))
		for _, order := range [][]string{sections, reversed(sections)} {
			text := missing.text(order)
			if !tt.want.Declared {
				e := refuse(t, text, "level 2 requires Scheduler task timing for every AICore task; missing 1 join key(s): (1, 3)")
				if e != nil && !strings.Contains(e.Error(), "declares no loss") {
					t.Error(e)
				}
				continue
			}
			rec := accept(t, text)
			w := warning(t, rec.Warnings, "kernel-rows-without-scheduler")
			if w.Count != 1 || !strings.HasPrefix(w.Text, "1 kernel row(s) have no Scheduler task timing") {
				t.Errorf("got %+v", w)
			}
			if rec.Tasks.Len() != 2 || rec.Sched.Len() != 2 {
				t.Errorf("%d kernel rows, %d scheduler rows", rec.Tasks.Len(), rec.Sched.Len())
			}
			equal(t, rec.Loss, tt.want)
		}
		// Declared loss excuses missing partners and nothing else.
		refuse(t, tt.d.with("aicore_tasks", raw(`[[0,7,7,120,180,120]]`)).String(), "aicore_tasks[0] has invalid receive_to_start_cycles")
	}
	for _, d := range []doc{
		stream(`{"dropped": 9223372036854775808}`), stream(`{"dropped": 1.5}`), kinds(`{"dropped": 18446744073709551615}`), kinds(`{"unflushed": 1e3}`),
	} {
		refuse(t, d.String(), "cannot read ")
	}
	// Many streams.
	var streams []string
	for i := range 3 {
		streams = append(streams, fmt.Sprintf(`{"scheduler_id": %d, "records": [], "capture": {"dropped": 9000000000000000000}}`, i))
	}
	rec := accept(t, level3("["+strings.Join(streams, ",")+"]").String())
	equal(t, rec.Loss, capture.Loss{Streams: math.MaxInt64, Declared: true})
}

// A retained run that is not whole is told of in one line, whatever stands in the file.
func TestCollectionWarning(t *testing.T) {
	for collection, want := range map[string]string{
		`{"verdict": "partial_safe", "not_received_buffers": 2}`: ": collection verdict partial_safe (not_received_buffers=2)",
		`{"metadata_complete": false}`:                           ": collection verdict not stated (not_received_buffers=0, metadata_complete=false)",
		`{"verdict": "x\u001b[2J\n"}`:                            ": collection verdict x\ufffd[2J\ufffd (not_received_buffers=0)",
	} {
		rec := accept(t, level1("[]").with("metadata", raw(`{"clock_freq_hz": 1, "collection": `+collection+`}`)).String())
		if w := warning(t, rec.Warnings, "collection"); w.Text != fileName+want {
			t.Errorf("got %q", w.Text)
		}
	}
}

// spec/records.md §9 no. 15: unknown top-level and metadata keys are ignored with
// one warning that names them.
func TestUnknownKeys(t *testing.T) {
	rec := accept(t, `{"zeta": [1.5, {"a": null}], "chip_swimlane_level": 1, "metadata": {"clock_freq_hz": 1, "flavour": {}, "alpha": 2}, "beta": "x", "nothing": null}`)
	w := warning(t, rec.Warnings, "unknown-keys")
	if w.Count != 4 || !strings.HasSuffix(w.Text, ": beta, metadata.alpha, metadata.flavour, zeta") || !strings.Contains(w.Text, fileName) {
		t.Errorf("got %+v", w)
	}
	if len(rec.Warnings) != 1 {
		t.Errorf("got %v", rec.Warnings)
	}
	// Keys that only one generation knows are no surprise, nor are those inside sections.
	rec = accept(t, level3(`[{"records": [], "later": 1}]`).with("aicpu_lifecycle_records", raw(`[{"later": 1}]`),
		"host_device_uploads", raw(`[{"later": 1}]`)).String())
	if len(rec.Warnings) != 0 {
		t.Errorf("got %v", rec.Warnings)
	}
}

// The warning stays one readable line, whatever the keys are.
func TestUnknownKeysAreShown(t *testing.T) {
	var b strings.Builder
	for i := range 20 {
		fmt.Fprintf(&b, `, "key%02d": 1`, i)
	}
	rec := accept(t, `{"chip_swimlane_level": 1, "metadata": {"clock_freq_hz": 1}`+b.String()+`}`)
	if w := warning(t, rec.Warnings, "unknown-keys"); w.Count != 20 || !strings.HasSuffix(w.Text, "key06, key07 and 12 more") {
		t.Errorf("got %+v", w)
	}
	long := strings.Repeat("長", 5000)
	rec = accept(t, `{"chip_swimlane_level": 1, "metadata": {"clock_freq_hz": 1}, "a\u001b[31m\n\r": 1, "`+long+`": 2}`)
	w := warning(t, rec.Warnings, "unknown-keys")
	if strings.ContainsAny(w.Text, "\x1b\n\r") || len(w.Text) > 500 || !strings.Contains(w.Text, "長…") {
		t.Errorf("got %d bytes: %q", len(w.Text), w.Text)
	}
}

// Records that name no run beside others that do are joined by nothing, which is
// worth a word; so is what stands in for runs, or is not understood.
func TestRunWarnings(t *testing.T) {
	named := `{"chip_swimlane_level":3,"metadata":{"runtime":"tensormap_and_ringbuffer","clock_freq_hz":1%s},
		"aicore_tasks":[[0,7,1,1000,1100,0,11]],"scheduler_tasks":{"producer":"aicpu","records":[[0,1,950,1150,11]]}%s}`
	record := `{"start_cycles":960,"end_cycles":970,%s"loop_iter":0,"kind":"idle","tasks_processed":0,"task_id":null}`
	streams := func(run string) string {
		return `,"scheduler_records":{"streams":[{"records":[` + fmt.Sprintf(record, run) + `]}]},"aicpu_orchestrator_phases":[[{"submit_idx":0,` + run + `"start_cycles":955,"end_cycles":956}]]`
	}
	whole := accept(t, fmt.Sprintf(named, "", streams(`"run_epoch":11,`)))
	equal(t, whole.Warnings, []capture.Warning(nil))
	half := accept(t, fmt.Sprintf(named, "", streams("")))
	w := warning(t, half.Warnings, "runs-half-named")
	if w.Count != 2 || !strings.Contains(w.Text, "1 record(s) of scheduler stream 0, 1 record(s) of orchestrator lane 0; arrows between them are missing") {
		t.Errorf("got %+v", w)
	}
	both := accept(t, fmt.Sprintf(named, `,"run_boundaries":[[4,900]]`, ""))
	if w := warning(t, both.Warnings, "launches-over-runs"); w.Count != 1 || !both.RunsReplaced {
		t.Errorf("got %+v, %v", w, both.RunsReplaced)
	}
	odd := accept(t, fmt.Sprintf(named, `,"capture_accounting":{"dropped":3}`, ""))
	if w := warning(t, odd.Warnings, "accounting-unreadable"); !strings.Contains(w.Text, `has no object "kinds"`) {
		t.Errorf("got %+v", w)
	}
}

// TestEndedEarly: a capture that says that its run failed is not complete, whatever
// the counts say, and a kernel row without a scheduler's is no mistake then.
func TestEndedEarly(t *testing.T) {
	counts := `"AICORE_TASK": {"total": 2, "collected": 2, "dropped": 0, "host_lost": 0, "unflushed": 0}`
	file := func(more string) string {
		return `{"chip_swimlane_level": 2, "metadata": {"clock_freq_hz": 50000000, "num_cores": 1, "core_types": ["aiv"],
			"capture_accounting": {"policy": "wait", "kinds": {` + counts + `}, "stalls": {"count": 0, "real_ns": 0}` + more + `}},
			"aicore_tasks": [[0, 0, 1, 100, 200, 5], [0, 1, 2, 300, 400, 5]],
			"scheduler_tasks": {"schema_version": 1, "producer": "aicpu", "records": [[0, 1, 90, 210]]}}`
	}
	for more, want := range map[string]bool{`, "ended_early": true`: true, `, "ended_early": false`: false, `, "ended_early": "true"`: false, `, "ended_early": {"a": [1]}`: false, ``: false} {
		rec, err := capture.ReadFrom(strings.NewReader(file(more)), "x.json", capture.Options{})
		if !want {
			if err == nil {
				t.Errorf("%q: the missing row is no mistake", more)
			}
			continue
		}
		if err != nil || !rec.Loss.EndedEarly || !rec.Loss.Declared {
			t.Errorf("%q: %v, %+v", more, err, rec)
		}
	}
}

// TestAccounting: what a collector says became of the records is there as it stands
// in the file, and whether it adds up.
func TestAccounting(t *testing.T) {
	rec, err := capture.ReadFrom(strings.NewReader(`{"chip_swimlane_level":1,"metadata":{"clock_freq_hz":1,"capture_accounting":{"policy":"drop",
		"kinds":{"AICORE_TASK":{"total":9,"collected":4,"dropped":3,"host_lost":1,"unflushed":1},"X":{"total":2,"collected":3},"Y":{"total":1,"collected":2,"dropped":-1}},
		"stalls":{"count":2,"real_ns":7}}}}`), "x.json", capture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := &capture.Accounting{Policy: "drop", Accounts: []capture.Account{
		{Kind: "AICORE_TASK", Total: 9, Collected: 4, Dropped: 3, HostLost: 1, Unflushed: 1}, {Kind: "X", Total: 2, Collected: 3}, {Kind: "Y", Total: 1, Collected: 2, Dropped: -1}}}
	if !reflect.DeepEqual(rec.Meta.Accounting, want) {
		t.Errorf("%+v, want %+v", rec.Meta.Accounting, want)
	}
	for i, balanced := range []bool{true, false, false} {
		if got := rec.Meta.Accounting.Accounts[i].Balanced(); got != balanced {
			t.Errorf("account %d adds up: %v", i, got)
		}
	}
}
