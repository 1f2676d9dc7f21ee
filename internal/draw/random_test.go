package draw_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// random is a made capture with the graph it belongs to, and the choices that
// the counts depend on.
type random struct {
	made
	tasks []depTask
	edges [][2]uint64
}

// randomCapture makes a capture of odd shape: bars that overlap, counters that
// are skewed, tasks without rows, rows without tasks.
func randomCapture(seed uint64) *random {
	rnd := rand.New(rand.NewPCG(seed, 2026))
	g := &random{}
	g.meta = object{"clock_freq_hz": []int{1_000_000_000, 50_000_000, 30_000_000, 3_000_000_000}[rnd.IntN(4)]}
	cores := 1 + rnd.IntN(6)
	g.types = map[int]string{}
	for c := range cores {
		if rnd.IntN(2) == 0 {
			g.types[c] = "aic"
		}
	}
	axis := []int64{60, 400, 5000}[rnd.IntN(3)]
	ids := g.randomRows(rnd, cores, axis)
	streams := rnd.IntN(4)
	for n := range streams {
		g.streams = append(g.streams, randomStream(rnd, n, axis, ids))
	}
	if streams > 0 && rnd.IntN(3) > 0 {
		for range cores - rnd.IntN(2) {
			g.threads = append(g.threads, rnd.IntN(streams+2)-1)
		}
	}
	if streams > 0 && rnd.IntN(2) == 0 {
		g.schedule(rnd, cores)
	}
	if rnd.IntN(2) == 0 {
		for range 1 + rnd.IntN(2) {
			var lane []submit
			for range rnd.IntN(30) {
				at := rnd.Int64N(axis)
				var task any
				if rnd.IntN(8) > 0 {
					task = ids[rnd.IntN(len(ids))]
				}
				lane = append(lane, submit{task, at, at + rnd.Int64N(20)})
			}
			g.submits = append(g.submits, lane)
		}
	}
	for _, id := range ids {
		if rnd.IntN(3) > 0 {
			kernel := func() int { return rnd.IntN(4) - 1 }
			g.tasks = append(g.tasks, depTask{id, [3]int{kernel(), kernel(), kernel()}, 1 + rnd.IntN(3)*rnd.IntN(2)})
		}
	}
	forward := rnd.IntN(2) == 0
	for range rnd.IntN(4 * len(ids)) {
		p, s := rnd.IntN(len(ids)), rnd.IntN(len(ids))
		if forward {
			p, s = min(p, s), max(p, s)
		}
		if p != s {
			g.edges = append(g.edges, [2]uint64{ids[p], ids[s]})
		}
	}
	return g
}

// randomRows gives tasks rows, and returns their ids and some of tasks without.
func (g *random) randomRows(rnd *rand.Rand, cores int, axis int64) []uint64 {
	var ids []uint64
	skewed := rnd.IntN(2) == 0
	for i := range 2 + rnd.IntN(25) {
		id := uint64(rnd.IntN(3))<<32 | uint64(i)
		ids = append(ids, id)
		if rnd.IntN(4) == 0 {
			continue
		}
		for range 1 + rnd.IntN(4)*rnd.IntN(2) {
			t := make([]int64, 5)
			for k := range t {
				t[k] = 1 + rnd.Int64N(axis)
			}
			slices.Sort(t)
			x := row{id: id, core: rnd.IntN(cores), dispatch: t[0], receive: t[1], start: t[2], end: t[3], finish: t[4]}
			if skewed {
				x.dispatch = 1 + rnd.Int64N(axis)
				x.finish = x.dispatch + rnd.Int64N(axis/2)
			}
			if rnd.IntN(6) == 0 {
				x.end, x.start = x.receive, x.receive
			}
			g.rows = append(g.rows, x)
		}
	}
	return ids
}

