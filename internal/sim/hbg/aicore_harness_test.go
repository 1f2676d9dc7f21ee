package hbg_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"testing"

	"swimlane/capture"
	"swimlane/internal/abi"
	"swimlane/internal/collector"
	"swimlane/internal/draw"
	"swimlane/internal/sim"
	"swimlane/internal/sim/hbg"
	"swimlane/internal/taskgraph"
	"swimlane/internal/trace/check"
	"swimlane/internal/transport"
	"swimlane/timeline"
	"swimlane/trace/chrome"
)

const (
	aicoreMemory     = 0x1_0000_0000
	aicoreMemorySize = 128 << 20
)

// aicoreBench is a chip whose AICores schedule, and a host that reads what they have
// recorded.
type aicoreBench struct {
	t        testing.TB
	clusters int
	threads  int
	level    abi.Level
	costs    sim.Costs
	spin     bool // idle schedulers do every iteration
	mapped   bool // the host sees the memory; else it copies
	strict   bool // the file has nothing of our own
	hazards  sim.Hazards
	progress func(tasks, completed int)

	memory  *transport.Device
	graph   *hbg.Graph
	report  *hbg.Report
	file    []byte // chip_swimlane_records.json
	notices []collector.Notice
	records records
	layout  *abi.SchedulerState
	state   abi.Mem // the block after the run
}

func newAicoreBench(t testing.TB, clusters int, level abi.Level) *aicoreBench {
	t.Helper()
	b := &aicoreBench{t: t, clusters: clusters, threads: 3, level: level, costs: sim.A5Costs}
	var err error
	if b.memory, err = transport.New(aicoreMemory, aicoreMemorySize); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.memory.Close() })
	return b
}

// host is the host's way to the memory.
func (b *aicoreBench) host() collector.Memory {
	if b.mapped {
		return transport.Mapped(b.memory)
	}
	return transport.Shadow(b.memory)
}

// tryRun runs a graph, and makes a file of what was recorded, also of a run that failed.
func (b *aicoreBench) tryRun(g *hbg.Graph) error {
	b.t.Helper()
	chip, err := sim.NewChip(abi.A5, b.clusters, &b.costs)
	if err != nil {
		b.t.Fatal(err)
	}
	layout, err := hbg.AicoreLayout(g, b.level)
	if err != nil {
		b.t.Fatal(err)
	}
	block, err := collector.NewSchedulerBlock(b.host(), layout)
	if err != nil {
		b.t.Fatal(err)
	}
	defer block.Free()
	c := hbg.AicoreConfig{Chip: chip, Threads: b.threads, Space: b.memory.Space(), State: block.Addr(), Level: b.level, Progress: b.progress, Hazards: &b.hazards}
	if b.spin {
		c.Spin()
	}
	b.graph = g
	var ran error
	b.report, ran = hbg.RunAicore(c, g)
	mem, err := b.memory.Space().At(block.Addr(), int(layout.Size))
	if err != nil {
		b.t.Fatal(err)
	}
	b.layout, b.state = layout, abi.NewMem(len(mem))
	copy(b.state, mem)
	if b.level == abi.Disabled {
		return ran
	}
	swimlane, err := collector.New(collector.Options{Arch: abi.A5, Cores: len(chip.Cores), Threads: b.threads, Level: b.level, Memory: b.host()})
	if err != nil {
		b.t.Fatal(err)
	}
	defer swimlane.Finalize()
	run, err := swimlane.Begin(collector.RunOptions{Level: b.level, Runtime: "host_build_graph"})
	if err != nil {
		b.t.Fatal(err)
	}
	out := run.Outcome()
	b.notices = append(out.Notices, block.Sections(&out.Capture.Sections, b.level)...)
	out.Capture.Strict = b.strict
	var file bytes.Buffer
	if err := out.Capture.Write(&file); err != nil {
		b.t.Fatal(err)
	}
	b.file = file.Bytes()
	if err := json.Unmarshal(b.file, &b.records); err != nil {
		b.t.Fatal(err)
	}
	return ran
}

// run runs a graph that must come to its end.
func (b *aicoreBench) run(g *hbg.Graph) {
	b.t.Helper()
	if err := b.tryRun(g); err != nil {
		b.t.Fatal(err)
	}
	for _, n := range b.notices {
		if n.Severity == collector.Info {
			continue
		}
		b.t.Errorf("the host says %v: %s", n.Severity, n.Text)
	}
}

// records is a records file.
type records struct {
	Kernels    [][6]uint64      `json:"aicore_tasks"`
	Timings    *timings         `json:"scheduler_tasks"`
	Schedulers *schedulers      `json:"scheduler_records"`
	Lifecycle  []map[string]any `json:"aicpu_lifecycle_records"`
}

type timings struct {
	Producer string      `json:"producer"`
	Records  [][4]uint64 `json:"records"`
}

type schedulers struct {
	Streams []stream `json:"streams"`
}

type stream struct {
	Platform  string   `json:"platform"`
	Runtime   string   `json:"runtime"`
	Producer  string   `json:"producer"`
	Scheduler int      `json:"scheduler_id"`
	Worker    int      `json:"worker_id"`
	CoreType  string   `json:"core_type"`
	Physical  int      `json:"physical_core_id"`
	Capture   any      `json:"capture"`
	Records   []record `json:"records"`
	Metrics   []any    `json:"metrics"`
}

