package draw_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// A drain with many sub-phases: the dispatch at its end belongs to it, however
// many bars ended in between.
func TestDispatchAtTheEndOfALongDrain(t *testing.T) {
	records := []string{`{"start_cycles":1000,"end_cycles":10000,"loop_iter":1,"kind":"drain","tasks_processed":1,"task_id":null}`}
	for i := range 300 {
		records = append(records, fmt.Sprintf(`{"start_cycles":%d,"end_cycles":%d,"loop_iter":1,"kind":"drain_prepare","tasks_processed":1,"task_id":null}`, 1001+10*i, 1006+10*i))
	}
	d := convert(t, `{"chip_swimlane_level":3,"metadata":{"clock_freq_hz":1000000000,"core_types":["aic"],"core_to_thread":[0]},
"aicore_tasks":[[0,1,1,9950,9990,10]],"scheduler_tasks":{"schema_version":1,"producer":"aicpu","records":[[0,1,9900,10050]]},
"scheduler_records":{"schema_version":1,"streams":[{"producer":"aicpu","scheduler_id":0,"records":[`+strings.Join(records, ",")+`],"metrics":[]}]}}`, settings{})
	arrows := d.arrows("dispatch")
	if len(arrows) != 2 {
		t.Fatalf("%d dispatch arrows, want 2", len(arrows))
	}
	for _, a := range arrows {
		if h, err := d.holder(a.from); err != nil || h.name != "drain_prepare(1)" && h.name != "drain(1)" {
			t.Errorf("%v starts on %v (%v)", a, h.name, err)
		}
	}
	if len(d.picture.Report.Unbound) != 0 {
		t.Errorf("left out %v", d.picture.Report.Unbound)
	}
}

// More kernels than cores: the idle count is what the rule says, below 0
// (spec/converter.md §7).
func TestOverheadOfOverlappingKernels(t *testing.T) {
	d := convert(t, `{"chip_swimlane_level":2,"metadata":{"clock_freq_hz":1000000000,"core_types":["aic","aic"]},
"aicore_tasks":[[0,1,1,100,200,0],[0,2,2,120,220,0],[0,3,3,140,240,0],[1,4,4,250,260,0]],
"scheduler_tasks":{"schema_version":1,"producer":"aicpu","records":[[0,1,90,210],[0,2,91,230],[0,3,92,250],[1,4,93,270]]}}`,
		settings{overhead: true, deps: `{"tasks":[],"edges":[{"pred":"1","succ":"4"}]}`})
	var got []string
	for _, e := range d.events {
		if e.name == "oh_aic_idle" {
			got = append(got, fmt.Sprintf("%d:%v", e.ts, e.args["oh_aic_idle"]))
		}
	}
	// Time zero is cycle 90; two cores, up to three kernels at once.
	want := "10:1 30:0 50:-1 110:0 130:1 150:2 160:1"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("oh_aic_idle %s, want %s", s, want)
	}
}

// One edge between two tasks of many rows stands for rows × rows arrows. They are
// written piece by piece: memory must not grow with their number.
func TestManyArrowsLittleMemory(t *testing.T) {
	var rows []string
	const n = 700
	for i := range n {
		rows = append(rows, fmt.Sprintf("[%d,1,1,%d,%d,0]", i, 100+i, 2000+i), fmt.Sprintf("[%d,2,2,%d,%d,0]", i, 5000+i, 6000+i))
	}
	text := `{"chip_swimlane_level":1,"metadata":{"clock_freq_hz":1000000000},"aicore_tasks":[` + strings.Join(rows, ",") + `]}`
	deps := `{"tasks":[{"task_id":"1","kernel_ids":[-1,0,-1],"block_num":1},{"task_id":"2","kernel_ids":[-1,0,-1],"block_num":1}],"edges":[{"pred":"1","succ":"2"}]}`
	w := &countingWriter{}
	writeTo(t, text, deps, w)
	if w.n < 100<<20 {
		t.Fatalf("only %d bytes were written, want more than 100 MiB", w.n)
	}
	// The output is far larger than what may be alive at any moment.
	if w.peak > 64<<20 {
		t.Errorf("%d MiB were in use while writing %d MiB, want at most 64", w.peak>>20, w.n>>20)
	}
}

// countingWriter counts bytes and looks at the heap now and then.
type countingWriter struct {
	n, looked int64
	peak      uint64
}

func (c *countingWriter) Write(b []byte) (int, error) {
	c.n += int64(len(b))
	if c.n-c.looked > 8<<20 {
		c.looked = c.n
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		c.peak = max(c.peak, m.HeapInuse)
	}
	return len(b), nil
}
