package capture_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"swimlane/capture"
)

// launchFile is a file of up to three launches, at 1000, 2000 and 3000 cycles, each
// with a kernel row, a scheduler row, two phase records, a submit and a life cycle.
func launchFile(boundaries string, launches ...int) string {
	var tasks, sched, phases, metrics, submits, lives []string
	for i, l := range launches {
		at := 1000 * l
		tasks = append(tasks, fmt.Sprintf(`[%d,%d,1,%d,%d,5]`, l%2, 7+l, at+100, at+200))
		sched = append(sched, fmt.Sprintf(`[%d,1,%d,%d]`, l%2, at+50, at+210))
		phases = append(phases,
			fmt.Sprintf(`{"start_cycles":%d,"end_cycles":%d,"loop_iter":%d,"kind":"dispatch","tasks_processed":1,"task_id":null}`, at+40, at+60, l),
			fmt.Sprintf(`{"start_cycles":%d,"end_cycles":%d,"loop_iter":%d,"kind":"complete","tasks_processed":1,"task_id":null}`, at+205, at+215, l+1))
		metrics = append(metrics, fmt.Sprintf(`{"record_index":%d,"pop_hit":%d,"pop_miss":%d,"shared_at_start":[%d,0,0],"shared_at_end":[0,0,%d]}`, 2*i, l, 10*l, l, l))
		submits = append(submits, fmt.Sprintf(`{"phase":"orch_submit","submit_idx":%d,"task_id":%d,"start_cycles":%d,"end_cycles":%d}`, l, 7+l, at+10, at+20))
		lives = append(lives, fmt.Sprintf(`{"aicpu_thread_id":%d,"handshake_start_cycles":%d,"handshake_complete_cycles":%d}`, l, at+1, at+2))
	}
	list := func(parts []string) string { return "[" + strings.Join(parts, ",") + "]" }
	return `{"chip_swimlane_level":4,"metadata":{"clock_freq_hz":1000000,"run_boundaries":` + boundaries + `},"aicore_tasks":` + list(tasks) +
		`,"scheduler_tasks":{"schema_version":1,"producer":"aicpu","records":` + list(sched) + `},"scheduler_records":{"schema_version":1,"streams":[{"producer":"aicpu","scheduler_id":0,"records":` +
		list(phases) + `,"metrics":` + list(metrics) + `}]},"aicpu_orchestrator_phases":[` + list(submits) + `],"aicpu_lifecycle_records":` + list(lives) + `}`
}

// TestOnly: what is left of a file of three launches is what a file of the one says.
func TestOnly(t *testing.T) {
	for i, boundary := range []string{"[4,1000]", "[5,2000]", "[9,3000]"} {
		for _, opt := range []capture.Options{{Pops: true}, {Extras: true}} {
			rec, err := read(launchFile("[[4,1000],[5,2000],[9,3000]]", 1, 2, 3), opt)
			if err != nil {
				t.Fatal(err)
			}
			if got := rec.Epochs(); got != "4, 5, 9" {
				t.Errorf("epochs %q", got)
			}
			epoch := strings.Split(boundary[1:], ",")[0]
			if run := rec.RunOf(epoch); run != i {
				t.Fatalf("epoch %s is run %d, want %d", epoch, run, i)
			}
			rec.Only(i)
			want, err := read(launchFile("["+boundary+"]", i+1), opt)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(rec, want) {
				t.Errorf("launch %d, options %+v\n got %+v\nwant %+v", i, opt, rec, want)
			}
		}
	}
}

// TestOnlyNamed: rows of different runs, and sections that name none.
func TestOnlyNamed(t *testing.T) {
	text := `{"chip_swimlane_level":2,"metadata":{"runtime":"tensormap_and_ringbuffer","clock_freq_hz":1000000},
"aicore_tasks":[[0,7,1,5,6,1,11],[0,8,1,9,10,1,12]],"scheduler_tasks":{"schema_version":1,"producer":"aicpu","records":[[0,1,2,7,11],[0,1,8,11,12]]},
"scheduler_records":{"schema_version":1,"streams":[{"producer":"aicpu","scheduler_id":0,"records":[{"start_cycles":1,"end_cycles":2,"loop_iter":0,"kind":"dispatch","tasks_processed":1,"task_id":null}],"metrics":[]}]}}`
	rec := accept(t, text)
	if got := rec.Epochs(); got != "none, 11, 12" {
		t.Fatalf("epochs %q", got)
	}
	if rec.RunOf("13") != -1 || rec.RunOf("") != -1 || rec.RunOf("none") != 0 {
		t.Errorf("runs 13: %d, empty: %d, none: %d", rec.RunOf("13"), rec.RunOf(""), rec.RunOf("none"))
	}
	rec.Only(rec.RunOf("12"))
	if rec.Tasks.Len() != 1 || rec.Tasks.Task[0] != 8 || rec.Sched.Len() != 1 || rec.Sched.Dispatch[0] != 8 || rec.Streams[0].Phases.Len() != 0 {
		t.Errorf("of run 12 there is %+v %+v %+v", rec.Tasks, rec.Sched, rec.Streams[0].Phases)
	}
	rec = accept(t, text)
	rec.Only(rec.RunOf("none"))
	if rec.Tasks.Len() != 0 || rec.Sched.Len() != 0 || rec.Streams[0].Phases.Len() != 1 || rec.Runs[0].Known {
		t.Errorf("of no run there is %+v %+v %+v", rec.Tasks, rec.Sched, rec.Streams[0].Phases)
	}
}

// TestPops: numbers of pops come from metrics, or in the archived form from the records.
func TestPops(t *testing.T) {
	rec, err := read(launchFile("[]", 1, 2), capture.Options{Pops: true})
	if err != nil {
		t.Fatal(err)
	}
	want := []capture.Pops{{Hit: 1, Miss: 10}, {}, {Hit: 2, Miss: 20}, {}}
	if got := rec.Streams[0].Phases.Pops; !reflect.DeepEqual(got, want) {
		t.Errorf("pops %v, want %v", got, want)
	}
	if rec = accept(t, launchFile("[]", 1)); rec.Streams[0].Phases.Pops != nil {
		t.Errorf("pops that nobody asked for: %v", rec.Streams[0].Phases.Pops)
	}
	archived := func(fields string) string {
		return `{"chip_swimlane_level":3,"metadata":{"clock_freq_hz":1},"aicore_tasks":[],"aicpu_scheduler_phases":[[{"start_cycles":1,"end_cycles":2,"loop_iter":0,"kind":"dispatch","tasks_processed":1` + fields + `}]]}`
	}
	if rec, err = read(archived(`,"pop_hit":3,"pop_miss":null`), capture.Options{Pops: true}); err != nil {
		t.Fatal(err)
	}
	if got := rec.Streams[0].Phases.Pops; !reflect.DeepEqual(got, []capture.Pops{{Hit: 3}}) {
		t.Errorf("archived pops %v", got)
	}
	for _, fields := range []string{`,"pop_hit":-1`, `,"pop_hit":1.5`, `,"pop_miss":[]`, `,"pop_miss":9223372036854775808`} {
		if _, err := read(archived(fields), capture.Options{Pops: true}); err == nil || !strings.Contains(err.Error(), fileName) {
			t.Errorf("%s: %v", fields, err)
		}
	}
}
