package fanin_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/fanin"
	"swimlane/internal/fanin/naive"
	"swimlane/internal/producer"
)

const both = abi.DepWait | abi.DepRetain

func newMap(t testing.TB, o fanin.Options) *fanin.Map {
	t.Helper()
	m, err := fanin.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestBuckets holds the vectors of spec/collector.md §12.2.
func TestBuckets(t *testing.T) {
	m := newMap(t, fanin.Options{})
	for addr, want := range map[uint64]int{0x1000: 1913, 0x2000: 3827} {
		if got := m.Bucket(addr); got != want {
			t.Errorf("address %#x is in bucket %d, want %d", addr, got, want)
		}
	}
	if got := newMap(t, fanin.Options{Buckets: 1}).Bucket(0x1000); got != 0 {
		t.Errorf("of one bucket number %d", got)
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []fanin.Options{{Entries: -1}, {Entries: 1 << 31}, {Buckets: -4}, {Buckets: 3}, {Buckets: 1 << 31}} {
		if _, err := fanin.New(o); err == nil {
			t.Errorf("a map of %+v can be made", o)
		}
	}
}

// submit makes a submit of whole arguments, which are lines of the test buffer.
func submit(id uint64, args ...producer.Arg) producer.Submit {
	return producer.Submit{TaskID: id, Args: args}
}

func arg(how abi.ArgType, t abi.Tensor) producer.Arg { return producer.Arg{Type: how, Tensor: t} }

func owned(t abi.Tensor, by uint64) abi.Tensor {
	t.OwnerTaskID = by
	return t
}

func manual(t abi.Tensor) abi.Tensor {
	t.ManualDep = 1
	return t
}

// describe is a row as a short text.
func describe(r *fanin.Row) string {
	var flags []string
	if r.Flags&abi.DepWait != 0 {
		flags = append(flags, "wait")
	}
	if r.Flags&abi.DepRetain != 0 {
		flags = append(flags, "retain")
	}
	text := fmt.Sprintf("%d %v %d %s", r.Producer, r.Source, r.Arg, strings.Join(flags, "+"))
	if r.Source == fanin.TensorMap {
		text += fmt.Sprintf(" %v %d+%d", r.Overlap, r.Slice.StartOffset, r.Slice.Shapes[0])
	} else if r.Slice != nil {
		text += " with a slice"
	}
	return text
}

// TestRows walks through spec/deps.md §4.1: what each submit adds.
func TestRows(t *testing.T) {
	all, half := line(0, 128), line(0, 64)
	for name, tt := range map[string]struct {
		submits []producer.Submit
		rows    []string // of the last one
		deps    []producer.Dep
	}{
		"declared ones, one row each": {
			[]producer.Submit{{TaskID: 9, Deps: []producer.Dep{{Producer: 3, Kind: 1}, {Producer: 2}, {Producer: 3, Kind: 2}, {Producer: 2}}}},
			[]string{"3 explicit -1 wait+retain", "2 explicit -1 wait+retain"}, []producer.Dep{{Producer: 3, Kind: both}, {Producer: 2, Kind: both}}},
		"declared with a kind": {
			[]producer.Submit{{TaskID: 9, Deps: []producer.Dep{{Producer: 3, Kind: 1}, {Producer: 2, Kind: 2}}}},
			[]string{"3 explicit -1 wait", "2 explicit -1 retain"}, []producer.Dep{{Producer: 3, Kind: 1}, {Producer: 2, Kind: 2}}},
		"creators of all but outputs": {
			[]producer.Submit{submit(9, arg(abi.ArgOutput, owned(all, 1)), arg(abi.ArgInput, owned(all, 2)), arg(abi.ArgInOut, owned(all, 3)),
				arg(abi.ArgOutputExisting, owned(all, 4)), arg(abi.ArgNoDep, owned(all, 5)), arg(abi.ArgInput, manual(owned(all, 6))))},
			[]string{"2 creator 1 wait+retain", "3 creator 2 wait+retain", "4 creator 3 wait+retain", "5 creator 4 wait+retain", "6 creator 5 wait+retain"},
			[]producer.Dep{{Producer: 2, Kind: both}, {Producer: 3, Kind: both}, {Producer: 4, Kind: both}, {Producer: 5, Kind: both}, {Producer: 6, Kind: both}}},
		"a creator is named once": {
			[]producer.Submit{submit(9, arg(abi.ArgInput, owned(all, 2)), arg(abi.ArgInput, owned(half, 2)))},
			[]string{"2 creator 0 wait+retain"}, []producer.Dep{{Producer: 2, Kind: both}}},
		"a declared creator keeps its row and gets the flags": {
			[]producer.Submit{{TaskID: 9, Deps: []producer.Dep{{Producer: 2, Kind: 1}}, Args: []producer.Arg{arg(abi.ArgInput, owned(all, 2))}}},
			[]string{"2 explicit -1 wait+retain"}, []producer.Dep{{Producer: 2, Kind: both}}},
		"written, then read": {
			[]producer.Submit{submit(1, arg(abi.ArgOutputExisting, all)), submit(2, arg(abi.ArgInput, half))},
			[]string{"1 tensormap 0 wait other 0+128"}, []producer.Dep{{Producer: 1, Kind: 1}}},
		"read, then written": {
			[]producer.Submit{submit(1, arg(abi.ArgInput, all)), submit(2, arg(abi.ArgInOut, all))}, nil, nil},
		"an existing output waits for nobody": {
			[]producer.Submit{submit(1, arg(abi.ArgInOut, all)), submit(2, arg(abi.ArgOutputExisting, all))}, nil, nil},
		"newest first, and all of them": {
			[]producer.Submit{submit(1, arg(abi.ArgOutputExisting, all)), submit(2, arg(abi.ArgOutputExisting, half)), submit(3, arg(abi.ArgInput, all))},
			[]string{"2 tensormap 0 wait covered 0+64", "1 tensormap 0 wait covered 0+128"}, []producer.Dep{{Producer: 2, Kind: 1}, {Producer: 1, Kind: 1}}},
		"an inout supersedes what it covers": {
			[]producer.Submit{submit(1, arg(abi.ArgOutputExisting, half)), submit(2, arg(abi.ArgOutputExisting, all)), submit(3, arg(abi.ArgInOut, half)), submit(4, arg(abi.ArgInput, all))},
			[]string{"3 tensormap 0 wait covered 0+64", "2 tensormap 0 wait covered 0+128"}, []producer.Dep{{Producer: 3, Kind: 1}, {Producer: 2, Kind: 1}}},
		"an input supersedes nothing": {
			[]producer.Submit{submit(1, arg(abi.ArgInOut, half)), submit(2, arg(abi.ArgInput, all)), submit(3, arg(abi.ArgInput, all))},
			[]string{"1 tensormap 0 wait covered 0+64"}, []producer.Dep{{Producer: 1, Kind: 1}}},
		"an argument does not find what its task writes": {
			[]producer.Submit{submit(1, arg(abi.ArgInOut, half)), submit(2, arg(abi.ArgInOut, half), arg(abi.ArgInput, half))},
			[]string{"1 tensormap 0 wait covered 0+64"}, []producer.Dep{{Producer: 1, Kind: 1}}},
		"every slice of a producer has a row": {
			[]producer.Submit{submit(1, arg(abi.ArgInOut, half), arg(abi.ArgInOut, line(64, 64))), submit(2, arg(abi.ArgInput, all), arg(abi.ArgInput, half))},
			[]string{"1 tensormap 0 wait covered 64+64", "1 tensormap 0 wait covered 0+64", "1 tensormap 1 wait covered 0+64"}, []producer.Dep{{Producer: 1, Kind: 1}}},
		"declared and overlapping": {
			[]producer.Submit{submit(1, arg(abi.ArgInOut, all)), {TaskID: 2, Deps: []producer.Dep{{Producer: 1, Kind: 2}}, Args: []producer.Arg{arg(abi.ArgInput, all)}}},
			[]string{"1 explicit -1 retain", "1 tensormap 0 wait covered 0+128"}, []producer.Dep{{Producer: 1, Kind: both}}},
		"creator before the overlap of its slot": {
			[]producer.Submit{submit(1, arg(abi.ArgInOut, all)), submit(2, arg(abi.ArgInput, owned(all, 1)))},
			[]string{"1 creator 0 wait+retain", "1 tensormap 0 wait covered 0+128"}, []producer.Dep{{Producer: 1, Kind: both}}},
		"a creator named by an overlap has no row": {
			[]producer.Submit{submit(1, arg(abi.ArgInOut, all)), submit(2, arg(abi.ArgInput, all), arg(abi.ArgInput, owned(changed(half, func(t *abi.Tensor) { t.BufferAddr = 8192 }), 1)))},
			[]string{"1 tensormap 0 wait+retain covered 0+128"}, []producer.Dep{{Producer: 1, Kind: both}}},
		"by hand": {
			[]producer.Submit{submit(1, arg(abi.ArgInOut, all)), submit(2, arg(abi.ArgInput, manual(all)), arg(abi.ArgInOut, manual(all)), arg(abi.ArgNoDep, all)),
				submit(3, arg(abi.ArgInput, all))},
			[]string{"1 tensormap 0 wait covered 0+128"}, []producer.Dep{{Producer: 1, Kind: 1}}},
		"a manual scope": {
			[]producer.Submit{submit(1, arg(abi.ArgInOut, all)),
				{TaskID: 2, ManualScope: true, Deps: []producer.Dep{{Producer: 7}}, Args: []producer.Arg{arg(abi.ArgInOut, owned(all, 5))}}},
			[]string{"7 explicit -1 wait+retain"}, []producer.Dep{{Producer: 7, Kind: both}}},
		"a manual scope registers nothing": {
			[]producer.Submit{{TaskID: 2, ManualScope: true, Args: []producer.Arg{arg(abi.ArgInOut, all)}}, submit(3, arg(abi.ArgInput, all))}, nil, nil},
		"a newer version": {
			[]producer.Submit{submit(1, arg(abi.ArgInOut, half)), submit(2, arg(abi.ArgInOut, changed(line(64, 64), func(t *abi.Tensor) { t.Version = 1 }))),
				submit(3, arg(abi.ArgInput, changed(line(64, 64), func(t *abi.Tensor) { t.Version = 1 })))},
			[]string{"2 tensormap 0 wait covered 64+64", "1 tensormap 0 wait other 0+64"}, []producer.Dep{{Producer: 2, Kind: 1}, {Producer: 1, Kind: 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMap(t, fanin.Options{Buckets: 1})
			var rows []string
			var deps []producer.Dep
			for i := range tt.submits {
				rows = nil
				deps = m.Resolve(&tt.submits[i], func(r *fanin.Row) { rows = append(rows, describe(r)) })
				deps = append([]producer.Dep(nil), deps...)
				if err := m.Register(&tt.submits[i]); err != nil {
					t.Fatal(err)
				}
			}
			if !reflect.DeepEqual(rows, tt.rows) {
				t.Errorf("rows\n  %s\nwant\n  %s", strings.Join(rows, "\n  "), strings.Join(tt.rows, "\n  "))
			}
			if !reflect.DeepEqual(deps, tt.deps) {
				t.Errorf("producers %v, want %v", deps, tt.deps)
			}
		})
	}
}

// TestManyProducers: each of very many is named once, in the order of the list.
func TestManyProducers(t *testing.T) {
	m := newMap(t, fanin.Options{})
	for _, n := range []int{15, 16, 17, 18, 32, 33, 1000, 70000, 17, 1000} {
		var s producer.Submit
		for i := range 2 * n {
			s.Deps = append(s.Deps, producer.Dep{Producer: uint64(i%n) << 32, Kind: abi.DepKind(1 + i/n)})
		}
		rows := 0
		deps := m.Resolve(&s, func(r *fanin.Row) {
			if r.Producer != uint64(rows)<<32 || r.Flags != both {
				t.Fatalf("row %d of %d names %#x with flags %d", rows, n, r.Producer, r.Flags)
			}
			rows++
		})
		if len(deps) != n || rows != n {
			t.Errorf("%d producers and %d rows, want %d", len(deps), rows, n)
		}
	}
}

// TestRetired: producers that have retired are no edges, and their entries make room.
func TestRetired(t *testing.T) {
	dead := map[uint64]bool{}
	m := newMap(t, fanin.Options{Entries: 2, Live: func(p uint64) bool { return !dead[p] }})
	do := func(s producer.Submit) (rows []string) {
		t.Helper()
		m.Resolve(&s, func(r *fanin.Row) { rows = append(rows, describe(r)) })
		if err := m.Register(&s); err != nil {
			t.Fatal(err)
		}
		return rows
	}
	do(submit(1, arg(abi.ArgOutputExisting, line(0, 8))))
	do(submit(2, arg(abi.ArgOutputExisting, line(8, 8))))
	three := submit(3, arg(abi.ArgOutputExisting, line(16, 8)))
	for range 2 {
		if err := m.Register(&three); !errors.Is(err, fanin.ErrFull) || m.Len() != 2 {
			t.Fatalf("a third entry: %v, %d entries", err, m.Len())
		}
	}
	dead[1] = true
	if err := m.Register(&three); err != nil {
		t.Fatalf("a producer has retired, and still: %v", err)
	}
	if rows := do(submit(4, arg(abi.ArgInput, line(0, 128)))); !reflect.DeepEqual(rows, []string{"3 tensormap 0 wait covered 16+8", "2 tensormap 0 wait covered 8+8"}) {
		t.Errorf("rows %q", rows)
	}
	dead[3] = true
	s := submit(5, arg(abi.ArgInput, owned(line(0, 128), 1)))
	s.Deps = []producer.Dep{{Producer: 3}, {Producer: 2, Kind: 1}}
	if rows := do(s); !reflect.DeepEqual(rows, []string{"2 explicit -1 wait", "2 tensormap 0 wait covered 8+8"}) {
		t.Errorf("rows %q", rows)
	}
	if m.Len() != 1 {
		t.Errorf("%d entries, want 1: that of a retired producer was met", m.Len())
	}
	four := submit(6, arg(abi.ArgInOut, line(0, 1)), arg(abi.ArgInOut, line(0, 1)), arg(abi.ArgInOut, line(0, 1)))
	if err := m.Register(&four); err == nil || errors.Is(err, fanin.ErrFull) {
		t.Errorf("three entries into a map of two: %v; want an error that does not say to wait", err)
	}
}

// TestAgainstNaive compares random submits, with producers that retire and a map
// that runs full, with the slow way.
func TestAgainstNaive(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 7))
		retired := map[uint64]bool{}
		live := func(p uint64) bool { return !retired[p] }
		entries := 8 + r.IntN(64)
		m := newMap(t, fanin.Options{Entries: entries, Buckets: 1 << r.IntN(3), Live: live})
		var g naive.Graph
		full := 0
		for id := range uint64(250) {
			s := randomSubmit(r, id)
			rows, want := g.Submit(&s, live)
			i := 0
			deps := m.Resolve(&s, func(got *fanin.Row) {
				if i < len(rows) {
					sameRow(t, got, rows[i])
				}
				i++
			})
			if i != len(rows) {
				t.Fatalf("seed %d, task %d: %d rows, want %d", seed, id, i, len(rows))
			}
			found := map[uint64]abi.DepKind{}
			for _, d := range deps {
				found[d.Producer] = d.Kind
			}
			if len(found) != len(deps) || !reflect.DeepEqual(found, want) {
				t.Fatalf("seed %d, task %d: producers %v, want %v", seed, id, deps, want)
			}
			for {
				err := m.Register(&s)
				if err == nil {
					break
				}
				full++
				living := fanin.Registers(&s)
				for _, w := range g.Written {
					if live(w.By) && w.By != id {
						living++
					}
				}
				if !errors.Is(err, fanin.ErrFull) || living <= entries {
					t.Fatalf("seed %d, task %d: %v, although %d live entries fit into %d", seed, id, err, living, entries)
				}
				retired[g.Written[r.IntN(len(g.Written))].By] = true
			}
			if r.IntN(4) == 0 {
				retired[uint64(r.IntN(int(id)+1))] = true
			}
			delete(retired, id)
		}
		if seed == 0 && full == 0 {
			t.Error("the map was never full")
		}
	}
}

