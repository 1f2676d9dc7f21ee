package depgen_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/depgen"
	"swimlane/internal/fanin/naive"
	"swimlane/internal/producer"
)

// TestTensorID holds the vectors of spec/deps.md §2.2.
func TestTensorID(t *testing.T) {
	for _, tt := range []struct {
		addr    uint64
		version int32
		want    uint64
	}{
		{29204938752, 0, 13451765318376212391}, {4096, 0, 5247134848181355493}, {8192, 1, 14670831847204907364},
		{0, 0, 6082024272624116885}, {4831838208, 3, 12110815154114104775},
	} {
		if got := depgen.TensorID(tt.addr, tt.version); got != tt.want {
			t.Errorf("buffer %d in version %d is tensor %d, want %d", tt.addr, tt.version, got, tt.want)
		}
	}
}

const ring1 = 1 << 32

// TestExample is spec/deps.md §3.4, which has line breaks for reading.
func TestExample(t *testing.T) {
	want := `{"tasks":[{"task_id":"0","scope":"auto","early_dispatch":false,"kernel_ids":[-1,0,-1],"block_num":1,"args":[{"idx":0,"type":"OUTPUT"}]},
{"task_id":"4294967296","scope":"auto","early_dispatch":false,"kernel_ids":[7,-1,-1],"block_num":4,"args":[{"idx":0,"type":"INPUT","tensor_id":"13451765318376212391","dtype":"FLOAT32","shape":[16384],"start_offset":"0","strides":[1]}]}],
"tensors":[{"tensor_id":"13451765318376212391","buffer_addr":"29204938752","version":0,"dtype":"FLOAT32","buffer_numel":"16384"}],
"edges":[{"pred":"0","succ":"4294967296","arg":0,"source":"creator","flags":["wait","retain"],"tensor_id":"13451765318376212391","consumer_dtype":"FLOAT32","consumer_shape":[16384],"consumer_start_offset":"0","consumer_strides":[1]}]}
`
	want = strings.ReplaceAll(strings.TrimSuffix(want, "\n"), "\n", "") + "\n"
	for _, form := range []*abi.DepGenForm{abi.DepGenKinds, abi.DepGenNoKinds} {
		got, s := text(t, collected(t, form,
			producer.Submit{TaskID: 0, KernelIDs: [3]int32{-1, 0, -1}, Args: []producer.Arg{output}},
			producer.Submit{TaskID: ring1, KernelIDs: [3]int32{7, -1, -1}, BlockNum: 4, Args: []producer.Arg{in(vector(29204938752, 16384, 0))}},
		))
		if got != want {
			t.Errorf("records of %d bytes: got\n%swant\n%s", form.RecordSize, got, want)
		}
		if s.Tasks != 2 || s.Tensors != 1 || s.Edges != 1 || s.Path != "" {
			t.Errorf("the summary is %+v", s)
		}
	}
}

