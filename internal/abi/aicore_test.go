package abi_test

import (
	"encoding/hex"
	"math"
	"strings"
	"testing"

	"swimlane/internal/abi"
)

// TestSchedulerState: the arrays of spec/device-abi.md §9. The offsets were
// computed from its table by other means.
func TestSchedulerState(t *testing.T) {
	sizes := [18][2]int{ // bytes of an element, alignment of the array; 0 = the run says
		{384, 128}, {128, 128}, {1024, 128}, {0, 0}, {256, 128}, {8, 8}, {16, 16}, {128, 128}, {64, 64},
		{128, 128}, {128, 128}, {1664, 128}, {256, 128}, {128, 128}, {128, 128}, {128, 128}, {384, 128}, {24640, 64},
	}
	counts := [18]int{1, 5, 108, 216, 216, 1024, 0, 0, 108, 216, 36, 1, 1, 2, 72, 36, 0, 36}
	for name, c := range map[string]struct {
		tasks           int
		level           abi.Level
		payload, aligns int
		offsets         [18]uint64
		total           uint64
	}{
		"35 tasks": {35, abi.SchedPhases, 72, 8, [18]uint64{
			0, 384, 1024, 111616, 127232, 182528, 190720, 191360, 195840, 202752, 230400, 235008, 236672, 236928, 237184, 246400, 251008, 264448,
		}, 1151488},
		"35 tasks without idle records": {35, abi.ScheduleTiming, 72, 8, [18]uint64{
			0, 384, 1024, 111616, 127232, 182528, 190720, 191360, 195840, 202752, 230400, 235008, 236672, 236928, 237184, 246400, 251008, 264448,
		}, 264448},
		"3 tasks without payloads": {3, abi.OrchPhases, 0, 1, [18]uint64{
			0, 384, 1024, 111616, 111616, 166912, 175104, 175232, 175616, 182528, 210176, 214784, 216448, 216704, 216960, 226176, 230784, 231936,
		}, 1118976},
		"no task": {0, abi.TaskTiming, 4096, 128, [18]uint64{
			0, 384, 1024, 111616, 996352, 1051648, 1059840, 1059840, 1059840, 1066752, 1094400, 1099008, 1100672, 1100928, 1101184, 1110400, 1115008, 1115008,
		}, 1115008},
		"as many tasks as ids": {math.MaxUint32, abi.OrchPhases, 4096, 64, [18]uint64{
			0, 384, 1024, 111616, 996352, 1051648, 1059840, 68720536576, 618476350336, 618476357248, 618476384896, 618476389504, 618476391168,
			618476391424, 618476391680, 618476400896, 618476405504, 2267743846784,
		}, 2267744733824},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := abi.NewSchedulerState(c.tasks, c.level, c.payload, c.aligns)
			if err != nil {
				t.Fatal(err)
			}
			for i, got := range s.Arrays {
				want := abi.SchedulerSpan{Offset: c.offsets[i], Count: counts[i], Size: sizes[i][0], Align: sizes[i][1]}
				switch i + 1 {
				case 4:
					want.Size, want.Align = c.payload, c.aligns
				case 7, 8, 17:
					want.Count = c.tasks
				case 18:
					if c.level < 3 {
						want.Count = 0
					}
				}
				if got != want {
					t.Errorf("array %d is %+v, want %+v", i+1, got, want)
				}
			}
			if s.Size != c.total {
				t.Errorf("the block has %d bytes, want %d", s.Size, c.total)
			}
		})
	}
}

// TestSchedulerArrayNames: the names stand at the numbers of the spec's table,
// one less each.
func TestSchedulerArrayNames(t *testing.T) {
	for i, got := range []abi.SchedulerArray{
		abi.RunControls, abi.LifecycleTraces, abi.WorkerContexts, abi.DispatchPayloads, abi.DispatchSlots, abi.CallableAddresses,
		abi.TaskMetadatas, abi.TaskControls, abi.CompletionInboxes, abi.ReadyInboxes, abi.ReadyOwnerStates, abi.ReadyDirectories,
		abi.GangCoordinators, abi.GangCohortStates, abi.GangParticipants, abi.GangCommands, abi.TaskTraces, abi.ActivityBuffers,
	} {
		if int(got) != i {
			t.Errorf("the array of row %d has the number %d", i+1, got)
		}
	}
}