// schedule replaces what the streams recorded by what schedulers do: a record
// around every dispatch and every finish, of tasks that run one after the other.
func (g *random) schedule(rnd *rand.Rand, cores int) {
	g.threads = nil
	for range cores {
		g.threads = append(g.threads, rnd.IntN(len(g.streams)))
	}
	for n := range g.streams {
		g.streams[n].records = nil
	}
	at := int64(1)
	for i := range g.rows {
		x := &g.rows[i]
		x.dispatch = at + rnd.Int64N(3)
		x.receive = x.dispatch + rnd.Int64N(3)
		x.start = x.receive + rnd.Int64N(3)
		x.end = x.start + rnd.Int64N(20)
		x.finish = x.end + 1 + rnd.Int64N(3)
		s := &g.streams[g.threads[x.core]]
		s.records = append(s.records,
			phase{kind: "dispatch", start: at, end: x.dispatch + rnd.Int64N(2), tasks: 1, task: x.id},
			phase{kind: "complete", start: x.finish - rnd.Int64N(2), end: x.finish + rnd.Int64N(4), tasks: 1})
		if rnd.IntN(3) > 0 {
			at = x.finish + rnd.Int64N(5)
		}
	}
}

var randomKinds = []string{"complete", "complete", "dispatch", "dispatch", "resolve", "resolve_standalone", "async_poll", "dummy", "dummy_task",
	"predicated_skip", "drain", "drain_prepare", "drain_publish", "release", "early_dispatch", "idle", "bootstrap", "scan", "odd", "graph_prepare"}

func randomStream(rnd *rand.Rand, n int, axis int64, ids []uint64) stream {
	s := stream{id: n}
	if rnd.IntN(5) == 0 {
		s.producer = "aicore"
	}
	at := int64(1)
	sequential := rnd.IntN(2) == 0
	for range rnd.IntN(40) {
		length := rnd.Int64N(1+axis/10) * rnd.Int64N(2)
		if !sequential {
			at = 1 + rnd.Int64N(axis)
		}
		x := phase{kind: randomKinds[rnd.IntN(len(randomKinds))], start: at, end: at + length, loop: rnd.IntN(9), tasks: rnd.IntN(4)}
		if rnd.IntN(4) > 0 {
			x.task = ids[rnd.IntN(len(ids))]
		}
		if rnd.IntN(3) == 0 {
			x.from, x.to = []int{1, 2, 3}, []int{rnd.IntN(9), 0, rnd.IntN(9)}
		}
		s.records = append(s.records, x)
		at += length + rnd.Int64N(1+axis/20)*rnd.Int64N(2)
	}
	return s
}

// counts are the numbers of arrows by name, and of those left out.
type counts struct{ drawn, left map[string]int64 }

// bruteForce applies the rules of spec/converter.md §5 to the capture itself,
// one case after the other.
type bruteForce struct {
	*random
	kernels map[uint64][3]int
	block   map[uint64]int
	rowsOf  map[uint64][]int
	order   []uint64 // tasks with rows
	marksOf map[uint64]int
	succ    map[uint64][]uint64
	preds   []uint64
}

func newBruteForce(g *random) *bruteForce {
	b := &bruteForce{random: g, kernels: map[uint64][3]int{}, block: map[uint64]int{}, rowsOf: map[uint64][]int{},
		marksOf: map[uint64]int{}, succ: map[uint64][]uint64{}}
	for _, x := range g.tasks {
		b.kernels[x.id], b.block[x.id] = x.kernels, x.block
	}
	for i, x := range g.rows {
		b.rowsOf[x.id] = append(b.rowsOf[x.id], i)
	}
	b.order = slices.Sorted(maps.Keys(b.rowsOf))
	for _, e := range g.edges {
		if b.succ[e[0]] == nil {
			b.preds = append(b.preds, e[0])
		}
		if !slices.Contains(b.succ[e[0]], e[1]) {
			b.succ[e[0]] = append(b.succ[e[0]], e[1])
		}
	}
	b.marks()
	return b
}

// marks counts the Worker View bars of tasks that ran on no core (§4.7, §4.9).
func (b *bruteForce) marks() {
	dummy, skipped := map[uint64]bool{}, map[uint64]bool{}
	for _, s := range b.streams {
		for _, x := range s.records {
			id, named := x.task.(uint64)
			if !named || x.kind != "dummy_task" && x.kind != "predicated_skip" {
				continue
			}
			b.marksOf[id]++
			dummy[id] = dummy[id] || x.kind == "dummy_task"
			skipped[id] = skipped[id] || x.kind == "predicated_skip"
		}
	}
	for _, lane := range b.submits {
		for _, x := range lane {
			id, named := x.task.(uint64)
			if !named || skipped[id] {
				continue
			}
			if _, listed := b.kernels[id]; !listed && b.rowsOf[id] == nil && !dummy[id] {
				b.marksOf[id]++
			}
		}
	}
}