func sameRow(t *testing.T, got *fanin.Row, want naive.Row) {
	t.Helper()
	same := got.Producer == want.Pred && got.Arg == want.Arg && got.Source.String() == want.Source && got.Flags == want.Flags && (got.Slice == nil) == (want.Slice == nil)
	if same && got.Slice != nil {
		s := got.Slice.Tensor()
		w := *want.Slice
		same = got.Overlap.String() == want.Overlap && s.BufferAddr == w.BufferAddr && s.StartOffset == w.StartOffset && s.Version == w.Version &&
			s.DType == w.DType && s.NDims == w.NDims && s.Shapes == w.Shapes && s.Strides == w.Strides
	}
	if !same {
		t.Fatalf("row %+v (slice %+v), want %+v", *got, got.Slice, want)
	}
}

// randomSubmit is a task with up to six arguments and some dependencies on tasks
// before it.
func randomSubmit(r *rand.Rand, id uint64) producer.Submit {
	s := producer.Submit{TaskID: id, ManualScope: r.IntN(12) == 0}
	earlier := func() uint64 { return uint64(r.IntN(int(id) + 1)) }
	if id > 0 && r.IntN(3) == 0 {
		for range r.IntN(25) {
			s.Deps = append(s.Deps, producer.Dep{Producer: earlier() % id, Kind: abi.DepKind(r.IntN(4))})
		}
	}
	for range r.IntN(7) {
		a := producer.Arg{Type: abi.ArgType(r.IntN(5)), Tensor: randomTensor(r)}
		if id > 0 && r.IntN(3) == 0 {
			a.Tensor.OwnerTaskID = earlier() % id
		}
		if r.IntN(10) == 0 {
			a.Tensor.ManualDep = 1
		}
		s.Args = append(s.Args, a)
	}
	return s
}

