package abi

import (
	"fmt"
	"sync/atomic"
	"unsafe"
)

// Constants of dep_gen, the capture of what tasks were submitted with
// (spec/device-abi.md §10). Its free queues have SlotCount slots.
const (
	DepGenReadyQueueSize     = 8    // entries per ready queue; one stays empty
	DepGenInstances          = 1    // pools: there is one orchestrator
	DepGenBuffersPerInstance = 4    // buffers pre-allocated
	DepGenRecordsPerBuffer   = 1024 // records per buffer
	DepGenInlineDeps         = 64   // dependencies that a base record holds
	DepGenMaxTensors         = 32   // arguments that a base record holds
)

// DepGenState is the pool of dep_gen, 192 B. The free queue comes first, unlike
// in a [Pool].
type DepGenState struct {
	Free                     FreeQueue     `abi:"free"`
	CurrentBufPtr            atomic.Uint64 `abi:"current_buf_ptr"`
	CurrentBufSeq            atomic.Uint32 `abi:"current_buf_seq"`
	DroppedRecordCount       uint32        `abi:"dropped_record_count"`
	TotalRecordCount         uint32        `abi:"total_record_count"`          // submits
	TotalOverflowRecordCount uint32        `abi:"total_overflow_record_count"` // records of chains behind their first
	_                        [40]byte      `abi:"reserved"`
}

// DepGenRegion is the shared memory of dep_gen: a header and one state. Its
// fields are offsets in it. Entries of its ready queues are [ReadyEntry] of kind
// 0 whose core_index is the instance.
type DepGenRegion struct {
	QueueHeader
	Arch         *Arch
	Form         *DepGenForm
	NumInstances uint64 // u32, host
	State        uint64 // of instance 0
	TotalSize    uint64
}

// NewDepGenRegion lays out the region for records of a form.
func NewDepGenRegion(a *Arch, form *DepGenForm) *DepGenRegion {
	h := depGenHeaderFields(a)
	q := h.queueHeader()
	return &DepGenRegion{
		QueueHeader: q, Arch: a, Form: form, NumInstances: h.offset("num_instances"),
		State: q.Size, TotalSize: q.Size + DepGenInstances*PoolSize,
	}
}

// depGenHeaderFields is the header of the region. The array of pools behind it
// has one element.
func depGenHeaderFields(a *Arch) Struct {
	b := builder{Struct{Name: a.cName("dep_gen_data_header"), Doc: "The start of dep_gen's region; one swl_dep_gen_state follows. In ready entries core_index and kind are 0."}}
	b.queues(a, DepGenReadyQueueSize)
	b.field("num_instances", "uint32_t")
	b.structure("backpressure", structOf[Backpressure]("swl_backpressure", 4))
	return b.padTo(Align)
}

// Flags of a dep_gen record.
const (
	DepGenManualScope   uint32 = 1 << iota // submitted in a manual scope
	DepGenHasOverflow                      // a base record that overflow records follow
	DepGenOverflowed                       // an overflow record
	DepGenLastOverflow                     // the last one of its chain
	DepGenEarlyDispatch                    // may be staged before its producers end
)

// DepKind says what a consumer wants of a producer (spec/collector.md §10).
type DepKind uint8

// The bits of a kind.
const (
	DepWait   DepKind = 1 << iota // that it has completed
	DepRetain                     // that its outputs stay
)

// DepGenBase is the part of a base record that has its place in every form.
type DepGenBase struct {
	TaskID           uint64                   `abi:"task_id"`
	Flags            uint32                   `abi:"flags"`
	TensorCount      uint16                   `abi:"tensor_count"`
	ExplicitDepCount uint16                   `abi:"explicit_dep_count"` // of those in this record
	ExplicitDeps     [DepGenInlineDeps]uint64 `abi:"explicit_deps"`
}

// DepGenArgs is the end of a base record.
type DepGenArgs struct {
	ArgTypes [DepGenMaxTensors]ArgType `abi:"arg_types"`
	KernelID [3]int32                  `abi:"kernel_id"` // AIC, AIV0, AIV1; -1 inactive
	BlockNum uint32                    `abi:"block_num"`
	Tensors  [DepGenMaxTensors]Tensor  `abi:"tensors"`
}

// DepGenOverflowHead begins an overflow record.
type DepGenOverflowHead struct {
	TaskID   uint64 `abi:"task_id"`
	Flags    uint32 `abi:"flags"`
	DepCount uint16 `abi:"dep_count"`
	_        uint16 `abi:"reserved"`
}

