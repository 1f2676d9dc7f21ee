package draw

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"swimlane/capture"
	"swimlane/timeline"
	"swimlane/trace"
)

// streamLayout is the layout of one scheduler's lanes in process 2
// (spec/converter.md §4.7).
type streamLayout struct {
	main, nested group           // main.lost is that of both
	sub          []uint16        // per record; nil if all bars lie on the first sub-lane
	inner        map[int32]int64 // per record, start of the first bar nested in it
	bars         []int32         // bars of the main lane by start
	maxEnd       []uint64        // largest end of the bars up to here
	longer       []int32         // the last bar before that ends later, −1 if none does
	gapSub       []uint16        // sub-lane per reconstructed idle bar
}

// layOutStreams names the lanes of process 2. Reconstructed idle bars take part
// in the placement behind the records.
func (d *drawing) layOutStreams() error {
	if !d.hasStreams {
		return nil
	}
	d.procSched = d.pic.process(pidScheduler, d.schedulerName())
	d.streams = make([]streamLayout, len(d.t.Rec.Streams))
	mains := make([]group, len(d.streams))
	nests := make([]group, len(d.streams))
	stride := uint32(10)
	for n := range d.streams {
		if err := d.placeStream(n); err != nil {
			return fmt.Errorf("scheduler stream %d of %s: %w", n, d.t.Rec.Source, err)
		}
		mains[n], nests[n] = d.streams[n].main, d.streams[n].nested
		for stride < uint32(mains[n].width()+nests[n].subs+1) {
			stride *= 10
		}
	}
	d.pic.lane(d.procSched, tidQueue, "shared_ready_queue (global)")
	for n := range d.streams {
		st := &d.streams[n]
		base := tidStream + stride*uint32(n)
		st.main.lane = int32(len(d.pic.Lanes))
		d.streamLane(base, st.main.name, 0)
		if st.nested.subs > 0 {
			st.nested.lane = int32(len(d.pic.Lanes))
			d.streamLane(base+1, st.nested.name, 0)
		}
		next := base + 2
		for k := 1; k < st.main.subs; k, next = k+1, next+1 {
			d.streamLane(next, st.main.name, k)
		}
		for k := 1; k < st.nested.subs; k, next = k+1, next+1 {
			d.streamLane(next, st.nested.name, k)
		}
		if st.main.lost {
			d.markLosses(timeline.LostPhase, int32(n), d.pic.lossLane(d.procSched, next, st.main.name))
		}
	}
	return d.collectMarks()
}

func (d *drawing) streamLane(tid uint32, name string, k int) {
	if k > 0 {
		name = fmt.Sprintf("%s (%d)", name, k+1)
	}
	d.pic.lane(d.procSched, tid, name)
}

// schedulerName: the AICore schedulers' process only if nobody else recorded.
func (d *drawing) schedulerName() string {
	aicore := false
	for i := range d.t.Rec.Streams {
		switch d.t.Rec.Streams[i].Producer {
		case capture.ProducerAICore:
			aicore = true
		case "":
		default:
			return "AICPU Scheduler"
		}
	}
	if aicore {
		return "AICore Scheduler"
	}
	return "AICPU Scheduler"
}

func (d *drawing) streamName(n int) string {
	s := &d.t.Rec.Streams[n]
	id := int64(n)
	if s.SchedulerID.Set {
		id = s.SchedulerID.V
	}
	if !s.AICore() {
		return fmt.Sprintf("Sched_%d", id)
	}
	switch {
	case d.t.Rec.Dialect.StreamNamedByWorker && s.WorkerID.Set:
		id = s.WorkerID.V
	case !d.t.Rec.Dialect.StreamNamedByWorker && s.PhysicalCore.Set:
		id = s.PhysicalCore.V
	}
	return fmt.Sprintf("Scheduler_%d", id)
}

