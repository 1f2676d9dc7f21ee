package timeline_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"swimlane/timeline"
)

// TestThreads counts scheduler threads (spec/converter.md §3.3).
func TestThreads(t *testing.T) {
	busy, empty := stream(0, "dispatch 5 6"), stream(0)
	for name, c := range map[string]struct {
		streams list
		cores   []int
		want    int
	}{
		"nothing":                     {list{}, nil, 0},
		"empty streams only":          {list{empty, stream(1), stream(2)}, nil, 3},
		"trailing empty streams":      {list{busy, stream(1), stream(2)}, nil, 1},
		"a core on a later thread":    {list{busy, stream(1), stream(2)}, []int{0, 1}, 2},
		"negative threads":            {list{busy, stream(1)}, []int{-1, -1}, 1},
		"negative threads alone":      {list{empty, stream(1)}, []int{-1, -1}, 2},
		"a thread beyond all streams": {list{busy}, []int{7}, 8},
		"a placed stream":             {list{stream(4, "dispatch 5 6")}, nil, 5},
	} {
		t.Run(name, func(t *testing.T) {
			equal(t, "threads", build(t, text(t, level3(c.streams, c.cores)), "").Threads, c.want)
		})
	}
}

// TestNested finds the resolves inside a parent (spec/converter.md §3.4).
func TestNested(t *testing.T) {
	for name, c := range map[string]struct {
		records []string
		want    []bool // per record; nil: none
	}{
		"inside":                         {[]string{"complete 10 40", "resolve 20 30"}, []bool{false, true}},
		"inside a dummy":                 {[]string{"dummy 10 40", "resolve 20 30"}, []bool{false, true}},
		"starts with its parent":         {[]string{"complete 10 40", "resolve 10 30"}, []bool{false, true}},
		"ends with its parent":           {[]string{"complete 10 40", "resolve 20 40"}, nil},
		"is its parent":                  {[]string{"complete 10 40", "resolve 10 40"}, nil},
		"behind its parent":              {[]string{"complete 10 40", "resolve 40 41"}, nil},
		"before its parent in the file":  {[]string{"resolve 20 30", "complete 10 40"}, []bool{true, false}},
		"standalone":                     {[]string{"complete 10 40", "resolve_standalone 20 30"}, nil},
		"inside a dispatch":              {[]string{"dispatch 10 40", "resolve 20 30"}, nil},
		"the parent that starts last":    {[]string{"complete 10 90", "complete 20 30", "resolve 25 50"}, nil},
		"of two starts the later record": {[]string{"complete 10 15", "dummy 10 90", "resolve 12 20"}, []bool{false, false, true}},
		"of two starts, the other order": {[]string{"dummy 10 90", "complete 10 15", "resolve 12 20"}, nil},
		"unsorted parents":               {[]string{"complete 50 60", "complete 10 40", "resolve 20 30"}, []bool{false, false, true}},
	} {
		t.Run(name, func(t *testing.T) {
			tl := build(t, text(t, level3(list{stream(0, c.records...)}, nil)), "")
			equalSlices(t, "nested", tl.Streams[0].Nested, c.want)
			equal(t, "any", tl.Streams[0].HasNested(), c.want != nil)
		})
	}
}

// TestRole: which streams only resolve (spec/converter.md §3.5).
func TestRole(t *testing.T) {
	for name, c := range map[string]struct {
		records []string
		cores   []int
		want    bool
	}{
		"standalone":                        {[]string{"resolve_standalone 1 2"}, nil, true},
		"outer resolve":                     {[]string{"resolve 1 2"}, nil, true},
		"nested resolve":                    {[]string{"dummy 1 9", "resolve 2 3"}, nil, false},
		"nested resolve, others have cores": {[]string{"dummy 1 9", "resolve 2 3"}, []int{1}, true},
		"polls, nobody has cores":           {[]string{"async_poll 1 2"}, nil, false},
		"polls, no core is served":          {[]string{"async_poll 1 2"}, []int{-1}, false},
		"polls, others have cores":          {[]string{"async_poll 1 2"}, []int{-1, 1}, true},
		"polls and has a core":              {[]string{"async_poll 1 2"}, []int{1, 0}, false},
		"dummies, others have cores":        {[]string{"dummy 1 2"}, []int{1}, true},
		"no evidence":                       {[]string{"idle 1 2", "dummy_task 1 2"}, []int{1}, false},
		"also idles":                        {[]string{"idle 1 2", "resolve_standalone 1 2"}, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			equal(t, "resolver", build(t, text(t, level3(list{stream(0, c.records...)}, c.cores)), "").Streams[0].Resolver, c.want)
		})
	}
	for _, kind := range []string{"complete", "state_probe", "dispatch", "worksteal", "refill", "release", "early_dispatch", "drain", "graph_prepare"} {
		tl := build(t, text(t, level3(list{stream(0, "resolve_standalone 1 2", kind+" 3 4")}, nil)), "")
		equal(t, "resolver that also has "+kind, tl.Streams[0].Resolver, false)
	}
}