// fanIn is one round of producers that each write a part of a buffer, and of
// consumers that read it whole: 64 × 64 rows. Then a task supersedes all of it.
type fanIn struct {
	writers, readers []producer.Submit
	last             producer.Submit
}

func newFanIn() *fanIn {
	f := &fanIn{last: submit(128, arg(abi.ArgInOut, line(0, 128)))}
	for i := range uint64(64) {
		f.writers = append(f.writers, submit(i, arg(abi.ArgOutputExisting, line(2*i, 2))))
		f.readers = append(f.readers, submit(64+i, arg(abi.ArgInput, line(0, 128))))
	}
	return f
}

func (f *fanIn) round(t testing.TB, m *fanin.Map, row func(*fanin.Row)) (edges int) {
	for _, list := range [][]producer.Submit{f.writers, f.readers, {f.last}} {
		for i := range list {
			edges += len(m.Resolve(&list[i], row))
			if err := m.Register(&list[i]); err != nil {
				t.Fatal(err)
			}
		}
	}
	return edges
}

// TestNoAllocation: once its memory has grown, a submit needs no more.
func TestNoAllocation(t *testing.T) {
	m, f, rows := newMap(t, fanin.Options{}), newFanIn(), 0
	count := func(*fanin.Row) { rows++ }
	// The slice of the last round's last task is still there.
	if f.round(t, m, count); rows != 64*64+64 {
		t.Errorf("%d rows, want 4160", rows)
	}
	if n := testing.AllocsPerRun(5, func() { f.round(t, m, count) }); n != 0 {
		t.Errorf("%v allocations in a round of 129 submits", n)
	}
}