// TestEverything has what the example lacks, written by hand from the tables of
// spec/deps.md §3.
func TestEverything(t *testing.T) {
	newer := abi.Tensor{BufferAddr: 8192, BufferSize: 256, OwnerTaskID: abi.NoOwner, StartOffset: 8, Version: 1, NDims: 2, DType: abi.BFloat16,
		Shapes: [5]uint32{2, 4}, Strides: [5]uint32{16, 1}}
	older := newer
	older.Version, older.DType, older.StartOffset = -1, 99, 1<<63
	got, s := text(t, collected(t, abi.DepGenKinds,
		producer.Submit{TaskID: 5, ManualScope: true, EarlyDispatch: true, KernelIDs: [3]int32{-1, -1, -1}, Deps: []producer.Dep{{Producer: 3<<32 + 1, Kind: 1}, {Producer: 2, Kind: 2}},
			Args: []producer.Arg{{Type: abi.ArgNoDep, Tensor: vector(0, 0, 3)}}},
		producer.Submit{TaskID: 6, KernelIDs: [3]int32{0, 1, 2}, BlockNum: 24, Args: []producer.Arg{existing(older)}},
		producer.Submit{TaskID: 7, KernelIDs: [3]int32{0, -1, -1}, Deps: []producer.Dep{{Producer: 5, Kind: 1}}, Args: []producer.Arg{output, inout(newer), {Type: abi.ArgNoDep, Tensor: vector(0, 0, 5)}}},
	))
	want := `{"tasks":[` +
		`{"task_id":"5","scope":"manual","early_dispatch":true,"kernel_ids":[-1,-1,-1],"block_num":1,"args":[{"idx":0,"type":"UNKNOWN","tensor_id":"6082024272624116885","dtype":"FLOAT32","shape":[0],"start_offset":"0","strides":[1]}]},` +
		`{"task_id":"6","scope":"auto","early_dispatch":false,"kernel_ids":[0,1,2],"block_num":24,"args":[{"idx":0,"type":"OUTPUT_EXISTING","tensor_id":"OLD","dtype":"UNKNOWN","shape":[2,4],"start_offset":"9223372036854775808","strides":[16,1]}]},` +
		`{"task_id":"7","scope":"auto","early_dispatch":false,"kernel_ids":[0,-1,-1],"block_num":1,"args":[{"idx":0,"type":"OUTPUT"},{"idx":1,"type":"INOUT","tensor_id":"14670831847204907364","dtype":"BFLOAT16","shape":[2,4],"start_offset":"8","strides":[16,1]},` +
		`{"idx":2,"type":"UNKNOWN","tensor_id":"6082024272624116885","dtype":"FLOAT32","shape":[0],"start_offset":"0","strides":[1]}]}],` +
		`"tensors":[{"tensor_id":"6082024272624116885","buffer_addr":"0","version":0,"dtype":"FLOAT32","buffer_numel":"0"},` +
		`{"tensor_id":"OLD","buffer_addr":"8192","version":-1,"dtype":"UNKNOWN","buffer_numel":"0"},` +
		`{"tensor_id":"14670831847204907364","buffer_addr":"8192","version":1,"dtype":"BFLOAT16","buffer_numel":"128"}],` +
		`"edges":[{"pred":"12884901889","succ":"5","arg":-1,"source":"explicit","flags":["wait"]},{"pred":"2","succ":"5","arg":-1,"source":"explicit","flags":["retain"]},` +
		`{"pred":"5","succ":"7","arg":-1,"source":"explicit","flags":["wait","retain"]},` +
		`{"pred":"6","succ":"7","arg":1,"source":"tensormap","flags":["wait"],"overlap":"other","tensor_id":"OLD","consumer_dtype":"BFLOAT16","consumer_shape":[2,4],"consumer_start_offset":"8","consumer_strides":[16,1],` +
		`"producer_shape":[2,4],"producer_start_offset":"9223372036854775808","producer_strides":[16,1]}]}` + "\n"
	// FNV-1a of 8192 and −1, from a program of its own.
	want = strings.ReplaceAll(want, "OLD", "13240002104140286801")
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if s.Tasks != 3 || s.Tensors != 3 || s.Edges != 4 {
		t.Errorf("the summary is %+v", s)
	}
}

// TestNothing: a run without submits has an empty graph.
func TestNothing(t *testing.T) {
	if got, _ := text(t, collected(t, abi.DepGenKinds)); got != `{"tasks":[],"tensors":[],"edges":[]}`+"\n" {
		t.Errorf("got %s", got)
	}
}

// TestVectorExample has the six pairs of spec/deps.md §4.5.
func TestVectorExample(t *testing.T) {
	a, b, out := vector(0x1000, 16384, abi.NoOwner), vector(0x20000, 16384, abi.NoOwner), vector(0x40000, 16384, abi.NoOwner)
	c, d, e, g := vector(0x60000, 16384, 0), vector(0x80000, 16384, ring1), vector(0xa0000, 16384, ring1+1), vector(0xc0000, 16384, ring1+2)
	data, s := text(t, collected(t, abi.DepGenKinds,
		producer.Submit{TaskID: 0, Args: []producer.Arg{in(a), in(b), output}},
		producer.Submit{TaskID: ring1, Args: []producer.Arg{in(c), output}},
		producer.Submit{TaskID: ring1 + 1, Args: []producer.Arg{in(c), output}},
		producer.Submit{TaskID: ring1 + 2, Args: []producer.Arg{in(d), in(e), output}},
		producer.Submit{TaskID: ring1 + 3, Args: []producer.Arg{in(g), in(c), existing(out)}},
	))
	deps := readBack(t, []byte(data), s)
	var got []string
	for i := range deps.Pred {
		got = append(got, fmt.Sprintf("%d>%d", deps.Pred[i], deps.Succ[i]))
	}
	slices.Sort(got)
	want := []string{"0>4294967296", "0>4294967297", "0>4294967299", "4294967296>4294967298", "4294967297>4294967298", "4294967298>4294967299"}
	if !slices.Equal(got, want) {
		t.Errorf("edges %v, want %v", got, want)
	}
}

