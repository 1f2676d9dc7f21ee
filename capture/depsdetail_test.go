package capture_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/big"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"swimlane/capture"
	"swimlane/internal/parity"
)

func acceptDetail(t *testing.T, text string) *capture.DepsDetail {
	t.Helper()
	d, err := capture.ReadDepsDetailFrom(strings.NewReader(text), "run/deps.json")
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return d
}

func TestDepsDetailExample(t *testing.T) {
	d := acceptDetail(t, graph)
	equal(t, &d.Deps, acceptDeps(t, graph))
	equal(t, d.ArgEnd, []int{1, 2})
	out, in := d.ArgsOf(0)[0], d.ArgsOf(1)[0]
	equal(t, out, capture.DepsArg{Idx: 0, Type: capture.ArgOutput})
	if in.Type != capture.ArgInput || in.Tensor != 13451765318376212391 || in.Offset != 0 || in.Has != capture.HasTensorID|capture.HasOffset ||
		d.DTypeName(in.DType) != "FLOAT32" || !slices.Equal(d.List(in.Shape), []uint32{16384}) || !slices.Equal(d.List(in.Strides), []uint32{1}) {
		t.Errorf("argument: %+v", in)
	}
	x := d.Tensors[0]
	if x.ID != in.Tensor || x.Addr != 29204938752 || x.Version != 0 || x.Numel != 16384 || x.DType != in.DType {
		t.Errorf("tensor: %+v", x)
	}
	r := d.Rows[0]
	flags, stated := r.EdgeFlags()
	if r.Source != capture.SourceCreator || r.Arg != 0 || r.Tensor != x.ID || r.Shape != in.Shape || r.Strides != in.Strides || r.Overlap != capture.OverlapNone ||
		flags != capture.FlagWait|capture.FlagRetain || !stated || r.Has&capture.HasProducerOffset != 0 || d.List(r.ProducerShape) != nil {
		t.Errorf("row: %+v", r)
	}
	if d.Odd != 0 {
		t.Errorf("%d odd values", d.Odd)
	}
}

// spec/deps.md §3.1, §3.3, §3.5: what old files lack, and what they have instead.
func TestDepsDetailDefaults(t *testing.T) {
	d := acceptDetail(t, `{"version":2,"tasks":[{"task_id":1},{"args":[{"idx":5}]},{"task_id":2,"scope":"manual","early_dispatch":true,"args":[{},{"idx":1,"shape":[]}]}],
		"edges":[[1,2],{"pred":1,"succ":2,"source":"tensormap","overlap":"other"},{"pred":1,"succ":2,"source":"explicit","flags":["wait"]},{"pred":1},
		{"pred":1,"succ":2,"source":"creator","flags":[]},{"pred":1,"succ":2,"source":"explicit"}]}`)
	equal(t, d.Task, []uint64{1, 2})
	equal(t, d.Has, []uint8{0, capture.HasManualScope | capture.HasEarlyDispatch})
	equal(t, d.ArgEnd, []int{0, 2})
	equal(t, d.Args[0], capture.DepsArg{Idx: -1})
	if l := d.List(d.Args[1].Shape); l == nil || len(l) != 0 {
		t.Errorf("an empty shape is %v", l)
	}
	var got []string
	for i := range d.Rows {
		r := &d.Rows[i]
		flags, stated := r.EdgeFlags()
		got = append(got, fmt.Sprint(r.Source, r.Arg, r.Overlap, flags, stated))
	}
	equal(t, got, []string{"unknown -1  3 false", "tensormap -1 other 1 false", "explicit -1  1 true", "creator -1  0 true", "explicit -1  3 false"})
	if d.Skipped != 1 || d.Odd != 0 || d.Nameless != 1 {
		t.Errorf("%d skipped, %d odd", d.Skipped, d.Odd)
	}
}

