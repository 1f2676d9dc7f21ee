package producer

import (
	"runtime"
	"time"

	"swimlane/internal/abi"
)

// Waiting says how a writer waits. The zero value blocks with the limits of the
// protocol.
type Waiting struct {
	Policy abi.Policy
	// Timeout ends a wait for the ready queue, for the push gate, and for the host
	// to end a freeze; 30 s if 0. A wait for an empty buffer is bounded by it only
	// while the host holds the freeze.
	Timeout time.Duration
	// Deadline ends every single wait, whatever the host does; 4 × Timeout if 0.
	// The protocol lacks it: a host that never reacts would stall a device for ever.
	Deadline time.Duration
	// Wait is called between two looks at what is waited for; runtime.Gosched if nil.
	Wait func()
	// Now is the clock of waits, which is never the device's; time.Now if nil.
	Now func() time.Time
}

func (w Waiting) withDefaults() Waiting {
	if w.Timeout == 0 {
		w.Timeout = abi.BackpressureSeconds * time.Second
	}
	if w.Deadline == 0 {
		w.Deadline = 4 * w.Timeout
	}
	if w.Wait == nil {
		w.Wait = runtime.Gosched
	}
	if w.Now == nil {
		w.Now = time.Now
	}
	return w
}

// Config is what a device finds in its kernel arguments, and how its writers wait.
type Config struct {
	Region        *abi.Region
	Space         abi.Space // the device's memory
	RegionAddr    uint64    // chip_swimlane_data_base
	RotationTable uint64    // chip_swimlane_aicore_rotation_table, 0 = none
	Enable        uint32    // enable_profiling_flag
	Cores         int       // AICores of the run
	Waiting
}
