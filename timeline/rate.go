package timeline

import (
	"errors"

	"swimlane/capture"
)

// Rate is how many cycles the device's counter makes per second, for what the
// format computes in floating point (spec/l3.md §7.2): where a capture lies on an
// axis that it does not know. Times on an axis are those of Clock.
type Rate float64

// RateOf is the rate of a capture.
func RateOf(rec *capture.Records) (Rate, error) {
	if rec.Meta.ClockHz == 0 {
		return 0, errors.New("capture metadata has no usable clock_freq_hz")
	}
	return Rate(rec.Meta.ClockHz), nil
}

// Ns is the length of cycles in ns.
func (r Rate) Ns(cycles float64) float64 { return cycles * 1e9 / float64(r) }

// Micros is the length of cycles in µs: of a whole number of them below 9·10⁹ the number
// nearest to it, so that 312,761 cycles of 20 ns are 6255.22 and not 6255.219999999999.
func (r Rate) Micros(cycles float64) float64 { return cycles * 1e6 / float64(r) }

// Cycles is the number of cycles in a length in ns.
func (r Rate) Cycles(ns float64) float64 { return ns * float64(r) / 1e9 }

// At is the time in ns of a device time on an axis, as the clock of a capture that is
// joined on it has it.
func (r Rate) At(p *Placement, cycles uint64) int64 {
	c := NewClock(p.Cycles, uint64(r), p.Ns)
	return c.Ns(cycles)
}