// Offsets in a [DepGenState].
const (
	DepGenCurrentOffset = 128 // current_buf_ptr
	DepGenDroppedOffset = 140 // of the three counters, which are adjacent
)

const (
	depGenRecords  = 64 // offset of the first record in a buffer
	depGenBaseSize = uint64(unsafe.Sizeof(DepGenBase{}))
	depGenHeadSize = uint64(unsafe.Sizeof(DepGenOverflowHead{}))
)

// DepGenForm is one of the two forms of a record: with a kind byte per
// dependency, or without.
type DepGenForm struct {
	RecordSize   int  // bytes
	OverflowDeps int  // dependencies that an overflow record holds
	HasKinds     bool // records carry a DepKind per dependency
}

// The forms. Treat them as read-only; DepGenKinds is the default.
var (
	DepGenKinds   = &DepGenForm{RecordSize: 4736, OverflowDeps: 524, HasKinds: true}
	DepGenNoKinds = &DepGenForm{RecordSize: 4672, OverflowDeps: 582}
)

// DepGenFormOf returns the form whose records have that many bytes.
func DepGenFormOf(recordSize int) (*DepGenForm, error) {
	for _, f := range []*DepGenForm{DepGenKinds, DepGenNoKinds} {
		if f.RecordSize == recordSize {
			return f, nil
		}
	}
	return nil, fmt.Errorf("dep_gen records of %d bytes are unknown: expected %d (with the kinds of dependencies) or %d (without)",
		recordSize, DepGenKinds.RecordSize, DepGenNoKinds.RecordSize)
}

// Buffer is the shape of a buffer: the count comes before the records.
func (f *DepGenForm) Buffer() Buffer {
	return Buffer{Name: "DepGen", RecordSize: f.RecordSize, Capacity: DepGenRecordsPerBuffer,
		Records: depGenRecords, Count: 0, Size: align(depGenRecords+f.RecordSize*DepGenRecordsPerBuffer, Align)}
}

// Slots is how many records a submit with that many dependencies takes.
func (f *DepGenForm) Slots(deps int) int {
	if deps <= DepGenInlineDeps {
		return 1
	}
	return 1 + (deps-DepGenInlineDeps+f.OverflowDeps-1)/f.OverflowDeps
}

// Deps is how many dependencies a chain of that many records, at least one, holds.
func (f *DepGenForm) Deps(slots int) int { return DepGenInlineDeps + (slots-1)*f.OverflowDeps }

// MaxChain is how many dependencies fit into a whole buffer.
func (f *DepGenForm) MaxChain() int { return f.Deps(DepGenRecordsPerBuffer) }

// DepGenRecord is a base record where it lies in its buffer.
type DepGenRecord struct {
	*DepGenBase
	*DepGenArgs
	Kinds []DepKind // of the dependencies; nil in the form without
}

// Record is the base record in a slot of a buffer.
func (f *DepGenForm) Record(buffer Mem, slot int) DepGenRecord {
	at := f.slot(slot)
	r := DepGenRecord{DepGenBase: View[DepGenBase](buffer, at)}
	at += depGenBaseSize
	if f.HasKinds {
		r.Kinds = Views[DepKind](buffer, at, DepGenInlineDeps)
		at += DepGenInlineDeps
	}
	r.DepGenArgs = View[DepGenArgs](buffer, at)
	return r
}

// DepGenOverflow is an overflow record where it lies in its buffer.
type DepGenOverflow struct {
	*DepGenOverflowHead
	Deps  []uint64
	Kinds []DepKind // of the dependencies; nil in the form without
}

// Overflow is the overflow record in a slot of a buffer.
func (f *DepGenForm) Overflow(buffer Mem, slot int) DepGenOverflow {
	at := f.slot(slot)
	o := DepGenOverflow{
		DepGenOverflowHead: View[DepGenOverflowHead](buffer, at),
		Deps:               Views[uint64](buffer, at+depGenHeadSize, f.OverflowDeps),
	}
	if f.HasKinds {
		o.Kinds = Views[DepKind](buffer, at+depGenHeadSize+8*uint64(f.OverflowDeps), f.OverflowDeps)
	}
	return o
}

func (f *DepGenForm) slot(i int) uint64 { return depGenRecords + uint64(i)*uint64(f.RecordSize) }

// cName is the C name of a structure in this form. The default has the plain one.
func (f *DepGenForm) cName(name string) string {
	if f.HasKinds {
		return "swl_dep_gen_" + name
	}
	return "swl_dep_gen_no_kinds_" + name
}

