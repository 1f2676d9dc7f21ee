package timeline

import (
	"errors"
	"fmt"
	"math/bits"

	"swimlane/capture"
)

// MaxSpan is the longest time axis in ns. Longer ones are no capture of
// anything: 2^62 ns are 146 years.
const MaxSpan = 1 << 62

// ErrSpan says that the times of a capture lie impossibly far apart.
var ErrSpan = errors.New("times too far apart")

// Clock maps device cycles to ns on the picture's axis.
type Clock struct {
	Base   uint64 // cycles at time zero of the device
	Hz     uint64
	Offset int64  // ns added to every device time: the host part lies before (spec/records.md §4.7)
	scale  uint64 // ns per cycle, where that is an integer
}

// NewClock returns the clock of a capture whose smallest device time is base.
func NewClock(base, hz uint64, offset int64) Clock {
	c := Clock{Base: base, Hz: hz, Offset: offset}
	if 1e9%hz == 0 {
		c.scale = 1e9 / hz
	}
	return c
}

// Ns is the time of a device timestamp. 0 means "did not happen" and is time
// zero, also where a host part shifts the others (spec/records.md §4.3).
func (c *Clock) Ns(cycles uint64) int64 {
	if cycles == 0 {
		return 0
	}
	if cycles < c.Base { // only where an anchor is the base
		return c.Offset - c.Span(c.Base-cycles)
	}
	return c.Offset + c.Span(cycles-c.Base)
}

// Span is a length of time in ns, rounded once.
func (c *Clock) Span(cycles uint64) int64 {
	if c.scale != 0 {
		return int64(cycles * c.scale)
	}
	hi, lo := bits.Mul64(cycles, 1e9)
	lo, carry := bits.Add64(lo, c.Hz/2, 0)
	if hi+carry >= c.Hz {
		return MaxSpan // longer than any axis that check accepts
	}
	q, _ := bits.Div64(hi+carry, lo, c.Hz)
	return int64(q)
}

// SpanMicros is a length of time in µs, unrounded, by the arithmetic of the
// ecosystem's tools: for figures that are compared with theirs.
func (c *Clock) SpanMicros(cycles uint64) float64 { return float64(cycles) / float64(c.Hz) * 1e6 }

// check refuses an axis that ns cannot hold.
func (c *Clock) check(first, last uint64, source string) error {
	hi, lo := bits.Mul64(last-min(c.Base, first), 1e9)
	if hi >= c.Hz {
		return spanError(source, first, last)
	}
	room := MaxSpan - max(c.Offset, 0) // the anchor may lie before the origin: then the offset is negative
	if q, _ := bits.Div64(hi, lo, c.Hz); room < 0 || c.Offset < -MaxSpan || q > uint64(room) {
		return spanError(source, first, last)
	}
	return nil
}

// before reports whether a cycle lies before time zero, which only a saved
// alignment can put there.
func (c *Clock) before(cycles uint64) bool {
	hi, lo := bits.Mul64(c.Base-min(c.Base, cycles), 1e9)
	if hi >= c.Hz {
		return true
	}
	q, _ := bits.Div64(hi, lo, c.Hz)
	return q > MaxSpan || c.Offset < -MaxSpan || c.Ns(cycles) < 0
}

func spanError(source string, first, last uint64) error {
	return fmt.Errorf("%w: the device times of %s reach from cycle %d to %d, expected them within %d ns; "+
		"one of them is corrupt", ErrSpan, source, first, last, int64(MaxSpan))
}

// extent returns the smallest strictly positive time among all that the format
// lets define time zero (spec/records.md §4.2), and the largest.
func extent(r *capture.Records) (base, last uint64) {
	at := func(v uint64) {
		if v == 0 {
			return
		}
		if base == 0 || v < base {
			base = v
		}
		last = max(last, v)
	}
	for i := range r.Tasks.Receive {
		at(r.Tasks.Receive[i])
		at(r.Tasks.End[i])
	}
	for i := range r.Sched.Dispatch {
		at(r.Sched.Dispatch[i])
		at(r.Sched.Finish[i])
	}
	for i := range r.Streams {
		p := &r.Streams[i].Phases
		for j := range p.Start {
			at(p.Start[j])
			at(p.End[j])
		}
	}
	for i := range r.DeviceOrc {
		o := &r.DeviceOrc[i]
		for j := range o.Start {
			at(o.Start[j])
			at(o.End[j])
		}
	}
	for i := range r.Launches {
		at(r.Launches[i].Start)
	}
	for i := range r.Lifecycle {
		for _, span := range r.Lifecycle[i].Span {
			at(span[0])
			at(span[1])
		}
	}
	return base, last
}

// Micros is the time of a device timestamp in µs, unrounded, by the arithmetic
// of spec/records.md §4.3. Pictures and figures use Ns; this is for scripts
// that compare with other readers.
func (c *Clock) Micros(cycles uint64) float64 {
	if cycles == 0 {
		return 0
	}
	us := float64(int64(cycles-c.Base)) * (1e6 / float64(c.Hz))
	return float64(c.Offset)/1000 + float64(us)
}

// Origins are the host times in ns that the host's own records start at, and
// that the picture starts at. Both are 0 without a host part, an alignment and a
// placement.
func (t *Timeline) Origins() (source, picture uint64) {
	if t.Host != nil {
		source = t.Host.Origin
	}
	picture = source
	if t.Placement != nil {
		return t.Rec.HostOrigin(), t.Placement.Origin
	}
	if t.Placed && picture == 0 {
		picture = t.Rec.Meta.Alignment.HostMin
	}
	return source, picture
}

// setClock chooses the axis: host time where the capture has its own mapping,
// otherwise device time behind the host part (spec/records.md §4.7, §4.9). An axis
// that was given counts more (spec/l3.md §10.8).
func (t *Timeline) setClock(base uint64) {
	a, hz := t.Rec.Meta.Alignment, t.Rec.Meta.ClockHz
	switch p := t.Placement; {
	case p != nil:
		t.Placed = true
		if t.Host != nil {
			t.Host.Origin = p.Origin
		}
		t.Clock = NewClock(p.Cycles, hz, p.Ns)
	case a != nil && a.Bounded:
		t.Placed = true
		t.shareOrigin()
		_, origin := t.Origins()
		t.Clock = NewClock(a.Device, hz, int64(a.Host-origin))
	case t.Host != nil && t.Host.Mode:
		t.Clock = NewClock(base, hz, t.Host.Seam)
	default:
		t.Clock = NewClock(base, hz, 0)
	}
}

// shareOrigin gives uploads without a host part the origin of the picture: host
// and device lie on one axis.
func (t *Timeline) shareOrigin() {
	if t.Host == nil || t.Host.Origin != 0 {
		return
	}
	t.Host.Origin = t.Rec.Meta.Alignment.HostMin
	for i := range t.Rec.Uploads {
		t.Host.Origin = min(t.Host.Origin, t.Rec.Uploads[i].Start)
	}
}

// unplace drops an alignment that cannot be of this capture: it puts the device
// before the host's first record. Like an invalid one it is a warning only
// (spec/newest.md §7).
func (t *Timeline) unplace(first uint64) {
	reason := fmt.Sprintf("it puts cycle %d before the host's origin, so it is not of this capture", first)
	t.warn("clock-alignment", 1, "ignoring saved clock alignment: %s", reason)
	t.Rec.Meta.Alignment = capture.NoAlignment(reason)
	t.Placed = false
	t.setClock(first)
}