type record struct {
	Start uint64  `json:"start_cycles"`
	End   uint64  `json:"end_cycles"`
	Loop  uint64  `json:"loop_iter"`
	Kind  string  `json:"kind"`
	Tasks uint64  `json:"tasks_processed"`
	Task  *uint64 `json:"task_id"`
}

// read reads the file as a user's tool does, strictly, and draws it with all its
// edges. No viewer may object to the trace.
func (b *aicoreBench) read(deps string) *timeline.Timeline {
	b.t.Helper()
	rec, err := capture.ReadFrom(bytes.NewReader(b.file), "chip_swimlane_records.json", capture.Options{})
	if err != nil {
		b.t.Fatal(err)
	}
	var graph *taskgraph.Graph
	if deps != "" {
		d, err := capture.ReadDepsFrom(bytes.NewReader([]byte(deps)), "deps.json")
		if err != nil {
			b.t.Fatal(err)
		}
		if graph, err = taskgraph.New(d); err != nil {
			b.t.Fatal(err)
		}
	}
	tl, err := timeline.New(rec, graph)
	if err != nil {
		b.t.Fatal(err)
	}
	if tl.Unmatched != 0 || tl.Untimed != 0 || tl.Warnings != nil || tl.Rows.Len() != len(b.records.Kernels) {
		b.t.Errorf("%d rows of %d are joined, %d scheduler rows are left over, %d kernel rows have no times: %v", tl.Rows.Len(), len(b.records.Kernels), tl.Unmatched, tl.Untimed, tl.Warnings)
	}
	picture, err := draw.New(tl, draw.Options{Overhead: true, Idle: true})
	if err != nil {
		b.t.Fatal(err)
	}
	var trace bytes.Buffer
	if _, err := chrome.Write(context.Background(), &trace, picture.Trace(), chrome.Options{}); err != nil {
		b.t.Fatal(err)
	}
	report, err := check.JSON(bytes.NewReader(trace.Bytes()))
	if err != nil {
		b.t.Fatal(err)
	}
	for _, f := range report.Findings {
		if f.Severity != check.Note {
			b.t.Errorf("a viewer would object: %s ×%d: %q", f.Rule, f.Count, f.Examples)
		}
	}
	return tl
}

// alloc takes memory of the chip.
func (b *aicoreBench) alloc(n int) uint64 {
	b.t.Helper()
	addr, err := transport.Mapped(b.memory).Alloc(n)
	if err != nil {
		b.t.Fatal(err)
	}
	return addr
}

// vector is a tensor of n integers of the chip.
func (b *aicoreBench) vector(n int) abi.Tensor {
	b.t.Helper()
	x, err := sim.NewTensor(b.alloc(4*n), abi.Int32, n)
	if err != nil {
		b.t.Fatal(err)
	}
	return x
}

func (b *aicoreBench) ints(t abi.Tensor) []int32 {
	b.t.Helper()
	v, err := sim.ViewOf[int32](b.memory.Space(), &t)
	if err != nil {
		b.t.Fatal(err)
	}
	return v.Row(0)
}

// task makes a task of the graph for a chip of so many clusters.
func (b *aicoreBench) task(spec *sim.Task, producers ...int) *hbg.Task {
	b.t.Helper()
	form, err := spec.Form(b.clusters)
	if err != nil {
		b.t.Fatal(err)
	}
	t := &hbg.Task{Spec: spec, Form: form}
	for _, a := range spec.Args {
		t.Args = append(t.Args, a.Tensor)
	}
	slices.Sort(producers)
	t.Producers = slices.Compact(producers)
	return t
}

// of is an element of an array of the block after the run.
func of[T any](b *aicoreBench, array abi.SchedulerArray, index int) *T {
	return abi.View[T](b.state, b.layout.Of(array, index))
}

// graphOf numbers tasks.
func graphOf(tasks ...*hbg.Task) *hbg.Graph {
	for i, t := range tasks {
		t.ID = uint64(i)
		for k, node := range t.Nodes {
			node.ID = hbg.InGraph<<32 | uint64(i)<<10 | uint64(k)
		}
	}
	return &hbg.Graph{Tasks: tasks}
}

// kernel is a kernel that computes nothing and takes some cycles.
func kernel(id int32, core abi.CoreType, cycles uint64) *sim.Kernel {
	return &sim.Kernel{ID: id, Name: "k", Type: core, Run: func(*sim.Call) uint64 { return cycles }}
}

// on is a task with one kernel.
func on(core abi.CoreType, cycles uint64) *sim.Task {
	t := &sim.Task{}
	t.Kernels[core] = kernel(int32(core), core, cycles)
	return t
}

// kinds counts the records of each kind.
func (r *records) kinds() map[string]int {
	n := map[string]int{}
	for _, s := range r.Schedulers.Streams {
		for _, v := range s.Records {
			n[v.Kind]++
		}
	}
	return n
}

// sorted tells whether the records of a stream are in the order of spec/records.md §2.11.
func sorted(rows []record) bool {
	return slices.IsSortedFunc(rows, func(a, b record) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End), cmp.Compare(a.Kind, b.Kind))
	})
}
