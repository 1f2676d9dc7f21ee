package depgen_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/depgen"
	"swimlane/internal/parity"
	"swimlane/internal/producer"
)

// tmrGraphs are the task graphs of the real captures whose orchestrator ran on
// the device, by their directory.
func tmrGraphs(t *testing.T) map[string]string {
	root := filepath.Join(parity.Shared(t), "captures")
	found := map[string]string{}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, path)
		if base := filepath.Base(path); err == nil && strings.Contains(rel, "_tmr_") && (base == "deps.json" || base == "deps.json.gz") {
			found[filepath.ToSlash(filepath.Dir(rel))] = path
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestCaptures submits again what the real captures say was submitted, and gets
// their files to the byte.
//
// A file determines its submits but for this: the owner of an argument stands in
// the creator row of its slot, so an owner that another row had named is unknown
// (what it wants stands in that row, if it is a declared one); whether an argument
// is a manual dependency shows only in rows that are not there. Were either to
// matter in one of these captures, its file would differ. Their declared
// dependencies carry the kind that the format had before it recorded kinds.
func TestCaptures(t *testing.T) {
	graphs := tmrGraphs(t)
	if len(graphs) < 50 {
		t.Errorf("%d graphs are found, want more than 50", len(graphs))
	}
	for dir, path := range graphs {
		t.Run(dir, func(t *testing.T) {
			if testing.Short() && strings.Contains(dir, "large") {
				t.Skip("the largest capture takes seconds")
			}
			want := parity.Unpacked(t, path)
			g := parsed(t, want)
			out := newChip(t, abi.DepGenKinds).run(t, func(yield func(*producer.Submit) bool) { resubmit(t, &g, yield) }, true)
			s, err := depgen.Write(t.TempDir(), out)
			if err != nil {
				t.Fatal(err)
			}
			if s.Tasks != len(g.Tasks) || s.Tensors != len(g.Tensors) || s.Edges != len(g.Edges) {
				t.Errorf("%d tasks, %d tensors and %d edges, want %d, %d and %d", s.Tasks, s.Tensors, s.Edges, len(g.Tasks), len(g.Tensors), len(g.Edges))
			}
			got, err := os.ReadFile(s.Path)
			if err != nil {
				t.Fatal(err)
			}
			if at := differs(got, want); at >= 0 {
				t.Errorf("at byte %d: …%s…, want …%s…", at, around(got, at), around(want, at))
			}
			readBack(t, got, s)
		})
	}
}

// differs is the first byte that differs, −1 if there is none.
func differs(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	if len(a) != len(b) {
		return min(len(a), len(b))
	}
	return -1
}

func around(b []byte, at int) string {
	return string(b[min(max(0, at-200), len(b)):min(len(b), at+100)])
}

// resubmit makes the submits of a graph.
func resubmit(t *testing.T, g *graph, yield func(*producer.Submit) bool) {
	tensors, types, dtypes := map[uint64]abi.Tensor{}, map[string]abi.ArgType{}, map[string]abi.DType{}
	for c := abi.ArgInput; c <= abi.ArgOutputExisting; c++ {
		types[c.String()] = c
	}
	for d := abi.Float32; d.Size() > 0; d++ {
		dtypes[d.String()] = d
	}
	for _, x := range g.Tensors {
		d := dtypes[x.DType]
		tensors[x.ID] = abi.Tensor{BufferAddr: x.Addr, Version: x.Version, DType: d, BufferSize: x.Numel * uint64(d.Size()), OwnerTaskID: abi.NoOwner}
	}
	rows := g.Edges
	for i := range g.Tasks {
		task := &g.Tasks[i]
		s := producer.Submit{TaskID: task.ID, ManualScope: task.Scope == "manual", EarlyDispatch: task.Early, KernelIDs: task.Kernels, BlockNum: task.Blocks}
		for _, a := range task.Args {
			how, ok := types[a.Type]
			if !ok {
				t.Errorf("an argument of task %d is %s", task.ID, a.Type)
				return
			}
			tensor := tensors[a.Tensor]
			if how != abi.ArgOutput {
				if tensor.BufferAddr == 0 || tensor.DType.String() != a.DType {
					t.Errorf("argument %d of task %d is of tensor %d with %s, which is not in tensors", a.Idx, task.ID, a.Tensor, a.DType)
					return
				}
				tensor.StartOffset, tensor.NDims = a.Start, uint32(len(a.Shape))
				copy(tensor.Shapes[:], a.Shape)
				copy(tensor.Strides[:], a.Strides)
			}
			s.Args = append(s.Args, producer.Arg{Type: how, Tensor: tensor})
		}
		for len(rows) > 0 && rows[0].Succ == task.ID {
			switch e := rows[0]; e.Source {
			case "explicit":
				s.Deps = append(s.Deps, producer.Dep{Producer: e.Pred, Kind: kindOf(e.Flags)})
			case "creator":
				s.Args[e.Arg].Tensor.OwnerTaskID = e.Pred
			}
			rows = rows[1:]
		}
		if !yield(&s) {
			return
		}
	}
	if len(rows) > 0 {
		t.Errorf("the edges are not grouped by consumer: found one of task %d behind the last task", rows[0].Succ)
	}
}
