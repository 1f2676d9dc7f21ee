package scene

import (
	"errors"
	"fmt"
	"io"

	"swimlane/internal/abi"
	"swimlane/internal/sim"
)

// maxPrefix is how long an output prefix may be, in bytes.
const maxPrefix = 1023

// CallConfig says what is recorded of a run, and where that goes
// (spec/collector.md §11.1).
type CallConfig struct {
	EnableChipSwimlane int  // level 0 to 4
	EnableDepGen       bool // deps.json
	// CaptureClockAnchors ties the counter of the chip to the host's clock at both
	// ends of a run whose records are collected (spec/collector.md §7.5).
	CaptureClockAnchors bool
	OutputPrefix        string // directory of the artifacts; needed with any diagnostic
}

// Check refuses levels that do not exist, and diagnostics without a prefix.
func (c *CallConfig) Check() error {
	if _, err := abi.ParseLevel(c.EnableChipSwimlane); err != nil {
		return err
	}
	if c.diagnostics() && c.OutputPrefix == "" {
		return errors.New("a diagnostic is enabled and the output prefix is empty: expected a directory for what it writes")
	}
	if len(c.OutputPrefix) > maxPrefix {
		return fmt.Errorf("the output prefix has %d bytes: expected at most %d", len(c.OutputPrefix), maxPrefix)
	}
	return nil
}

func (c *CallConfig) diagnostics() bool { return c.EnableChipSwimlane > 0 || c.EnableDepGen }

// archOf is the architecture that a platform simulates.
func archOf(platform string) (*abi.Arch, error) {
	switch platform {
	case A2A3Sim:
		return abi.A2A3, nil
	case A5Sim:
		return abi.A5, nil
	case A2A3, A5:
		return nil, fmt.Errorf("platform %s: this build has no hardware backend: use the simulator, %ssim", platform, platform)
	}
	return nil, fmt.Errorf("platform %q is unknown: expected %s or %s", platform, A2A3Sim, A5Sim)
}

// Costs are how long everything takes on a platform's model.
type Costs struct {
	arch     *abi.Arch
	rows     sim.Costs
	replaced []string
}

// DefaultCosts are the costs of a platform.
func DefaultCosts(platform string) (*Costs, error) {
	arch, err := archOf(platform)
	if err != nil {
		return nil, err
	}
	return &Costs{arch: arch, rows: sim.DefaultCosts(arch)}, nil
}

// Read replaces those costs that a JSON file names, by a number of ns or by that and
// where it comes from:
//
//	{"sched.poll": 55, "sched.loop": {"ns": 70, "source": "measured on board 7"}, …}
func (c *Costs) Read(r io.Reader) error {
	rows, names, err := c.rows.ReadCosts(r)
	if err == nil {
		c.rows, c.replaced = rows, append(c.replaced, names...)
	}
	return err
}

// Write writes all costs as Read reads them.
func (c *Costs) Write(w io.Writer) error { return c.rows.WriteCosts(w) }
