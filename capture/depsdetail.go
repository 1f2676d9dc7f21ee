package capture

import (
	"encoding/binary"
	"io"
	"math"

	"swimlane/internal/jsonscan"
)

// DepsDetail is all that deps.json says of tasks, tensors and edges (spec/deps.md
// §3), in file order. Pictures of time need only its Deps, which ReadDeps reads faster.
//
// Everything but ids is optional in a file. A value that is not what the format has
// there counts as absent and is counted in Odd.
type DepsDetail struct {
	Deps

	Args   []DepsArg // task after task
	ArgEnd []int     // the arguments of task i end before ArgEnd[i]

	// Tensors are the entries of tensors[]; the index is the number in the name T<index>.
	Tensors []DepsTensor

	// Rows says of every edge what there is beside the two tasks.
	Rows []DepsRow

	Odd      int64 // values that are not of their kind
	Nameless int64 // entries of tasks without a task id; they are skipped

	lists  intern
	dtypes []string
}

// Further marks of a task in Deps.Has, set by ReadDepsDetail only.
const (
	// HasEarlyDispatch: the submit allowed its consumers to be staged early.
	HasEarlyDispatch uint8 = 2 << iota
	// HasManualScope: it was submitted in a manual scope, which wires declared dependencies only.
	HasManualScope
)

// List is the number of a list of sizes: a shape or strides. 0 stands for none.
// Equal lists of a file have the same number.
type List int32

// DType is the number of an element type. 0 stands for none; equal ones of a file have
// the same number.
type DType int32

// ArgType is what a task does with an argument.
type ArgType uint8

// The types of arguments. ArgUnknown also stands for texts that the format does not have.
const (
	ArgUnknown ArgType = iota
	ArgInput
	ArgOutput
	ArgInout
	ArgOutputExisting
)

var argTypes = [...]string{"UNKNOWN", "INPUT", "OUTPUT", "INOUT", "OUTPUT_EXISTING"}

func (t ArgType) String() string { return argTypes[t] }

// Reads reports whether the task takes the argument's values.
func (t ArgType) Reads() bool { return t == ArgInput || t == ArgInout }

// Writes reports whether the task may change the argument's values.
func (t ArgType) Writes() bool { return t == ArgOutput || t == ArgInout || t == ArgOutputExisting }

// EdgeSource is how an edge arose.
type EdgeSource uint8

// The sources of edges. SourceUnknown also stands for texts that the format does not have.
const (
	SourceUnknown   EdgeSource = iota
	SourceExplicit             // declared by the orchestration
	SourceCreator              // the producer owns the storage
	SourceTensorMap            // the producer has written a slice that overlaps
)

var edgeSources = [...]string{"unknown", "explicit", "creator", "tensormap"}

func (s EdgeSource) String() string { return edgeSources[s] }

// Overlap is how the slices of a tensormap edge lie to each other (spec/deps.md §4.1.1).
type Overlap uint8

// The results of the overlap test.
const (
	OverlapNone    Overlap = iota // not stated
	OverlapCovered                // the consumer's slice contains the producer's
	OverlapOther
	OverlapNo // has a name in the format, but makes no edge
)

var overlaps = [...]string{"", "covered", "other", "no_overlap"}

func (o Overlap) String() string { return overlaps[o] }

// Marks of arguments, tensors and rows: which of their values the file has.
const (
	HasTensorID uint8 = 1 << iota
	HasOffset         // of a row: the consumer's
	HasProducerOffset
	HasFlags // of a row: flags is there, if only []
	HasAddr
	HasNumel
)

// DepsArg is an argument of a task.
type DepsArg struct {
	Tensor  uint64 // tensor_id, valid with HasTensorID
	Offset  uint64 // elements from the buffer's start, valid with HasOffset
	Idx     int32  // argument slot, −1 if the file states none
	DType   DType
	Shape   List
	Strides List
	Type    ArgType
	Has     uint8
}

