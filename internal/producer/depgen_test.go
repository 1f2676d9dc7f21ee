package producer_test

import (
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/producer"
)

// depHost is a host of dep_gen with n buffers in the free queue.
type depHost struct {
	*host
	dep  *abi.DepGenRegion
	base uint64 // of the region in the memory
	bufs []uint64
	w    *producer.DepGen
}

func newDepHost(t *testing.T, form *abi.DepGenForm, n int, w producer.Waiting) *depHost {
	t.Helper()
	r := abi.NewDepGenRegion(abi.A2A3, form)
	size := form.Buffer().Size
	h := &depHost{host: newHost(t, abi.A2A3, 1, abi.Disabled, 1<<18+(n+1)*size), dep: r}
	addr := h.alloc(int(r.TotalSize))
	h.base = addr - devBase
	for range n {
		h.bufs = append(h.bufs, h.alloc(size))
		push(&h.state().Free, h.bufs[len(h.bufs)-1])
	}
	var err error
	h.w, err = producer.AttachDepGen(producer.DepGenConfig{Region: r, Space: h.space, RegionAddr: addr, Enable: 1 << 3, Waiting: w})
	if err != nil || h.w == nil {
		t.Fatalf("no writer: %v", err)
	}
	return h
}

func (h *depHost) state() *abi.DepGenState {
	return abi.View[abi.DepGenState](h.mem, h.base+h.dep.State)
}

func (h *depHost) buffer(i int) abi.Mem {
	mem, err := h.space.At(h.bufs[i], h.dep.Form.Buffer().Size)
	if err != nil {
		h.t.Fatal(err)
	}
	return mem
}

func (h *depHost) wantState(total, dropped, overflow, count uint32) {
	h.t.Helper()
	s := h.state()
	if s.TotalRecordCount != total || s.DroppedRecordCount != dropped || s.TotalOverflowRecordCount != overflow {
		h.t.Errorf("total %d, dropped %d, overflow %d, want %d, %d, %d", s.TotalRecordCount, s.DroppedRecordCount, s.TotalOverflowRecordCount, total, dropped, overflow)
	}
	if addr := s.CurrentBufPtr.Load(); addr != 0 {
		if n := *h.mem.U32(addr - devBase); n != count {
			h.t.Errorf("the active buffer counts %d, want %d", n, count)
		}
	} else if count != 0 {
		h.t.Errorf("no active buffer, want one that counts %d", count)
	}
}

func (h *depHost) tail(queue int) uint32 { return h.mem.Word32(h.base + h.dep.Tail(queue)).Load() }

func someDeps(n int) []producer.Dep {
	deps := make([]producer.Dep, n)
	for i := range deps {
		deps[i] = producer.Dep{Producer: uint64(i) + 1000, Kind: abi.DepWait}
	}
	return deps
}

// TestDepGen holds the vectors of spec/collector.md §10.
func TestDepGen(t *testing.T) {
	h := newDepHost(t, abi.DepGenKinds, 1, producer.Waiting{})
	h.w.Submit(&producer.Submit{TaskID: 1})
	h.wantState(1, 1, 0, 0)
	if h.tail(0) != 0 {
		t.Errorf("queue tail %d, want 0", h.tail(0))
	}
	h.wantFaults(h.w, 1)

	h = newDepHost(t, abi.DepGenKinds, 1, producer.Waiting{})
	h.w.Announce(0)
	h.w.Submit(&producer.Submit{TaskID: 0x1234})
	h.wantState(1, 0, 0, 1)
	if got := h.dep.Form.Record(h.buffer(0), 0).TaskID; got != 0x1234 {
		t.Errorf("the record is of task %#x, want 0x1234", got)
	}
	h.w.Flush()
	h.wantState(1, 0, 0, 0)
	if h.tail(0) != 1 {
		t.Errorf("queue tail %d, want 1", h.tail(0))
	}
	e := *abi.View[abi.ReadyEntry](h.mem, h.base+h.dep.Entry(0, 0))
	if want := (abi.ReadyEntry{BufferPtr: h.bufs[0]}); e != want {
		t.Errorf("the entry is %+v, want %+v", e, want)
	}
	h.wantFaults(h.w, 0)
}

func TestDepGenDisabled(t *testing.T) {
	c := producer.DepGenConfig{Region: abi.NewDepGenRegion(abi.A2A3, abi.DepGenKinds), Enable: 2}
	if w, err := producer.AttachDepGen(c); w != nil || err != nil {
		t.Errorf("without its bit: writer %v, error %v", w, err)
	}
	c.Enable = 8
	if w, err := producer.AttachDepGen(c); w != nil || err == nil {
		t.Errorf("without a region: writer %v, error %v", w, err)
	}
}

