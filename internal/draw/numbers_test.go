package draw_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Numbers of lanes: unique, in the order of the screen, whatever the capture has.

// unique: no two lanes have the same number, and none of them two names.
func (d *drawn) unique() {
	d.t.Helper()
	named := bytes.Count(d.text, []byte(`"name":"thread_name"`))
	equal(d.t, "distinct lanes", len(d.lane), named)
	equal(d.t, "lanes reported", d.picture.Report.Lanes, named)
	seen := map[string]lane{}
	for l, name := range d.lane {
		key := fmt.Sprint(l.pid, " ", name)
		if other, ok := seen[key]; ok && !strings.HasPrefix(name, "Sched_") {
			d.t.Errorf("lanes %v and %v are both named %s", l, other, name)
		}
		seen[key] = l
	}
	d.ordered()
}

// crowd gives n tasks on a core that all overlap, none within another.
func crowd(core, n int, id uint64) []row {
	var out []row
	for i := range n {
		at := float64(i) / 100
		out = append(out, r(id+uint64(i), core, 1+at, 1+at, 1+at, 50+at))
	}
	return out
}

func TestManySublanes(t *testing.T) {
	m := &made{rows: slices.Concat(crowd(0, 25, 100), crowd(1, 3, 200), crowd(2, 1, 300))}
	d := m.draw(t, settings{})
	d.unique()
	var want []string
	for core, n := range []int{25, 3, 1} {
		for k := range n {
			name := fmt.Sprintf("AIV_%d", core)
			if k > 0 {
				name += fmt.Sprintf(" (%d)", k+1)
			}
			want = append(want, name)
		}
	}
	equalSlices(t, "lanes", d.laneNames(4), want)
	equalSlices(t, "lanes", d.laneNames(3), want)
	equal(t, "moved", d.picture.Report.Moved, 24+2) // of the Worker View
}

// TestTenSublanes: ten fit in front of the next core, an eleventh does not (spec/converter.md §11 no. 6).
func TestTenSublanes(t *testing.T) {
	for n, tid := range map[int]int64{10: 10010, 11: 10100} {
		m := &made{rows: slices.Concat(crowd(0, n, 100), crowd(1, 1, 300))}
		d := m.draw(t, settings{})
		d.unique()
		equal(t, fmt.Sprintf("number of core 1 behind %d sub-lanes", n), d.slice(4, "task(t300)").tid, tid)
	}
}

func TestManyCores(t *testing.T) {
	for _, cores := range []int{899, 900, 901, 1500} {
		m := &made{streams: []stream{{id: 0, records: []phase{p("dummy_task", 1, 1).with(1, 5)}}, {id: 1}}}
		for c := range cores {
			m.rows = append(m.rows, r(uint64(c), c, 1, 2, 3, 4))
		}
		m.threads = []int{0, 1}
		d := m.draw(t, settings{})
		d.unique()
		lanes := d.laneNames(4)
		equal(t, "lanes", len(lanes), cores+2)
		equalSlices(t, "last lanes", lanes[cores:], []string{"AICPU_0", "AICPU_1"})
		if aicpu := d.slice(4, "dummy(t5)").tid; cores <= 900 && aicpu != 19000 || aicpu < 19000 {
			t.Errorf("%d cores: AICPU_0 has number %d", cores, aicpu)
		}
	}
}

func TestHugeCoreNumbers(t *testing.T) {
	const last = 1<<31 - 1
	m := &made{rows: slices.Concat([]row{r(1, 0, 1, 2, 3, 4), r(2, last, 1, 2, 3, 4), r(3, last-1, 1, 2, 3, 4)}, crowd(300_000_000, 12, 10))}
	d := m.draw(t, settings{deps: deps(t, nil, [2]uint64{1, 2}, [2]uint64{1, 3}, [2]uint64{1, 10})})
	d.unique()
	d.seated()
	lanes := d.laneNames(4)
	equal(t, "lanes", len(lanes), 3+12)
	equal(t, "first", lanes[0], "AIV_0")
	equalSlices(t, "last", lanes[13:], []string{fmt.Sprintf("AIV_%d", last-1), fmt.Sprintf("AIV_%d", last)})
}