// Values of another kind are absent, and counted; what stands beside them is kept.
func TestDepsDetailOddValues(t *testing.T) {
	for field, bad := range map[string][]string{
		"idx": {`"x"`, `null`, `1.5`, `[]`, `2147483648`}, "type": {`5`, `"SOMETHING"`, `null`}, "tensor_id": {`"x"`, `1.5`, `18446744073709551616`, `{}`},
		"dtype": {`4`, `null`}, "shape": {`5`, `"x"`, `[1,"x"]`, `[1.5]`, `[-1]`, `[4294967296]`, `[[1]]`, `null`}, "start_offset": {`[0,0]`, `null`}, "strides": {`{}`},
	} {
		for _, v := range bad {
			d := acceptDetail(t, `{"tasks":[{"task_id":1,"args":[{"`+field+`":`+v+`}]}]}`)
			if want := (capture.DepsArg{Idx: -1}); d.Odd != 1 || len(d.Args) != 1 || d.Args[0] != want {
				t.Errorf("%s %s: %d odd, %+v", field, v, d.Odd, d.Args)
			}
		}
	}
	for field, bad := range map[string][]string{
		"arg": {`null`, `"x"`, `-2147483649`}, "source": {`1`, `"magic"`}, "overlap": {`"some"`, `true`}, "tensor_id": {`null`}, "consumer_dtype": {`1`},
		"consumer_shape": {`[-5]`, `1`}, "consumer_strides": {`null`}, "consumer_start_offset": {`[1]`}, "producer_shape": {`[1e3]`}, "producer_strides": {`5`},
		"producer_start_offset": {`true`}, "flags": {`"wait"`, `null`},
	} {
		for _, v := range bad {
			d := acceptDetail(t, `{"edges":[{"pred":1,"succ":2,"`+field+`":`+v+`}]}`)
			if want := (capture.DepsRow{Arg: -1}); d.Odd != 1 || d.Rows[0] != want || d.Pred[0] != 1 || d.Succ[0] != 2 {
				t.Errorf("%s %s: %d odd, %+v", field, v, d.Odd, d.Rows)
			}
		}
	}
	d := acceptDetail(t, `{"tasks":[{"task_id":1,"args":5,"scope":"x","early_dispatch":1}],"tensors":[5,{"tensor_id":"x","buffer_addr":null,"version":"x","dtype":1,"buffer_numel":[]},{"tensor_id":7}],
		"edges":[{"pred":1,"succ":1,"flags":["wait","later",5]}]}`)
	if d.Odd != 3+1+5+2 || len(d.Tensors) != 3 || d.Tensors[2].ID != 7 || d.Rows[0].Flags != capture.FlagWait {
		t.Errorf("%d odd, %+v, %+v", d.Odd, d.Tensors, d.Rows)
	}
}