func BenchmarkFanIn64x64(b *testing.B) {
	m, f := newMap(b, fanin.Options{}), newFanIn()
	b.ReportAllocs()
	for b.Loop() {
		f.round(b, m, nil)
	}
}

// BenchmarkSubmits has 100,000 submits in an iteration, of 32 arguments: inputs
// with a creator, inputs that somebody wrote, and one inout each.
func BenchmarkSubmits(b *testing.B) {
	const tasks, args = 100_000, 32
	b.ReportAllocs()
	for b.Loop() {
		alive := uint64(0)
		m := newMap(b, fanin.Options{Live: func(p uint64) bool { return p >= alive }})
		s, edges := producer.Submit{Args: make([]producer.Arg, args)}, 0
		for id := range uint64(tasks) {
			alive = max(id, 5000) - 5000
			s.TaskID = id
			for i := range s.Args {
				s.Args[i] = arg(abi.ArgInput, line(0, 128))
				if s.Args[i].Tensor.BufferAddr = 4096 + 1024*((id+uint64(i))%8192); i%2 == 0 {
					s.Args[i].Tensor.OwnerTaskID = id - uint64(i) - 1
				}
			}
			s.Args[args-1].Type = abi.ArgInOut
			edges += len(m.Resolve(&s, nil))
			if err := m.Register(&s); err != nil {
				b.Fatal(err)
			}
		}
		if edges < tasks {
			b.Fatalf("%d edges", edges)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/tasks, "ns/submit")
}

// BenchmarkTiles has 20,000 tasks that each update a tile of one buffer that no
// other task touches: a lookup passes by all entries.
func BenchmarkTiles(b *testing.B) {
	const tasks = 20_000
	for b.Loop() {
		m, edges := newMap(b, fanin.Options{}), 0
		s := submit(0, arg(abi.ArgInOut, line(0, 4)))
		s.Args[0].Tensor.BufferSize = 16 * tasks
		for id := range uint64(tasks) {
			s.TaskID, s.Args[0].Tensor.StartOffset = id, 4*id
			edges += len(m.Resolve(&s, nil))
			if err := m.Register(&s); err != nil {
				b.Fatal(err)
			}
		}
		if edges != 0 {
			b.Fatalf("%d edges", edges)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(tasks*tasks/2), "ns/entry")
}
