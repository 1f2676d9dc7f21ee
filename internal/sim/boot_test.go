package sim_test

import (
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/sim"
)

// TestBootAt: the counter runs on the host's clock, cycles = ns · rate / 10⁹
// (spec/collector.md §7.5), and is ahead by the same number of cycles at all times.
func TestBootAt(t *testing.T) {
	for _, v := range []struct {
		arch     *abi.Arch
		ns, at   int64
		boot     uint64 // the counter then
		shift    uint64 // to the one without BootAt
		duration uint64 // of 1 µs
	}{
		{abi.A2A3, 3_442_786_499_721, 3_442_786_499_740, 172_139_324_987, 172_139_324_987 - 50_000_000, 50},
		{abi.A2A3, 3_442_786_499_740, 3_442_786_499_740, 172_139_324_987, 172_139_324_987 - 50_000_000, 50},
		{abi.A5, 3_442_786_499_721, 3_442_786_499_721, 3_442_786_499_721, 3_442_786_499_721 - 1_000_000_000, 1000},
		{abi.A2A3, 40, 40, 2, 0, 50}, // a host that has just started: the shift is negative
	} {
		costs := sim.DefaultCosts(v.arch)
		c, err := sim.NewChip(v.arch, 1, &costs)
		if err != nil {
			t.Fatal(err)
		}
		plain, _ := sim.NewChip(v.arch, 1, &costs)
		if at := c.BootAt(v.ns); at != v.at || c.Counter(sim.Boot) != v.boot {
			t.Errorf("%s from %d ns: begins at %d ns, counter %d; want %d and %d", v.arch.Name, v.ns, at, c.Counter(sim.Boot), v.at, v.boot)
		}
		if v.shift != 0 {
			for _, d := range []sim.Time{0, 1, 19, 20, 21, 12_345, 7_000_000_019} {
				if got := c.Counter(sim.Boot+d) - plain.Counter(sim.Boot+d); got != v.shift {
					t.Errorf("%s: %d ns later the counter is ahead by %d cycles, want %d", v.arch.Name, d, got, v.shift)
				}
			}
		}
		if before := c.Counter(sim.Boot - 1); before != v.boot-1 {
			t.Errorf("%s: a ns before Boot the counter is %d, want %d", v.arch.Name, before, v.boot-1)
		}
		if got := c.Cycles(1000); got != v.duration {
			t.Errorf("%s: 1 µs has %d cycles, want %d", v.arch.Name, got, v.duration)
		}
	}
}