func TestManyOrchestratorLanes(t *testing.T) {
	m := &made{streams: []stream{{id: 0}}}
	for i := range 150 {
		m.submits = append(m.submits, []submit{{i + 1, int64(i), int64(i + 10)}, {i + 500, int64(i + 5), int64(i + 15)}})
	}
	d := m.draw(t, settings{})
	d.unique()
	equal(t, "lanes", len(d.laneNames(1)), 300)
	equalSlices(t, "first", d.laneNames(1)[:3], []string{"Orch_0", "Orch_0 (2)", "Orch_1"})
	equal(t, "workers", len(d.process), 3)
	equal(t, "allocations", len(d.slices(func(e *event) bool { return e.pid == 4 && e.cat == "event" })), 300)

	// A host's uploads stand behind all lanes.
	var lanes []string
	for i := range 120 {
		lanes = append(lanes, fmt.Sprintf(`[{"submit_idx":0,"task_id":%d,"start_host_ns":%d,"end_host_ns":%d}]`, i, 1000+i, 2000+i))
	}
	d = convert(t, `{"chip_swimlane_level":4,"metadata":{"clock_freq_hz":1000},"host_orchestrator_phases":[`+strings.Join(lanes, ",")+`],
"host_device_uploads":[{"phase":"sm_h2d","start_host_ns":1500,"end_host_ns":1600}]}`, settings{})
	d.unique()
	equalSlices(t, "last lanes", d.laneNames(1)[119:], []string{"Host_119", "H2D"})
	equal(t, "upload lane", d.slice(1, "sm_h2d").tid, 4120)
}

// TestManyStreamSublanes: main and nested lanes of a stream keep their numbers,
// and further sub-lanes never reach the next stream's.
func TestManyStreamSublanes(t *testing.T) {
	var records []phase
	for i := range 14 {
		at := float64(i) / 10
		records = append(records, p("complete", 1+at, 30+at), p("resolve", 1+at, 20+2*at))
	}
	m := &made{streams: []stream{{id: 0, records: records}, {id: 1, records: []phase{p("dispatch", 1, 2)}}}}
	d := m.draw(t, settings{})
	d.unique()
	equal(t, "bars", len(d.inProcess(2)), 29)
	lanes := d.laneNames(2)
	equalSlices(t, "main and nested", lanes[1:4], []string{"Sched_0", "Sched_0", "Sched_0 (2)"})
	equal(t, "last", lanes[len(lanes)-1], "Sched_1")
	equal(t, "lane of the next stream", d.slice(2, "dispatch(0)").tid, 30100)
}

// TestManyMarks: dummies that overlap have sub-lanes too.
func TestManyMarks(t *testing.T) {
	var records []phase
	for i := range 30 {
		records = append(records, p("dummy_task", 1+float64(i)/1000, 1).with(1, i))
	}
	for i := range records {
		records[i].end = records[i].start
	}
	m := &made{streams: []stream{{id: 0, records: records}, {id: 1}}, threads: []int{1}}
	d := m.draw(t, settings{})
	d.unique()
	// Each takes 0.02 µs, so twenty overlap at any time.
	equal(t, "lanes", len(d.laneNames(4)), 20+1)
}

// TestLifecycleThreads: odd thread numbers and overlapping intervals.
func TestLifecycleThreads(t *testing.T) {
	life := func(thread any) object {
		return object{"aicpu_thread_id": thread, "handshake_start_cycles": zero, "handshake_complete_cycles": zero + 10,
			"config_start_cycles": zero + 5, "topology_complete_cycles": zero + 15}
	}
	for name, threads := range map[string][]any{
		"plain":  {0, 1, 2},
		"odd":    {-1, int64(1) << 40, 7},
		"same":   {3, 3},
		"spread": {1 << 19, 0},
		"none":   {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			m := &made{}
			for _, th := range threads {
				m.life = append(m.life, life(th))
			}
			d := m.draw(t, settings{})
			d.unique()
			equal(t, "bars", len(d.inProcess(6)), 2*len(threads))
		})
	}
}

// TestZeroLengthBars: bars of no length are drawn, each visible.
func TestZeroLengthBars(t *testing.T) {
	d := convert(t, level1(`[0,1,0,100,100],[0,2,1,100,100],[0,3,2,100,150],[0,4,3,150,150]`), settings{deps: deps(t, nil, [2]uint64{1, 3}, [2]uint64{2, 4})})
	equalSlices(t, "bars", spans(d.inProcess(4)), []string{"task(t1) 4/10001 0–0", "task(t2) 4/10002 0–0", "task(t3) 4/10000 0–0.05", "task(t4) 4/10000 0.05–0.05"})
	d.seated()
	d.wantArrows(d.arrows(), arrow.String, "dependency 4/10001@0 → 4/10000@0", "dependency 4/10002@0 → 4/10000@0.05")

	m := &made{threads: []int{0}, rows: []row{r(1, 0, 1, 1, 1, 1), {id: 2, core: 0, dispatch: 1000, receive: 1000, start: 1000, end: 1000, finish: 1000}},
		streams: []stream{{id: 0, records: []phase{p("dispatch", 1, 1), p("complete", 1, 1), p("complete", 2, 2)}}}, submits: [][]submit{{{1, 1000, 1000}, {2, 1000, 1000}}}}
	d = m.draw(t, settings{deps: deps(t, nil, [2]uint64{1, 2})})
	d.seated()
	d.unique()
	// Even a dispatch that equals the finish is a time (field report 11).
	equalSlices(t, "bars", spans(d.inProcess(3)), []string{"task(t1) 3/10000 1–2", "task(t2) 3/10001 1–1"})
}