// DepsTensor is a storage and its version.
type DepsTensor struct {
	ID      uint64 // valid with HasTensorID
	Addr    uint64 // of the buffer, valid with HasAddr
	Numel   uint64 // elements of the whole buffer, valid with HasNumel; 0 = not known
	Version int64
	DType   DType
	Has     uint8
}

// The flags of an edge.
const (
	FlagWait   uint8 = 1 << iota // the consumer is ordered behind the producer
	FlagRetain                   // the producer is kept alive for the consumer
)

// DepsRow is why an edge exists.
type DepsRow struct {
	Tensor         uint64 // tensor_id, valid with HasTensorID
	Offset         uint64 // the consumer's slice, valid with HasOffset
	ProducerOffset uint64 // valid with HasProducerOffset
	Arg            int32  // the consumer's argument slot, −1 for a declared dependency
	DType          DType  // the consumer's
	Shape, Strides List   // the consumer's

	ProducerShape, ProducerStrides List

	Source  EdgeSource
	Overlap Overlap
	Flags   uint8 // as the file has them; EdgeFlags fills in what old files lack
	Has     uint8
}

// EdgeFlags are the row's flags, or where the file states none those that the
// source has always had (spec/deps.md §3.3).
func (r *DepsRow) EdgeFlags() (flags uint8, stated bool) {
	switch {
	case r.Has&HasFlags != 0:
		return r.Flags, true
	case r.Source == SourceTensorMap:
		return FlagWait, false
	}
	return FlagWait | FlagRetain, false
}

// List gives the sizes of a list; nil is none. Do not change it.
func (d *DepsDetail) List(l List) []uint32 { return d.lists.list(l) }

// DTypeName is the text of an element type, "" for none.
func (d *DepsDetail) DTypeName(t DType) string {
	if t == 0 {
		return ""
	}
	return d.dtypes[t-1]
}

// ArgsOf are the arguments of a task. Do not change them.
func (d *DepsDetail) ArgsOf(task int) []DepsArg {
	from := 0
	if task > 0 {
		from = d.ArgEnd[task-1]
	}
	return d.Args[from:d.ArgEnd[task]]
}

// ElementSize is the size of an element type in bytes, 0 if it is not known (spec/deps.md §3.1).
func ElementSize(dtype string) uint64 {
	switch dtype {
	case "INT8", "UINT8", "BOOL":
		return 1
	case "FLOAT16", "BFLOAT16", "INT16", "UINT16":
		return 2
	case "FLOAT32", "INT32", "UINT32":
		return 4
	case "INT64", "UINT64":
		return 8
	}
	return 0
}

// ReadDepsDetail reads all of the task graph at path. A missing file is no error: both
// results are nil. One that is written to meanwhile is refused as ErrChanged.
func ReadDepsDetail(path string, progress func(bytes int64)) (*DepsDetail, error) {
	return readDepsFile(path, progress, ReadDepsDetailFrom)
}

// ReadDepsDetailFrom reads all of a task graph from r; name is what errors call it.
func ReadDepsDetailFrom(r io.Reader, name string) (*DepsDetail, error) {
	t := &detailReader{out: &DepsDetail{}, types: map[string]DType{}}
	d, err := readDepsFrom(r, name, t)
	if err != nil {
		return nil, err
	}
	out := t.out
	out.Deps = *d
	out.lists.ids, out.lists.key = nil, nil
	out.Args, out.ArgEnd, out.Tensors, out.Rows = t.args.flat(), t.argEnd.flat(), t.tensors.flat(), t.rows.flat()
	return out, nil
}

// detailReader reads what depsReader passes over.
type detailReader struct {
	s       *jsonscan.Scanner
	out     *DepsDetail
	args    column[DepsArg]
	argEnd  column[int]
	tensors column[DepsTensor]
	rows    column[DepsRow]
	types   map[string]DType
	task    []DepsArg // of the task that is being read
	has     uint8
	row     DepsRow // of the edge that is being read
	sizes   []uint32
	plain   [8]uint64
}