func (b *bruteForce) typeOf(row int) string {
	if k, ok := b.types[b.rows[row].core]; ok {
		return k
	}
	return "aiv"
}

func (b *bruteForce) function(row int) int {
	k, ok := b.kernels[b.rows[row].id]
	switch {
	case !ok:
		return -1
	case b.typeOf(row) == "aic":
		return k[0]
	case k[1] >= 0:
		return k[1]
	}
	return k[2]
}

// anchors is the number of bars that stand for a task (§5.1, §6).
func (b *bruteForce) anchors(id uint64, marks bool) int64 {
	rows := b.rowsOf[id]
	if rows == nil {
		if marks {
			return int64(b.marksOf[id])
		}
		return 0
	}
	spmd := len(rows) > 1
	for _, x := range rows {
		spmd = spmd && b.typeOf(x) == b.typeOf(rows[0])
	}
	if n, ok := b.block[id]; ok {
		spmd = n > 1
	}
	if !spmd {
		return int64(len(rows))
	}
	functions := map[int]bool{}
	for _, x := range rows {
		functions[b.function(x)] = true
	}
	return int64(len(functions))
}

// nested applies §3.4 to one record.
func nested(s stream, j int) bool {
	x := s.records[j]
	if x.kind != "resolve" {
		return false
	}
	best := -1
	for i, y := range s.records {
		if (y.kind == "complete" || y.kind == "dummy") && y.start <= x.start && (best < 0 || y.start >= s.records[best].start) {
			best = i
		}
	}
	return best >= 0 && x.end < s.records[best].end
}

// bar reports whether any bar of a stream's main lane holds an instant.
func (b *bruteForce) bar(thread int, at int64) bool {
	if thread >= len(b.streams) {
		return false
	}
	s := b.streams[thread]
	for j, x := range s.records {
		switch {
		case x.kind == "dummy_task" || x.kind == "predicated_skip" || x.kind == "scan":
		case nested(s, j) && s.producer == "":
		case x.start <= at && at <= x.end:
			return true
		}
	}
	return false
}

// thread is the scheduler thread of a core (§3.8), −1 if there is none.
func (b *bruteForce) thread(core int) int {
	if b.threads != nil {
		if core >= len(b.threads) {
			return -1
		}
		return b.threads[core]
	}
	votes := make([]int, len(b.streams))
	var first []int // streams in the order of their first vote
	for _, id := range b.order {
		for _, i := range b.rowsOf[id] {
			if b.rows[i].core != core {
				continue
			}
			for n, s := range b.streams {
				if slices.ContainsFunc(s.records, func(x phase) bool {
					return x.kind == "dispatch" && x.start <= b.rows[i].dispatch && b.rows[i].dispatch <= x.end
				}) {
					if votes[n]++; votes[n] == 1 {
						first = append(first, n)
					}
				}
			}
		}
	}
	best := -1
	for _, n := range first {
		if best < 0 || votes[n] > votes[best] {
			best = n
		}
	}
	return best
}

// complete finds the record that retired a row (§3.6).
func (b *bruteForce) complete(row int) (thread, record int, ok bool) {
	x := b.rows[row]
	if b.threads == nil || x.core >= len(b.threads) {
		return 0, 0, false
	}
	thread = b.threads[x.core]
	if thread < 0 || thread >= len(b.streams) {
		return 0, 0, false
	}
	last, next := -1, -1
	for j, y := range b.streams[thread].records {
		if y.kind != "complete" {
			continue
		}
		if y.start <= x.finish {
			if last < 0 || y.start >= b.streams[thread].records[last].start {
				last = j
			}
		} else if next < 0 || y.start < b.streams[thread].records[next].start {
			next = j
		}
	}
	if last >= 0 && x.finish <= b.streams[thread].records[last].end {
		return thread, last, true
	}
	return thread, next, next >= 0
}