// TestFinishes attributes rows to complete records (spec/converter.md §3.6).
func TestFinishes(t *testing.T) {
	for name, c := range map[string]struct {
		records  []string
		finishes []uint64 // of rows on core 0
		cores    []int
		want     []int32
	}{
		"inside":                     {[]string{"complete 10 20"}, []uint64{15}, []int{0}, []int32{1}},
		"both ends count":            {[]string{"complete 10 20"}, []uint64{10, 20}, []int{0}, []int32{2}},
		"between: the next":          {[]string{"complete 10 20", "complete 30 40"}, []uint64{25}, []int{0}, []int32{0, 1}},
		"before all: the first":      {[]string{"complete 10 20", "complete 30 40"}, []uint64{5}, []int{0}, []int32{1, 0}},
		"behind all":                 {[]string{"complete 10 20"}, []uint64{25}, []int{0}, []int32{0}},
		"the start of the next wins": {[]string{"complete 19 20", "complete 20 22"}, []uint64{20}, []int{0}, []int32{0, 1}},
		"the last of equal starts":   {[]string{"complete 10 30", "complete 10 20"}, []uint64{15, 25}, []int{0}, []int32{0, 1}},
		"unsorted":                   {[]string{"complete 30 40", "complete 10 20"}, []uint64{15, 35}, []int{0}, []int32{1, 1}},
		"other kinds":                {[]string{"dispatch 10 20", "complete 30 40"}, []uint64{15}, []int{0}, []int32{0, 1}},
		"another thread":             {[]string{"complete 10 20"}, []uint64{15}, []int{1}, []int32{0}},
		"no thread":                  {[]string{"complete 10 20"}, []uint64{15}, []int{-1}, []int32{0}},
	} {
		t.Run(name, func(t *testing.T) {
			var rows [][4]uint64
			for i, f := range c.finishes {
				rows = append(rows, [4]uint64{0, uint64(i), 1, f})
			}
			tl := build(t, text(t, level3(list{stream(0, c.records...)}, c.cores, rows...)), "")
			equalSlices(t, "finishes", tl.Streams[0].Finishes, c.want)
		})
	}
	tl := build(t, text(t, level3(list{stream(0, "complete 10 20")}, nil, [4]uint64{0, 1, 1, 15})), "")
	equal(t, "finishes without core_to_thread", tl.Streams[0].Finishes == nil, true)
	tl = build(t, text(t, level3(list{stream(0, "complete 10 20")}, []int{0}, [4]uint64{5, 1, 1, 15})), "")
	equalSlices(t, "finishes of a core beyond core_to_thread", tl.Streams[0].Finishes, []int32{0})
}