func TestSchedulerStateRefuses(t *testing.T) {
	type arguments struct {
		tasks           int
		level           abi.Level
		payload, aligns int
	}
	for want, list := range map[string][]arguments{
		"tasks cannot be: expected 0 to 4294967295":                {{-1, 3, 0, 1}, {math.MinInt, 3, 0, 1}, {1 << 32, 3, 0, 1}, {math.MaxInt, 3, 0, 1}},
		"capture level 5 is unknown":                               {{1, 5, 0, 1}},
		"capture level 4294967295 is unknown":                      {{1, math.MaxUint32, 0, 1}},
		"bytes: expected a power of two from 1 to 128":             {{1, 3, 0, 0}, {1, 3, 0, -8}, {1, 3, 12, 3}, {1, 3, 256, 256}, {1, 3, 0, math.MinInt}},
		"cannot be: expected a multiple of its alignment 8 from 0": {{1, 3, -8, 8}, {1, 3, 12, 8}, {1, 3, 1 << 32, 8}, {1, 3, math.MaxInt - 7, 8}},
	} {
		for _, a := range list {
			s, err := abi.NewSchedulerState(a.tasks, a.level, a.payload, a.aligns)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%+v: %v and error %v, want an error with %q", a, s, err, want)
			}
		}
	}
}

func TestSchedulerElements(t *testing.T) {
	s, err := abi.NewSchedulerState(35, abi.SchedPhases, 72, 8)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Of(abi.TaskTraces, 34); got != 251008+34*384 {
		t.Errorf("the last task trace is at %d, want %d", got, 251008+34*384)
	}
	if got := s.Of(abi.ActivityBuffers, 35); got != 264448+35*24640 {
		t.Errorf("the last activity buffer is at %d, want %d", got, 264448+35*24640)
	}
	panics(t, "element 35 of the 35 of scheduler array 17", func() { s.Of(abi.TaskTraces, 35) })
	panics(t, "element -1 of the 1 of scheduler array 1", func() { s.Of(abi.RunControls, -1) })
	panics(t, "out of range", func() { s.Of(18, 0) })
}

// TestSchedulerInit: everything that spec/device-abi.md §9 says a run begins with
// is there, and nothing else is touched.
func TestSchedulerInit(t *testing.T) {
	s, err := abi.NewSchedulerState(2, abi.SchedPhases, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	got, want := abi.NewMem(int(s.Size)), make([]byte, s.Size)
	s.Init(got)
	ones := func(at, n int) {
		for i := range n {
			want[at+i] = 0xff
		}
	}
	for w := range 108 {
		at := 1024 + w*1024 // worker contexts
		ones(at+4, 4)       // physical_core_id
		ones(at+304, 24)    // cluster_index, scheduler_index, scheduler_worker_id
		ones(at+336, 24)    // cluster_worker_ids
	}
	for slot := range 216 {
		ones(111616+slot*256, 8) // task_id
	}
	for task := range 2 {
		at := int(s.Of(abi.TaskControls, task))
		ones(at+8, 8)  // wake_list_head: open
		ones(at+64, 8) // next_waiter
		ones(at+76, 4) // waiting_producer
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("the byte at %d is %#x, want %#x", i, got[i], want[i])
		}
	}
}

// TestSchedulerBytes writes a field of every width.
func TestSchedulerBytes(t *testing.T) {
	m := abi.NewMem(256)
	d := abi.View[abi.DispatchSlot](m, 0)
	*d = abi.DispatchSlot{
		TaskID: -1, KernelID: 0x0102, SubtaskSlot: 3, PendingSlot: 4, BlockNum: 0x0506, Generation: 0x0708090A,
		BlockIdx: 0x0B0C0D0E, Publication: abi.PublicationGated, Staged: abi.StagedTrace{Generation: 0x0F, ReadyObserve: 0x10},
	}
	want := strings.Repeat("ff", 8) + strings.Repeat("00", 32) + "0201 03 0000 04 0605 0a090807 0e0d0c0b" + strings.Repeat("00", 8) +
		"0400000000000000" + strings.Repeat("00", 56) + "0f00000000000000" + strings.Repeat("00", 24) + "1000000000000000" + strings.Repeat("00", 88)
	if got := hex.EncodeToString(m); got != strings.ReplaceAll(want, " ", "") {
		t.Errorf("a slot is\n%s, want\n%s", got, want)
	}
	example(t, "0100 0200 0300 04 51 0500 0600 ffffffff", abi.TaskMetadata{
		KernelIDs: [3]uint16{1, 2, 3}, ActiveMask: 4, Flags: abi.TaskExecutable | abi.TaskSyncStart | abi.TaskPredicate,
		BlockNum: 5, RequiredSubtasks: 6, TimingSlot: -1,
	})
	example(t, "0100000000000000 0200000000000000 03000000 00000000", abi.ActivityRecord{Start: 1, End: 2, LoopIter: 3})
}