func (b *bruteForce) count() counts {
	c := counts{map[string]int64{}, map[string]int64{}}
	add := func(m map[string]int64, key string, n int64) {
		if n > 0 {
			m[key] += n
		}
	}
	for _, p := range b.preds {
		for _, s := range b.succ[p] {
			add(c.drawn, "edges in process 4", b.anchors(p, true)*b.anchors(s, true))
			add(c.drawn, "edges in process 3", b.anchors(p, false)*b.anchors(s, false))
		}
	}
	if len(b.streams) == 0 || len(b.rows) == 0 {
		return c
	}
	submitted := map[uint64]bool{}
	for _, lane := range b.submits {
		for _, x := range lane {
			if id, named := x.task.(uint64); named {
				submitted[id] = true
			}
		}
	}
	for _, x := range b.rows {
		th := b.thread(x.core)
		if th < 0 {
			continue
		}
		m := c.left
		if b.bar(th, x.dispatch) {
			m = c.drawn
		}
		add(m, "dispatch", 2)
		if submitted[x.id] {
			add(m, "submit→dispatch", 1)
		}
	}
	b.completions(&c)
	return c
}

// completions counts the arrows of §5.3.
func (b *bruteForce) completions(c *counts) {
	type record struct {
		end            int64
		thread, record int
	}
	done := map[record][]uint64{}
	for _, id := range b.order {
		last := -1
		for _, i := range b.rowsOf[id] {
			if last < 0 || b.rows[i].finish > b.rows[last].finish {
				last = i
			}
		}
		th, j, ok := b.complete(last)
		if !ok {
			continue
		}
		c.drawn["complete"] += b.anchors(id, false) * 2
		key := record{b.streams[th].records[j].end, th, j}
		done[key] = append(done[key], id)
	}
	fanin := map[uint64]int{}
	for _, p := range b.preds {
		for _, s := range b.succ[p] {
			fanin[s]++
		}
	}
	records := slices.SortedFunc(maps.Keys(done), func(x, y record) int {
		switch {
		case x.end != y.end:
			return int(x.end - y.end)
		case x.thread != y.thread:
			return x.thread - y.thread
		}
		return x.record - y.record
	})
	for _, at := range records {
		for _, id := range done[at] {
			for _, s := range b.succ[id] {
				if fanin[s]--; fanin[s] != 0 {
					continue
				}
				first := -1
				for _, i := range b.rowsOf[s] {
					if first < 0 || b.rows[i].dispatch < b.rows[first].dispatch {
						first = i
					}
				}
				if first < 0 || b.rows[first].dispatch < at.end {
					continue
				}
				switch th := b.thread(b.rows[first].core); {
				case th < 0:
				case b.bar(th, b.rows[first].dispatch):
					c.drawn["complete→ready"]++
				default:
					c.left["complete→ready"]++
				}
			}
		}
	}
}

// TestRandomCaptures: whatever the capture, no viewer would object, every arrow
// lies in bars, and there are as many as the rules say.
func TestRandomCaptures(t *testing.T) {
	seeds := uint64(400)
	if testing.Short() {
		seeds = 100
	}
	totals := map[string]int64{}
	for seed := range seeds {
		g := randomCapture(seed)
		d := g.draw(t, settings{deps: deps(t, g.tasks, g.edges...), idle: seed%2 == 0, overhead: seed%3 == 0, workers: int(seed % 4)})
		d.seated()
		d.unique()
		want := newBruteForce(g).count()
		got := map[string]int64{}
		for _, a := range d.arrows() {
			name := a.name
			if name == "dependency" || name == "hb_violation" {
				name = fmt.Sprintf("edges in process %d", a.from.pid)
			}
			got[name]++
			totals[name]++
		}
		equal(t, "arrows", fmt.Sprint(got), fmt.Sprint(want.drawn))
		equal(t, "arrows left out", fmt.Sprint(d.picture.Report.Unbound), fmt.Sprint(want.left))
		equal(t, "arrows reported", d.picture.Report.Arrows, int64(len(d.arrows())))
		equal(t, "flows written", d.counts.Flows, int64(len(d.arrows())))
		d.violations(g)
		if t.Failed() {
			t.Fatalf("seed %d\n%s\n%s", seed, g.text(t), deps(t, g.tasks, g.edges...))
		}
	}
	t.Logf("arrows: %v", totals)
}

