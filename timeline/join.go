package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"swimlane/capture"
)

// join pairs kernel rows with scheduler rows (spec/records.md §4.4) and sorts
// the result by task id. Rows of one task keep the order of the scheduler
// section; rows that have none follow by core and token, so that the order of
// the kernel section never shows.
func (t *Timeline) join() {
	rec := t.Rec
	k, q := &rec.Tasks, &rec.Sched
	kOrder := k.Keys().Order()
	pick := make([]int32, 0, k.Len()) // kernel rows in the order of the result
	var partner []int32               // their scheduler rows, −1 if none
	qOrder := q.Keys().Order()
	if q.Len() > 0 {
		partner = make([]int32, 0, k.Len())
		match := t.match(kOrder, qOrder)
		for s, row := range match {
			if row >= 0 {
				pick = append(pick, row)
				partner = append(partner, int32(s))
			}
		}
	}
	// At level 1 a kernel row without a scheduler row disappears once there are
	// any; above, the reader let it through because records were lost.
	lost := k.Len() - len(pick) // kernel rows without a scheduler row
	switch {
	case rec.Level >= 2:
		t.Untimed = int64(lost)
	case q.Len() > 0 && lost > 0:
		t.warn("level-1-rows-left-out", int64(lost), "%d kernel row(s) have no Scheduler task timing; at level 1 they are left out where others have one", lost)
	}
	if q.Len() == 0 || rec.Level >= 2 && lost > 0 {
		paired := make([]bool, k.Len())
		for _, row := range pick {
			paired[row] = true
		}
		for _, row := range kOrder {
			if !paired[row] {
				if rec.Level >= 2 && q.Len() > 0 { // where no row has any, there is no lane to mark
					t.loseUntimed(row)
				}
				pick = append(pick, row)
				if partner != nil {
					partner = append(partner, -1)
				}
			}
		}
	}
	t.Counted = t.counted()
	t.loseTokens(kOrder, qOrder)
	t.buildRows(pick, partner)
	t.Rec.Tasks = capture.TaskRows{}
	t.Rec.Sched.Core, t.Rec.Sched.Reg, t.Rec.Sched.Dispatch, t.Rec.Sched.Finish = nil, nil, nil, nil
}

// match returns for every scheduler row its kernel row, −1 if it has none.
func (t *Timeline) match(kOrder, qOrder []int32) []int32 {
	k, q := t.Rec.Tasks.Keys(), t.Rec.Sched.Keys()
	out := make([]int32, len(q.Core))
	a := 0
	for _, s := range qOrder {
		for a < len(kOrder) && k.Compare(kOrder[a], q, s) < 0 {
			a++
		}
		out[s] = -1
		if a < len(kOrder) && k.Compare(kOrder[a], q, s) == 0 {
			out[s] = kOrder[a]
		}
	}
	t.warnUnmatched(out)
	t.loseUnmatched(out)
	return out
}

// warnUnmatched counts the scheduler rows that found no kernel row.
func (t *Timeline) warnUnmatched(match []int32) {
	q := &t.Rec.Sched
	count := map[int32]int64{}
	var cores []int32
	for s, row := range match {
		if row < 0 {
			c := q.Core[s]
			if count[c] == 0 {
				cores = append(cores, c)
			}
			count[c]++
			t.Unmatched++
		}
	}
	if t.Unmatched == 0 {
		return
	}
	slices.SortStableFunc(cores, func(a, b int32) int { return cmp.Compare(count[b], count[a]) })
	var top []string
	for _, c := range cores[:min(3, len(cores))] {
		top = append(top, fmt.Sprintf("core %d: %d", c, count[c]))
	}
	t.warn("unmatched-scheduler-rows", t.Unmatched, "%d Scheduler task timing record(s) had no matching AICore record (producer=%s, top offenders: %s); "+
		"the missing AICore buffer(s) were dropped on rotation. Bump PLATFORM_AICORE_BUFFERS_PER_CORE if you see this regularly.",
		t.Unmatched, q.Producer, strings.Join(top, ", "))
}

func (t *Timeline) warn(code string, n int64, format string, args ...any) {
	t.Warnings = append(t.Warnings, capture.Warning{Code: code, Count: n, Text: fmt.Sprintf(format, args...)})
}

// buildRows gathers the picked rows by run and task id.
func (t *Timeline) buildRows(pick, partner []int32) {
	k, q := &t.Rec.Tasks, &t.Rec.Sched
	order := sortByTask(pick, k)
	t.buildCores(pick)
	index := make(map[int32]int32, len(t.Cores))
	for i, c := range t.Cores {
		index[c.ID] = int32(i)
	}
	r := &t.Rows
	r.Core = gather(order, func(i int32) int32 { return index[k.Core[pick[i]]] })
	r.Receive = gather(order, func(i int32) uint64 { return k.Receive[pick[i]] })
	r.Start = gather(order, func(i int32) uint64 { return k.Start[pick[i]] })
	r.End = gather(order, func(i int32) uint64 { return k.End[pick[i]] })
	if slices.Max(append(partner, -1)) >= 0 {
		sched := func(col []uint64) []uint64 {
			return gather(order, func(i int32) uint64 {
				if partner[i] < 0 {
					return 0
				}
				return col[partner[i]]
			})
		}
		r.Dispatch, r.Finish = sched(q.Dispatch), sched(q.Finish)
	}
	t.buildTasks(pick, order)
}

