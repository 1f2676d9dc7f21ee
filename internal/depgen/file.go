package depgen

import (
	"io"
	"strconv"

	"swimlane/internal/abi"
	"swimlane/internal/fanin"
	"swimlane/internal/producer"
)

// TensorID is the name of a buffer's version, FNV-1a of both (spec/deps.md §2.2).
func TensorID(addr uint64, version int32) uint64 {
	h := uint64(0xcbf29ce484222325)
	for i := range 8 {
		h = (h ^ addr>>(8*i)&0xFF) * 0x100000001b3
	}
	for i := range 4 {
		h = (h ^ uint64(uint32(version)>>(8*i)&0xFF)) * 0x100000001b3
	}
	return h
}

const pieceSize = 256 << 10

// file writes deps.json, section by section (spec/deps.md §3).
type file struct {
	w     io.Writer
	buf   []byte
	err   error // the first that happened; what follows is not written
	plain bool  // edges have no flags
	first bool  // the next entry is the first of its section

	seen    map[version]struct{}
	tensors []tensor
}

// version is a buffer at one time of its life.
type version struct {
	addr    uint64
	version int32
}

// tensor is an entry of tensors.
type tensor struct {
	version
	dtype abi.DType
	elems uint64
}

func newFile(w io.Writer) *file {
	return &file{w: w, buf: make([]byte, 0, pieceSize), seen: map[version]struct{}{}}
}

// section begins a list with the text in front of its entries.
func (f *file) section(text string) {
	f.first = true
	f.buf = append(f.buf, text...)
}

// entry begins an entry of a list, and returns the buffer to append it to.
func (f *file) entry() []byte {
	if len(f.buf) > pieceSize-8<<10 {
		f.flush()
	}
	if f.first {
		f.first = false
		return f.buf
	}
	return append(f.buf, ',')
}

func (f *file) flush() {
	if f.err == nil {
		_, f.err = f.w.Write(f.buf)
	}
	f.buf = f.buf[:0]
}

// task writes an entry of tasks, and notes the tensors of its arguments.
func (f *file) task(s *producer.Submit) error {
	b := appendQuoted(append(f.entry(), `{"task_id":`...), s.TaskID)
	b = append(b, `,"scope":"`...)
	if s.ManualScope {
		b = append(b, "manual"...)
	} else {
		b = append(b, "auto"...)
	}
	b = append(b, `","early_dispatch":`...)
	b = strconv.AppendBool(b, s.EarlyDispatch)
	b = append(b, `,"kernel_ids":[`...)
	for i, id := range s.KernelIDs {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(id), 10)
	}
	b = append(b, `],"block_num":`...)
	b = strconv.AppendInt(b, int64(max(s.BlockNum, 1)), 10)
	b = append(b, `,"args":[`...)
	for i := range s.Args {
		if i > 0 {
			b = append(b, ',')
		}
		b = f.argument(b, i, &s.Args[i])
	}
	f.buf = append(b, "]}"...)
	return f.err
}

func (f *file) argument(b []byte, slot int, a *producer.Arg) []byte {
	b = append(b, `{"idx":`...)
	b = strconv.AppendInt(b, int64(slot), 10)
	b = append(b, `,"type":"`...)
	b = append(append(b, typeName(a.Type)...), '"')
	if a.Type != abi.ArgOutput {
		t := &a.Tensor
		f.note(t)
		b = appendQuoted(append(b, `,"tensor_id":`...), TensorID(t.BufferAddr, t.Version))
		b = append(append(append(b, `,"dtype":"`...), dtypeName(t.DType)...), '"')
		b = appendList(append(b, `,"shape":`...), t.Shapes[:t.NDims])
		b = appendQuoted(append(b, `,"start_offset":`...), t.StartOffset)
		b = appendList(append(b, `,"strides":`...), t.Strides[:t.NDims])
	}
	return append(b, '}')
}