// All graphs of the captures, against encoding/json.
func TestDepsDetailAgainstEncodingJSON(t *testing.T) {
	n := 0
	for _, path := range find(t, filepath.Join(parity.Shared(t), "captures"), "deps.json") {
		if large(path) {
			continue // an hour of encoding/json proves no more
		}
		got, err := capture.ReadDepsDetail(path, nil)
		if err != nil {
			continue
		}
		checkDetail(t, string(parity.Unpacked(t, path)), got)
		fast, err := capture.ReadDeps(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		checkSamePart(t, fast, got)
		n++
	}
	if n < 90 {
		t.Errorf("only %d graphs", n)
	}
}

// checkSamePart compares what both readers read.
func checkSamePart(t *testing.T, fast *capture.Deps, d *capture.DepsDetail) {
	t.Helper()
	same := d.Deps
	same.Has = nil
	for _, has := range d.Has {
		same.Has = append(same.Has, has&capture.HasKernel)
	}
	if !reflect.DeepEqual(fast, &same) {
		t.Fatalf("the fast reader: %+v, the other one %+v", fast, &same)
	}
}

// checkDetail compares a graph with what encoding/json finds in the text.
func checkDetail(t *testing.T, text string, d *capture.DepsDetail) {
	t.Helper()
	var in struct{ Tasks, Tensors, Edges any }
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var top map[string]any
	if err := dec.Decode(&top); err != nil {
		t.Fatal(err)
	}
	in.Tasks, in.Tensors, in.Edges = top["tasks"], top["tensors"], top["edges"]
	task := 0
	for _, v := range elems(in.Tasks) {
		x, _ := v.(map[string]any)
		if _, ok := number(x["task_id"]); !ok {
			continue
		}
		if early := x["early_dispatch"] == true; early != (d.Has[task]&capture.HasEarlyDispatch != 0) {
			t.Fatalf("task %d: early dispatch %v", task, !early)
		}
		args := elems(x["args"])
		got := d.ArgsOf(task)
		k := 0
		for _, v := range args {
			if a, ok := v.(map[string]any); ok {
				checkArg(t, a, got[k], d)
				k++
			}
		}
		if k != len(got) {
			t.Fatalf("task %d: %d arguments, want %d", task, len(got), k)
		}
		task++
	}
	if task != len(d.ArgEnd) {
		t.Fatalf("%d tasks, want %d", len(d.ArgEnd), task)
	}
	if len(elems(in.Tensors)) != len(d.Tensors) {
		t.Fatalf("%d tensors, want %d", len(d.Tensors), len(elems(in.Tensors)))
	}
	for i, v := range elems(in.Tensors) {
		x, _ := v.(map[string]any)
		checkNumber(t, x["tensor_id"], d.Tensors[i].ID, d.Tensors[i].Has&capture.HasTensorID != 0)
		checkNumber(t, x["buffer_addr"], d.Tensors[i].Addr, d.Tensors[i].Has&capture.HasAddr != 0)
		checkNumber(t, x["buffer_numel"], d.Tensors[i].Numel, d.Tensors[i].Has&capture.HasNumel != 0)
		checkText(t, x["dtype"], d.DTypeName(d.Tensors[i].DType))
	}
	row := 0
	for _, v := range elems(in.Edges) {
		x, object := v.(map[string]any)
		pair, _ := v.([]any)
		if object {
			pair = []any{x["pred"], x["succ"]}
		}
		if len(pair) != 2 {
			continue
		}
		_, okP := number(pair[0])
		if _, okS := number(pair[1]); !okP || !okS {
			continue
		}
		checkRow(t, x, &d.Rows[row], d)
		row++
	}
	if row != len(d.Rows) || row != len(d.Pred) {
		t.Fatalf("%d rows, want %d", len(d.Rows), row)
	}
}

func checkArg(t *testing.T, a map[string]any, got capture.DepsArg, d *capture.DepsDetail) {
	t.Helper()
	checkNumber(t, a["tensor_id"], got.Tensor, got.Has&capture.HasTensorID != 0)
	checkNumber(t, a["start_offset"], got.Offset, got.Has&capture.HasOffset != 0)
	checkText(t, a["dtype"], d.DTypeName(got.DType))
	checkSizes(t, a["shape"], d.List(got.Shape))
	checkSizes(t, a["strides"], d.List(got.Strides))
	if s, ok := a["type"].(string); ok && got.Type != capture.ArgUnknown && got.Type.String() != s {
		t.Fatalf("type %v, want %s", got.Type, s)
	}
}

func checkRow(t *testing.T, x map[string]any, got *capture.DepsRow, d *capture.DepsDetail) {
	t.Helper()
	checkNumber(t, x["tensor_id"], got.Tensor, got.Has&capture.HasTensorID != 0)
	checkNumber(t, x["consumer_start_offset"], got.Offset, got.Has&capture.HasOffset != 0)
	checkNumber(t, x["producer_start_offset"], got.ProducerOffset, got.Has&capture.HasProducerOffset != 0)
	checkText(t, x["consumer_dtype"], d.DTypeName(got.DType))
	checkSizes(t, x["consumer_shape"], d.List(got.Shape))
	checkSizes(t, x["consumer_strides"], d.List(got.Strides))
	checkSizes(t, x["producer_shape"], d.List(got.ProducerShape))
	checkSizes(t, x["producer_strides"], d.List(got.ProducerStrides))
	if s, ok := x["source"].(string); ok && got.Source != capture.SourceUnknown && got.Source.String() != s {
		t.Fatalf("source %v, want %s", got.Source, s)
	}
	if s, ok := x["overlap"].(string); ok && got.Overlap != capture.OverlapNone && got.Overlap.String() != s {
		t.Fatalf("overlap %v, want %s", got.Overlap, s)
	}
	var want uint8
	for _, f := range elems(x["flags"]) {
		switch f {
		case "wait":
			want |= capture.FlagWait
		case "retain":
			want |= capture.FlagRetain
		}
	}
	if got.Flags != want {
		t.Fatalf("flags %d, want %d", got.Flags, want)
	}
}

func elems(v any) []any {
	list, _ := v.([]any)
	return list
}

// digits are an integer as the format writes it: ids_with_zeros_blanks_and_signs of the
// corpus says what is none.
var digits = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)

