package abi_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"swimlane/internal/abi"
)

// unhex reads the bytes of an example of the spec, which stand in groups.
func unhex(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// example writes a structure into memory at a place other than its start, compares
// the bytes with the spec's, and reads them back.
func example[T comparable](t *testing.T, want string, v T) {
	t.Helper()
	bytes := unhex(t, want)
	m := abi.NewMem(256)
	*abi.View[T](m, 64) = v
	if got := hex.EncodeToString(m[64 : 64+len(bytes)]); got != hex.EncodeToString(bytes) {
		t.Errorf("%T is\n%s, want\n%x", v, got, bytes)
	}
	if got := hex.EncodeToString(abi.Bytes(abi.View[T](m, 64))); got != hex.EncodeToString(bytes) {
		t.Errorf("Bytes of %T are\n%s, want\n%x", v, got, bytes)
	}
	for i, b := range m {
		if b != 0 && (i < 64 || i >= 64+len(bytes)) {
			t.Errorf("%T also writes the byte at %d", v, i-64)
		}
	}
	back := abi.NewMem(len(bytes))
	copy(back, bytes)
	if got := *abi.View[T](back, 0); got != v {
		t.Errorf("the bytes are read as %+v, want %+v", got, v)
	}
}

// TestExamples are all bytes that spec/device-abi.md §2 and §5 write out.
func TestExamples(t *testing.T) {
	t.Run("AicpuTask", func(t *testing.T) {
		example(t, "e803000000000000 c409000000000000 11000000 000000000000000000000000",
			abi.AicpuTask{DispatchTime: 1000, FinishTime: 2500, RegTaskID: 17})
	})
	t.Run("AicoreTask", func(t *testing.T) {
		example(t, "b004000000000000 9808000000000000 0500000001000000 11000000 28000000",
			abi.AicoreTask{StartTime: 1200, EndTime: 2200, TaskTokenRaw: abi.TaskID(1, 5), RegTaskID: 17, ReceiveToStartCycles: 40})
	})
	t.Run("Dispatch", func(t *testing.T) {
		p := abi.SchedPhase{
			StartTime: 5000, EndTime: 5600, LoopIter: 42, Kind: abi.Dispatch, TasksProcessed: 3,
			SharedDepthAtStart: [3]int16{1, 4, 0}, SharedDepthAtEnd: [3]int16{0, 2, 0},
		}
		p.SetPops(7, 2)
		example(t, "8813000000000000 e015000000000000 2a000000 01000000 03000000 07000000 02000000 010004000000 000002000000"+strings.Repeat("00", 16), p)
	})
	t.Run("DummyTask", func(t *testing.T) {
		p := abi.SchedPhase{StartTime: 7000, EndTime: 7000, LoopIter: 43, Kind: abi.DummyTask, TasksProcessed: 1}
		p.SetTask(abi.TaskID(2, 9))
		example(t, "581b000000000000 581b000000000000 2b000000 07000000 01000000 09000000 02000000"+strings.Repeat("00", 28), p)
		if got := p.TaskID(); got != 2<<32|9 {
			t.Errorf("task id %#x, want 0x200000009", got)
		}
	})
	t.Run("ReadyEntry", func(t *testing.T) {
		example(t, "05000000 03000000 4000100000000000 02000000"+strings.Repeat("00", 12),
			abi.ReadyEntry{CoreIndex: 5, Kind: abi.KindAicoreTask, BufferPtr: 0x100040, BufferSeq: 2})
	})
}

// TestOtherRecords are records for which the spec has no bytes, written after its
// tables.
func TestOtherRecords(t *testing.T) {
	example(t, "0100000000000000 0200000000000000 0400000003000000 05000000 00000000",
		abi.OrchPhase{StartTime: 1, EndTime: 2, TaskID: abi.TaskID(3, 4), SubmitIdx: 5})
	example(t, "0100000000000000 0200000000000000 0300000000000000 04000000 05000000 06000000 00000000",
		abi.HostPhase{StartNs: 1, EndNs: 2, Payload: 3, Kind: 4, Index: 5, ThreadID: 6})
	example(t, strings.Repeat("00", 36)+"ffff fe7f 0080 0100 0200 0300"+strings.Repeat("00", 16),
		abi.SchedPhase{SharedDepthAtStart: [3]int16{-1, 32766, -32768}, SharedDepthAtEnd: [3]int16{1, 2, 3}})
}

// TestPool: the words of a pool are where the device looks for them.
func TestPool(t *testing.T) {
	m := abi.NewMem(192)
	p := abi.View[abi.Pool](m, 0)
	p.Head.CurrentBufPtr.Store(0x1122334455667788)
	p.Head.CurrentBufSeq.Store(7)
	p.Head.TotalRecordCount, p.Head.DroppedRecordCount = 0x0A0B, 3
	p.Free.BufferPtrs[3].Store(0x200040)
	p.Free.Head.Store(0xFFFFFFFF)
	p.Free.Tail.Store(2)
	want := "8877665544332211 07000000 0b0a0000 03000000" + strings.Repeat("00", 44) +
		strings.Repeat("00", 24) + "4000200000000000 ffffffff 02000000" + strings.Repeat("00", 88)
	if got := hex.EncodeToString(m); got != strings.ReplaceAll(want, " ", "") {
		t.Errorf("a pool is\n%s, want\n%s", got, want)
	}
	if abi.PoolTotalOffset != 12 || abi.PoolFreeOffset != 64 {
		t.Errorf("the counters of a pool are at %d, its free queue at %d, want 12 and 64", abi.PoolTotalOffset, abi.PoolFreeOffset)
	}
	if total, dropped := *m.U32(abi.PoolTotalOffset), *m.U32(abi.PoolTotalOffset + 4); total != 0x0A0B || dropped != 3 {
		t.Errorf("the counters are %#x and %d, want 0xa0b and 3", total, dropped)
	}
	queue := abi.FreeQueueLayout{Slots: abi.SlotCount}
	if m.Word32(64+queue.Head()).Load() != 0xFFFFFFFF || m.Word32(64+queue.Tail()).Load() != 2 || m.Word64(64+queue.Slot(7)).Load() != 0x200040 {
		t.Error("FreeQueueLayout and FreeQueue do not agree")
	}
}

// TestBuffers: spec/device-abi.md §3 and §2.5.
func TestBuffers(t *testing.T) {
	want := [4]abi.Buffer{
		{Name: "AicpuTask", Capacity: 1000, RecordSize: 32, Count: 32000, Size: 32064},
		{Name: "AicpuSchedPhase", Capacity: 16384, RecordSize: 64, Count: 1048576, Size: 1048640},
		{Name: "AicpuOrchPhase", Capacity: 16384, RecordSize: 32, Count: 524288, Size: 524352},
		{Name: "AicoreTask", Capacity: 1024, RecordSize: 32, Count: 32768, Size: 32832},
	}
	if abi.Buffers != want {
		t.Errorf("buffers %+v, want %+v", abi.Buffers, want)
	}
	if want := (abi.Buffer{Name: "HostPhase", Capacity: 512, RecordSize: 40, Count: 20480, Size: 20544}); abi.HostPhaseBuffer != want {
		t.Errorf("host phases: %+v, want %+v", abi.HostPhaseBuffer, want)
	}
	for kind, n := range map[abi.Kind]int{abi.KindAicpuTask: 0, abi.KindSchedPhase: 1, abi.KindOrchPhase: 2, abi.KindAicoreTask: 3} {
		if int(kind) != n {
			t.Errorf("kind %d, want %d", kind, n)
		}
	}
}

// TestPreallocation: the bytes that a run of full size allocates, §8.
func TestPreallocation(t *testing.T) {
	for a, want := range map[*abi.Arch][4]int{
		abi.A2A3: {18_468_864, 25_167_360, 4_194_816, 9_455_616},
		abi.A5:   {27_703_296, 31_459_200, 4_194_816, 14_183_424},
	} {
		got := [4]int{
			abi.KindAicpuTask:  a.MaxCores * abi.ProfBuffersPerCore * abi.Buffers[abi.KindAicpuTask].Size,
			abi.KindSchedPhase: a.MaxThreads * abi.SchedBuffersPerThread * abi.Buffers[abi.KindSchedPhase].Size,
			abi.KindOrchPhase:  abi.OrchBuffersPerThread * abi.Buffers[abi.KindOrchPhase].Size,
			abi.KindAicoreTask: a.MaxCores * abi.AicoreBuffersPerCore * abi.Buffers[abi.KindAicoreTask].Size,
		}
		if got != want {
			t.Errorf("%s: %d bytes, want %d", a.Name, got, want)
		}
	}
}

// TestPhaseKinds: the table of §2.3.
func TestPhaseKinds(t *testing.T) {
	for kind, want := range map[abi.PhaseKind]struct {
		value uint32
		name  string
		task  bool
	}{
		abi.Complete: {0, "complete", false}, abi.Dispatch: {1, "dispatch", false}, abi.Release: {2, "release", false},
		3: {3, "unknown", false}, abi.Dummy: {4, "dummy", false}, abi.EarlyDispatch: {5, "early_dispatch", false},
		abi.Resolve: {6, "resolve", false}, abi.DummyTask: {7, "dummy_task", true}, abi.Drain: {8, "drain", false},
		abi.DrainPrepare: {9, "drain_prepare", false}, abi.DrainPublish: {10, "drain_publish", false}, abi.AsyncPoll: {11, "async_poll", false},
		abi.PredicatedSkip: {12, "predicated_skip", true}, abi.GraphPrepare: {13, "graph_prepare", true},
		abi.ResolveStandalone: {14, "resolve_standalone", false}, 15: {15, "unknown", false}, 0xFFFFFFFF: {0xFFFFFFFF, "unknown", false},
	} {
		if uint32(kind) != want.value || kind.String() != want.name || kind.NamesTask() != want.task {
			t.Errorf("kind %d is %q and names a task: %v; want %d, %q, %v", kind, kind, kind.NamesTask(), want.value, want.name, want.task)
		}
	}
}
