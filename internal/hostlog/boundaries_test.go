package hostlog_test

import (
	"testing"

	"swimlane/internal/hostlog"
)

// TestDeviceBoundaries: they carry clk=dev and are an instant of the host (spec/newest.md §11).
func TestDeviceBoundaries(t *testing.T) {
	for name, want := range map[string]bool{
		"chip.run.runner_run.device_boundaries":  false,
		"chip.run.runner_run.device_boundaries2": true,
		"chip.run.runner_run.device_wall":        true,
	} {
		s := hostlog.Span{Name: name, Attrs: "dev_id=0 clk=dev ts_hz=50000000"}
		if s.Device() != want {
			t.Errorf("%s: on the device's clock is %v, want %v", name, s.Device(), want)
		}
	}
}
