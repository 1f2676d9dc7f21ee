package abi_test

import (
	"fmt"
	"slices"
	"testing"

	"swimlane/internal/abi"
)

// TestArch: the table of spec/device-abi.md §1.
func TestArch(t *testing.T) {
	for a, want := range map[*abi.Arch]abi.Arch{
		abi.A2A3: {
			Name: "a2a3", MaxClusters: 24, MaxCores: 72, MaxThreads: 4, DefaultThreads: 4, MaxLaunchThreads: 6, MaxCoresPerThread: 72,
			ReadyQueueSize: 992, ClockHz: 50_000_000, SimRegisterBytes: 0x1400,
		},
		abi.A5: {
			Name: "a5", MaxClusters: 36, MaxCores: 108, MaxThreads: 5, DefaultThreads: 5, MaxLaunchThreads: 14, MaxCoresPerThread: 108,
			ReadyQueueSize: 1456, ClockHz: 1_000_000_000, SimRegisterBytes: 0x4000,
		},
	} {
		if *a != want {
			t.Errorf("%+v, want %+v", *a, want)
		}
		if got, err := abi.ArchOf(want.Name); got != a || err != nil {
			t.Errorf("ArchOf(%s) = %v, %v", want.Name, got, err)
		}
	}
	if abi.A2A3.BackpressureCycles() != 1_500_000_000 || abi.A5.BackpressureCycles() != 30_000_000_000 {
		t.Errorf("a device waits %d and %d cycles, want 1500000000 and 30000000000", abi.A2A3.BackpressureCycles(), abi.A5.BackpressureCycles())
	}
	for _, name := range []string{"", "A5", "a2", "a5 "} {
		_, err := abi.ArchOf(name)
		if want := fmt.Sprintf("architecture %q is unknown: expected a2a3 or a5", name); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// TestConstants are those that no C name carries; the others are in
// TestCompiledLayout.
func TestConstants(t *testing.T) {
	for name, c := range map[string][2]int{
		"seconds of backpressure": {abi.BackpressureSeconds, 30},
		"threads at least":        {abi.MinThreads, 2},
		"ready entry":             {abi.ReadyEntrySize, 32},
		"alignment":               {abi.Align, 64},
		"kinds":                   {abi.Kinds, 4},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: %d, want %d", name, c[0], c[1])
		}
	}
	if abi.UptimeUnit != "device_uptime_us" {
		t.Errorf("unit %q", abi.UptimeUnit)
	}
}

func TestTokens(t *testing.T) {
	for token, want := range map[uint32][2]uint32{
		1: {1, 0x80000001}, 17: {0x11, 0x80000011}, abi.TokenMax: {0x7FFFFFEF, 0xFFFFFFEF},
		abi.TokenExit: {0x7FFFFFF0, 0xFFFFFFF0}, 0x80000005: {5, 0x80000005},
	} {
		if got := [2]uint32{abi.Ack(token), abi.Fin(token)}; got != want {
			t.Errorf("token %#x: ACK %#x, FIN %#x, want %#x", token, got[0], got[1], want)
		}
	}
}

// TestWorkers: the order of the cores and the clusters that they form, §1.
func TestWorkers(t *testing.T) {
	if got, want := abi.CoreTypes(2), []abi.CoreType{0, 0, 1, 1, 1, 1}; !slices.Equal(got, want) {
		t.Errorf("core types %v, want %v", got, want)
	}
	if abi.AIC.String() != "aic" || abi.AIV.String() != "aiv" || abi.AIC != 0 || abi.AIV != 1 {
		t.Errorf("core types are called %s (%d) and %s (%d)", abi.AIC, int(abi.AIC), abi.AIV, int(abi.AIV))
	}
	for clusters, want := range map[int][]int{
		1: {0, 0, 0},
		3: {0, 1, 2, 0, 0, 1, 1, 2, 2}, // cluster c: AIC c, AIV 3+2c and 4+2c
	} {
		var got []int
		for core := range len(want) {
			got = append(got, abi.ClusterOf(core, clusters))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d clusters: cores belong to %v, want %v", clusters, got, want)
		}
	}
}

func TestParseLevel(t *testing.T) {
	for n, want := range []abi.Level{abi.Disabled, abi.TaskTiming, abi.ScheduleTiming, abi.SchedPhases, abi.OrchPhases} {
		if got, err := abi.ParseLevel(n); got != want || err != nil || uint32(want) != uint32(n) {
			t.Errorf("ParseLevel(%d) = %d, %v, want %d", n, got, err, want)
		}
	}
	for _, n := range []int{-1, 5, 1 << 32} {
		if got, err := abi.ParseLevel(n); err == nil {
			t.Errorf("ParseLevel(%d) = %d", n, got)
		}
	}
	_, err := abi.ParseLevel(5)
	want := "capture level 5 is unknown: expected 0 (off), 1 (task timing), 2 (schedule timing), 3 (scheduler phases) or 4 (orchestrator phases)"
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
