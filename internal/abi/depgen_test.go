package abi_test

import (
	"slices"
	"testing"

	"swimlane/internal/abi"
)

// Numbers in this file are those of spec/device-abi.md §10.

func TestDepGenRegion(t *testing.T) {
	for _, tt := range []struct {
		arch                                            *abi.Arch
		threads                                         int
		heads, tails, instances, backpressure, size, to uint64
	}{
		{abi.A2A3, 4, 1024, 1040, 1056, 1060, 1088, 1280},
		{abi.A5, 5, 1280, 1300, 1320, 1324, 1344, 1536},
	} {
		r := abi.NewDepGenRegion(tt.arch, abi.DepGenKinds)
		got := []uint64{r.Queues, r.Heads, r.Tails, r.NumInstances, r.Backpressure, r.Size, r.State, r.TotalSize}
		want := []uint64{0, tt.heads, tt.tails, tt.instances, tt.backpressure, tt.size, tt.size, tt.to}
		if !slices.Equal(got, want) {
			t.Errorf("%s: queues, heads, tails, instances, backpressure, size, state and total are %d, want %d", tt.arch.Name, got, want)
		}
		if r.Threads != tt.threads || r.QueueSize != 8 {
			t.Errorf("%s: %d queues of %d entries, want %d of 8", tt.arch.Name, r.Threads, r.QueueSize, tt.threads)
		}
		if got := r.Entry(1, 2); got != 8*32+2*32 {
			t.Errorf("%s: entry 2 of queue 1 is at %d, want 320", tt.arch.Name, got)
		}
	}
}

// TestDepGenStateOffsets: the named offsets, and the fields of the Go type at
// them. The other fields are in TestGoLayout.
func TestDepGenStateOffsets(t *testing.T) {
	if abi.DepGenCurrentOffset != 128 || abi.DepGenDroppedOffset != 140 {
		t.Errorf("the current buffer is at %d, the counters at %d, want 128 and 140", abi.DepGenCurrentOffset, abi.DepGenDroppedOffset)
	}
	m := abi.NewMem(192)
	s := abi.View[abi.DepGenState](m, 0)
	s.CurrentBufPtr.Store(0x100040)
	s.DroppedRecordCount, s.TotalRecordCount, s.TotalOverflowRecordCount = 1, 2, 3
	if got := m.Word64(abi.DepGenCurrentOffset).Load(); got != 0x100040 {
		t.Errorf("the current buffer is %#x, want 0x100040", got)
	}
	for i := range uint32(3) {
		if got := *m.U32(abi.DepGenDroppedOffset + 4*uint64(i)); got != i+1 {
			t.Errorf("counter %d is %d, want %d", i, got, i+1)
		}
	}
}

func TestDepGenForms(t *testing.T) {
	for _, tt := range []struct {
		form                         *abi.DepGenForm
		record, overflow, chain, buf int
	}{
		{abi.DepGenNoKinds, 4672, 582, 595450, 4784192},
		{abi.DepGenKinds, 4736, 524, 536116, 4849728},
	} {
		f := tt.form
		if got, err := abi.DepGenFormOf(tt.record); err != nil || got != f {
			t.Errorf("no form of %d bytes: %v", tt.record, err)
		}
		b := f.Buffer()
		want := abi.Buffer{Name: "DepGen", RecordSize: tt.record, Capacity: 1024, Records: 64, Count: 0, Size: tt.buf}
		if b != want {
			t.Errorf("buffer %+v, want %+v", b, want)
		}
		if f.MaxChain() != tt.chain {
			t.Errorf("the longest chain of the form of %d bytes has %d dependencies, want %d", tt.record, f.MaxChain(), tt.chain)
		}
		p := tt.overflow
		for deps, slots := range map[int]int{0: 1, 1: 1, 64: 1, 65: 2, 64 + p: 2, 64 + p + 1: 3, 64 + 2*p: 3, tt.chain: 1024, tt.chain + 1: 1025} {
			if got := f.Slots(deps); got != slots {
				t.Errorf("%d dependencies take %d records of %d bytes, want %d", deps, got, tt.record, slots)
			}
		}
		if got := f.Deps(3); got != 64+2*p {
			t.Errorf("3 records of %d bytes hold %d dependencies, want %d", tt.record, got, 64+2*p)
		}
	}
	if _, err := abi.DepGenFormOf(4700); err == nil {
		t.Error("records of 4700 bytes have a form")
	}
}