// TestDepGenChains: 64 dependencies fit into the base record, the others into
// records behind it.
func TestDepGenChains(t *testing.T) {
	for form, per := range map[*abi.DepGenForm]int{abi.DepGenKinds: 524, abi.DepGenNoKinds: 582} {
		h := newDepHost(t, form, 1, producer.Waiting{})
		h.w.Announce(0)
		slot, overflow := 0, uint32(0)
		for i, tt := range []struct{ deps, slots int }{{0, 1}, {64, 1}, {65, 2}, {64 + per, 2}, {64 + per + 1, 3}} {
			deps := someDeps(tt.deps)
			if tt.deps > 0 {
				deps[0].Kind = 0 // the default: to wait and to retain
			}
			id := uint64(i) + 0x100
			h.w.Submit(&producer.Submit{TaskID: id, Deps: deps})
			base := form.Record(h.buffer(0), slot)
			flags := uint32(0)
			if tt.slots > 1 {
				flags = 2
			}
			inline := min(tt.deps, 64)
			if base.TaskID != id || base.Flags != flags || int(base.ExplicitDepCount) != inline {
				t.Errorf("%d dependencies: base record of %#x with flags %d and %d of them, want %#x, %d, %d", tt.deps, base.TaskID, base.Flags, base.ExplicitDepCount, id, flags, inline)
			}
			got := append([]uint64{}, base.ExplicitDeps[:inline]...)
			kinds := append([]abi.DepKind{}, base.Kinds[:min(inline, len(base.Kinds))]...)
			for j := 1; j < tt.slots; j++ {
				o := form.Overflow(h.buffer(0), slot+j)
				flags := uint32(4)
				if j == tt.slots-1 {
					flags = 4 | 8
				}
				if o.TaskID != id || o.Flags != flags {
					t.Errorf("%d dependencies: overflow record %d is of %#x with flags %d, want %#x, %d", tt.deps, j, o.TaskID, o.Flags, id, flags)
				}
				got = append(got, o.Deps[:o.DepCount]...)
				kinds = append(kinds, o.Kinds[:min(int(o.DepCount), len(o.Kinds))]...)
			}
			if len(got) != tt.deps {
				t.Fatalf("%d dependencies are written, want %d", len(got), tt.deps)
			}
			for j, p := range got {
				if p != uint64(j)+1000 {
					t.Fatalf("dependency %d is %d, want %d", j, p, j+1000)
				}
			}
			for j, k := range kinds {
				if want := abi.DepKind(1); j == 0 && k != 3 || j > 0 && k != want {
					t.Fatalf("dependency %d has kind %d", j, k)
				}
			}
			if form == abi.DepGenKinds && len(kinds) != tt.deps {
				t.Errorf("%d kinds, want %d", len(kinds), tt.deps)
			}
			slot += tt.slots
			overflow += uint32(tt.slots - 1)
			h.wantState(uint32(i)+1, 0, overflow, uint32(slot))
		}
	}
}

func TestDepGenFields(t *testing.T) {
	h := newDepHost(t, abi.DepGenKinds, 1, producer.Waiting{})
	h.w.Announce(3)
	in := abi.Tensor{BufferAddr: 0x4000, BufferSize: 64, OwnerTaskID: 7, NDims: 1, Shapes: [5]uint32{16}, Strides: [5]uint32{1, 1, 1, 1, 1}}
	r := h.dep.Form.Record(h.buffer(0), 0)
	r.Tensors[1].BufferAddr = 0x99 // of the buffer's earlier life
	h.w.Submit(&producer.Submit{
		TaskID: 1 << 32, ManualScope: true, EarlyDispatch: true, KernelIDs: [3]int32{4, -1, -1}, BlockNum: -5,
		Args: []producer.Arg{{Type: abi.ArgInput, Tensor: in}, {Type: abi.ArgOutput, Tensor: in}, {Type: abi.ArgInOut, Tensor: in}},
		Deps: []producer.Dep{{Producer: 5, Kind: 0xFF}},
	})
	if r.Flags != 1|16 || r.TensorCount != 3 || r.KernelID != [3]int32{4, -1, -1} || r.BlockNum != 1 {
		t.Errorf("flags %d, %d tensors, kernels %v, %d blocks, want 17, 3, [4 -1 -1], 1", r.Flags, r.TensorCount, r.KernelID, r.BlockNum)
	}
	if r.ArgTypes[0] != 0 || r.ArgTypes[1] != 1 || r.ArgTypes[2] != 2 {
		t.Errorf("argument types %v, want 0, 1, 2", r.ArgTypes[:3])
	}
	if r.Tensors[0] != in || r.Tensors[1] != (abi.Tensor{}) || r.Tensors[2] != in {
		t.Error("want the tensors of the input and of the inout, and zeros for the output")
	}
	if r.Kinds[0] != 0xFF {
		t.Errorf("kind %#x, want 0xff: the reader judges it", r.Kinds[0])
	}
	h.w.Submit(&producer.Submit{Args: make([]producer.Arg, 33), BlockNum: 6})
	if r := h.dep.Form.Record(h.buffer(0), 1); r.TensorCount != 32 || r.BlockNum != 6 {
		t.Errorf("%d tensors and %d blocks, want 32 and 6", r.TensorCount, r.BlockNum)
	}
	h.wantFaults(h.w, 1)
	h.w.Flush()
	if h.tail(3) != 1 {
		t.Error("the buffer did not go to the queue of thread 3")
	}
}