// buildTasks numbers the tasks of the ordered rows.
func (t *Timeline) buildTasks(pick, order []int32) {
	k, tasks := &t.Rec.Tasks, &t.Tasks
	t.Rows.Task = make([]int32, len(order))
	last := int32(0)
	for j, i := range order {
		id, run := k.Task[pick[i]], int32(0)
		if k.Run != nil {
			run = k.Run[pick[i]]
		}
		if j == 0 || id != tasks.ID[len(tasks.ID)-1] || run != last {
			tasks.ID = append(tasks.ID, id)
			tasks.Off = append(tasks.Off, int32(j))
			if k.Run != nil {
				tasks.Run = append(tasks.Run, run)
			}
			last = run
		}
		t.Rows.Task[j] = int32(len(tasks.ID) - 1)
	}
	tasks.Off = append(tasks.Off, int32(len(order)))
	tasks.runs = make([]int32, len(t.Rec.Runs)+1)
	for i := range tasks.ID {
		tasks.runs[tasks.RunOf(int32(i))+1]++
	}
	for r := range t.Rec.Runs {
		tasks.runs[r+1] += tasks.runs[r]
	}
}

func gather[T any](order []int32, at func(int32) T) []T {
	out := make([]T, len(order))
	for j, i := range order {
		out[j] = at(i)
	}
	return out
}

// sortByTask returns the positions of pick ordered by run and task id, ties in place.
func sortByTask(pick []int32, k *capture.TaskRows) []int32 {
	task := k.Task
	order := make([]int32, len(pick))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		if k.Run != nil {
			if c := cmp.Compare(k.Run[pick[a]], k.Run[pick[b]]); c != 0 {
				return c
			}
		}
		if c := cmp.Compare(task[pick[a]], task[pick[b]]); c != 0 {
			return c
		}
		return cmp.Compare(a, b)
	})
	return order
}

func (t *Timeline) buildCores(pick []int32) {
	seen := map[int32]bool{}
	for _, row := range pick {
		c := t.Rec.Tasks.Core[row]
		if !seen[c] {
			seen[c] = true
			t.Cores = append(t.Cores, Core{ID: c, Type: t.Rec.Meta.CoreType(c), Thread: -1})
		}
	}
	slices.SortFunc(t.Cores, func(a, b Core) int { return cmp.Compare(a.ID, b.ID) })
}

// resolveFunctions finds what every row ran (spec/records.md §5.3).
func (t *Timeline) resolveFunctions() {
	t.Rows.Func = make([]int32, t.Rows.Len())
	if t.Graph != nil {
		t.Tasks.Node = make([]int32, t.Tasks.Len())
	}
	for i := range t.Tasks.ID {
		node := int32(-1)
		if t.Graph != nil {
			if n, ok := t.Graph.Node(t.Tasks.ID[i]); ok {
				node = n
			}
			t.Tasks.Node[i] = node
		}
		from, to := t.Tasks.Rows(int32(i))
		for row := from; row < to; row++ {
			t.Rows.Func[row] = t.function(node, t.CoreOf(row).Type)
		}
	}
}

func (t *Timeline) function(node int32, coreType string) int32 {
	if node < 0 {
		return -1
	}
	k, ok := t.Graph.Kernel(node)
	switch {
	case !ok:
		return -1
	case coreType == "aic":
		return max(k[0], -1)
	case k[1] >= 0:
		return k[1]
	default:
		return max(k[2], -1)
	}
}

// findSPMD marks the tasks that run as several blocks (spec/converter.md §3.2).
func (t *Timeline) findSPMD() {
	t.Tasks.SPMD = make([]bool, t.Tasks.Len())
	for i := range t.Tasks.SPMD {
		if t.Tasks.Node != nil && t.Tasks.Node[i] >= 0 {
			if b := t.Graph.Block(t.Tasks.Node[i]); b > 0 {
				t.Tasks.SPMD[i] = b > 1
				continue
			}
		}
		from, to := t.Tasks.Rows(int32(i))
		one := to-from > 1
		for row := from + 1; row < to; row++ {
			one = one && t.CoreOf(row).Type == t.CoreOf(from).Type
		}
		t.Tasks.SPMD[i] = one
	}
}

// SPMDNode reports whether a task of the graph that has no rows is SPMD.
func (t *Timeline) SPMDNode(node int32) bool { return t.Graph != nil && t.Graph.Block(node) > 1 }
