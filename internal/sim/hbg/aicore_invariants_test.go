package hbg_test

import (
	"cmp"
	"slices"
)

// rowOf is the row of a task with all that was recorded of it.
type rowOf struct {
	core                                      int
	receive, start, end, dispatch, finish     uint64
	probe, publication, complete, resolve     record
	probes, publications, completes, resolves int
}

// checkAicore holds the records of a run against spec/collector.md §14 and the facts of
// spec/records.md §2.11.
func checkAicore(b *aicoreBench, m *aicoreGraph) {
	b.t.Helper()
	rows := collect(b)
	for i, d := range m.tasks {
		r := rows[uint64(i)]
		if r == nil {
			r = &rowOf{}
		}
		checkRow(b, i, d, r)
		for _, p := range d.waits {
			before := rows[uint64(p)]
			if before == nil || before.resolve.End == 0 || m.tasks[p].alloc {
				continue
			}
			if d.runs && (r.probe.Start < before.complete.End || r.start < before.end) {
				b.t.Errorf("task %d was probed at %d and started at %d, before task %d ended at %d and was complete at %d", i, r.probe.Start, r.start, p, before.end, before.complete.End)
			}
			if d.resolves && r.resolve.Start < before.resolve.Start {
				b.t.Errorf("task %d was resolved at %d, before task %d at %d, which it waits for", i, r.resolve.Start, p, before.resolve.Start)
			}
		}
	}
	for id := range rows {
		if id >= uint64(len(m.tasks)) || m.tasks[id].alloc {
			b.t.Errorf("there are records of task %d, which does not run", id)
		}
	}
	roots := uint64(0)
	for _, d := range m.tasks {
		if d.runs && !slices.ContainsFunc(d.waits, func(p int) bool { return !m.tasks[p].alloc }) {
			roots++
		}
	}
	checkStreams(b, roots)
	checkCores(b)
	checkStolen(b, m, rows)
}

// collect gathers all that is recorded of each task.
func collect(b *aicoreBench) map[uint64]*rowOf {
	b.t.Helper()
	rows := map[uint64]*rowOf{}
	of := func(id uint64) *rowOf {
		if rows[id] == nil {
			rows[id] = &rowOf{}
		}
		return rows[id]
	}
	for _, k := range b.records.Kernels {
		r := of(k[1])
		if r.start != 0 || k[1] != k[2] {
			b.t.Errorf("row %v: want one row a task, whose token is its id", k)
		}
		r.core, r.receive, r.start, r.end = int(k[0]), k[3]-k[5], k[3], k[4]
	}
	for _, k := range b.records.Timings.Records {
		r := of(k[1])
		if int(k[0]) != r.core || r.dispatch != 0 {
			b.t.Errorf("scheduler's row %v: want one for each row of a core, and on core %d", k, r.core)
		}
		r.dispatch, r.finish = k[2], k[3]
	}
	for _, s := range b.records.Schedulers.Streams {
		for _, v := range s.Records {
			if v.Task == nil {
				continue
			}
			switch r := of(*v.Task); v.Kind {
			case "state_probe":
				r.probe = v
				r.probes++
			case "dispatch", "worksteal", "refill":
				r.publication = v
				r.publications++
			case "complete":
				r.complete = v
				r.completes++
			case "resolve":
				r.resolve = v
				r.resolves++
			}
		}
	}
	return rows
}

// checkRow checks the records of one task.
func checkRow(b *aicoreBench, id int, d *aicoreMade, r *rowOf) {
	b.t.Helper()
	one := func(so bool) int {
		if so {
			return 1
		}
		return 0
	}
	if n := [4]int{r.probes, r.publications, r.completes, r.resolves}; n != [4]int{one(d.runs), one(d.runs), one(d.runs), one(d.resolves)} {
		b.t.Errorf("task %d, which runs: %v, is resolved: %v, has %v probes, publications, completes and resolves", id, d.runs, d.resolves, n)
	}
	if (r.start != 0) != d.runs || (r.dispatch != 0) != d.runs {
		b.t.Errorf("task %d, which runs: %v, has a row from %d and is dispatched at %d", id, d.runs, r.start, r.dispatch)
	}
	if !d.runs {
		return
	}
	if !(r.probe.End <= r.publication.Start && r.dispatch <= r.receive && r.receive <= r.start && r.start <= r.end && r.end <= r.finish && r.complete.End <= r.resolve.Start) {
		b.t.Errorf("task %d: steps are not in order: %+v", id, *r)
	}
	if r.probe.Loop != r.publication.Loop {
		b.t.Errorf("task %d was probed in iteration %d, want %d, that of its publication", id, r.probe.Loop, r.publication.Loop)
	}
	if r.dispatch != r.publication.End || r.finish != r.complete.Start {
		b.t.Errorf("task %d: dispatch %d and finish %d, want %d, the end of its publication, and %d, the start of its complete", id, r.dispatch, r.finish, r.publication.End, r.complete.Start)
	}
	core, want := r.core, "aiv"
	if core < b.clusters {
		want = "aic"
	}
	if k := d.form.Kernels; k[0] == nil && want == "aic" || k[1] == nil && k[2] == nil && want == "aiv" {
		b.t.Errorf("task %d ran on core %d, an %s, and has no kernel for it", id, core, want)
	}
}

