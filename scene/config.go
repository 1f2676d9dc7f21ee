package scene

import (
	"errors"
	"fmt"

	"swimlane/internal/abi"
)

// maxPrefix is how long an output prefix may be, in bytes.
const maxPrefix = 1023

// CallConfig says what is recorded of a run, and where that goes
// (spec/collector.md §11.1).
type CallConfig struct {
	EnableChipSwimlane int    // level 0 to 4
	EnableDepGen       bool   // deps.json
	OutputPrefix       string // directory of the artifacts; needed with any diagnostic
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