// note keeps a tensor that was not seen before.
func (f *file) note(t *abi.Tensor) {
	v := version{t.BufferAddr, t.Version}
	if _, ok := f.seen[v]; ok {
		return
	}
	f.seen[v] = struct{}{}
	n := tensor{version: v, dtype: t.DType}
	if size := t.DType.Size(); size > 0 {
		n.elems = t.BufferSize / uint64(size)
	}
	f.tensors = append(f.tensors, n)
}

// writeTensors writes the entries of tensors.
func (f *file) writeTensors() {
	for i := range f.tensors {
		t := &f.tensors[i]
		b := appendQuoted(append(f.entry(), `{"tensor_id":`...), TensorID(t.addr, t.version.version))
		b = appendQuoted(append(b, `,"buffer_addr":`...), t.addr)
		b = strconv.AppendInt(append(b, `,"version":`...), int64(t.version.version), 10)
		b = append(append(b, `,"dtype":"`...), dtypeName(t.dtype)...)
		b = appendQuoted(append(b, `","buffer_numel":`...), t.elems)
		f.buf = append(b, '}')
	}
}

// edge writes an entry of edges.
func (f *file) edge(s *producer.Submit, r *fanin.Row) {
	b := appendQuoted(append(f.entry(), `{"pred":`...), r.Producer)
	b = appendQuoted(append(b, `,"succ":`...), s.TaskID)
	b = strconv.AppendInt(append(b, `,"arg":`...), int64(r.Arg), 10)
	b = append(append(append(b, `,"source":"`...), r.Source.String()...), '"')
	if !f.plain {
		b = append(append(b, `,"flags":`...), flagLists[r.Flags&(abi.DepWait|abi.DepRetain)]...)
	}
	if r.Source != fanin.Explicit {
		t := &s.Args[r.Arg].Tensor
		id := TensorID(t.BufferAddr, t.Version)
		if r.Source == fanin.TensorMap {
			b = append(append(append(b, `,"overlap":"`...), r.Overlap.String()...), '"')
			id = TensorID(r.Slice.BufferAddr, r.Slice.Version)
		}
		b = appendQuoted(append(b, `,"tensor_id":`...), id)
		b = append(append(append(b, `,"consumer_dtype":"`...), dtypeName(t.DType)...), '"')
		b = appendList(append(b, `,"consumer_shape":`...), t.Shapes[:t.NDims])
		b = appendQuoted(append(b, `,"consumer_start_offset":`...), t.StartOffset)
		b = appendList(append(b, `,"consumer_strides":`...), t.Strides[:t.NDims])
	}
	if p := r.Slice; p != nil {
		b = appendList(append(b, `,"producer_shape":`...), p.Shapes[:p.NDims])
		b = appendQuoted(append(b, `,"producer_start_offset":`...), p.StartOffset)
		b = appendList(append(b, `,"producer_strides":`...), p.Strides[:p.NDims])
	}
	f.buf = append(b, '}')
}

// flagLists are the values of flags by the bits of a kind.
var flagLists = [...]string{"[]", `["wait"]`, `["retain"]`, `["wait","retain"]`}

// typeName is the word of the file for a use of an argument; it has none for the
// use without dependencies.
func typeName(t abi.ArgType) string {
	if t > abi.ArgOutputExisting {
		return "UNKNOWN"
	}
	return t.String()
}

// dtypeName is the name of a type; its size is unknown if it has none.
func dtypeName(d abi.DType) string {
	if d.Size() == 0 {
		return "UNKNOWN"
	}
	return d.String()
}

// appendQuoted writes a 64-bit number as the string that the file has for it.
func appendQuoted(b []byte, v uint64) []byte {
	return append(strconv.AppendUint(append(b, '"'), v, 10), '"')
}

func appendList(b []byte, list []uint32) []byte {
	b = append(b, '[')
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendUint(b, uint64(v), 10)
	}
	return append(b, ']')
}
