package collector_test

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/collector"
)

// kernels are AicoreTask records with tokens from first on; start 0 where the
// token is in empty.
func kernels(first uint32, n int, empty ...uint32) []byte {
	records := make([]abi.AicoreTask, n)
	for i := range records {
		token := first + uint32(i)
		records[i] = abi.AicoreTask{StartTime: 1000 + uint64(token), EndTime: 2000 + uint64(token), TaskTokenRaw: uint64(token), RegTaskID: token}
		for _, e := range empty {
			if e == token {
				records[i] = abi.AicoreTask{}
			}
		}
	}
	return bytesOf(records...)
}

// timings are AicpuTask records with tokens from first on.
func timings(first uint32, n int) []byte {
	records := make([]abi.AicpuTask, n)
	for i := range records {
		token := first + uint32(i)
		records[i] = abi.AicpuTask{DispatchTime: 500 + uint64(token), FinishTime: 3000 + uint64(token), RegTaskID: token}
	}
	return bytesOf(records...)
}

// capture2 is a level-2 capture of three cores.
func capture2(totals []uint32, stores ...*collector.Store) *collector.Capture {
	return collector.NewCapture(abi.A2A3, abi.ScheduleTiming, 3, stores, totals)
}

// tokens are the dispatch tokens of a core's kernel rows, in order.
func tokens(c *collector.Capture, core int) []uint32 {
	var out []uint32
	for list := range c.AicoreTasks(core) {
		for i := range list {
			out = append(out, list[i].RegTaskID)
		}
	}
	return out
}

// timed are the dispatch tokens of a core's scheduler rows, in order.
func timed(c *collector.Capture, core int) []uint32 {
	var out []uint32
	for list := range c.AicpuTasks(core) {
		for i := range list {
			out = append(out, list[i].RegTaskID)
		}
	}
	return out
}

// span are the numbers from first to last.
func span(first, last uint32) []uint32 {
	var out []uint32
	for i := first; i <= last; i++ {
		out = append(out, i)
	}
	return out
}

