package scene

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"swimlane/internal/abi"
	"swimlane/internal/collector"
	"swimlane/internal/depgen"
	"swimlane/internal/outfile"
	"swimlane/internal/producer"
	"swimlane/internal/sim"
	"swimlane/internal/sim/tmr"
	"swimlane/internal/transport"
)

// Result is what became of a case.
type Result struct {
	Golden   error         // how the values differ from the golden ones; nil: they do not
	Makespan time.Duration // of the model: from the launch of the schedulers to their end
	Wall     time.Duration // of this process
	Submits  int           // allocs included
	Tasks    int
	Records  string // path of the records file, "" if there is none
	Graph    string // path of deps.json
	Notes    []string
}

// The device's memory: where its addresses begin, and how much there is beside the
// tensors of the case. What is not used costs nothing.
const (
	memoryBase = 0x10_0000_0000
	memorySize = 6 << 30
)

// Run runs a case on a simulated platform. An error is a run that could not end;
// wrong values are the result's Golden.
func (s Selected) Run(platform string, cfg CallConfig) (*Result, error) {
	began := time.Now()
	if err := errors.Join(s.Scene.Check(), cfg.Check()); err != nil {
		return nil, err
	}
	arch, err := archOf(platform)
	if err != nil {
		return nil, err
	}
	if s.Scene.Callable.Orchestration.Run == nil {
		return nil, fmt.Errorf("%s: the orchestration has no Run", s.Label())
	}
	for i, k := range s.Scene.Callable.Incores {
		if k.Run == nil {
			return nil, fmt.Errorf("%s: incore %d (%q) has no Run", s.Label(), i, k.Name)
		}
	}
	if s.Scene.Runtime != TensormapAndRingbuffer {
		return nil, fmt.Errorf("%s: the runtime %s is not simulated: expected %s", s.Label(), s.Scene.Runtime, TensormapAndRingbuffer)
	}
	memory, err := transport.NewShared(memoryBase, memorySize)
	if err != nil {
		return nil, err
	}
	defer memory.Close()
	r := &runner{Selected: s, arch: arch, cfg: cfg, memory: memory, alloc: transport.Mapped(memory).Alloc}
	if err := r.run(); err != nil {
		return nil, fmt.Errorf("%s: %w", s.Label(), err)
	}
	r.result.Wall = time.Since(began)
	return &r.result, nil
}

// runner is one run of a case.
type runner struct {
	Selected
	arch   *abi.Arch
	cfg    CallConfig
	memory *transport.Device
	alloc  func(int) (uint64, error)
	costs  sim.Costs
	chip   *sim.Chip
	inputs []Data
	args   []Tensor
	result Result

	swimlane *collector.Swimlane
	records  *collector.Run
	depGen   *collector.DepGen
	deps     *collector.DepGenRun
}

func (r *runner) run() error {
	clusters := r.Case.Config.Clusters
	if clusters == 0 {
		clusters = r.arch.MaxClusters
	}
	r.costs = sim.DefaultCosts(r.arch)
	var err error
	if r.chip, err = sim.NewChip(r.arch, clusters, &r.costs); err != nil {
		return err
	}
	if r.Scene.Inputs != nil {
		r.inputs = r.Scene.Inputs(r.Case)
	}
	var golden []Data
	if r.Scene.Golden != nil && !r.Case.SkipGolden {
		var copies []Data
		for _, d := range r.inputs {
			copies = append(copies, d.clone())
		}
		golden = r.Scene.Golden(r.Case, copies)
	}
	for i := range r.inputs {
		t, err := r.inputs[i].upload(r.memory.Space(), r.alloc)
		if err != nil {
			return err
		}
		r.args = append(r.args, t)
	}
	if err := r.launch(); err != nil {
		return err
	}
	for i := range r.inputs {
		if err := r.inputs[i].move(r.memory.Space(), &r.args[i].t, true); err != nil {
			return err
		}
	}
	r.result.Golden = r.verify(golden)
	return nil
}

// verify compares the tensors that are to be checked.
func (r *runner) verify(golden []Data) error {
	if golden == nil {
		return nil
	}
	rtol, atol := r.Scene.RTol, r.Scene.ATol
	if rtol == 0 && atol == 0 {
		rtol, atol = 1e-5, 1e-5
	}
	var wrong []error
	n := 0
	for i := range r.inputs {
		if !r.inputs[i].Check {
			continue
		}
		if n == len(golden) {
			return fmt.Errorf("there are golden values for %d tensors, and more to check", n)
		}
		wrong = append(wrong, r.inputs[i].compare(&golden[n], rtol, atol))
		n++
	}
	if n == 0 || n != len(golden) {
		return fmt.Errorf("there are golden values for %d tensors, and %d to check", len(golden), n)
	}
	return errors.Join(wrong...)
}

