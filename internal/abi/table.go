package abi

import (
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"
)

// Field is one field of a structure as C code declares it.
type Field struct {
	Name   string
	Type   string // uint32_t and so on, or the name of another structure
	Counts []int  // lengths of an array, outermost first
	Offset int
	Size   int  // bytes, of the whole array
	Shared bool // a publishing word: access it atomically
}

// Struct is one structure of the shared memory.
type Struct struct {
	Name   string
	Doc    string // one sentence
	Size   int
	Align  int // of its start
	Fields []Field
}

// offset is the offset of a field that must exist.
func (s *Struct) offset(name string) uint64 {
	for _, f := range s.Fields {
		if f.Name == name {
			return uint64(f.Offset)
		}
	}
	panic(fmt.Sprintf("abi: %s has no field %s", s.Name, name))
}

// queueHeader reads the geometry out of the table of a header.
func (s *Struct) queueHeader() QueueHeader {
	queues := s.Fields[0]
	return QueueHeader{
		Threads: queues.Counts[0], QueueSize: queues.Counts[1],
		Queues: uint64(queues.Offset), Heads: s.offset("queue_heads"), Tails: s.offset("queue_tails"),
		Backpressure: s.offset("backpressure"), Size: uint64(s.Size),
	}
}

// scalars are the C types of plain fields, and their sizes and alignments.
var scalars = map[string]int{
	"uint8_t": 1, "int8_t": 1, "uint16_t": 2, "int16_t": 2, "uint32_t": 4, "int32_t": 4, "uint64_t": 8, "int64_t": 8,
}

// builder lays out a structure field by field, as a C compiler does.
type builder struct{ Struct }

func (b *builder) field(name, typ string, counts ...int) {
	size := scalars[typ]
	b.add(Field{Name: name, Type: typ, Counts: counts}, size, size)
}

// structure adds a field of another structure.
func (b *builder) structure(name string, s Struct, counts ...int) {
	b.add(Field{Name: name, Type: s.Name, Counts: counts}, s.Size, s.Align)
}

func (b *builder) add(f Field, size, alignment int) {
	f.Offset = align(b.Size, alignment)
	for _, n := range f.Counts {
		size *= n
	}
	f.Size = size
	b.Size = f.Offset + size
	b.Fields = append(b.Fields, f)
}

// embed adds the fields of a part that has no name of its own in C.
func (b *builder) embed(part Struct) {
	begin := align(b.Size, part.Align)
	for _, f := range part.Fields {
		f.Offset += begin
		b.Fields = append(b.Fields, f)
	}
	b.Size = begin + part.Size
}

// queues adds the ready queues of a header, one per AICPU thread.
func (b *builder) queues(a *Arch, size int) {
	b.structure("queues", structOf[ReadyEntry]("swl_ready_entry", 32), a.MaxThreads, size)
	b.field("queue_heads", "uint32_t", a.MaxThreads)
	b.shared()
	b.field("queue_tails", "uint32_t", a.MaxThreads)
	b.shared()
}

// shared marks the last field as publishing words.
func (b *builder) shared() { b.Fields[len(b.Fields)-1].Shared = true }

// padTo ends the structure on a multiple of n.
func (b *builder) padTo(n int) Struct {
	b.Align = n
	b.Size = align(b.Size, n)
	return b.Struct
}

// structOf reads a structure out of a Go type: names from the tags, everything
// else from the layout that the compiler gave it.
func structOf[T any](name string, alignment int) Struct {
	t := reflect.TypeFor[T]()
	s := Struct{Name: name, Size: int(t.Size()), Align: alignment}
	for i := range t.NumField() {
		f := t.Field(i)
		field := Field{Name: f.Tag.Get("abi"), Offset: int(f.Offset), Size: int(f.Type.Size())}
		elem := f.Type
		for elem.Kind() == reflect.Array {
			field.Counts = append(field.Counts, elem.Len())
			elem = elem.Elem()
		}
		field.Type, field.Shared = cType(elem)
		s.Fields = append(s.Fields, field)
	}
	return s
}

// nested are the structures that are fields of others.
var nested = map[reflect.Type]string{
	reflect.TypeFor[ActiveHead]():     "swl_active_head",
	reflect.TypeFor[FreeQueue]():      "swl_free_queue",
	reflect.TypeFor[Tensor]():         "swl_tensor",
	reflect.TypeFor[StagedTrace]():    "swl_a5_staged_trace",
	reflect.TypeFor[ActivityRecord](): "swl_a5_activity_record",
}

// cType is the C type of a Go type, and whether the Go type is an atomic.
func cType(t reflect.Type) (name string, shared bool) {
	switch t {
	case reflect.TypeFor[atomic.Uint32]():
		return "uint32_t", true
	case reflect.TypeFor[atomic.Uint64]():
		return "uint64_t", true
	}
	if name, ok := nested[t]; ok {
		return name, false
	}
	if bits, ok := strings.CutPrefix(t.Kind().String(), "uint"); ok {
		return "uint" + bits + "_t", false
	}
	return t.Kind().String() + "_t", false
}