// TestVoting finds the thread of every core (spec/converter.md §3.8).
func TestVoting(t *testing.T) {
	for name, c := range map[string]struct {
		streams list
		cores   []int
		rows    [][4]uint64 // core, task, dispatch, finish
		want    []int32     // per core that has rows
	}{
		// The last case of spec/converter.md C16: both ends of a record count, and the tie goes to the first vote.
		"tie":                    {list{stream(0, "dispatch 9 10"), stream(1, "dispatch 10 11")}, nil, [][4]uint64{{0, 1, 10, 20}}, []int32{0}},
		"majority":               {list{stream(0, "dispatch 9 10"), stream(1, "dispatch 10 50")}, nil, [][4]uint64{{0, 1, 10, 20}, {0, 2, 12, 20}}, []int32{1}},
		"tie of first votes":     {list{stream(0, "dispatch 30 40"), stream(1, "dispatch 10 20")}, nil, [][4]uint64{{0, 1, 15, 50}, {0, 2, 35, 50}}, []int32{1}},
		"one vote per row":       {list{stream(0, "dispatch 9 11", "dispatch 10 12", "dispatch 10 13"), stream(1, "dispatch 10 20")}, nil, [][4]uint64{{0, 1, 10, 50}, {0, 2, 19, 50}}, []int32{1}},
		"a long record before":   {list{stream(0, "dispatch 5 90", "dispatch 6 7")}, nil, [][4]uint64{{0, 1, 50, 60}}, []int32{0}},
		"no vote":                {list{stream(0, "dispatch 9 10")}, nil, [][4]uint64{{0, 1, 11, 20}}, []int32{-1}},
		"other kinds don't vote": {list{stream(0, "drain 5 20"), stream(1, "worksteal 5 20")}, nil, [][4]uint64{{0, 1, 11, 20}}, []int32{-1}},
		"core_to_thread":         {list{stream(0, "dispatch 9 10")}, []int{1, -1}, [][4]uint64{{0, 1, 10, 20}, {1, 2, 10, 20}, {2, 3, 10, 20}}, []int32{1, -1, -1}},
		"empty core_to_thread":   {list{stream(0, "dispatch 9 10")}, []int{}, [][4]uint64{{0, 1, 10, 20}}, []int32{0}},
	} {
		t.Run(name, func(t *testing.T) {
			tl := build(t, text(t, level3(c.streams, c.cores, c.rows...)), "")
			var got []int32
			for i := range tl.Cores {
				got = append(got, tl.Cores[i].Thread)
			}
			equalSlices(t, "threads", got, c.want)
		})
	}
}

// TestIdle sums the gaps between work (spec/converter.md §4.7, examples of
// spec/sched-overhead.md §6).
func TestIdle(t *testing.T) {
	for name, c := range map[string]struct {
		records    []string
		idle, busy int64
		gaps       [][2]uint64
	}{
		"nested records don't end a gap": {[]string{"complete 1 5", "resolve 2 4", "dummy 6 9", "resolve 7 8"}, 1, 7, [][2]uint64{{5, 6}}},
		"P thread":                       {[]string{"resolve 1 2", "async_poll 3 5", "dummy 6 7"}, 2, 4, [][2]uint64{{2, 3}, {5, 6}}},
		"running maximum":                {[]string{"complete 1 20", "dispatch 2 5", "dispatch 30 31"}, 10, 20, [][2]uint64{{20, 30}}},
		"unsorted":                       {[]string{"dispatch 30 31", "complete 1 20"}, 10, 20, [][2]uint64{{20, 30}}},
		"markers and sub-phases":         {[]string{"complete 1 5", "dummy_task 6 7", "drain_prepare 6 7", "complete 10 11"}, 5, 5, [][2]uint64{{5, 10}}},
		"unknown and old kinds":          {[]string{"complete 1 5", "frobnicate 6 7", "scan 6 7", "complete 10 11"}, 4, 6, [][2]uint64{{5, 6}, {7, 10}}},
		"recorded idle time":             {[]string{"complete 1 5", "idle 5 7", "complete 10 11"}, 2, 5, nil},
		"nothing":                        {nil, 0, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := &build(t, text(t, level3(list{stream(0, c.records...)}, nil)), "").Streams[0]
			equal(t, "idle ns", s.IdleNs, c.idle)
			equal(t, "busy ns", s.BusyNs, c.busy)
			equalSlices(t, "gaps", s.Gaps, c.gaps)
		})
	}
}