// TestChains: a barrier with n declared producers, and one task behind it
// (spec/deps.md §4.5).
func TestChains(t *testing.T) {
	for _, form := range []*abi.DepGenForm{abi.DepGenKinds, abi.DepGenNoKinds} {
		for _, n := range []int{64, 65, 200, 391, 589} {
			barrier, behind := producer.Submit{TaskID: ring1}, producer.Submit{TaskID: ring1 + 1, Deps: []producer.Dep{{Producer: ring1}}}
			for i := range n {
				barrier.Deps = append(barrier.Deps, producer.Dep{Producer: uint64(i), Kind: abi.DepWait})
			}
			data, s := text(t, collected(t, form, barrier, behind))
			g := parsed(t, []byte(data))
			if s.Tasks != 2 || s.Edges != n+1 {
				t.Fatalf("%d producers: %d tasks, %d edges", n, s.Tasks, s.Edges)
			}
			wanted := abi.DepWait
			if !form.HasKinds {
				wanted |= abi.DepRetain
			}
			for i, e := range g.Edges[:n] {
				if e.Pred != uint64(i) || e.Succ != ring1 || e.Arg != -1 || e.Source != "explicit" || kindOf(e.Flags) != wanted {
					t.Fatalf("%d producers: edge %d is %+v", n, i, e)
				}
			}
			if e := g.Edges[n]; e.Pred != ring1 || e.Succ != ring1+1 {
				t.Errorf("%d producers: the edge out of the barrier is %+v", n, e)
			}
		}
	}
}

// TestAgainstNaive compares the edges of random submits with those found by sets
// of elements: the differential check of spec/collector.md §10.
func TestAgainstNaive(t *testing.T) {
	c := newChip(t, abi.DepGenKinds)
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 3))
		var list []producer.Submit
		for id := range uint64(200) {
			list = append(list, randomSubmit(r, id))
		}
		data, _ := text(t, c.run(t, each(list...), true))
		g := parsed(t, []byte(data))
		edges := g.Edges
		var slow naive.Graph
		for _, s := range list {
			rows, want := slow.Submit(&s, func(uint64) bool { return true })
			found := map[uint64]abi.DepKind{}
			for i, row := range rows {
				if len(edges) == 0 {
					t.Fatalf("seed %d: the edges end at task %d", seed, s.TaskID)
				}
				e := edges[0]
				edges = edges[1:]
				found[e.Pred] |= kindOf(e.Flags)
				if e.Pred != row.Pred || e.Succ != s.TaskID || e.Arg != row.Arg || e.Source != row.Source || kindOf(e.Flags) != row.Flags || e.Overlap != row.Overlap {
					t.Fatalf("seed %d, task %d, row %d: %+v, want %+v", seed, s.TaskID, i, e, row)
				}
				if w := row.Slice; w != nil && (e.ProducerStart != w.StartOffset || !slices.Equal(e.ProducerShape, w.Shapes[:w.NDims]) || !slices.Equal(e.ProducerStrides, w.Strides[:w.NDims])) {
					t.Fatalf("seed %d, task %d, row %d: %+v, want the slice %+v", seed, s.TaskID, i, e, *w)
				}
			}
			for p, k := range want {
				if found[p] != k || len(found) != len(want) {
					t.Fatalf("seed %d, task %d: it wants %v of its producers, want %v", seed, s.TaskID, found, want)
				}
			}
		}
		if len(edges) != 0 || len(g.Edges) < 1000 {
			t.Errorf("seed %d: %d edges too many, of %d", seed, len(edges), len(g.Edges))
		}
	}
}