// onNested reports whether a record lies on the lane of nested resolves.
func (d *drawing) onNested(n, j int) bool {
	nested := d.t.Streams[n].Nested
	return nested != nil && nested[j] && !d.t.Rec.Streams[n].AICore()
}

func (d *drawing) placeStream(n int) error {
	p, st := &d.t.Rec.Streams[n].Phases, &d.streams[n]
	st.main = group{name: d.streamName(n), subs: 1, lost: d.lost(timeline.LostPhase, int32(n))}
	st.nested = group{name: st.main.name}
	st.inner = map[int32]int64{}
	var main, nested []interval
	var end uint64
	clock := &d.t.Clock
	for j, k := range p.Kind {
		kind := &d.t.Rec.Kinds[k]
		switch kind.Class {
		case capture.Legacy:
			d.pic.Report.Legacy[kind.Name]++
			continue
		case capture.Unknown:
			d.pic.Report.Unknown[kind.Name]++
		case capture.Marker:
			continue
		}
		iv := interval{int32(j), clock.Ns(p.Start[j]), clock.Ns(max(p.End[j], p.Start[j]))}
		if d.onNested(n, j) {
			nested = append(nested, iv)
			continue
		}
		main = append(main, iv)
	}
	gaps := 0
	if d.opt.Idle {
		for g, gap := range d.t.Streams[n].Gaps {
			main = append(main, interval{int32(p.Len() + g), clock.Ns(gap[0]), clock.Ns(gap[1])})
			gaps++
		}
	}
	st.gapSub = make([]uint16, gaps)
	d.pic.Report.IdleBars += gaps
	set := func(item int32, s uint16) {
		switch {
		case int(item) >= p.Len():
			st.gapSub[int(item)-p.Len()] = s
		case s > 0:
			if st.sub == nil {
				st.sub = make([]uint16, p.Len())
			}
			st.sub[item] = s
			d.pic.Report.Moved++
		}
	}
	pl := placer{strict: true, inner: func(outer int32, start int64) {
		if _, ok := st.inner[outer]; !ok {
			st.inner[outer] = start
		}
	}, loose: func(item int32) bool {
		return int(item) < p.Len() && d.t.Rec.Kinds[p.Kind[item]].Inside
	}}
	var err error
	if len(main) > 0 {
		if st.main.subs, err = pl.place(main, set); err != nil {
			return err
		}
	}
	if len(nested) > 0 {
		if st.nested.subs, err = pl.place(nested, set); err != nil {
			return err
		}
	}
	for _, iv := range main {
		if int(iv.item) < p.Len() {
			st.bars = append(st.bars, iv.item)
		}
	}
	// The bars are sorted by ns, which a clock above 1 GHz is finer than.
	byCycle := func(a, b int32) int { return cmp.Compare(p.Start[a], p.Start[b]) }
	if !slices.IsSortedFunc(st.bars, byCycle) {
		slices.SortStableFunc(st.bars, byCycle)
	}
	for _, j := range st.bars {
		end = max(end, p.End[j])
		st.maxEnd = append(st.maxEnd, end)
	}
	st.longer = longerBefore(p, st.bars)
	return nil
}

// longerBefore links every bar to the last one before it that ends later.
func longerBefore(p *capture.Phases, bars []int32) []int32 {
	out := make([]int32, len(bars))
	for i, j := range bars {
		k := int32(i) - 1
		for k >= 0 && p.End[bars[k]] <= p.End[j] {
			k = out[k]
		}
		out[i] = k
	}
	return out
}

// recordLane is the lane of a record's bar.
func (d *drawing) recordLane(n, j int) int32 {
	st := &d.streams[n]
	sub := int32(0)
	if st.sub != nil {
		sub = int32(st.sub[j])
	}
	if d.onNested(n, j) {
		if sub == 0 {
			return st.nested.lane
		}
		return d.subLane(st) + int32(st.main.subs-1) + sub - 1
	}
	if sub == 0 {
		return st.main.lane
	}
	return d.subLane(st) + sub - 1
}