// TestIdleBetweenRuns: nobody is idle from one run to the next.
func TestIdleBetweenRuns(t *testing.T) {
	records := ""
	for i, r := range [][3]int{{1, 10, 20}, {1, 30, 40}, {2, 1000, 1010}, {2, 1020, 1030}} {
		if i > 0 {
			records += ","
		}
		records += fmt.Sprintf(`{"start_cycles":%d,"end_cycles":%d,"run_epoch":%d,"loop_iter":0,"kind":"dispatch","tasks_processed":1,"task_id":null}`, r[1], r[2], r[0])
	}
	s := &build(t, `{"chip_swimlane_level":3,"metadata":{"runtime":"tensormap_and_ringbuffer","clock_freq_hz":1000000000},
		"scheduler_records":{"streams":[{"producer":"aicpu","scheduler_id":0,"records":[`+records+`]}]}}`, "").Streams[0]
	equal(t, "idle ns", s.IdleNs, 20)
	equal(t, "busy ns", s.BusyNs, 40)
	equalSlices(t, "gaps", s.Gaps, [][2]uint64{{20, 30}, {1010, 1020}})
}

// TestIdleOfArchivedRecords: those may lack times or end before they start.
func TestIdleOfArchivedRecords(t *testing.T) {
	for name, c := range map[string]struct {
		records    string
		idle, busy int64
	}{
		"ends before it starts": {`{"kind":"complete","start_cycles":100,"end_cycles":50},{"kind":"complete","start_cycles":200,"end_cycles":200}`, 100, 0},
		"never happened":        {`{"kind":"complete"},{"kind":"dispatch","start_cycles":9000000000000000000,"end_cycles":9000000000000000010}`, 0, 10},
		"no end":                {`{"kind":"complete","start_cycles":100},{"kind":"complete","start_cycles":200,"end_cycles":210}`, 100, 10},
	} {
		t.Run(name, func(t *testing.T) {
			s := &build(t, `{"chip_swimlane_level":3,"metadata":{"clock_freq_hz":1000000000},"aicpu_tasks":[],"aicpu_scheduler_phases":[[`+c.records+`]]}`, "").Streams[0]
			equal(t, "idle ns", s.IdleNs, c.idle)
			equal(t, "busy ns", s.BusyNs, c.busy)
		})
	}
}

// TestGraphRuns groups in-graph tasks (spec/converter.md §3.7).
func TestGraphRuns(t *testing.T) {
	in := func(graph, index uint64) uint64 { return 1<<32 | graph<<10 | index }
	prepare := func(task, start, end uint64) object {
		return object{"kind": "graph_prepare", "start_cycles": start, "end_cycles": end, "loop_iter": 0, "tasks_processed": 1, "task_id": task}
	}
	dummy := func(task, start, end uint64) object {
		return object{"kind": "dummy_task", "start_cycles": start, "end_cycles": end, "loop_iter": 0, "tasks_processed": 1, "task_id": task}
	}
	of := func(records ...any) object {
		return object{"scheduler_id": 0, "producer": "aicpu", "records": list(records), "metrics": list{}}
	}
	doc := level3(list{of(
		prepare(3, 100, 110), prepare(9, 90, 95), prepare(3, 150, 160), prepare(1<<32|5, 80, 85), // the last one is no outer task
		prepare(4, 120, 125), prepare(5, 130, 131), dummy(in(4, 6), 140, 170), prepare(6, 500, 501))}, nil,
		[4]uint64{0, in(3, 7), 200, 300}, [4]uint64{1, in(3, 2), 250, 280}, [4]uint64{1, in(3, 2), 281, 290},
		[4]uint64{0, in(6, 1023), 510, 520}, [4]uint64{2, 2<<32 | 5<<10, 400, 410}, [4]uint64{2, 3, 420, 430})
	tl := build(t, text(t, doc), "")
	want := []timeline.GraphRun{
		{Task: 3, Nodes: 2, MinIndex: 2, MaxIndex: 7, Prepare: 100, PrepareCycles: 20, Prepares: 2, ExecStart: 200, ExecEnd: 300, Lane: 0},
		{Task: 4, Nodes: 1, MinIndex: 6, MaxIndex: 6, Prepare: 120, PrepareCycles: 5, Prepares: 1, ExecStart: 140, ExecEnd: 170, Lane: 1},
		{Task: 6, Nodes: 1, MinIndex: 1023, MaxIndex: 1023, Prepare: 500, PrepareCycles: 1, Prepares: 1, ExecStart: 510, ExecEnd: 520, Lane: 0},
	}
	equalSlices(t, "graphs", tl.GraphRuns(), want)
}