// checkStreams checks each stream by itself: order, overlaps, iterations, and the
// kernels that its scheduler ran itself.
func checkStreams(b *aicoreBench, roots uint64) {
	b.t.Helper()
	streams := b.records.Schedulers.Streams
	if !slices.IsSortedFunc(streams, func(a, b stream) int { return cmp.Compare(a.Worker, b.Worker) }) {
		b.t.Error("streams are not in the order of their workers")
	}
	bootstraps := uint64(0)
	for _, s := range streams {
		if s.Worker != b.clusters+2*s.Scheduler || s.Producer != "aicore" || s.CoreType != "aiv" || len(s.Metrics) != 0 {
			b.t.Errorf("stream of scheduler %d runs on core %d, %s: want the lower-numbered AIV of its cluster, %d", s.Scheduler, s.Worker, s.CoreType, b.clusters+2*s.Scheduler)
		}
		if !sorted(s.Records) {
			b.t.Errorf("records of scheduler %d are not in order", s.Scheduler)
		}
		last := record{}
		for i, v := range s.Records {
			wantTasks := uint64(1)
			switch v.Kind {
			case "bootstrap":
				if i != 0 || v.Loop != 0 {
					b.t.Errorf("scheduler %d: record %d is a bootstrap of iteration %d", s.Scheduler, i, v.Loop)
				}
				bootstraps += v.Tasks
				wantTasks = v.Tasks
			case "idle":
				wantTasks = 0
			}
			if v.Tasks != wantTasks || (v.Task == nil) != (v.Kind == "bootstrap" || v.Kind == "idle") || v.Start > v.End {
				b.t.Errorf("scheduler %d: record %d is %+v", s.Scheduler, i, v)
			}
			if last.End > v.Start {
				b.t.Errorf("scheduler %d: %+v overlaps %+v", s.Scheduler, v, last)
			}
			loop := v.Loop
			if v.Kind == "state_probe" { // has the iteration of its publication, which may be another scheduler's
				loop = last.Loop
			}
			if last.Loop > loop || last.Kind == "idle" && v.Kind != "state_probe" && loop <= last.Loop {
				b.t.Errorf("scheduler %d: %+v does not follow %+v", s.Scheduler, v, last)
			}
			last = v
			last.Loop = loop
		}
		for _, k := range b.records.Kernels {
			if int(k[0]) != s.Worker {
				continue
			}
			for _, v := range s.Records {
				if v.Start < k[4] && k[3] < v.End {
					b.t.Errorf("scheduler %d has %+v while it runs task %d from %d to %d", s.Scheduler, v, k[1], k[3], k[4])
				}
			}
		}
	}
	if bootstraps != roots {
		b.t.Errorf("bootstraps published %d tasks, want %d that wait for nothing", bootstraps, roots)
	}
}

// checkCores: kernels of a core do not overlap.
func checkCores(b *aicoreBench) {
	b.t.Helper()
	rows := slices.Clone(b.records.Kernels)
	slices.SortFunc(rows, func(a, b [6]uint64) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[3], b[3])) })
	for i := 1; i < len(rows); i++ {
		if a, c := rows[i-1], rows[i]; a[0] == c[0] && a[4] > c[3] {
			b.t.Errorf("core %d runs task %d from %d, and task %d until %d", c[0], c[1], c[3], a[1], a[4])
		}
	}
}

// checkStolen: a task that was stolen went to a core that had nothing. Of tasks of several
// blocks nobody knows where and when most of them ran.
func checkStolen(b *aicoreBench, m *aicoreGraph, rows map[uint64]*rowOf) {
	b.t.Helper()
	for id, r := range rows {
		if r.publication.Kind != "worksteal" || m.tasks[id].form.Blocks != 1 {
			continue
		}
		for other, before := range rows {
			if before.core == r.core && before.dispatch != 0 && before.dispatch < r.dispatch && before.finish > r.probe.Start && m.tasks[other].form.Blocks == 1 {
				b.t.Errorf("task %d was stolen for core %d, probed at %d, when task %d ran there until %d", id, r.core, r.probe.Start, other, before.finish)
			}
		}
	}
}
