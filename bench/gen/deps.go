package gen

import (
	"encoding/binary"
	"hash/fnv"
)

// The tensors of the made-up program: sharedTensors that every task reads (the
// weights and the key-value cache), then one for each task, its result.
const (
	sharedTensors = 16
	tensorBase    = 140_264_328_482_832
	tensorBytes   = 1024
)

// argument types of each function: the first INPUT is the result of the task's
// first predecessor, the first INOUT that of the second.
var argTypes = [4][]string{
	{"INPUT", "INOUT", "OUTPUT"},
	{"INPUT", "INOUT", "OUTPUT", "OUTPUT"},
	{"INPUT", "INOUT", "OUTPUT"},
	{"INPUT", "INPUT", "INPUT", "INOUT", "INOUT", "INOUT", "INOUT"},
}

const (
	shape   = "[16,16]"
	strides = "[16,1]"
)

// deps writes deps.json, without any white space as the runtime does. The keys
// are those of real graphs, which is most of the file and most of the work of
// reading it, although a converter needs few of them.
func (s *schedule) deps(t *text) {
	t.s(`{"tasks":[`)
	for i := range s.tasks {
		s.depTask(comma(t, i), i)
	}
	t.s(`],"tensors":[`)
	for i := range sharedTensors + s.tasks {
		comma(t, i).s(`{"tensor_id":"`).n(tensorID(i)).s(`","buffer_addr":"`).n(tensorAddr(i))
		t.s(`","version":0,"dtype":"FLOAT32","buffer_numel":"256"}`)
	}
	t.s(`],"edges":[`)
	for i := firstDependent; i < s.tasks; i++ {
		s.depEdges(comma(t, i-firstDependent), i)
	}
	t.s("]}\n")
}

// comma writes a comma before all but element 0.
func comma(t *text, i int) *text {
	if i > 0 {
		t.s(",")
	}
	return t
}

func (s *schedule) depTask(t *text, i int) {
	f := s.function(i)
	t.s(`{"task_id":"`).n(taskID(i)).s(`","scope":"auto","early_dispatch":false,"kernel_ids":`)
	if f%2 == 0 {
		t.s("[").n(uint64(f)).s(",-1,-1]")
	} else {
		t.s("[-1,").n(uint64(f)).s(",-1]")
	}
	t.s(`,"block_num":1,"args":[`)
	a, b, dependent := s.preds(i)
	inout := firstInout(f)
	for idx, typ := range argTypes[f] {
		comma(t, idx).s(`{"idx":`).n(uint64(idx)).s(`,"type":"`, typ, `"`)
		if typ != "OUTPUT" {
			tensor := (i + idx) % sharedTensors
			switch {
			case dependent && idx == 0:
				tensor = sharedTensors + a
			case dependent && idx == inout:
				tensor = sharedTensors + b
			}
			t.s(`,"tensor_id":"`).n(tensorID(tensor))
			t.s(`","dtype":"FLOAT32","shape":`, shape, `,"start_offset":"0","strides":`, strides)
		}
		t.s("}")
	}
	t.s("]}")
}

// depEdges writes the two edges of task i, one of either kind: a creator edge
// into its first argument and a tensormap edge into its first INOUT argument.
func (s *schedule) depEdges(t *text, i int) {
	a, b, _ := s.preds(i)
	edge := func(pred, arg int, source string) {
		t.s(`{"pred":"`).n(taskID(pred)).s(`","succ":"`).n(taskID(i)).s(`","arg":`).n(uint64(arg))
		t.s(`,"source":`, source, `,"tensor_id":"`).n(tensorID(sharedTensors + pred))
		t.s(`","consumer_dtype":"FLOAT32","consumer_shape":`, shape, `,"consumer_start_offset":"0","consumer_strides":`, strides)
	}
	edge(a, 0, `"creator","flags":["wait","retain"]`)
	t.s("},")
	edge(b, firstInout(s.function(i)), `"tensormap","flags":["wait"],"overlap":"covered"`)
	t.s(`,"producer_shape":`, shape, `,"producer_start_offset":"0","producer_strides":`, strides, "}")
}

func firstInout(function int) int {
	for idx, typ := range argTypes[function] {
		if typ == "INOUT" {
			return idx
		}
	}
	panic("every function has an INOUT argument")
}

func tensorAddr(i int) uint64 { return tensorBase + uint64(i)*tensorBytes }

// tensorID hashes address and version as the runtime does.
func tensorID(i int) uint64 {
	var key [12]byte // the version, in the last four bytes, is 0
	binary.LittleEndian.PutUint64(key[:], tensorAddr(i))
	h := fnv.New64a()
	h.Write(key[:])
	return h.Sum64()
}
