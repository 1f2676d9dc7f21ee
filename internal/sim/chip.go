package sim

import (
	"fmt"
	"math/bits"

	"swimlane/internal/abi"
)

// Boot is when a run's program reaches the chip. The counter is well above 0 by
// then, which in records means that something did not happen.
const Boot = Time(1_000_000_000)

// Chip is a simulated chip, or the clusters of one that a run uses.
type Chip struct {
	Arch  *abi.Arch
	Costs *Costs
	Cores []*Core // AICs, then the two AIVs of each cluster: abi.CoreTypes, abi.ClusterOf

	clusters int
	offset   int64 // ns that the counter is ahead of virtual time
}

// NewChip makes a chip with so many clusters.
func NewChip(a *abi.Arch, clusters int, costs *Costs) (*Chip, error) {
	if clusters < 1 || clusters > a.MaxClusters {
		return nil, fmt.Errorf("%s: a chip of %d clusters cannot be: expected 1 to %d", a.Name, clusters, a.MaxClusters)
	}
	c := &Chip{Arch: a, Costs: costs, clusters: clusters}
	for i, t := range abi.CoreTypes(clusters) {
		c.Cores = append(c.Cores, &Core{Index: i, Type: t, Cluster: abi.ClusterOf(i, clusters), chip: c})
	}
	return c, nil
}

// Clusters is how many clusters the chip has.
func (c *Chip) Clusters() int { return c.clusters }

// Cluster is the AIC and the two AIVs of a cluster.
func (c *Chip) Cluster(i int) [abi.CoresPerCluster]*Core {
	aiv := c.clusters + 2*i
	return [abi.CoresPerCluster]*Core{c.Cores[i], c.Cores[aiv], c.Cores[aiv+1]}
}

const second = 1_000_000_000 // ns

// Counter is the chip's system counter at a time, in cycles.
func (c *Chip) Counter(t Time) uint64 { return c.cycles(uint64(int64(t) + c.offset)) }

// Cycles is how many cycles of the counter a stretch of time has.
func (c *Chip) Cycles(d Time) uint64 { return c.cycles(uint64(d)) }

func (c *Chip) cycles(ns uint64) uint64 {
	hi, lo := bits.Mul64(ns, c.Arch.ClockHz)
	q, _ := bits.Div64(hi, lo, second)
	return q
}

// BootAt puts Boot on the clock of a real host: at an instant of its monotonic clock,
// or up to a tick later, so that it is one of the counter's instants too. From now on the counter
// runs on that clock, cycles = ns · rate / 10⁹ (spec/collector.md §7.5), and is ahead of
// the one without BootAt by the same number of cycles at all times. The result is the instant.
func (c *Chip) BootAt(ns int64) int64 {
	a, b := int64(second), int64(c.Arch.ClockHz)
	for b != 0 {
		a, b = b, a%b
	}
	unit := second / a // the least number of ns that is a whole number of ticks; it divides Boot
	at := (max(ns, 0) + unit - 1) / unit * unit
	c.offset = at - int64(Boot)
	return at
}

// Duration is how long so many cycles of the counter take.
func (c *Chip) Duration(cycles uint64) Time {
	hi, lo := bits.Mul64(cycles, second)
	if hi >= c.Arch.ClockHz {
		return Never
	}
	q, _ := bits.Div64(hi, lo, c.Arch.ClockHz)
	return Time(min(q, uint64(Never)))
}

func (c *Chip) cost(k Cost) Time { return c.Costs[k].Ns }