// launch runs the orchestration on the chip, and writes what was recorded.
func (r *runner) launch() error {
	threads := r.Case.Config.AicpuThreads
	if threads == 0 {
		threads = r.arch.DefaultThreads
	}
	heap, err := r.alloc(tmr.Rings * ringHeap)
	if err != nil {
		return err
	}
	c := tmr.Config{Chip: r.chip, Threads: threads, Space: r.memory.Space(), Heap: heap, RingHeap: ringHeap}
	if r.cfg.diagnostics() {
		if err := os.MkdirAll(r.cfg.OutputPrefix, 0o777); err != nil {
			return err
		}
	}
	defer r.finalize()
	if err := r.attach(&c); err != nil {
		return err
	}
	o := &Orchestrator{kernels: map[*Incore]*sim.Kernel{}}
	for _, k := range r.Scene.Callable.Incores {
		kind := abi.AIV
		if k.Core == AIC {
			kind = abi.AIC
		}
		o.kernels[k] = &sim.Kernel{ID: k.FuncID, Name: k.Name, Type: kind, Run: k.Run}
	}
	report, err := tmr.Run(c, func(t *tmr.Orchestrator) {
		o.o = t
		r.Scene.Callable.Orchestration.Run(o, r.Case, r.args)
	})
	// What was recorded is written even of a run that failed.
	err = errors.Join(err, r.export(c.Device))
	if report != nil {
		r.result.Makespan, r.result.Submits, r.result.Tasks = time.Duration(report.End-report.Start), report.Submits, report.Tasks
	}
	return err
}

// ringHeap is the memory of the outputs of a ring.
const ringHeap = 256 << 20

// host is how a host of this architecture reaches the device's memory.
func (r *runner) host() collector.Memory {
	if r.arch == abi.A5 {
		return transport.Shadow(r.memory)
	}
	return transport.Mapped(r.memory)
}

// attach begins what is to be recorded, on the host and on the device.
func (r *runner) attach(c *tmr.Config) (err error) {
	cores, level := len(r.chip.Cores), abi.Level(r.cfg.EnableChipSwimlane)
	if level > 0 {
		if r.swimlane, err = collector.New(collector.Options{Arch: r.arch, Cores: cores, Threads: c.Threads, Level: level, Memory: r.host()}); err != nil {
			return err
		}
		var with []string
		if r.cfg.EnableDepGen {
			with = []string{"dep_gen"}
		}
		if r.records, err = r.swimlane.Begin(collector.RunOptions{Level: level, Runtime: r.Scene.Runtime, CoCaptured: with}); err != nil {
			return err
		}
		if err = r.records.Start(); err != nil {
			return err
		}
		if c.Device, err = producer.Attach(producer.Config{
			Region: r.swimlane.Layout(), Space: r.memory.Space(), RegionAddr: r.swimlane.DataBase(), RotationTable: r.swimlane.RotationTable(),
			Enable: abi.EnableSwimlane, Cores: cores,
		}); err != nil {
			return err
		}
	}
	if r.cfg.EnableDepGen {
		if r.depGen, err = collector.NewDepGen(collector.DepGenOptions{Arch: r.arch, Threads: c.Threads, Memory: r.host()}); err != nil {
			return err
		}
		if r.deps, err = r.depGen.Begin(); err != nil {
			return err
		}
		if err = r.deps.Start(); err != nil {
			return err
		}
		c.DepGen, err = producer.AttachDepGen(producer.DepGenConfig{
			Region: r.depGen.Layout(), Space: r.memory.Space(), RegionAddr: r.depGen.DataBase(), Enable: abi.EnableDepGen,
		})
	}
	return err
}

// export ends the recording and writes the artifacts.
func (r *runner) export(device *producer.Device) error {
	var errs []error
	if r.records != nil {
		stalls := device.Stalls()
		r.records.Stalled(stalls.Count, stalls.Total)
		r.records.Stop()
		out := r.records.Outcome()
		r.note(out.Notices)
		path, err := out.Capture.Export(r.cfg.OutputPrefix)
		r.result.Records = path
		errs = append(errs, err, r.writeNames())
	}
	if r.deps != nil {
		r.deps.Stop()
		out := r.deps.Outcome()
		r.note(out.Notices)
		graph, err := depgen.Write(r.cfg.OutputPrefix, out)
		r.result.Graph = graph.Path
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (r *runner) note(notices []collector.Notice) {
	for _, n := range notices {
		if n.Severity > collector.Info {
			r.result.Notes = append(r.result.Notes, n.Text)
		}
	}
}

// writeNames writes the name map beside the records.
func (r *runner) writeNames() error {
	text := r.Scene.Callable.NameMap()
	if text == nil {
		return nil
	}
	var outputs outfile.Set
	f, err := outputs.Create(filepath.Join(r.cfg.OutputPrefix, r.NameMapFile()))
	if err != nil {
		return err
	}
	defer f.Discard()
	if _, err := f.Write(text); err != nil {
		return err
	}
	return f.Commit()
}

func (r *runner) finalize() {
	if r.swimlane != nil {
		r.swimlane.Finalize()
	}
	if r.depGen != nil {
		r.depGen.Finalize()
	}
}