// recordFields is the whole base record, and overflowFields the overflow record.
// Both fill a slot.
func (f *DepGenForm) recordFields() Struct {
	b := builder{Struct{Name: f.cName("record"), Doc: "A submitted task, with its first dependencies."}}
	b.embed(structOf[DepGenBase]("", 8))
	if f.HasKinds {
		b.field("explicit_dep_kinds", "uint8_t", DepGenInlineDeps)
	}
	b.embed(structOf[DepGenArgs]("", 8))
	return b.padTo(Align)
}

func (f *DepGenForm) overflowFields() Struct {
	b := builder{Struct{Name: f.cName("overflow"), Doc: "More dependencies of the task before it; lies in the slot of a record."}}
	b.embed(structOf[DepGenOverflowHead]("", 8))
	b.field("deps", "uint64_t", f.OverflowDeps)
	if f.HasKinds {
		b.field("dep_kinds", "uint8_t", f.OverflowDeps)
	}
	return b.padTo(Align)
}

// bufferFields is a buffer of base records; it has its number of records in front.
func (f *DepGenForm) bufferFields(record Struct) Struct {
	b := builder{Struct{Name: f.cName("buffer"), Doc: "The AICPU raises count after all records of a task."}}
	b.field("count", "uint32_t")
	b.field("reserved", "uint8_t", depGenRecords-b.Size)
	b.structure("records", record, DepGenRecordsPerBuffer)
	return b.padTo(Align)
}

// ArgType is how a task uses an argument.
type ArgType uint8

// The uses of an argument.
const (
	ArgInput ArgType = iota
	ArgOutput
	ArgInOut
	ArgOutputExisting
	ArgNoDep
)

var argTypes = [...]string{"INPUT", "OUTPUT", "INOUT", "OUTPUT_EXISTING", "NO_DEP"}

func (t ArgType) String() string {
	if int(t) < len(argTypes) {
		return argTypes[t]
	}
	return "unknown"
}

// NoOwner is the owner of a tensor that no task made.
const NoOwner = ^uint64(0)

// Tensor describes an argument, 128 B. It is the view of a buffer: a start, and
// a shape with strides, all counted in elements.
type Tensor struct {
	BufferAddr   uint64    `abi:"buffer_addr"`
	BufferSize   uint64    `abi:"buffer_size"` // bytes
	OwnerTaskID  uint64    `abi:"owner_task_id"`
	StartOffset  uint64    `abi:"start_offset"`
	Version      int32     `abi:"version"`
	NDims        uint32    `abi:"ndims"`
	DType        DType     `abi:"dtype"`
	ManualDep    uint8     `abi:"manual_dep"`
	IsContiguous uint8     `abi:"is_contiguous"`
	AddressSpace uint8     `abi:"address_space"`
	Shapes       [5]uint32 `abi:"shapes"`
	Extent       uint64    `abi:"extent"`
	Strides      [5]uint32 `abi:"strides"` // always > 0
	_            [36]byte  `abi:"reserved"`
}

// DType is the type of a tensor's elements.
type DType uint8

// The element types.
const (
	Float32 DType = iota
	Float16
	Int32
	Int16
	Int8
	Uint8
	BFloat16
	Int64
	Uint64
	Uint16
	Uint32
	Bool
	FP8E4M3FN
	FP8E8M0
	FP4E2M1
)

var dtypes = [...]struct {
	name string
	size int
}{
	Float32: {"FLOAT32", 4}, Float16: {"FLOAT16", 2}, Int32: {"INT32", 4}, Int16: {"INT16", 2}, Int8: {"INT8", 1},
	Uint8: {"UINT8", 1}, BFloat16: {"BFLOAT16", 2}, Int64: {"INT64", 8}, Uint64: {"UINT64", 8}, Uint16: {"UINT16", 2},
	Uint32: {"UINT32", 4}, Bool: {"BOOL", 1}, FP8E4M3FN: {"FP8E4M3FN", 1}, FP8E8M0: {"FP8E8M0", 1}, FP4E2M1: {"FP4E2M1", 1},
}

// String is the name of the type; codes that do not exist are all `unknown`.
func (d DType) String() string {
	if int(d) < len(dtypes) {
		return dtypes[d].name
	}
	return "unknown"
}

// Size is the bytes of an element, 0 of a code that does not exist.
func (d DType) Size() int {
	if int(d) < len(dtypes) {
		return dtypes[d].size
	}
	return 0
}
