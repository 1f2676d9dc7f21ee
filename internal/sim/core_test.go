package sim_test

import (
	"strings"
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/sim"
)

// costs of round numbers, so that the tests can be followed by hand.
func testCosts() *sim.Costs {
	var c sim.Costs
	for k, ns := range map[sim.Cost]sim.Time{
		sim.CoreReceive: 100, sim.CorePayload: 20, sim.CoreStart: 10, sim.CoreFinish: 5, sim.CoreDoorbell: 40, sim.CoreRecord: 800,
	} {
		c[k].Ns = ns
	}
	return &c
}

func testChip(t *testing.T, a *abi.Arch, clusters int) *sim.Chip {
	t.Helper()
	c, err := sim.NewChip(a, clusters, testCosts())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// cond demands what COND shows.
func cond(t *testing.T, c *sim.Core, at sim.Time, token uint32, fin bool) {
	t.Helper()
	got, gotFin, ok := c.Cond(at)
	if ok != (token != 0) || got != token || gotFin != fin {
		t.Errorf("at %d COND is token %d, finished %v (there: %v), want %d, %v", at, got, gotFin, ok, token, fin)
	}
}

func kernel(cycles uint64) func() uint64 { return func() uint64 { return cycles } }

func TestTwoSlots(t *testing.T) {
	c := testChip(t, abi.A2A3, 1).Cores[0]
	cond(t, c, 5000, 0, false)
	c.Give(1000, sim.Job{Token: 1, Run: kernel(50)}) // 50 cycles of 20 ns
	// Seen at 1100, acknowledged at 1120, runs from 1130 to 2130, FIN at 2135.
	cond(t, c, 1119, 0, false)
	cond(t, c, 1120, 1, false)
	cond(t, c, 2134, 1, false)
	cond(t, c, 2135, 1, true)
	for after, want := range map[sim.Time]sim.Time{0: 1120, 1119: 1120, 1120: 2135, 2135: sim.Never} {
		if got := c.Next(after); got != want {
			t.Errorf("after %d COND changes at %d, want %d", after, got, want)
		}
	}
	c.Give(1500, sim.Job{Token: 2, Run: kernel(1)})
	cond(t, c, 2140, 1, true) // the second is received when the first has finished: 2135, 2155, 2165 to 2185, 2190
	cond(t, c, 2155, 2, false)
	cond(t, c, 2190, 2, true)
	c.Give(2200, sim.Job{Token: 3, Run: kernel(1)})
	cond(t, c, 2319, 2, true)
	cond(t, c, 2320, 3, false)
}

func TestGate(t *testing.T) {
	c := testChip(t, abi.A5, 1).Cores[2]
	ran := false
	c.Give(1000, sim.Job{Token: 1, Gated: true, Run: func() uint64 { ran = true; return 100 }})
	c.Give(1010, sim.Job{Token: 2, Run: kernel(7)}) // behind it
	cond(t, c, 100_000, 0, false)
	if ran || c.Next(0) != sim.Never {
		t.Error("a gated task runs before its doorbell")
	}
	c.Ring(3000, 1)
	// ACK at 3040, from 3050 to 3150, FIN at 3155; the one behind ACK at 3175, from 3185 to 3192.
	cond(t, c, 3039, 0, false)
	cond(t, c, 3040, 1, false)
	cond(t, c, 3155, 1, true)
	cond(t, c, 3175, 2, false)
	cond(t, c, 3197, 2, true)
	// A doorbell that rings before the core has read the payload changes nothing.
	c.Give(4000, sim.Job{Token: 3, Gated: true, Run: kernel(1)})
	c.Ring(4001, 3)
	cond(t, c, 4119, 2, true)
	cond(t, c, 4120, 3, false)
}

func TestNoRoom(t *testing.T) {
	for name, f := range map[string]func(c *sim.Core){
		"two running": func(c *sim.Core) {
			for i := range uint32(3) {
				c.Give(1000, sim.Job{Token: i + 1, Run: kernel(1000)})
			}
		},
		"two gated": func(c *sim.Core) {
			for i := range uint32(3) {
				c.Give(1000, sim.Job{Token: i + 1, Gated: true, Run: kernel(1)})
			}
		},
		"no such gate": func(c *sim.Core) {
			c.Give(1000, sim.Job{Token: 1, Run: kernel(1)})
			c.Ring(1000, 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if text, ok := recover().(string); !ok || !strings.HasPrefix(text, "sim: core 0 ") {
					t.Errorf("%q, want a panic that names the core", text)
				}
			}()
			f(testChip(t, abi.A2A3, 1).Cores[0])
		})
	}
}

// The counter of spec/device-abi.md §1: 50 MHz on a2a3, 1 GHz on a5.
func TestCounter(t *testing.T) {
	a2, a5 := testChip(t, abi.A2A3, 24), testChip(t, abi.A5, 36)
	for at, want := range map[sim.Time]uint64{0: 0, 19: 0, 20: 1, sim.Boot: 50_000_000, 9_000_000_000_000_000_019: 450_000_000_000_000_000} {
		if got := a2.Counter(at); got != want {
			t.Errorf("a2a3: %d ns are %d cycles, want %d", at, got, want)
		}
		if got := a5.Counter(at); got != uint64(at) {
			t.Errorf("a5: %d ns are %d cycles, want as many", at, got)
		}
	}
	if d := a2.Duration(50); d != 1000 {
		t.Errorf("50 cycles are %d ns, want 1000", d)
	}
	if d := a2.Duration(1 << 63); d != sim.Never {
		t.Errorf("2^63 cycles are %d ns, want more than there can be", d)
	}
}

func TestClusters(t *testing.T) {
	c := testChip(t, abi.A2A3, 8)
	if len(c.Cores) != 24 || c.Clusters() != 8 {
		t.Fatalf("%d cores in %d clusters, want 24 in 8", len(c.Cores), c.Clusters())
	}
	for i := range 8 {
		cluster := c.Cluster(i)
		if cluster[0].Index != i || cluster[1].Index != 8+2*i || cluster[2].Index != 9+2*i {
			t.Errorf("cluster %d is cores %d, %d and %d", i, cluster[0].Index, cluster[1].Index, cluster[2].Index)
		}
		for k, core := range cluster {
			if core.Cluster != i || (core.Type == abi.AIC) != (k == 0) {
				t.Errorf("core %d is an %v of cluster %d, want cluster %d", core.Index, core.Type, core.Cluster, i)
			}
		}
	}
	for _, n := range []int{0, 25} {
		if _, err := sim.NewChip(abi.A2A3, n, testCosts()); err == nil {
			t.Errorf("a chip of %d clusters is no error", n)
		}
	}
}