// subLane is the first lane behind the main and the nested one of a stream.
func (d *drawing) subLane(st *streamLayout) int32 {
	if st.nested.subs > 0 {
		return st.main.lane + 2
	}
	return st.main.lane + 1
}

// barAt finds the bar of a stream that an arrow at cycle c belongs to: one of
// the wanted task if the records name tasks, else the innermost bar around c
// that publishes tasks, else one that ends there, else any bar around c. It
// returns −1 if no bar holds c.
func (d *drawing) barAt(n int, c, task uint64) int32 {
	p, st := &d.t.Rec.Streams[n].Phases, &d.streams[n]
	best, rank := int32(-1), 0
	for i, held := lastBar(p, st.bars, c), 0; i >= 0 && st.maxEnd[i] >= c && held < mostHolders; {
		j := st.bars[i]
		if p.End[j] < c {
			i = int(st.longer[i]) // those between end no later
			continue
		}
		i, held = i-1, held+1
		kind := &d.t.Rec.Kinds[p.Kind[j]]
		r := 1
		switch {
		case kind.Publishes && p.Flags[j]&capture.HasTask != 0 && p.Task[j] == task:
			r = 5
		case kind.Publishes && p.End[j] > c:
			r = 4
		case kind.Publishes:
			r = 3
		case p.End[j] > c:
			r = 2
		}
		if r > rank {
			best, rank = j, r
		}
	}
	return best
}

// mostHolders bounds how many bars around one instant are looked at. Real ones
// lie three deep.
const mostHolders = 64