// TestJoinOrder: rows by task id; rows of one task in the order of the scheduler
// section, whatever the order of the kernel section.
func TestJoinOrder(t *testing.T) {
	type key struct {
		task     uint64
		core     int32
		dispatch uint64
	}
	rnd := rand.New(rand.NewPCG(5, 6))
	var tasks, sched list
	var want []key
	for i := range 300 {
		task, core := rnd.Uint64N(40)<<rnd.IntN(58), rnd.IntN(20)
		dispatch := uint64(10 + rnd.IntN(1000))
		tasks = append(tasks, list{core, task, i, dispatch + 1, dispatch + 2})
		sched = append(sched, list{core, i, dispatch, dispatch + 3})
		want = append(want, key{task, int32(core), dispatch})
	}
	slices.SortStableFunc(want, func(a, b key) int {
		switch {
		case a.task < b.task:
			return -1
		case a.task > b.task:
			return 1
		}
		return 0
	})
	for shuffle := range 4 {
		tl := build(t, text(t, object{"chip_swimlane_level": 2, "metadata": object{"clock_freq_hz": 1000}, "aicore_tasks": tasks,
			"scheduler_tasks": object{"schema_version": 1, "producer": "aicpu", "records": sched}}), "")
		var got []key
		for row := range tl.Rows.Len() {
			got = append(got, key{tl.IDOf(row), tl.CoreOf(row).ID, tl.Rows.Dispatch[row]})
			if from, to := tl.Tasks.Rows(tl.Rows.Task[row]); row < from || row >= to {
				t.Fatalf("row %d is not among the rows %d–%d of its task", row, from, to)
			}
		}
		equalSlices(t, fmt.Sprintf("rows after %d shuffles", shuffle), got, want)
		rnd.Shuffle(len(tasks), func(i, j int) { tasks[i], tasks[j] = tasks[j], tasks[i] })
	}
}

// TestLostSchedulerRows: with a declared loss a kernel row without scheduler row
// is kept, without scheduler times (spec/records.md §9 no. 14).
func TestLostSchedulerRows(t *testing.T) {
	records := func(level int, sched string) string {
		return fmt.Sprintf(`{"chip_swimlane_level":%d,"metadata":{"clock_freq_hz":1000,"capture_accounting":{"kinds":{"sched":{"dropped":1}}}},
"aicore_tasks":[[1,5,1,50,60],[0,5,2,40,45],[0,4,3,30,35]],"aicpu_tasks":[%s]}`, level, sched)
	}
	tl := build(t, records(2, "[0,3,29,36]"), "")
	equal(t, "rows", tl.Rows.Len(), 3)
	equal(t, "untimed", tl.Untimed, 2)
	var timed []bool
	for row := range tl.Rows.Len() {
		timed = append(timed, tl.Rows.Timed(row))
	}
	equalSlices(t, "timed", timed, []bool{true, false, false}) // tasks 4, 5, 5
	equal(t, "order of a task's rows without partner: by core", tl.CoreOf(1).ID, 0)

	tl = build(t, records(2, ""), "")
	equal(t, "rows without any scheduler row", tl.Rows.Len(), 3)
	equal(t, "timed", tl.Timed(), false)

	// At level 1 a kernel row without partner disappears once there are scheduler rows (§4.4).
	tl = build(t, records(1, "[0,3,29,36]"), "")
	equal(t, "rows at level 1", tl.Rows.Len(), 1)
	equal(t, "untimed at level 1", tl.Untimed, 0)
}

func TestTasksFind(t *testing.T) {
	tl := build(t, `{"chip_swimlane_level":1,"metadata":{"clock_freq_hz":1},
"aicore_tasks":[[0,18446744073709551615,1,5,6],[0,0,2,5,6],[1,9007199254740993,3,5,6],[0,9007199254740993,3,5,6]]}`, "")
	for id, want := range map[uint64]int32{0: 0, 1: -1, 9007199254740992: -1, 9007199254740993: 1, 1<<64 - 1: 2} {
		equal(t, fmt.Sprint(id), tl.Tasks.Find(0, id), want)
	}
	equal(t, "tasks", tl.Tasks.Len(), 3)
}
