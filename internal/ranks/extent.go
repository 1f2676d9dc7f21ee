package ranks

import (
	"errors"

	"swimlane/capture"
	"swimlane/timeline"
)

// Bounds are the first and the last of some device times, in cycles.
type Bounds struct{ First, Last uint64 }

func (b *Bounds) add(cycles uint64) {
	if cycles == 0 {
		return
	}
	if b.Last == 0 || cycles < b.First {
		b.First = cycles
	}
	b.Last = max(b.Last, cycles)
}

func (b *Bounds) join(o Bounds) {
	b.add(o.First)
	b.add(o.Last)
}

// Extent is what placement asks of a capture (spec/l3.md §7.2): where its device
// times lie, all of them and those of two streams. A stream without records has no
// bounds, which is the zero value.
type Extent struct {
	Rate        timeline.Rate
	All         Bounds
	Sched, Orch Bounds
}

// ExtentOf finds the extent of a capture. Times of 0 did not happen; those on the
// host's clock take no part.
func ExtentOf(r *capture.Records) (Extent, error) {
	var e Extent
	var err error
	if e.Rate, err = timeline.RateOf(r); err != nil {
		return e, err
	}
	for i := range r.Tasks.Start {
		e.All.add(r.Tasks.Receive[i])
		e.All.add(r.Tasks.Start[i])
		e.All.add(r.Tasks.End[i])
	}
	for i := range r.Sched.Dispatch {
		e.All.add(r.Sched.Dispatch[i])
		e.All.add(r.Sched.Finish[i])
	}
	for i := range r.Streams {
		var b Bounds
		p := &r.Streams[i].Phases
		for j := range p.Start {
			b.add(p.Start[j])
			b.add(p.End[j])
		}
		e.All.join(b)
		if !r.Streams[i].AICore() {
			e.Sched.join(b)
		}
	}
	for i := range r.DeviceOrc {
		o := &r.DeviceOrc[i]
		for j := range o.Start {
			e.Orch.add(o.Start[j])
			e.Orch.add(o.End[j])
		}
	}
	e.All.join(e.Orch)
	for i := range r.Lifecycle {
		for _, span := range r.Lifecycle[i].Span {
			e.All.add(span[0])
			e.All.add(span[1])
		}
		e.All.add(r.Lifecycle[i].Other[0])
		e.All.add(r.Lifecycle[i].Other[1])
	}
	if e.All.Last == 0 {
		return e, errors.New("capture holds no device-clock records to place")
	}
	return e, nil
}

// length is how long something took, in ns.
func (e *Extent) length(b Bounds) float64 { return e.Rate.Ns(float64(b.Last - b.First)) }

// stream is the bounds of a stream by the name of its phase in the log.
func (e *Extent) stream(name string) Bounds {
	if name == "sched" {
		return e.Sched
	}
	return e.Orch
}

// streams are the phases of the log that records of a capture can be held against.
var streams = [2]string{"sched", "orch"}
