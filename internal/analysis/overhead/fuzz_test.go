package overhead_test

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"swimlane/capture"
	"swimlane/internal/analysis/overhead"
	"swimlane/internal/taskgraph"
	"swimlane/timeline"
)

// FuzzReport: whatever a capture and its graph say, there is a report whose
// figures are possible, or a reason why there is none.
func FuzzReport(f *testing.F) {
	const deps = `{"tasks":[{"task_id":"9","kernel_ids":[-1,-1,-1]}],"edges":[{"pred":"1","succ":"9"},{"pred":"9","succ":"3"},{"pred":"2","succ":"4"},{"pred":"3","succ":"4"}]}`
	for _, producer := range []string{"aicpu", "aicore"} {
		for level := 1; level <= 4; level++ {
			x := worked
			x.level, x.producer = level, producer
			text, err := json.Marshal(x.document())
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(text), deps)
		}
	}
	f.Add(`{"chip_swimlane_level":3,"metadata":{"clock_freq_hz":3,"core_types":["x","aic"]},"aicore_tasks":[[0,1,1,10,18446744073709551615],[1,1,1,1,9]],"aicpu_tasks":[[0,1,4,2],[1,1,900,3]],"aicpu_scheduler_phases":[[{"kind":"dispatch","end_cycles":9,"pop_hit":9223372036854775807},{"kind":"dispatch","loop_iter":-5,"pop_hit":3}]]}`,
		`{"edges":[{"pred":"1","succ":"1"},{"pred":"5","succ":"1"},{"pred":"1","succ":"5"}]}`)
	f.Fuzz(func(t *testing.T, records, deps string) {
		rec, err := capture.ReadFrom(strings.NewReader(records), "records.json", capture.Options{Pops: true})
		if err != nil {
			return
		}
		if len(rec.Runs) > 1 {
			rec.Only(len(rec.Runs) - 1)
		}
		d, err := capture.ReadDepsFrom(strings.NewReader(deps), "deps.json")
		if err != nil {
			return
		}
		graph, err := taskgraph.New(d)
		if err != nil {
			return
		}
		tl, err := timeline.New(rec, graph)
		if err != nil || overhead.CheckRecords(tl) != nil {
			return
		}
		for _, bridge := range []bool{false, true} {
			r, err := overhead.New(tl, "deps.json", overhead.Options{Bridge: bridge})
			if err != nil {
				continue
			}
			for _, e := range r.Engines {
				if r.All > e.Overhead || e.Overhead > r.Window || e.During > e.Sum || e.Min > e.Max {
					t.Errorf("bridge %v: all %d, window %d, %+v", bridge, r.All, r.Window, e)
				}
			}
			if r.All > r.Has || r.Has > r.Window || r.Head.N != r.Rows || r.SwitchLow > r.SwitchHigh {
				t.Errorf("bridge %v: %+v", bridge, r)
			}
			if err := r.Text(io.Discard, overhead.Form{}); err != nil {
				t.Error(err)
			}
			if err := r.JSON(io.Discard); err != nil {
				t.Error(err)
			}
		}
	})
}
