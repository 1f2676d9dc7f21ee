package depgen_test

import (
	"bytes"
	"encoding/json"
	"iter"
	"testing"

	"swimlane/capture"
	"swimlane/internal/abi"
	"swimlane/internal/collector"
	"swimlane/internal/depgen"
	"swimlane/internal/producer"
	"swimlane/internal/transport"
)

// chip is a device with an orchestrator and the collector of its submits.
type chip struct {
	host   *collector.DepGen
	memory *transport.Device
}

func newChip(t testing.TB, form *abi.DepGenForm) *chip {
	t.Helper()
	memory, err := transport.New(0x1000_0000, 128<<20)
	if err != nil {
		t.Fatal(err)
	}
	host, err := collector.NewDepGen(collector.DepGenOptions{Arch: abi.A2A3, Threads: 2, Form: form, Memory: transport.Mapped(memory)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := host.Finalize(); err != nil {
			t.Error(err)
		}
		memory.Close()
	})
	return &chip{host, memory}
}

// run is a launch that submits these tasks; flush is what the device does at its end.
func (c *chip) run(t testing.TB, submits iter.Seq[*producer.Submit], flush bool) *collector.DepGenOutcome {
	t.Helper()
	run, err := c.host.Begin()
	if err == nil {
		err = run.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	w, err := producer.AttachDepGen(producer.DepGenConfig{
		Region: c.host.Layout(), Space: c.memory.Space(), RegionAddr: c.host.DataBase(), Enable: abi.EnableDepGen,
	})
	if err != nil {
		t.Fatal(err)
	}
	w.Announce(1)
	for s := range submits {
		w.Submit(s)
	}
	if flush {
		w.Flush()
	}
	run.Stop()
	if n, first := w.Faults(); n != 0 && flush {
		t.Fatalf("%d faults of the writer, the first: %v", n, first)
	}
	return run.Outcome()
}

func each(list ...producer.Submit) iter.Seq[*producer.Submit] {
	return func(yield func(*producer.Submit) bool) {
		for i := range list {
			if !yield(&list[i]) {
				return
			}
		}
	}
}

// collected runs tasks on a chip of their own.
func collected(t testing.TB, form *abi.DepGenForm, list ...producer.Submit) *collector.DepGenOutcome {
	t.Helper()
	out := newChip(t, form).run(t, each(list...), true)
	if !out.Clean {
		t.Fatalf("the run is not clean: %v", out.Notices)
	}
	return out
}

// text is the task graph of an outcome.
func text(t testing.TB, out *collector.DepGenOutcome) (string, depgen.Summary) {
	t.Helper()
	var b bytes.Buffer
	s, err := depgen.WriteTo(&b, out)
	if err != nil {
		t.Fatal(err)
	}
	readBack(t, b.Bytes(), s)
	return b.String(), s
}

// readBack reads a task graph as the reading side does: nothing may be passed
// over, and the numbers must be those of the summary.
func readBack(t testing.TB, data []byte, s depgen.Summary) *capture.Deps {
	t.Helper()
	d, err := capture.ReadDepsFrom(bytes.NewReader(data), "deps.json")
	if err != nil {
		t.Fatal(err)
	}
	if d.NoEdges || d.Skipped != 0 || len(d.Task) != s.Tasks || len(d.Pred) != s.Edges {
		t.Fatalf("%d tasks and %d edges are read back, %d edges passed over, want %d and %d, and none", len(d.Task), len(d.Pred), d.Skipped, s.Tasks, s.Edges)
	}
	for i, has := range d.Has {
		if has&capture.HasKernel == 0 {
			t.Fatalf("task %d has no kernels", i)
		}
	}
	return d
}

// graph is a deps.json as encoding/json sees it.
type graph struct {
	Tasks []struct {
		ID      uint64   `json:"task_id,string"`
		Scope   string   `json:"scope"`
		Early   bool     `json:"early_dispatch"`
		Kernels [3]int32 `json:"kernel_ids"`
		Blocks  int32    `json:"block_num"`
		Args    []struct {
			Idx     int      `json:"idx"`
			Type    string   `json:"type"`
			Tensor  uint64   `json:"tensor_id,string"`
			DType   string   `json:"dtype"`
			Shape   []uint32 `json:"shape"`
			Start   uint64   `json:"start_offset,string"`
			Strides []uint32 `json:"strides"`
		} `json:"args"`
	} `json:"tasks"`
	Tensors []struct {
		ID      uint64 `json:"tensor_id,string"`
		Addr    uint64 `json:"buffer_addr,string"`
		Version int32  `json:"version"`
		DType   string `json:"dtype"`
		Numel   uint64 `json:"buffer_numel,string"`
	} `json:"tensors"`
	Edges []struct {
		Pred            uint64   `json:"pred,string"`
		Succ            uint64   `json:"succ,string"`
		Arg             int      `json:"arg"`
		Source          string   `json:"source"`
		Flags           []string `json:"flags"`
		Overlap         string   `json:"overlap"`
		Tensor          uint64   `json:"tensor_id,string"`
		DType           string   `json:"consumer_dtype"`
		Shape           []uint32 `json:"consumer_shape"`
		Start           uint64   `json:"consumer_start_offset,string"`
		Strides         []uint32 `json:"consumer_strides"`
		ProducerShape   []uint32 `json:"producer_shape"`
		ProducerStart   uint64   `json:"producer_start_offset,string"`
		ProducerStrides []uint32 `json:"producer_strides"`
	} `json:"edges"`
}

func parsed(t testing.TB, data []byte) (g graph) {
	t.Helper()
	if err := json.Unmarshal(data, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

var kinds = map[string]abi.DepKind{"wait": 1, "retain": 2}

func kindOf(flags []string) (k abi.DepKind) {
	for _, f := range flags {
		k |= kinds[f]
	}
	return k
}

// vector is a whole buffer of floats.
func vector(addr uint64, n uint32, owner uint64) abi.Tensor {
	return abi.Tensor{BufferAddr: addr, BufferSize: 4 * uint64(n), OwnerTaskID: owner, NDims: 1, Shapes: [5]uint32{n}, Strides: [5]uint32{1}}
}

func in(t abi.Tensor) producer.Arg       { return producer.Arg{Type: abi.ArgInput, Tensor: t} }
func inout(t abi.Tensor) producer.Arg    { return producer.Arg{Type: abi.ArgInOut, Tensor: t} }
func existing(t abi.Tensor) producer.Arg { return producer.Arg{Type: abi.ArgOutputExisting, Tensor: t} }

var output = producer.Arg{Type: abi.ArgOutput}