// violations holds the names of the edges' arrows against the bars at their
// ends: an edge is violated if its predecessor ends after its successor starts.
func (d *drawn) violations(g *random) {
	d.t.Helper()
	task := func(e event) uint64 {
		id := number(d.t, firstOf(e.args, "taskId", "task_id"))
		return uint64(id)
	}
	for _, a := range d.arrows("dependency", "hb_violation") {
		from, err1 := d.holder(a.from)
		to, err2 := d.holder(a.to)
		if err1 != nil || err2 != nil {
			continue // seated says so
		}
		pred, succ := from, to
		if !slices.Contains(g.edges, [2]uint64{task(pred), task(succ)}) {
			pred, succ = to, from
		}
		if !slices.Contains(g.edges, [2]uint64{task(pred), task(succ)}) {
			d.t.Errorf("%v joins tasks without an edge", a)
		}
		forth, back := slices.Contains(g.edges, [2]uint64{task(from), task(to)}), slices.Contains(g.edges, [2]uint64{task(to), task(from)})
		if a.name == "dependency" && (!forth || pred.end() > succ.ts) {
			d.t.Errorf("%v is called dependency: %s, %s", a, span(pred), span(succ))
		}
		// Above 1 GHz bars that overlap by a cycle can touch in ns.
		late := func(end, start int64) bool { return end > start || end == start && d.timeline.Clock.Hz > 1_000_000_000 }
		if a.name == "hb_violation" && !(forth && late(from.end(), to.ts)) && !(back && late(to.end(), from.ts)) {
			d.t.Errorf("%v is called a violation: %s, %s", a, span(pred), span(succ))
		}
		if a.from.ts > a.to.ts {
			d.t.Errorf("%v ends before it starts", a)
		}
	}
}

func firstOf(o object, keys ...string) any {
	for _, k := range keys {
		if v, ok := o[k]; ok {
			return v
		}
	}
	return nil
}

// TestRandomArchived: archived records may lack any field and end before they
// start (spec/records.md §2.7); a host orchestrator stands before the device.
// Whatever they hold, no viewer would object.
func TestRandomArchived(t *testing.T) {
	for seed := range uint64(200) {
		g := randomCapture(seed)
		rnd := rand.New(rand.NewPCG(seed, 27))
		for _, s := range g.streams {
			records := []object{}
			for _, x := range s.records {
				o := object{"kind": x.kind, "start_cycles": zero + x.start, "end_cycles": zero + x.end, "tasks_processed": x.tasks, "task_id": x.task}
				switch rnd.IntN(6) {
				case 0:
					o["end_cycles"] = zero + x.start - rnd.Int64N(20)
				case 1:
					delete(o, []string{"kind", "start_cycles", "end_cycles", "tasks_processed", "task_id"}[rnd.IntN(5)])
				}
				records = append(records, o)
			}
			g.phases = append(g.phases, records)
		}
		g.streams = nil
		g.floating = seed%2 == 0
		doc := decode(t, []byte(g.text(t)))
		if seed%3 == 0 {
			delete(doc, "aicpu_orchestrator_phases")
			lane, uploads := list{}, list{}
			for range rnd.IntN(20) {
				at := 5000 + rnd.Int64N(3000)
				lane = append(lane, object{"submit_idx": 1, "task_id": rnd.IntN(30), "start_host_ns": at, "end_host_ns": at + rnd.Int64N(900)})
				uploads = append(uploads, object{"phase": "sm_h2d", "start_host_ns": at + 3000, "end_host_ns": at + 3000 + rnd.Int64N(900)})
			}
			doc["host_orchestrator_phases"], doc["host_device_uploads"] = list{lane}, uploads
		}
		d := convert(t, jsonText(t, doc), settings{deps: deps(t, g.tasks, g.edges...), idle: seed%2 == 0, overhead: true})
		d.seated()
		d.unique()
		equal(t, "flows written", d.counts.Flows, d.picture.Report.Arrows)
		if t.Failed() {
			t.Fatalf("seed %d\n%s", seed, jsonText(t, doc))
		}
	}
}