func lastBar(p *capture.Phases, bars []int32, c uint64) int {
	lo, hi := 0, len(bars)
	for lo < hi {
		if m := int(uint(lo+hi) >> 1); p.Start[bars[m]] <= c {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo - 1
}

// recordPoint is the place of an arrow's end at time t (ns) on a record's bar.
func (d *drawing) recordPoint(n int, j int32, t int64) trace.Point {
	p, clock := &d.t.Rec.Streams[n].Phases, &d.t.Clock
	start, end := clock.Ns(p.Start[j]), clock.Ns(max(p.End[j], p.Start[j]))
	if inner, ok := d.streams[n].inner[j]; ok {
		end = min(end, inner) // not behind its start: a part that starts with the bar covers it all the time
	}
	return trace.Point{Lane: d.recordLane(n, int(j)), Time: own(t, start, end, 0), Bind: trace.NoID}
}

type streamSection struct {
	*drawing
	n int
}

func (s streamSection) Len() int { return s.t.Rec.Streams[s.n].Phases.Len() }

func (s streamSection) Walk(from, to int, sink trace.Sink) {
	rec := s.t.Rec
	stream, st := &rec.Streams[s.n], &s.t.Streams[s.n]
	p, clock := &stream.Phases, &s.t.Clock
	var text textBuf
	var args [10]trace.Arg
	var depth [3]trace.Arg
	for j := from; j < to; j++ {
		kind := &rec.Kinds[p.Kind[j]]
		switch kind.Class {
		case capture.Legacy:
			continue
		case capture.Marker:
			if p.Flags[j]&capture.HasTask == 0 || s.taskKept(runAt(p.Run, j), p.Task[j]) {
				s.marker(s.n, j, sink)
			}
			continue
		}
		text.reset()
		shown := kind.Name
		if kind.Shown != "" {
			shown = kind.Shown
		}
		processed, finishes := p.Processed[j], int64(0)
		if st.Finishes != nil {
			finishes = int64(st.Finishes[j])
		}
		complete := p.Kind[j] == capture.KindComplete
		counted := p.Flags[j]&capture.HasProcessed != 0
		if complete && !counted {
			processed = finishes
		}
		named := p.Flags[j]&capture.HasTask != 0
		args := append(args[:0],
			trace.Arg{Key: "phase", Kind: trace.Text, Text: text.put(append(text.tail(), shown...))},
			trace.Arg{Key: "loop_iter", Kind: trace.Int, Num: uint64(p.Loop[j])},
			trace.Arg{Key: "tasks_processed", Kind: trace.Int, Num: uint64(processed)})
		args = s.runArg(args, runAt(p.Run, j))
		if stream.AICore() && named {
			args = append(args, trace.Arg{Key: "task_id", Num: p.Task[j]})
		}
		sampled := p.Flags[j]&capture.HasDepths != 0
		if sampled {
			args = append(args,
				trace.Arg{Key: "shared_at_start (aic,aiv,mix)", Kind: trace.Triple, Three: p.Depth[j].Start},
				trace.Arg{Key: "shared_at_end (aic,aiv,mix)", Kind: trace.Triple, Three: p.Depth[j].End})
		}
		if complete {
			if counted {
				args = append(args,
					trace.Arg{Key: "finishes_processed", Kind: trace.Int, Num: uint64(processed)},
					trace.Arg{Key: "finish_rows_attributed", Kind: trace.Int, Num: uint64(finishes)})
			} else {
				args = append(args, trace.Arg{Key: "finishes_processed", Kind: trace.Int, Num: uint64(finishes)})
			}
		}
		start, end := clock.Ns(p.Start[j]), clock.Ns(max(p.End[j], p.Start[j]))
		sink.Slice(&trace.Slice{
			Lane: s.recordLane(s.n, j), Start: start, End: end, ID: trace.NoID,
			Name:     text.put(s.appendRecordName(text.tail(), stream, kind, shown, processed, named, p.Task[j])),
			Category: "scheduler", Color: kind.Color, Args: args,
		})
		if sampled && (kind.Sampled || kind.SampledByResolver && st.Resolver) {
			for e, key := range [3]string{"AIC", "AIV", "MIX"} {
				depth[e] = trace.Arg{Key: key, Kind: trace.Int, Num: uint64(p.Depth[j].End[e])}
			}
			sink.Counter(&trace.Counter{
				Process: s.procSched, TID: tidQueue, Time: end, Name: "shared_ready_queue", Category: "queue", Values: depth[:],
			})
		}
	}
}

// appendRecordName appends the label of a scheduler bar.
func (d *drawing) appendRecordName(b []byte, stream *capture.Stream, kind *capture.Kind, shown string, processed int64, named bool, task uint64) []byte {
	if !stream.AICore() {
		b = append(b, shown...)
		b = append(b, '(')
		b = strconv.AppendInt(b, processed, 10)
		return append(b, ')')
	}
	if kind.Task != "" {
		shown = kind.Task
	}
	b = append(b, shown...)
	if named {
		b = append(b, '(')
		b = d.appendID(b, task)
		b = append(b, ')')
	}
	return b
}

// idleSection draws the gaps between the work records of a stream.
type idleSection struct {
	*drawing
	n int
}

func (s idleSection) Len() int { return len(s.streams[s.n].gapSub) }

func (s idleSection) Walk(from, to int, sink trace.Sink) {
	st := &s.streams[s.n]
	args := []trace.Arg{
		{Key: "phase", Kind: trace.Text, Text: []byte("idle")},
		{Key: "reconstructed", Kind: trace.Bool, Num: 1},
	}
	for g := from; g < to; g++ {
		lane := st.main.lane
		if st.gapSub[g] > 0 {
			lane = s.subLane(st) + int32(st.gapSub[g]) - 1
		}
		gap := s.t.Streams[s.n].Gaps[g]
		sink.Slice(&trace.Slice{
			Lane: lane, Start: s.t.Clock.Ns(gap[0]), End: s.t.Clock.Ns(gap[1]), ID: trace.NoID,
			Name: []byte("idle"), Category: "scheduler", Color: "grey", Args: args,
		})
	}
}
