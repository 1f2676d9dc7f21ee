package abi_test

import (
	"testing"

	"swimlane/internal/abi"
)

// regions is the table of spec/device-abi.md §8.
var regions = []struct {
	arch                               *abi.Arch
	cores                              int
	header, aicore, sched, orch, total uint64
}{
	{abi.A2A3, 3, 127168, 127744, 128320, 129088, 129856},
	{abi.A2A3, 6, 127168, 128320, 129472, 130240, 131008},
	{abi.A2A3, 24, 127168, 131776, 136384, 137152, 137920},
	{abi.A2A3, 72, 127168, 140992, 154816, 155584, 156352},
	{abi.A5, 3, 233152, 233728, 234304, 235264, 236224},
	{abi.A5, 6, 233152, 234304, 235456, 236416, 237376},
	{abi.A5, 24, 233152, 237760, 242368, 243328, 244288},
	{abi.A5, 108, 233152, 253888, 274624, 275584, 276544},
}

func TestRegion(t *testing.T) {
	for _, want := range regions {
		r, err := abi.NewRegion(want.arch, want.cores)
		if err != nil {
			t.Fatal(err)
		}
		threads := map[*abi.Arch]int{abi.A2A3: 4, abi.A5: 5}[want.arch]
		for _, pool := range []struct {
			kind  abi.Kind
			begin uint64
			count int
		}{
			{abi.KindAicpuTask, want.header, want.cores}, {abi.KindAicoreTask, want.aicore, want.cores},
			{abi.KindSchedPhase, want.sched, threads}, {abi.KindOrchPhase, want.orch, threads},
		} {
			if got := r.Pools(pool.kind); got != pool.count {
				t.Errorf("%s, %d cores: %d pools of kind %d, want %d", r.Arch.Name, want.cores, got, pool.kind, pool.count)
			}
			for i := range pool.count {
				if got := r.Pool(pool.kind, i); got != pool.begin+192*uint64(i) {
					t.Errorf("%s, %d cores: pool %d of kind %d is at %d, want %d + 192 each", r.Arch.Name, want.cores, i, pool.kind, got, pool.begin)
				}
			}
			panics(t, "abi: pool", func() { r.Pool(pool.kind, pool.count) })
			panics(t, "abi: pool", func() { r.Pool(pool.kind, -1) })
		}
		if r.Size != want.header || r.TotalSize != want.total {
			t.Errorf("%s, %d cores: header of %d bytes, region of %d, want %d and %d", r.Arch.Name, want.cores, r.Size, r.TotalSize, want.header, want.total)
		}
	}
}

func TestRegionRefusesCores(t *testing.T) {
	for _, a := range []*abi.Arch{abi.A2A3, abi.A5} {
		for _, n := range []int{-1, 0, a.MaxCores + 1, 1 << 40} {
			if r, err := abi.NewRegion(a, n); err == nil {
				t.Errorf("%s takes %d cores: %+v", a.Name, n, r)
			}
		}
	}
	_, err := abi.NewRegion(abi.A5, 109)
	if want := "a5: a region for 109 cores cannot be: expected 1 to 108"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// TestDataHeader checks the offsets of the header, §7, and the addresses in its
// queues.
func TestDataHeader(t *testing.T) {
	type offsets struct {
		threads, size                             int
		queues, heads, tails, cores, level        uint64
		sched, orch, phaseCores, toThread, bp, to uint64
	}
	for a, want := range map[*abi.Arch]offsets{
		abi.A2A3: {4, 992, 0, 126976, 126992, 127008, 127012, 127016, 127020, 127024, 127028, 127100, 127168},
		abi.A5:   {5, 1456, 0, 232960, 232980, 233000, 233004, 233008, 233012, 233016, 233020, 233128, 233152},
	} {
		r, err := abi.NewRegion(a, 3)
		if err != nil {
			t.Fatal(err)
		}
		got := offsets{
			r.Threads, r.QueueSize, r.Queues, r.Heads, r.Tails, r.NumCores, r.Level,
			r.NumSchedPhaseThreads, r.NumOrchPhaseThreads, r.NumPhaseCores, r.CoreToThread, r.Backpressure, r.Size,
		}
		if got != want {
			t.Errorf("%s: %+v, want %+v", a.Name, got, want)
		}
		last := uint64(want.threads - 1)
		if got, w := r.Entry(int(last), uint32(want.size-1)), want.heads-32; got != w {
			t.Errorf("%s: the last entry is at %d, want %d", a.Name, got, w)
		}
		if got, w := r.Entry(1, 2), uint64(want.size+2)*32; got != w {
			t.Errorf("%s: entry 2 of queue 1 is at %d, want %d", a.Name, got, w)
		}
		if r.Head(int(last)) != want.heads+4*last || r.Tail(int(last)) != want.tails+4*last {
			t.Errorf("%s: indices of queue %d at %d and %d", a.Name, last, r.Head(int(last)), r.Tail(int(last)))
		}
	}
}

// TestFreeQueueLayout: §4, and the eight slots of scope stats, §11.
func TestFreeQueueLayout(t *testing.T) {
	four, eight := abi.FreeQueueLayout{Slots: 4}, abi.FreeQueueLayout{Slots: 8}
	if four.Head() != 32 || four.Tail() != 36 || eight.Head() != 64 || eight.Tail() != 68 {
		t.Errorf("indices at %d, %d and %d, %d, want 32, 36 and 64, 68", four.Head(), four.Tail(), eight.Head(), eight.Tail())
	}
	for index, want := range map[uint32][2]uint64{0: {0, 0}, 3: {24, 24}, 4: {0, 32}, 7: {24, 56}, 9: {8, 8}, 1<<32 - 1: {24, 56}} {
		if got := [2]uint64{four.Slot(index), eight.Slot(index)}; got != want {
			t.Errorf("index %d is in the slots at %d, want %d", index, got, want)
		}
	}
}

// TestBackpressureOffsets: §6.
func TestBackpressureOffsets(t *testing.T) {
	got := []int{abi.RqFreezeActive, abi.RqContended, abi.FqFreezeActive, abi.FqContended}
	for i, want := range []int{0, 4, 8, 12} {
		if got[i] != want {
			t.Errorf("flag %d is at %d, want %d", i, got[i], want)
		}
	}
}

// TestKernelArgs: §8.
func TestKernelArgs(t *testing.T) {
	for a, want := range map[*abi.Arch]abi.KernelArgs{
		abi.A2A3: {Regs: 8, ChipSwimlaneDataBase: 32, ChipSwimlaneAicoreRotationTable: 72, DepGenDataBase: 56, EnableProfilingFlag: 88, Size: 96},
		abi.A5:   {Regs: 8, ChipSwimlaneDataBase: 24, ChipSwimlaneAicoreRotationTable: 48, DepGenDataBase: 40, EnableProfilingFlag: 80, Size: 88},
	} {
		if got := *abi.NewKernelArgs(a); got != want {
			t.Errorf("%s: %+v, want %+v", a.Name, got, want)
		}
	}
}
