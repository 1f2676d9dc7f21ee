package depgen_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/depgen"
)

// sound is a buffer of five records: two tasks, and one with a chain of three.
func sound(form *abi.DepGenForm) abi.Mem {
	m := abi.NewMem(form.Buffer().Records + 5*form.RecordSize)
	for slot, id := range []uint64{7, ring1, 8} {
		r := form.Record(m, slot)
		r.TaskID, r.TensorCount, r.KernelID, r.BlockNum = id, 2, [3]int32{0, -1, -1}, 1
		r.ArgTypes[0], r.ArgTypes[1] = abi.ArgInOut, abi.ArgOutput
		r.Tensors[0] = vector(4096, 16, abi.NoOwner)
		r.ExplicitDepCount = 2
		r.ExplicitDeps[0], r.ExplicitDeps[1] = 1, ring1+5
	}
	form.Record(m, 2).Flags = abi.DepGenHasOverflow
	for slot := 3; slot < 5; slot++ {
		o := form.Overflow(m, slot)
		*o.DepGenOverflowHead = abi.DepGenOverflowHead{TaskID: 8, Flags: abi.DepGenOverflowed, DepCount: 3}
		for i := range o.Deps[:3] {
			o.Deps[i] = uint64(100*slot + i)
		}
	}
	form.Overflow(m, 4).Flags |= abi.DepGenLastOverflow
	return m
}

// TestBroken breaks one thing at a time: then there is no graph, and the message
// says where.
func TestBroken(t *testing.T) {
	form := abi.DepGenKinds
	for name, tt := range map[string]struct {
		spoil func(m abi.Mem) []abi.Mem
		is    error
		words string
	}{
		"ring of a task":     {one(func(m abi.Mem) { form.Record(m, 1).TaskID = 4 << 32 }), depgen.ErrRecord, "record 1: found task 0x400000000, of ring 4: expected a ring below 4"},
		"space of a task":    {one(func(m abi.Mem) { form.Record(m, 1).TaskID = 1 << 62 }), depgen.ErrRecord, "record 1: found task 0x4000000000000000, of ring 1073741824"},
		"flags":              {one(func(m abi.Mem) { form.Record(m, 1).Flags = 1 << 5 }), depgen.ErrRecord, "record 1: task 0x100000000 has the flags 0x20: expected none but 0x13"},
		"last without chain": {one(func(m abi.Mem) { form.Record(m, 1).Flags = abi.DepGenLastOverflow }), depgen.ErrRecord, "has the flags 0x8"},
		"arguments":          {one(func(m abi.Mem) { form.Record(m, 0).TensorCount = 33 }), depgen.ErrRecord, "record 0: task 0x7 has 33 arguments: expected at most 32"},
		"inline dependencies": {one(func(m abi.Mem) { form.Record(m, 0).ExplicitDepCount = 65 }), depgen.ErrRecord,
			"record 0: task 0x7 has 65 dependencies in its first record: expected at most 64"},
		"type of an argument": {one(func(m abi.Mem) { form.Record(m, 0).ArgTypes[1] = 5 }), depgen.ErrRecord, "argument 1 of task 0x7 has the type 5: expected 0 to 4"},
		"dimensions":          {one(func(m abi.Mem) { form.Record(m, 0).Tensors[0].NDims = 1<<32 - 1 }), depgen.ErrRecord, "argument 0 of task 0x7 has 4294967295 dimensions: expected at most 5"},
		"stride":              {one(func(m abi.Mem) { form.Record(m, 0).Tensors[0].Strides[0] = 0 }), depgen.ErrRecord, "argument 0 of task 0x7 has the stride 0 in dimension 0"},
		"owner":               {one(func(m abi.Mem) { form.Record(m, 0).Tensors[0].OwnerTaskID = 1 << 40 }), depgen.ErrRecord, "argument 0 of task 0x7 belongs to task 0x10000000000, of ring 256"},
		"producer":            {one(func(m abi.Mem) { form.Record(m, 0).ExplicitDeps[1] = 5 << 32 }), depgen.ErrRecord, "record 0: task 0x7 depends on task 0x500000000, of ring 5"},
		"kind":                {one(func(m abi.Mem) { form.Record(m, 0).Kinds[1] = 4 }), depgen.ErrKind, "record 0: task 0x7 depends on task 0x100000005 with the kind 0x4"},
		"kind in a chain":     {one(func(m abi.Mem) { form.Overflow(m, 4).Kinds[2] = 0xFF }), depgen.ErrKind, "record 4: task 0x8 depends on task 0x192 with the kind 0xff"},
		"producer in a chain": {one(func(m abi.Mem) { form.Overflow(m, 3).Deps[0] = 1 << 63 }), depgen.ErrRecord, "record 3: task 0x8 depends on task 0x8000000000000000"},
		"chain of two tasks":  {one(func(m abi.Mem) { form.Overflow(m, 4).TaskID = 9 }), depgen.ErrRecord, "record 4: found an overflow record of task 0x9 inside the chain of task 0x8"},
		"chain without end":   {one(func(m abi.Mem) { form.Overflow(m, 4).Flags = abi.DepGenOverflowed }), depgen.ErrRecord, "record 5: the trace ends inside the chain of task 0x8"},
		"chain cut off":       {func(m abi.Mem) []abi.Mem { return []abi.Mem{m[:64+4*form.RecordSize]} }, depgen.ErrRecord, "record 4: the trace ends inside the chain of task 0x8"},
		"task inside a chain": {one(func(m abi.Mem) { form.Record(m, 1).Flags = abi.DepGenHasOverflow }), depgen.ErrRecord, "record 2: found task 0x8 inside the chain of task 0x100000000"},
		"chain without begin": {one(func(m abi.Mem) { form.Record(m, 2).Flags = 0 }), depgen.ErrRecord, "record 3: found an overflow record of task 0x8 behind a record without more to come"},
		"chain goes on too long": {one(func(m abi.Mem) { form.Overflow(m, 3).Flags |= abi.DepGenLastOverflow }), depgen.ErrRecord,
			"record 4: found an overflow record of task 0x8 behind"},
		"flags in a chain": {one(func(m abi.Mem) { form.Overflow(m, 3).Flags |= abi.DepGenManualScope }), depgen.ErrRecord, "record 3: an overflow record of task 0x8 has the flags 0x5"},
		"overflow dependencies": {one(func(m abi.Mem) { form.Overflow(m, 3).DepCount = 525 }), depgen.ErrRecord,
			"record 3: an overflow record of task 0x8 has 525 dependencies: expected at most 524"},
		"chain over two buffers": {func(m abi.Mem) []abi.Mem {
			second := abi.NewMem(64 + 2*form.RecordSize)
			copy(second[64:], m[64+3*form.RecordSize:])
			return []abi.Mem{m[:64+3*form.RecordSize], second}
		}, depgen.ErrRecord, "record 3: the chain of task 0x8 goes on in another buffer"},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			_, err := depgen.WriteRecords(&b, form, tt.spoil(sound(form))...)
			if !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.words) {
				t.Errorf("error %v, want %v with the words %q", err, tt.is, tt.words)
			}
			if b.Len() != 0 {
				t.Errorf("%d bytes are written", b.Len())
			}
		})
	}
	for _, form := range []*abi.DepGenForm{abi.DepGenKinds, abi.DepGenNoKinds} {
		var b bytes.Buffer
		s, err := depgen.WriteRecords(&b, form, sound(form))
		// Three times two inline ones, twice three in the chain, and the inout's
		// earlier writer of the second and the third task.
		if err != nil || s.Tasks != 3 || s.Edges != 3*2+2*3+2 || s.Tensors != 1 {
			t.Errorf("the sound records give %+v, %v", s, err)
		}
	}
	// What stands in an output's tensor, and behind what is counted, means nothing.
	m := sound(form)
	r := form.Record(m, 0)
	r.Tensors[1], r.Tensors[2] = abi.Tensor{NDims: 99, OwnerTaskID: 1 << 63}, abi.Tensor{NDims: 99}
	r.ArgTypes[2], r.Kinds[2], r.ExplicitDeps[2] = 77, 0xFF, 1<<63
	var b bytes.Buffer
	if _, err := depgen.WriteRecords(&b, form, m); err != nil {
		t.Error(err)
	}
}

