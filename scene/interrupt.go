package scene

import (
	"sync"

	"swimlane/internal/sim"
)

// nodes are the nodes whose runs are under way.
var nodes sync.Map // of *nodeSched

// interrupt ends all runs of this process: as runs that failed, so that what was
// captured is kept and says so.
func interrupt() {
	sim.Interrupt()
	nodes.Range(func(n, _ any) bool {
		n.(*nodeSched).fail(sim.ErrInterrupted)
		return true
	})
}