// integer is a number of at most 64 bits and a sign, as math/big sees it.
func integer(v any) (*big.Int, bool) {
	text := ""
	switch x := v.(type) {
	case json.Number:
		text = x.String()
	case string:
		text = x
	}
	if !digits.MatchString(text) {
		return nil, false
	}
	n, ok := new(big.Int).SetString(text, 10)
	return n, ok && n.CmpAbs(new(big.Int).Lsh(big.NewInt(1), 64)) < 0
}

// number is an id: those below 0 stand for what they are in 64 bits.
func number(v any) (uint64, bool) {
	n, ok := integer(v)
	if !ok {
		return 0, false
	}
	return n.Mod(n, new(big.Int).Lsh(big.NewInt(1), 64)).Uint64(), true
}

// checkNumber compares a number where both readers find one.
func checkNumber(t *testing.T, v any, got uint64, has bool) {
	t.Helper()
	if want, ok := number(v); ok && has && got != want || v == nil && has {
		t.Fatalf("%v is read as %d (%v)", v, got, has)
	}
}

func checkText(t *testing.T, v any, got string) {
	t.Helper()
	if want, _ := v.(string); got != want {
		t.Fatalf("%v is read as %q", v, got)
	}
}

func checkSizes(t *testing.T, v any, got []uint32) {
	t.Helper()
	list, ok := v.([]any)
	var want []uint32
	for _, x := range list {
		n, good := integer(x)
		if ok = ok && good && n.IsUint64() && n.Uint64() <= math.MaxUint32; !ok {
			break
		}
		want = append(want, uint32(n.Uint64()))
	}
	if ok != (got != nil) || ok && !slices.Equal(got, want) {
		t.Fatalf("%v is read as %v", v, got)
	}
}

// FuzzDepsDetail reads anything as a task graph: the fast reader agrees, and so does
// encoding/json.
func FuzzDepsDetail(f *testing.F) {
	seed(f, "deps")
	f.Add(graph)
	f.Fuzz(checkDetailText)
}

func checkDetailText(t *testing.T, text string) {
	d, err := capture.ReadDepsDetailFrom(strings.NewReader(text), "run/deps.json")
	again, againErr := capture.ReadDepsDetailFrom(iotest.OneByteReader(strings.NewReader(text)), "run/deps.json")
	if !reflect.DeepEqual(d, again) || !sameError(err, againErr) {
		t.Fatalf("by bytes: got %v, at once %v", againErr, err)
	}
	fast, fastErr := readDeps(text)
	if (err == nil) != (fastErr == nil) {
		t.Fatalf("got %v, the fast reader %v", err, fastErr)
	}
	if err != nil {
		checkError(t, err)
		return
	}
	checkSamePart(t, fast, d)
	if comparable(t, text) {
		checkDetail(t, text, d)
	}
}

// comparable reports whether encoding/json can say what a text has: it keeps one of the values
// of a key that an object has twice, does not show what was written as an escape,
// which an integer cannot have, and mends what is no UTF-8.
func comparable(t *testing.T, text string) bool {
	t.Helper()
	if strings.Contains(text, `\`) || !utf8.ValidString(text) {
		return false
	}
	dec := json.NewDecoder(strings.NewReader(text))
	var open []map[string]bool // keys of the objects that are open; nil is an array
	key := false               // the next token is a key, or the end of the object
	for {
		token, err := dec.Token()
		if err == io.EOF {
			return true
		}
		if err != nil {
			t.Fatal(err)
		}
		switch x := token.(type) {
		case json.Delim:
			switch x {
			case '{':
				open = append(open, map[string]bool{})
			case '[':
				open = append(open, nil)
			default:
				open = open[:len(open)-1]
			}
		case string:
			if key {
				keys := open[len(open)-1]
				if keys[x] {
					return false
				}
				keys[x], key = true, false
				continue
			}
		}
		key = len(open) > 0 && open[len(open)-1] != nil
	}
}