func randomSubmit(r *rand.Rand, id uint64) producer.Submit {
	s := producer.Submit{TaskID: id, ManualScope: r.IntN(12) == 0, KernelIDs: [3]int32{-1, int32(r.IntN(9)), -1}}
	earlier := func() uint64 { return uint64(r.IntN(max(int(id), 1))) }
	for range r.IntN(4) * r.IntN(3) {
		s.Deps = append(s.Deps, producer.Dep{Producer: earlier(), Kind: abi.DepKind(r.IntN(4))})
	}
	for range r.IntN(6) {
		x, y := uint32(r.IntN(3)), uint32(r.IntN(4))
		a := producer.Arg{Type: abi.ArgType(r.IntN(5)), Tensor: abi.Tensor{
			BufferAddr: 0x1000 * uint64(1+r.IntN(4)), BufferSize: 48, OwnerTaskID: abi.NoOwner, DType: abi.Float32, NDims: 2,
			StartOffset: uint64(4*x + y), Shapes: [5]uint32{1 + uint32(r.IntN(int(3-x))), 1 + uint32(r.IntN(int(4-y)))}, Strides: [5]uint32{4, 1},
		}}
		switch r.IntN(16) {
		case 0:
			a.Tensor.ManualDep = 1
		case 1:
			a.Tensor.Strides[0] = 2
		case 2:
			a.Tensor.NDims, a.Tensor.Strides[0] = 1, 1
		case 3, 4, 5:
			a.Tensor.OwnerTaskID = earlier()
		}
		if id > 150 {
			a.Tensor.Version = int32(r.IntN(2))
		}
		s.Args = append(s.Args, a)
	}
	return s
}

// TestWrite: the file is there whole, in a directory that is made for it, and no
// other one beside it.
func TestWrite(t *testing.T) {
	out := collected(t, abi.DepGenKinds, producer.Submit{TaskID: 1})
	dir := filepath.Join(t.TempDir(), "outputs", "rank0")
	s, err := depgen.Write(dir, out)
	if err != nil || s.Path != filepath.Join(dir, "deps.json") || s.Tasks != 1 {
		t.Fatalf("%+v, %v", s, err)
	}
	want, _ := text(t, out)
	if got, err := os.ReadFile(s.Path); err != nil || string(got) != want {
		t.Errorf("the file holds %s (%v), want %s", got, err, want)
	}
	if list, _ := os.ReadDir(dir); len(list) != 1 {
		t.Errorf("%d files in the directory, want 1", len(list))
	}
}

// failing is a writer that is full at once.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// TestNoFile: what was there before stays, and the error has its code.
func TestNoFile(t *testing.T) {
	c := newChip(t, abi.DepGenKinds)
	unflushed := c.run(t, each(producer.Submit{TaskID: 1}), false)
	clean := c.run(t, each(producer.Submit{TaskID: 1}), true)
	bad := c.run(t, each(producer.Submit{TaskID: 2, Deps: []producer.Dep{{Producer: 1, Kind: 0xFF}}}), true)
	dir := t.TempDir()
	path := filepath.Join(dir, "deps.json")
	if err := os.WriteFile(path, []byte("before"), 0o666); err != nil {
		t.Fatal(err)
	}
	check := func(err, is error, code int, words string) {
		t.Helper()
		if !errors.Is(err, is) || depgen.Code(err) != code || !strings.Contains(err.Error(), words) {
			t.Errorf("error %v with code %d, want %v with code %d and the words %q", err, depgen.Code(err), is, code, words)
		}
	}
	_, err := depgen.Write(dir, unflushed)
	check(err, depgen.ErrNotClean, 0, "0 of 1 records were collected, 0 dropped, 0 lost by the host, 1 not flushed")
	_, err = depgen.Write(dir, bad)
	check(err, depgen.ErrKind, -7, "record 0: task 0x2 depends on task 0x1 with the kind 0xff")
	_, err = depgen.Write("", clean)
	check(err, depgen.ErrNoPath, -1, "choose an output prefix")
	_, err = depgen.Write(filepath.Join(path, "below"), clean)
	check(err, depgen.ErrWrite, -5, "choose another output prefix")
	full := errors.New("no space left")
	_, err = depgen.WriteTo(failing{full}, clean)
	check(err, depgen.ErrWrite, -5, "no space left")
	if !errors.Is(err, full) {
		t.Errorf("%v hides its cause", err)
	}
	if depgen.Code(nil) != 0 {
		t.Errorf("no error has the code %d", depgen.Code(nil))
	}
	if got, _ := os.ReadFile(path); string(got) != "before" {
		t.Errorf("the file holds %q, want what was there before", got)
	}
	if list, _ := os.ReadDir(dir); len(list) != 1 {
		t.Errorf("%d files in the directory, want 1", len(list))
	}
	var b bytes.Buffer
	if _, err := depgen.WriteTo(&b, bad); err == nil || b.Len() != 0 {
		t.Errorf("%v, and %d bytes are written, want an error and none", err, b.Len())
	}
}
