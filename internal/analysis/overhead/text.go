package overhead

import (
	"fmt"
	"io"
	"strings"
)

// Form says how the text is laid out.
type Form struct {
	// Logical also names the number of tasks: what "Total tasks" counts is rows.
	Logical bool
	// Narrow has the role column as the ecosystem's tool has it, one narrower than
	// what stands in it.
	Narrow bool
}

// text collects the report.
type text struct{ strings.Builder }

func (b *text) add(format string, args ...any) { fmt.Fprintf(b, format+"\n", args...) }

func (b *text) rule() { b.add("%s", strings.Repeat("=", 90)) }

func (b *text) title(lines ...string) {
	b.add("")
	b.rule()
	for _, s := range lines {
		b.add("%s", s)
	}
	b.rule()
}

// Text writes the six parts in the form of spec/sched-overhead.md §3 to §7.
func (r *Report) Text(w io.Writer, form Form) error {
	var b text
	r.textVerdict(&b, form)
	r.textSwitches(&b)
	b.title("Part 3: Head OH statistics & distribution")
	b.add("  head = min(start - dispatch, start - last_task_end) per task (clamped at 0)")
	r.textSpread(&b, "Head OH", &r.Head)
	b.title("Part 4: Tail OH distribution")
	b.add("  tail = finish - end per task")
	r.textSpread(&b, "Tail OH", &r.Tail)
	if r.AICore {
		r.textStreams(&b)
	} else {
		r.textPhases(&b, form)
	}
	r.textPath(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// engineLabel is how an engine is called.
func engineLabel(coreType string) string {
	switch coreType {
	case "aic":
		return "C (AIC)"
	case "aiv":
		return "V (AIV)"
	}
	return printable(strings.ToUpper(coreType))
}

// printable makes a name from a file fit for a terminal.
func printable(s string) string {
	q := fmt.Sprintf("%q", s)
	return q[1 : len(q)-1]
}

func (r *Report) textVerdict(b *text, form Form) {
	b.title("Part 1: Overhead verdict  (idle core + ready, undispatched work — share of makespan)")
	logical := ""
	if form.Logical {
		logical = fmt.Sprintf(" (%d logical)", r.Tasks)
	}
	b.add("  Total tasks: %d%s   window: %.1f us  (first start -> last end)", r.Rows, logical, r.us(r.Window))
	engines := ""
	for i := range r.Engines {
		e := &r.Engines[i]
		engines += fmt.Sprintf("  %s %.1f%%", engineLabel(e.Type), r.Percent(e.Overhead))
	}
	b.add("  Per-engine overhead: %s", strings.TrimPrefix(engines, "  "))
	b.add("  System: all_overhead %.1f%% (every engine blocked)  |  has_overhead %.1f%% (every working engine starved)", r.Percent(r.All), r.Percent(r.Has))
	b.add("  overhead(T) = idle T-core AND a ready, undispatched T-task (a MIX task counts for both).")
	b.add("  An engine with no ready work is NOT overhead — its idle is dependency-mandated progress.")
	switch r.Verdict() {
	case SchedulerBound:
		b.add("  -> SCHEDULER-BOUND — a free core has ready, undispatched work for much of the makespan.")
	case PartlyLimited:
		b.add("  -> PARTIALLY SCHEDULER-LIMITED — overhead %.0f%% of the makespan; the rest is compute + dependency-limited parallelism.", r.Percent(r.Has))
	default:
		b.add("  -> COMPUTE/DEPENDENCY-BOUND — little reducible scheduler overhead.")
	}
}

func (r *Report) textSwitches(b *text) {
	b.title("Part 2: aicore switch  (gap [prev_end, start] when dispatch < prev_end; PER CORE)")
	b.add("  Each switch is the core picking up an already-dispatched task (~sub-us). Reported")
	b.add("  per core (NOT summed over cores — switches overlap). A switch is 'overhead' when the")
	b.add("  engine has other ready work that instant, else 'independent'. makespan bound:")
	b.add("  lower = min over all cores, upper = sum of per-engine minima.")
	b.add("")
	b.add("  %-10s %6s %10s %10s %10s %9s %9s", "Engine", "Cores", "min/core", "mean/core", "max/core", "n events", "us/event")
	b.add("  %s", strings.Repeat("-", 74))
	us := func(cycles float64, decimals int) string {
		return fmt.Sprintf("%.*fus", decimals, r.Micros(cycles))
	}
	for i := range r.Engines {
		e := &r.Engines[i]
		each := us(0, 2)
		if e.Events > 0 {
			each = us(float64(e.Sum)/float64(e.Events), 2)
		}
		b.add("  %-10s %6d %10s %10s %10s %9d %9s", engineLabel(e.Type), e.Cores, us(float64(e.Min), 1),
			us(float64(e.Sum)/float64(e.Cores), 1), us(float64(e.Max), 1), e.Events, each)
	}
	b.add("")
	for i := range r.Engines {
		if e := &r.Engines[i]; e.Sum > 0 {
			b.add("    %s switch split: %.0f%% during overhead, %.0f%% independent", engineLabel(e.Type),
				share(float64(e.During), float64(e.Sum)), share(float64(e.Sum-e.During), float64(e.Sum)))
		}
	}
	b.add("  makespan switch bound: [%.2f, %.2f] us  (%.2f%% .. %.2f%% of makespan)",
		r.us(r.SwitchLow), r.us(r.SwitchHigh), r.Percent(r.SwitchLow), r.Percent(r.SwitchHigh))
}

func (r *Report) textSpread(b *text, name string, s *Spread) {
	b.add("")
	if s.N == 0 {
		b.add("  %s: (no tasks)", name)
		return
	}
	b.add("  %s distribution (N=%d):", name, s.N)
	for i, p := range Percentiles {
		b.add("    P%-4d %8.2f us", p, r.us(s.P[i]))
	}
	b.add("    Max:  %8.2f us", r.us(s.Max))
	b.add("    Mean: %8.2f us   Total: %10.1f us", r.mean(s), r.us(s.Sum))
}

// mean is the mean of a distribution in µs.
func (r *Report) mean(s *Spread) float64 {
	if s.N == 0 {
		return 0
	}
	return r.Micros(float64(s.Sum) / float64(s.N))
}

// noPhases says what a capture of this level lacks.
func (r *Report) noPhases(b *text) {
	b.add("  Scheduler phase records are unavailable at chip-swimlane Level %d; Level >= 3 is needed for this part.", r.Level)
}

func (r *Report) textStreams(b *text) {
	b.title("Part 5: AICore scheduler phase breakdown")
	if r.Streams == nil {
		r.noPhases(b)
		return
	}
	b.add("  Scheduler streams: %d", r.Streams.Count)
	b.add("  Phase time is summed over the streams and can exceed wall-clock time.")
	b.add("")
	for i := range r.Streams.Kinds {
		k := &r.Streams.Kinds[i]
		b.add("  %-16s records=%6d total=%10.3f us", printable(k.Name), k.Records, r.us(k.Time))
	}
	b.add("  dropped=%d", r.Streams.Dropped)
	b.add("  Queue-pop and polling-loop metrics do not apply to AICore schedulers.")
}

func (r *Report) textPhases(b *text, form Form) {
	const name = "Part 5: AICPU scheduler loop breakdown"
	f := r.Phases
	if f == nil {
		b.title(name)
		r.noPhases(b)
		return
	}
	b.title(name, fmt.Sprintf("  %d scheduler threads", len(f.Threads)))
	r.textThreads(b, f, form)
	total := f.Sum(all)
	b.add("  FINs observed (Complete phase): %d", total.Finishes)
	b.add("")
	b.add("  %-55s %11s %10s %14s", "Phase (summed over threads)", "Total (us)", "% of total", "Avg/task (us)")
	b.add("  %s", strings.Repeat("-", 93))
	for p, seen := range f.Seen {
		if !seen {
			continue
		}
		d := float64(total.Time[p])
		b.add("  %-55s %11.1f %9.1f%% %14.2f", r.label(p), r.Micros(d), share(d, float64(total.Total())), r.Micros(ratio(d, float64(total.Tasks))))
	}
	b.add("")
	tasks := float64(total.Tasks)
	b.add("  Fanout (notify consumers): total edges=%d, max_degree=%d, avg_degree=%.1f", f.Fanout.Edges, f.Fanout.Max, ratio(float64(f.Fanout.Edges), tasks))
	b.add("  Fanin  (release producers): total edges=%d, max_degree=%d, avg_degree=%.1f", f.Fanin.Edges, f.Fanin.Max, ratio(float64(f.Fanin.Edges), tasks))
	b.add("")
	b.add("  Pop: hit=%d, miss=%d, hit_rate=%.1f%%", total.Hit, total.Miss, hitRate(&total))
	b.add("")
	loop := r.loopNs()
	b.add("  Avg scheduler loop iteration: %.0f ns (S threads; approx FIN polling interval)", loop)
	if loop > 0 {
		tail := r.mean(&r.Tail)
		b.add("")
		b.add("  Avg Tail OH = %.1f us ~= %.1f x avg loop iteration (%.0f ns)", tail, tail*1000/loop, loop)
		b.add("  -> On average, a completed task waits ~%.1f S-thread loop iterations before FIN detection", tail*1000/loop)
	}
	b.add("")
	r.textInsight(b, f, &total)
	b.rule()
}

func (r *Report) textThreads(b *text, f *Phases, form Form) {
	width := 11
	if form.Narrow {
		width = 10
	}
	b.add("")
	b.add("  %-10s %-*s %7s %10s %12s %11s", "Thread", width, "Role", "Loops", "Tasks", "ns/loop", "Total (us)")
	b.add("  %s", strings.Repeat("-", 55+width))
	row := func(name, role string, th *Thread) {
		b.add("  %-10s %-11s %7d %10d %12.0f %11.1f", name, role, th.Loops, th.Tasks, r.rate.Ns(th.perLoop()), r.us(th.Total()))
	}
	for i := range f.Threads {
		th := &f.Threads[i]
		role := "S scheduler"
		if th.Resolver {
			role = "P resolve"
		}
		row(fmt.Sprintf("T%d", th.Index), role, th)
	}
	for _, sum := range []struct {
		name string
		want func(*Thread) bool
	}{{"S SUM", schedules}, {"P SUM", resolution}} {
		if s := f.Sum(sum.want); s.Loops > 0 {
			row(sum.name, "", &s)
		}
	}
}

func (r *Report) textInsight(b *text, f *Phases, total *Thread) {
	best := f.Busiest()
	if best < 0 {
		return
	}
	name, _, _ := strings.Cut(outerPhases[best].label, " (")
	b.add("  Key insight: %s phase consumes ~%.0f%% of scheduler CPU.", name, share(float64(total.Time[best]), float64(total.Total())))
	tasks := float64(total.Tasks)
	switch best {
	case phaseDispatch:
		note := "good hit rate."
		if hitRate(total) < 50 {
			note = "low hit rate suggests ready queue often empty."
		}
		b.add("  Pop hit_rate=%.1f%%: %s", hitRate(total), note)
		b.add("  Cache flush (dc cvac + dsb sy) is the dominant non-pop cost.")
	case phaseComplete:
		b.add("  Fanout: avg_degree=%.1f, max_degree=%d.", ratio(float64(f.Fanout.Edges), tasks), f.Fanout.Max)
		b.add("  Fanin:  avg_degree=%.1f, max_degree=%d.", ratio(float64(f.Fanin.Edges), tasks), f.Fanin.Max)
		if f.Fanin.Edges > f.Fanout.Edges {
			b.add("  Fanin traversal (release_producer + check_consumed) dominates the complete phase.")
		} else {
			b.add("  Fanout traversal and atomic ops dominate the complete phase.")
		}
	}
}

func (r *Report) textPath(b *text) {
	p := &r.Path
	b.title("Part 6: Critical-path latency attribution")
	if !p.Found {
		b.add("  (could not resolve a critical path from the DAG)")
		b.rule()
		return
	}
	span := float64(p.Span())
	sched := share(float64(p.Sched), span)
	b.add("  Makespan-determining path: %d hops, span %.1f us", p.Hops, r.us(p.Span()))
	b.add("    Compute (exec) on path : %.1f us (%.1f%%)", r.us(p.Exec), share(float64(p.Exec), span))
	b.add("    Scheduler injected     : %.1f us (%.1f%%)", r.us(p.Sched), sched)
	b.add("    Other (dep wait on path): %.1f us", r.us(p.Other()))
	b.add("  -> scheduler adds ~%.1f%% to the critical path's end-to-end latency.", sched)
	b.rule()
}

// label is how a phase is called.
func (r *Report) label(p int) string {
	if long := outerPhases[p].long; long != "" && r.long {
		return long
	}
	return outerPhases[p].label
}

// loopNs is the mean time of a loop of the threads that schedule, in ns.
func (r *Report) loopNs() float64 {
	s := r.Phases.Sum(schedules)
	return r.rate.Ns(s.perLoop())
}

func hitRate(t *Thread) float64 { return share(float64(t.Hit), float64(t.Hit)+float64(t.Miss)) }

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