// odd passes over a value of another kind than the format has there.
func (t *detailReader) odd() {
	t.s.Skip()
	t.out.Odd++
}

func (t *detailReader) uint64(v *uint64, has *uint8, mark uint8) {
	n, ok := t.s.TryInt()
	if !ok {
		t.odd()
		return
	}
	*v = n.Wrap()
	*has |= mark
}

func (t *detailReader) int32(v *int32) {
	n, ok := t.s.TryInt()
	if !ok {
		t.odd()
		return
	}
	i, fits := n.Int64()
	if !fits || i < math.MinInt32 || i > math.MaxInt32 {
		t.out.Odd++
		return
	}
	*v = int32(i)
}

// word reads a text that is one of a few; others count as the first.
func (t *detailReader) word(of []string) uint8 {
	if t.s.Peek() != jsonscan.String {
		t.odd()
		return 0
	}
	text := t.s.Text()
	for i, w := range of {
		if string(text) == w {
			return uint8(i)
		}
	}
	t.out.Odd++
	return 0
}

func (t *detailReader) dtype() DType {
	if t.s.Peek() != jsonscan.String {
		t.odd()
		return 0
	}
	text := t.s.Text()
	if v, ok := t.types[string(text)]; ok {
		return v
	}
	if t.s.Err() != nil {
		return 0
	}
	t.out.dtypes = append(t.out.dtypes, string(text))
	v := DType(len(t.out.dtypes))
	t.types[string(text)] = v
	return v
}

// list reads sizes of 32 bits.
func (t *detailReader) list() List {
	t.sizes = t.sizes[:0]
	if n, ok := t.s.Row(t.plain[:]); ok {
		for _, v := range t.plain[:n] {
			if v > math.MaxUint32 {
				t.out.Odd++
				return 0
			}
			t.sizes = append(t.sizes, uint32(v))
		}
		return t.out.lists.add(t.sizes)
	}
	if t.s.Peek() != jsonscan.Array {
		t.odd()
		return 0
	}
	good := true
	t.s.BeginArray()
	for t.s.Elem() {
		v, ok := t.s.TryInt()
		if !ok {
			t.s.Skip()
		}
		u, fits := v.Uint64()
		if good = good && ok && fits && u <= math.MaxUint32; good {
			t.sizes = append(t.sizes, uint32(u))
		}
	}
	if !good {
		t.out.Odd++
		return 0
	}
	return t.out.lists.add(t.sizes)
}

// taskField reads a field of a task that pictures do not need.
func (t *detailReader) taskField(key []byte) {
	switch string(key) {
	case "scope":
		if t.word([]string{"auto", "manual"}) == 1 {
			t.has |= HasManualScope
		}
	case "early_dispatch":
		switch t.s.Peek() {
		case jsonscan.True, jsonscan.False:
			if t.s.Bool() {
				t.has |= HasEarlyDispatch
			}
		default:
			t.odd()
		}
	case "args":
		if t.s.Peek() != jsonscan.Array {
			t.odd()
			return
		}
		t.s.BeginArray()
		for t.s.Elem() {
			t.arg()
		}
	default:
		t.s.Skip()
	}
}

// endTask keeps the task that was read, or forgets one without an id.
func (t *detailReader) endTask(named bool) (has uint8) {
	if named {
		for i := range t.task {
			t.args.add(t.task[i])
		}
		t.argEnd.add(t.args.len())
	} else {
		t.out.Nameless++
	}
	has, t.has, t.task = t.has, 0, t.task[:0]
	return has
}

func (t *detailReader) arg() {
	if t.s.Peek() != jsonscan.Object {
		t.odd()
		return
	}
	a := DepsArg{Idx: -1}
	t.s.BeginObject()
	for {
		key, ok := t.s.Key()
		if !ok {
			break
		}
		switch string(key) {
		case "idx":
			t.int32(&a.Idx)
		case "type":
			a.Type = ArgType(t.word(argTypes[:]))
		case "tensor_id":
			t.uint64(&a.Tensor, &a.Has, HasTensorID)
		case "dtype":
			a.DType = t.dtype()
		case "shape":
			a.Shape = t.list()
		case "start_offset":
			t.uint64(&a.Offset, &a.Has, HasOffset)
		case "strides":
			a.Strides = t.list()
		default:
			t.s.Skip()
		}
	}
	t.task = append(t.task, a)
}