func one(spoil func(abi.Mem)) func(abi.Mem) []abi.Mem {
	return func(m abi.Mem) []abi.Mem {
		spoil(m)
		return []abi.Mem{m}
	}
}

// FuzzRecords changes bytes of sound records: three bytes of data are where
// and what. Either there is an error and nothing is
// written, or a whole graph that the reading side takes.
func FuzzRecords(f *testing.F) {
	at := func(slot, offset int, value byte) []byte {
		where := slot*abi.DepGenKinds.RecordSize + offset
		return []byte{byte(where >> 8), byte(where), value}
	}
	f.Add([]byte{}, true)
	f.Add([]byte{}, false)
	f.Add(at(0, 12, 33), true)                                 // tensor_count
	f.Add(at(1, 8, 16), true)                                  // early dispatch
	f.Add(at(4, 8, 4), true)                                   // a chain without end
	f.Add(at(0, 528, 0xFF), true)                              // a kind
	f.Add(append(at(1, 640+40, 3), at(2, 640+36, 0)...), true) // a dtype, and a rank of 0
	f.Fuzz(func(t *testing.T, data []byte, withKinds bool) {
		form := abi.DepGenNoKinds
		if withKinds {
			form = abi.DepGenKinds
		}
		m := sound(form)
		for ; len(data) >= 3; data = data[3:] {
			if where := 64 + (int(data[0])<<8 | int(data[1])); where < len(m) {
				m[where] = data[2]
			}
		}
		var b bytes.Buffer
		s, err := depgen.WriteRecords(&b, form, m)
		if err != nil {
			if b.Len() != 0 || depgen.Code(err) == 0 {
				t.Fatalf("%v with code %d, and %d bytes are written", err, depgen.Code(err), b.Len())
			}
			return
		}
		if !json.Valid(b.Bytes()) || !bytes.HasSuffix(b.Bytes(), []byte("]}\n")) {
			t.Fatalf("no JSON: %s", b.Bytes())
		}
		readBack(t, b.Bytes(), s)
		if g := parsed(t, b.Bytes()); len(g.Tensors) != s.Tensors {
			t.Fatalf("%d tensors, want %d", len(g.Tensors), s.Tensors)
		}
	})
}