// TestDepGenSwitch: a chain is never split over two buffers.
func TestDepGenSwitch(t *testing.T) {
	h := newDepHost(t, abi.DepGenKinds, 2, producer.Waiting{})
	h.w.Announce(0)
	for i := range uint64(1023) {
		h.w.Submit(&producer.Submit{TaskID: i})
	}
	h.wantState(1023, 0, 0, 1023)
	h.w.Submit(&producer.Submit{TaskID: 5000, Deps: someDeps(65)})
	h.wantState(1024, 0, 1, 2)
	if h.tail(0) != 1 || *h.mem.U32(h.bufs[0] - devBase) != 1023 {
		t.Errorf("tail %d and %d records, want the first buffer handed over with 1023", h.tail(0), *h.mem.U32(h.bufs[0] - devBase))
	}
	if got := h.dep.Form.Record(h.buffer(1), 0).TaskID; got != 5000 {
		t.Errorf("the second buffer begins with task %d, want 5000", got)
	}
	if s := h.state().CurrentBufSeq.Load(); s != 1 {
		t.Errorf("sequence %d, want 1", s)
	}
}

// TestDepGenCut: a list longer than a whole buffer is cut, and says so.
func TestDepGenCut(t *testing.T) {
	h := newDepHost(t, abi.DepGenKinds, 1, producer.Waiting{})
	h.w.Announce(0)
	h.w.Submit(&producer.Submit{TaskID: 1, Deps: someDeps(536116 + 1)})
	h.wantState(1, 0, 1023, 1024)
	h.wantFaults(h.w, 1)
	last := h.dep.Form.Overflow(h.buffer(0), 1023)
	if last.Flags != 12 || last.DepCount != 524 || last.Deps[523] != 536115+1000 {
		t.Errorf("the last record has flags %d and %d dependencies up to %d, want 12, 524 and 537115", last.Flags, last.DepCount, last.Deps[523])
	}
}

// TestDepGenLoss: sums stay exact when there is no buffer and when a full one cannot go.
func TestDepGenLoss(t *testing.T) {
	h := newDepHost(t, abi.DepGenKinds, 1, producer.Waiting{Policy: abi.Drop})
	h.w.Announce(0)
	for i := range uint64(1022) {
		h.w.Submit(&producer.Submit{TaskID: i})
	}
	h.w.Submit(&producer.Submit{TaskID: 2000, Deps: someDeps(65)})
	h.wantState(1023, 0, 1, 1024)
	h.mem.Word32(h.base + h.dep.Head(0)).Store(1) // one entry is usable no more
	h.w.Submit(&producer.Submit{TaskID: 3000})
	h.wantState(1024, 1024, 1, 1)                 // 1024 records dropped, the new one in the same buffer
	h.mem.Word32(h.base + h.dep.Head(0)).Store(0) // the host catches up
	h.w.Flush()
	h.wantState(1024, 1024, 1, 0)
	h.w.Submit(&producer.Submit{TaskID: 4000}) // no buffer any more
	h.wantState(1025, 1025, 1, 0)
}

func TestDepGenFlushIntoFullQueue(t *testing.T) {
	c := &clock{}
	h := newDepHost(t, abi.DepGenKinds, 1, c.waiting(abi.Block))
	h.w.Announce(0)
	h.w.Submit(&producer.Submit{TaskID: 1, Deps: someDeps(65)})
	h.mem.Word32(h.base + h.dep.Head(0)).Store(1)
	h.w.Flush()
	h.wantState(1, 2, 1, 0)
	if c.looks != 30 || h.w.Stalls().Count != 1 {
		t.Errorf("%d stalls of %d s, want one of 30", h.w.Stalls().Count, c.looks)
	}
}

func TestDepGenWithoutFirstBuffer(t *testing.T) {
	h := newDepHost(t, abi.DepGenNoKinds, 0, producer.Waiting{Policy: abi.Drop})
	if h.w.Startup() == nil {
		t.Error("a missing buffer is no error")
	}
	h.w.Announce(0)
	h.w.Submit(&producer.Submit{TaskID: 1})
	h.wantState(1, 1, 0, 0)
	h.bufs = append(h.bufs, h.alloc(4784192))
	push(&h.state().Free, h.bufs[0])
	h.w.Submit(&producer.Submit{TaskID: 2})
	h.wantState(2, 1, 0, 1)
}