// tensor reads an entry of tensors[]. One that is no object keeps its place, as names count places.
func (t *detailReader) tensor() {
	var x DepsTensor
	if t.s.Peek() != jsonscan.Object {
		t.odd()
		t.tensors.add(x)
		return
	}
	t.s.BeginObject()
	for {
		key, ok := t.s.Key()
		if !ok {
			break
		}
		switch string(key) {
		case "tensor_id":
			t.uint64(&x.ID, &x.Has, HasTensorID)
		case "buffer_addr":
			t.uint64(&x.Addr, &x.Has, HasAddr)
		case "version":
			if v, ok := t.s.TryInt(); !ok {
				t.odd()
			} else if n, fits := v.Int64(); fits {
				x.Version = n
			} else {
				t.out.Odd++
			}
		case "dtype":
			x.DType = t.dtype()
		case "buffer_numel":
			t.uint64(&x.Numel, &x.Has, HasNumel)
		default:
			t.s.Skip()
		}
	}
	t.tensors.add(x)
}

// edgeField reads a field of an edge that pictures do not need.
func (t *detailReader) edgeField(key []byte) {
	r := &t.row
	switch string(key) {
	case "arg":
		t.int32(&r.Arg)
	case "source":
		r.Source = EdgeSource(t.word(edgeSources[:]))
	case "flags":
		t.flags(r)
	case "overlap":
		r.Overlap = Overlap(t.word(overlaps[:]))
	case "tensor_id":
		t.uint64(&r.Tensor, &r.Has, HasTensorID)
	case "consumer_dtype":
		r.DType = t.dtype()
	case "consumer_shape":
		r.Shape = t.list()
	case "consumer_start_offset":
		t.uint64(&r.Offset, &r.Has, HasOffset)
	case "consumer_strides":
		r.Strides = t.list()
	case "producer_shape":
		r.ProducerShape = t.list()
	case "producer_start_offset":
		t.uint64(&r.ProducerOffset, &r.Has, HasProducerOffset)
	case "producer_strides":
		r.ProducerStrides = t.list()
	default:
		t.s.Skip()
	}
}

func (t *detailReader) flags(r *DepsRow) {
	if t.s.Peek() != jsonscan.Array {
		t.odd()
		return
	}
	r.Has |= HasFlags
	t.s.BeginArray()
	for t.s.Elem() {
		if n := t.word([]string{"", "wait", "retain"}); n > 0 {
			r.Flags |= 1 << (n - 1)
		}
	}
}

func (t *detailReader) beginEdge() { t.row = DepsRow{Arg: -1} }

// intern gives equal lists the same number.
type intern struct {
	sizes []uint32 // of all lists, one after another
	end   []int    // of list n+1
	ids   map[string]List
	key   []byte
}

func (in *intern) list(l List) []uint32 {
	if l == 0 {
		return nil
	}
	from := 0
	if l > 1 {
		from = in.end[l-2]
	}
	return in.sizes[from:in.end[l-1]:in.end[l-1]]
}

func (in *intern) add(sizes []uint32) List {
	in.key = in.key[:0]
	for _, v := range sizes {
		in.key = binary.LittleEndian.AppendUint32(in.key, v)
	}
	if l, ok := in.ids[string(in.key)]; ok {
		return l
	}
	if in.ids == nil {
		in.ids = map[string]List{}
		in.sizes = []uint32{} // an empty list is no missing one
	}
	in.sizes = append(in.sizes, sizes...)
	in.end = append(in.end, len(in.sizes))
	l := List(len(in.end))
	in.ids[string(in.key)] = l
	return l
}