// TestDepGenRecordBytes writes through the views and looks where the bytes went.
func TestDepGenRecordBytes(t *testing.T) {
	for _, tt := range []struct {
		form                                   *abi.DepGenForm
		kinds, args, kernels, blocks, tensors  int // offsets in a base record; 0: not there
		lastDep, overflowKinds, lastKind, size int // offsets in an overflow record
	}{
		{abi.DepGenNoKinds, 0, 528, 560, 572, 576, 4664, 0, 0, 4672},
		{abi.DepGenKinds, 528, 592, 624, 636, 640, 4200, 4208, 4731, 4736},
	} {
		mem := abi.NewMem(64 + 3*tt.size)
		r := tt.form.Record(mem, 1)
		r.TaskID, r.Flags, r.TensorCount, r.ExplicitDepCount = 0x11, 0x12, 0x13, 0x14
		r.ExplicitDeps[0], r.ExplicitDeps[63] = 0x15, 0x16
		r.ArgTypes[31], r.KernelID[2], r.BlockNum, r.Tensors[0].BufferAddr, r.Tensors[31].Strides[4] = 0x17, 0x18, 0x19, 0x1a, 0x1b
		want := map[int]byte{
			0: 0x11, 8: 0x12, 12: 0x13, 14: 0x14, 16: 0x15, 16 + 63*8: 0x16, tt.args + 31: 0x17, tt.kernels + 8: 0x18,
			tt.blocks: 0x19, tt.tensors: 0x1a, tt.tensors + 31*128 + 72 + 16: 0x1b,
		}
		if tt.kinds != 0 {
			r.Kinds[0], r.Kinds[63] = 0x1c, 0x1d
			want[tt.kinds], want[tt.kinds+63] = 0x1c, 0x1d
		} else if r.Kinds != nil {
			t.Error("the form without kinds has kinds")
		}
		sameBytes(t, mem[64+tt.size:64+2*tt.size], want)

		o := tt.form.Overflow(mem, 2)
		o.TaskID, o.Flags, o.DepCount, o.Deps[0], o.Deps[len(o.Deps)-1] = 0x21, 0x22, 0x23, 0x24, 0x25
		want = map[int]byte{0: 0x21, 8: 0x22, 12: 0x23, 16: 0x24, tt.lastDep: 0x25}
		if tt.overflowKinds != 0 {
			o.Kinds[0], o.Kinds[len(o.Kinds)-1] = 0x26, 0x27
			want[tt.overflowKinds], want[tt.lastKind] = 0x26, 0x27
		} else if o.Kinds != nil {
			t.Error("the form without kinds has kinds in overflow records")
		}
		sameBytes(t, mem[64+2*tt.size:], want)
	}
}

func sameBytes(t *testing.T, got []byte, want map[int]byte) {
	t.Helper()
	for i, b := range got {
		if b != want[i] {
			t.Errorf("byte %d is %#x, want %#x", i, b, want[i])
		}
	}
}

func TestDepGenCodes(t *testing.T) {
	for code, want := range []struct {
		name string
		size int
	}{
		{"FLOAT32", 4}, {"FLOAT16", 2}, {"INT32", 4}, {"INT16", 2}, {"INT8", 1}, {"UINT8", 1}, {"BFLOAT16", 2}, {"INT64", 8},
		{"UINT64", 8}, {"UINT16", 2}, {"UINT32", 4}, {"BOOL", 1}, {"FP8E4M3FN", 1}, {"FP8E8M0", 1}, {"FP4E2M1", 1}, {"unknown", 0},
	} {
		if d := abi.DType(code); d.String() != want.name || d.Size() != want.size {
			t.Errorf("dtype %d is %s of %d bytes, want %s of %d", code, d, d.Size(), want.name, want.size)
		}
	}
	for code, want := range []string{"INPUT", "OUTPUT", "INOUT", "OUTPUT_EXISTING", "NO_DEP", "unknown"} {
		if got := abi.ArgType(code).String(); got != want {
			t.Errorf("argument type %d is %s, want %s", code, got, want)
		}
	}
}