func same[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func TestOrderIsThatOfTheBuffers(t *testing.T) {
	one, two := new(collector.Store), new(collector.Store)
	two.Add(abi.KindAicpuTask, 1, 2, timings(2001, 5))
	one.Add(abi.KindAicpuTask, 1, 1, timings(1001, 1000))
	one.Add(abi.KindAicpuTask, 0, 0, timings(1, 3))
	two.Add(abi.KindAicpuTask, 1, 0, timings(1, 1000))
	// What could not be handed over keeps its number for what comes next.
	two.Add(abi.KindAicpuTask, 2, 0, timings(1, 3))
	two.Add(abi.KindAicpuTask, 2, 0, timings(9, 2))
	c := capture2(nil, one, two)
	same(t, "core 0", timed(c, 0), span(1, 3))
	same(t, "core 1", timed(c, 1), span(1, 2005))
	same(t, "core 2", timed(c, 2), []uint32{1, 2, 3, 9, 10})
	same(t, "count", c.Count(abi.KindAicpuTask), 2013)
}

func TestIndexesBeyondTheRunAreIgnored(t *testing.T) {
	s := new(collector.Store)
	s.Add(abi.KindAicoreTask, 3, 0, kernels(1, 4))
	s.Add(abi.KindAicpuTask, 4000, 0, timings(1, 4))
	s.Add(abi.KindSchedPhase, 4, 0, make([]byte, 64))
	s.Add(abi.KindAicoreTask, 2, 0, kernels(1, 2))
	c := capture2([]uint32{0, 0, 2}, s)
	same(t, "core 2", tokens(c, 2), span(1, 2))
	for kind, want := range []int{0, 0, 0, 2} {
		same(t, "count", c.Count(abi.Kind(kind)), want)
	}
	same(t, "slots", c.Slots(), collector.SlotReport{})
	if tokens(c, 3) != nil || tokens(c, -1) != nil {
		t.Error("a core that is not there has rows")
	}
}

// TestEmptySlots: a slot that was never written is no row; inside what the core
// was given it is counted, once per buffer (field report 43).
func TestEmptySlots(t *testing.T) {
	s := new(collector.Store)
	s.Add(abi.KindAicoreTask, 0, 0, kernels(1, 1024, 7))
	s.Add(abi.KindAicoreTask, 0, 1, kernels(1025, 1024, 1025, 1100, 1101, 2048))
	s.Add(abi.KindAicoreTask, 1, 0, kernels(1, 1024, span(11, 1024)...)) // marked full at level 1
	c := capture2([]uint32{2048, 10, 0}, s)
	same(t, "rows of core 0", c.Count(abi.KindAicoreTask), 1023+1020+10)
	same(t, "slots", c.Slots(), collector.SlotReport{Empty: []collector.EmptySlots{
		{Core: 0, Seq: 0, Skipped: 1, Count: 1024}, {Core: 0, Seq: 1, Skipped: 4, Count: 1024},
	}})
	got := tokens(c, 0)
	want := append(span(1, 6), span(8, 1024)...)
	want = append(append(want, span(1026, 1099)...), span(1102, 2047)...)
	same(t, "tokens", got, want)
	same(t, "core 1", tokens(c, 1), span(1, 10))
}

// TestTrim: what lies beyond the dispatches of the core is of an earlier life of
// the buffer (spec/collector.md §5.2).
func TestTrim(t *testing.T) {
	s := new(collector.Store)
	s.Add(abi.KindAicoreTask, 0, 0, kernels(1, 1024))
	s.Add(abi.KindAicoreTask, 0, 1, append(kernels(1025, 6), kernels(500, 1018)...))
	s.Add(abi.KindAicoreTask, 1, 2, kernels(1, 3)) // beyond the total altogether
	s.Add(abi.KindAicoreTask, 2, 0, append(kernels(1, 4, 2), kernels(77, 10, 80)...))
	c := capture2([]uint32{1030, 2048, 4}, s)
	same(t, "core 0", tokens(c, 0), span(1, 1030))
	same(t, "core 1", tokens(c, 1), nil)
	same(t, "core 2", tokens(c, 2), []uint32{1, 3, 4})
	same(t, "slots", c.Slots(), collector.SlotReport{
		Trimmed: 1018 + 3 + 9,
		Empty:   []collector.EmptySlots{{Core: 2, Seq: 0, Skipped: 1, Count: 14}},
	})
}

// TestSecondReading: a buffer that is read again fills what was empty, and only that.
func TestSecondReading(t *testing.T) {
	s := new(collector.Store)
	s.Add(abi.KindAicoreTask, 0, 0, kernels(1, 10, 1, 5, 6, 10))
	if got := capture2([]uint32{10}, s).Slots().Empty; len(got) != 1 || got[0].Skipped != 4 {
		t.Fatalf("empty slots %v", got)
	}
	again := new(collector.Store)
	again.Add(abi.KindAicoreTask, 0, 0, kernels(1, 10, 6))
	c := capture2([]uint32{10}, s, again)
	same(t, "core 0", tokens(c, 0), []uint32{1, 2, 3, 4, 5, 7, 8, 9, 10})
	same(t, "slots", c.Slots(), collector.SlotReport{Empty: []collector.EmptySlots{{Seq: 0, Skipped: 1, Count: 10}}})

	again.Add(abi.KindAicoreTask, 0, 0, kernels(1, 10))
	same(t, "twice", tokens(capture2([]uint32{8}, s, again), 0), span(1, 8))
	same(t, "trimmed once", capture2([]uint32{8}, s, again).Slots().Trimmed, 2)
}

// TestReplacedReading: the second reading of a buffer counts where the first caught
// a record on its way, with its start and nothing else.
func TestReplacedReading(t *testing.T) {
	s := new(collector.Store)
	whole := kernels(1, 3)
	torn := bytes.Clone(whole)
	clear(torn[2*32+8 : 3*32])
	other := kernels(11, 2)
	same(t, "kept", []int{s.Add(abi.KindAicoreTask, 0, 0, torn), s.Add(abi.KindAicoreTask, 1, 0, other), s.Add(abi.KindAicoreTask, 0, 1, kernels(4, 2, 5))}, []int{3, 2, 1})
	s.Replace(0, 0, whole)
	c := capture2([]uint32{1026, 2}, s)
	same(t, "core 0", tokens(c, 0), []uint32{1, 2, 3, 4})
	same(t, "core 1", tokens(c, 1), []uint32{11, 12})
}

// TestRecordLandsDuringReading: what add says it kept is what it kept, wherever
// between two looks a last record lands.
func TestRecordLandsDuringReading(t *testing.T) {
	const n = 64
	late := 0
	for range 2000 {
		mem := abi.NewMem(n * 32)
		copy(mem, kernels(1, n))
		last := mem[(n-1)*32:]
		start := last.Word64(0).Load()
		last.Word64(0).Store(0)
		s := new(collector.Store)
		landed := make(chan bool)
		go func() {
			last.Word64(0).Store(start)
			close(landed)
		}()
		kept := s.Add(abi.KindAicoreTask, 0, 0, mem)
		<-landed
		if kept == n {
			late++
		}
		if got := len(tokens(capture2([]uint32{n}, s), 0)); got != kept {
			t.Fatalf("%d records are there, and add kept %d", got, kept)
		}
	}
	t.Logf("%d of 2000 records landed in time", late)
}

// TestBuffersBeyondASlab: a buffer is larger than what is left of a slab, and
// still comes out whole.
func TestBuffersBeyondASlab(t *testing.T) {
	s := new(collector.Store)
	records := make([]abi.SchedPhase, abi.PhaseRecordsPerThread)
	for i := range records {
		records[i].StartTime = uint64(i)
	}
	s.Add(abi.KindOrchPhase, 0, 0, make([]byte, 32)) // leaves the slab at half a record
	s.Add(abi.KindSchedPhase, 3, 0, bytesOf(records...))
	c := collector.NewCapture(abi.A2A3, abi.SchedPhases, 1, []*collector.Store{s}, nil)
	n := uint64(0)
	for list := range c.SchedPhases(3) {
		for i := range list {
			if list[i].StartTime != n {
				t.Fatalf("record %d is %d", n, list[i].StartTime)
			}
			n++
		}
	}
	same(t, "records", n, uint64(abi.PhaseRecordsPerThread))
	for list := range c.SchedPhases(3) {
		if len(list) == 0 {
			t.Error("an empty stretch")
		}
		break // a reader may stop
	}
}

func TestMemory(t *testing.T) {
	_, s, size := large(100_000)
	if got := s.Allocated(); got < size || float64(got) > 1.1*float64(size) {
		t.Errorf("%d bytes of records take %d bytes, at most 1.1 times as much", size, got)
	}
}

// TestRotate: a capture keeps what it has when the store is used for the next run.
func TestRotate(t *testing.T) {
	s := new(collector.Store)
	s.Add(abi.KindAicoreTask, 0, 0, kernels(1, 20))
	first := capture2([]uint32{20}, s.Rotate())
	s.Add(abi.KindAicoreTask, 0, 0, kernels(501, 20))
	second := capture2([]uint32{20}, s.Rotate())
	same(t, "first run", tokens(first, 0), span(1, 20))
	same(t, "second run", tokens(second, 0), span(501, 520))
	same(t, "third run", capture2(nil, s).Count(abi.KindAicoreTask), 0)
}

// TestShardsLeaveNoTrace: the same buffers through 1, 2 and 4 shards, in any
// order, give the same file.
func TestShardsLeaveNoTrace(t *testing.T) {
	type buffer struct {
		kind    abi.Kind
		index   int
		seq     uint32
		records []byte
	}
	var buffers []buffer
	for core := range 3 {
		for seq := range uint32(3) {
			buffers = append(buffers, buffer{abi.KindAicoreTask, core, seq, kernels(seq*1024+1, 1024, seq*1024+5)},
				buffer{abi.KindAicpuTask, core, seq, timings(seq*1000+1, 1000)})
		}
	}
	for thread := range 4 {
		for seq := range uint32(2) {
			phases := make([]abi.SchedPhase, 50)
			for i := range phases {
				phases[i] = abi.SchedPhase{StartTime: 10, EndTime: 20, LoopIter: seq*50 + uint32(i), Kind: abi.Complete}
			}
			buffers = append(buffers, buffer{abi.KindSchedPhase, thread, seq, bytesOf(phases...)})
		}
	}
	file := func(shards int, seed uint64) []byte {
		stores := make([]*collector.Store, shards)
		for i := range stores {
			stores[i] = new(collector.Store)
		}
		r := rand.New(rand.NewPCG(seed, 0))
		for _, i := range r.Perm(len(buffers)) {
			b := buffers[i]
			stores[r.IntN(shards)].Add(b.kind, b.index, b.seq, b.records)
		}
		c := collector.NewCapture(abi.A2A3, abi.SchedPhases, 3, stores, []uint32{3072, 3000, 2000})
		var out bytes.Buffer
		if err := c.Write(&out); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	want := file(1, 0)
	if n := bytes.Count(want, []byte("\n")); n < 3*3000+4*100*2 {
		t.Fatalf("the file has only %d lines", n)
	}
	for seed, shards := range []int{1, 2, 4, 4} {
		if !bytes.Equal(file(shards, uint64(seed)+1), want) {
			t.Errorf("%d shards: another file", shards)
		}
	}
}
