package draw

import (
	"fmt"

	"swimlane/capture"
	"swimlane/timeline"
	"swimlane/trace"
)

// lifeBar is one interval of an AICPU thread's life.
type lifeBar struct {
	thread     int64
	name       string
	start, end int64
	lane       int32
	run        int32
}

// lifeBars lists the intervals that are drawn (spec/converter.md §4.1): one is
// skipped when it did not end, or ended before it started.
func lifeBars(t *timeline.Timeline) (bars []lifeBar, threads []int64) {
	seen := map[int64]bool{}
	for i := range t.Rec.Lifecycle {
		l := &t.Rec.Lifecycle[i]
		thread := int64(i)
		if l.Thread.Set {
			thread = l.Thread.V
		}
		if !seen[thread] {
			seen[thread] = true
			threads = append(threads, thread)
		}
		for k, span := range l.Span {
			start, end := t.Clock.Ns(span[0]), t.Clock.Ns(span[1])
			if end > 0 && end >= start {
				bars = append(bars, lifeBar{thread: thread, name: capture.LifecycleNames[k], start: start, end: end, run: l.Run})
			}
		}
	}
	return bars, threads
}

func (d *drawing) layOutLifecycle() error {
	if len(d.t.Rec.Lifecycle) == 0 {
		return nil
	}
	process := d.pic.process(pidLifecycle, "AICPU Lifecycle")
	bars, threads := lifeBars(d.t)
	small := true
	for _, th := range threads {
		small = small && th >= 0 && th < 1<<20
	}
	groups := make([]group, len(threads))
	subs := make([]map[int32]uint16, len(threads))
	byThread := map[int64][]interval{}
	for k := range bars {
		b := &bars[k]
		byThread[b.thread] = append(byThread[b.thread], interval{int32(k), b.start, b.end})
	}
	for i, th := range threads {
		groups[i] = group{name: fmt.Sprintf("AICPU Thread %d", th), at: uint32(i), subs: 1}
		if small {
			groups[i].at = uint32(th)
		}
		subs[i] = map[int32]uint16{}
		n, err := placer{}.place(byThread[th], func(k int32, sub uint16) {
			subs[i][k] = sub
			if sub > 0 {
				d.pic.Report.Moved++
			}
		})
		if err != nil {
			return fmt.Errorf("life cycle of AICPU thread %d in %s: %w", th, d.t.Rec.Source, err)
		}
		groups[i].subs = max(n, 1)
	}
	d.pic.lanes(process, tidLifecycle, 1, groups)
	for i := range groups {
		for k, sub := range subs[i] {
			bars[k].lane = groups[i].lane + int32(sub)
		}
	}
	d.life = bars
	return nil
}

type lifecycleSection struct{ *drawing }

func (s lifecycleSection) Len() int { return len(s.life) }

func (s lifecycleSection) Walk(from, to int, sink trace.Sink) {
	for _, b := range s.life[from:to] {
		args := []trace.Arg{{Key: "aicpu_thread_id", Kind: trace.Int, Num: uint64(b.thread)}}
		if s.t.Rec.Launches != nil {
			args = s.runArg(args, b.run)
		}
		sink.Slice(&trace.Slice{
			Lane: b.lane, Start: b.start, End: b.end, ID: trace.NoID, Name: []byte(b.name), Category: "aicpu_lifecycle",
			Args: args,
		})
	}
}
