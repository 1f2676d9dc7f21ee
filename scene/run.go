package scene

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"swimlane/internal/abi"
	"swimlane/internal/collector"
	"swimlane/internal/depgen"
	"swimlane/internal/hostlog"
	"swimlane/internal/outfile"
	"swimlane/internal/producer"
	"swimlane/internal/sim"
	"swimlane/internal/sim/aicpu"
	"swimlane/internal/sim/tmr"
	"swimlane/internal/transport"
)

// Setup says how a case is run.
type Setup struct {
	Platform   string
	Call       CallConfig
	Rounds     int // how often; 0 is 1. With more than 1 nothing may be recorded.
	SkipGolden bool
	Costs      *Costs    // nil: those of the platform
	LogLevel   string    // the least level of the host's log: debug, info, timing, warn, error or null; "": timing
	Log        io.Writer // for the host's log of a run without a prefix; nil: standard error
	Devices    []int     // for the workers of a node, one each; nil: as many as the case asks for
	// Progress is called now and then with how many tasks have been submitted and
	// completed; nil: it is not.
	Progress func(submitted, completed int)
}

// Result is what became of a case.
type Result struct {
	Golden   error         // how the values differ from the golden ones; nil: they do not
	Compared []Compared    // the tensors that were compared
	Makespan time.Duration // of the model: from the launch of the schedulers to their end
	Wall     time.Duration // of this process
	// Dispatches are what the chips of a node ran, in the order in which they ended; the
	// makespan is then the longest of theirs, and submits and tasks are those of all.
	Dispatches []Dispatch
	Rounds     int
	Submits    int      // of a round, allocs included
	Tasks      int      // of a round
	Records    string   // path of the records file, "" if there is none
	Graph      string   // path of deps.json
	Names      string   // path of the name map
	HostLog    string   // path of the host's log
	Device     string   // path of the log of the device
	Logs       []string // paths of the logs of a node's workers
	Phases     string   // path of what a host that builds the graph did
	Hazards    int      // pairs of tasks whose order matters and that nothing has ordered
	Notes      []string
}

// Files are the paths of all files that the run wrote.
func (r *Result) Files() []string {
	files := []string{r.Records, r.Graph, r.Names, r.HostLog, r.Device, r.Phases}
	for i := range r.Dispatches {
		files = append(files, r.Dispatches[i].files()...)
	}
	return slices.DeleteFunc(append(files, r.Logs...), func(s string) bool { return s == "" })
}

// The device's memory: where its addresses begin, and how much there is beside the
// tensors of the case. What is not used costs nothing.
const (
	memoryBase = 0x10_0000_0000
	memorySize = 6 << 30
)

// Run runs a case on a simulated platform once. An error is a run that could not
// end; wrong values are the result's Golden.
func (s Selected) Run(platform string, cfg CallConfig) (*Result, error) {
	return s.RunWith(Setup{Platform: platform, Call: cfg})
}

// RunWith runs a case. The result is never nil: what was written before an error is
// in it.
func (s Selected) RunWith(setup Setup) (*Result, error) {
	began := time.Now()
	b := &batch{Selected: s, Setup: setup, result: &Result{}}
	err := b.check()
	if err == nil && b.Call.OutputPrefix != "" {
		var free func()
		if free, err = claimPrefix(b.Call.OutputPrefix); err == nil {
			defer free()
		}
	}
	switch {
	case err != nil:
	case s.Scene.Node != nil:
		err = b.runNode()
	default:
		err = b.run()
	}
	b.result.Wall = time.Since(began)
	if err != nil {
		err = fmt.Errorf("%s: %w", s.Label(), err)
	}
	return b.result, err
}

// batch is a case with all its rounds.
type batch struct {
	Selected
	Setup
	arch      *abi.Arch
	costs     sim.Costs
	threshold hostlog.Level
	inputs    []Data
	golden    []Data
	noGolden  error // why there are no golden values; nil: there are, or nobody wants them
	log       *hostlog.Log
	result    *Result
}

// check refuses what cannot be run.
func (b *batch) check() error {
	if err := errors.Join(b.Scene.Check(), b.Call.Check()); err != nil {
		return err
	}
	var err error
	if b.arch, err = archOf(b.Platform); err != nil {
		return err
	}
	if err = b.readLogLevel(); err != nil {
		return err
	}
	b.costs = sim.DefaultCosts(b.arch)
	if b.Costs != nil {
		if b.Costs.arch != b.arch {
			return fmt.Errorf("the costs are those of %s: expected those of %s", b.Costs.arch.Name, b.arch.Name)
		}
		b.costs = b.Costs.rows
	}
	b.Rounds = max(b.Rounds, 1)
	if b.Scene.level() == 4 && b.Call.EnableChipSwimlane > 0 {
		return errors.New(networkRefused)
	}
	if err := b.Scene.runnable(); err != nil {
		return err
	}
	switch {
	case b.Rounds > 1 && b.Call.diagnostics():
		return fmt.Errorf("a diagnostic is enabled for %d rounds: expected one round", b.Rounds)
	}
	return nil
}

// networkRefused is why the swimlane of a scene of level 4 is not recorded
// (spec/l3.md §4.5).
const networkRefused = "NETWORK1/L4 needs a node namespace: run it without --enable-chip-swimlane"

// spansLogged tells whether the host's log has spans at a level of Setup.LogLevel.
func spansLogged(level string) bool {
	b := batch{Setup: Setup{LogLevel: level}}
	return b.readLogLevel() != nil || b.threshold <= hostlog.Timing
}

// readLogLevel finds the threshold of the host's log.
func (b *batch) readLogLevel() (err error) {
	level := strings.ToUpper(b.LogLevel)
	switch level {
	case "":
		return nil
	case "NULL": // as a command line has it, not the log
		level = "NUL"
	}
	b.threshold, err = hostlog.ParseLevel(level)
	return err
}

func (b *batch) run() (err error) {
	if b.Scene.Inputs != nil {
		if err := guard("Inputs", func() { b.inputs = b.Scene.Inputs(b.Case) }); err != nil {
			return err
		}
	}
	if s := b.Scene.Callable.Orchestration.Signature; s != nil && len(s) != len(b.inputs) {
		return fmt.Errorf("Inputs makes %d tensors: expected the %d of the orchestration's signature", len(b.inputs), len(s))
	}
	b.noGolden = b.compute()
	prefix := b.Call.OutputPrefix
	if prefix != "" {
		if err := os.MkdirAll(prefix, 0o777); err != nil {
			return err
		}
	}
	if b.log, err = process.open(prefix, b.Log, b.threshold); err != nil {
		b.result.Notes = append(b.result.Notes, fmt.Sprintf("the host's log cannot be written: %v", err))
	}
	if prefix != "" {
		if b.log.Enabled(hostlog.Timing) {
			b.result.HostLog = filepath.Join(prefix, hostlog.FileName(os.Getpid()))
		}
		defer func() {
			if cerr := b.log.Close(); cerr != nil {
				b.result.Notes = append(b.result.Notes, cerr.Error())
			}
		}()
	}
	b.log.Message(hostlog.Timing, "simulator", "%s on %s: all times are those of a model", b.Label(), b.Platform)
	for range b.Rounds {
		if err := b.round(); err != nil {
			b.log.Message(hostlog.Error, "run", "%s failed: %v", b.Label(), err)
			return err
		}
		if b.result.Rounds++; b.result.Golden != nil {
			break
		}
	}
	return nil
}

// compute asks the scene for the golden values. Tensors that are to be compared need
// some.
func (b *batch) compute() error {
	if b.Case.SkipGolden || b.SkipGolden {
		return nil
	}
	if b.Scene.Golden != nil {
		if err := guard("Golden", func() { b.golden = b.Scene.Golden(b.Case, clones(b.inputs)) }); err != nil {
			return err
		}
	}
	check := 0
	for i := range b.inputs {
		if b.inputs[i].Check {
			check++
		}
	}
	if check != len(b.golden) {
		return fmt.Errorf("Golden gives values for %d tensors: expected the %d with Check", len(b.golden), check)
	}
	return nil
}

// round runs the case once, on a chip that was just switched on.
func (b *batch) round() error {
	memory, err := transport.NewShared(memoryBase, memorySize)
	if err != nil {
		return err
	}
	defer memory.Close()
	r := &runner{batch: b, memory: memory, alloc: transport.Mapped(memory).Alloc, inputs: clones(b.inputs)}
	return r.run()
}

func clones(list []Data) (out []Data) {
	for _, d := range list {
		out = append(out, d.clone())
	}
	return out
}

// runner is one run of a case.
type runner struct {
	*batch
	memory *transport.Device
	alloc  func(int) (uint64, error)
	chip   *sim.Chip
	inputs []Data
	args   []Tensor
	seat   *seat // nil: no worker of a node runs this
	launch *launch
	ended  bool     // the device has come to its end
	lines  []string // what it says of that

	swimlane *collector.Swimlane
	records  *collector.Run
	phases   *collector.HostPhases // of a host that builds the graph
	depGen   *collector.DepGen
	deps     *collector.DepGenRun
	block    *collector.SchedulerBlock // what AICores that schedule have recorded; nil: they do not
}

func (r *runner) run() error {
	var err error
	if r.chip, err = sim.NewChip(r.arch, r.clusters(), &r.costs); err != nil {
		return err
	}
	if err := r.upload(); err != nil {
		return err
	}
	if err := r.execute(); err != nil {
		return err
	}
	if err := r.download(); err != nil {
		return err
	}
	r.result.Golden = r.verify()
	return nil
}

// clusters is how many clusters of the chip the case uses.
func (r *runner) clusters() int {
	if n := r.Case.Config.Clusters; n > 0 {
		return n
	}
	return r.arch.MaxClusters
}

// threads is how many AICPU threads the case uses; the last one orchestrates.
func (r *runner) threads() int {
	if n := r.Case.Config.AicpuThreads; n > 0 {
		return n
	}
	return r.arch.DefaultThreads
}

// upload brings the tensors to the chip.
func (r *runner) upload() error {
	for i := range r.inputs {
		t, err := r.inputs[i].upload(r.memory.Space(), r.alloc)
		if err != nil {
			return err
		}
		r.args = append(r.args, t)
	}
	return nil
}

// download brings them back.
func (r *runner) download() error {
	for i := range r.inputs {
		if err := r.inputs[i].move(r.memory.Space(), &r.args[i].t, true); err != nil {
			return err
		}
	}
	return nil
}

// verify compares the tensors that are to be checked.
func (r *runner) verify() error {
	golden := r.golden
	if golden == nil || r.noGolden != nil {
		return r.noGolden
	}
	r.result.Compared = nil
	rtol, atol := r.Scene.RTol, r.Scene.ATol
	if rtol == 0 && atol == 0 {
		rtol, atol = 1e-5, 1e-5
	}
	var wrong []error
	for i := range r.inputs {
		if !r.inputs[i].Check {
			continue
		}
		n := len(r.result.Compared)
		c, err := r.inputs[i].compare(&golden[n], rtol, atol)
		wrong = append(wrong, err)
		r.result.Compared = append(r.result.Compared, c)
	}
	return errors.Join(wrong...)
}

// execute runs the orchestration on the chip, and writes what was recorded.
func (r *runner) execute() error {
	threads := r.threads()
	heap, err := r.alloc(tmr.Rings * ringHeap)
	if err != nil {
		return err
	}
	defer r.finalize()
	if r.Scene.Runtime == HostBuildGraph {
		return r.executeBuilt(threads, heap)
	}
	var hazards sim.Hazards
	c := tmr.Config{Chip: r.chip, Threads: threads, Space: r.memory.Space(), Heap: heap, RingHeap: ringHeap, Progress: r.Progress, Hazards: &hazards}
	var clock *collector.ClockCorrelation
	if r.Call.CaptureClockAnchors && r.Call.EnableChipSwimlane > 0 {
		clock = collector.NewClockCorrelation(collector.ProviderSimSyscnt, r.arch)
	}
	if r.seat != nil {
		r.launch = r.seat.launch(r.chip, clock)
	} else {
		r.launch = process.launch(&r.Scene.Callable, r.chip, prebuilt(r.chip, len(r.args)), clock, false)
	}
	r.launch.collect = r.Call.diagnostics()
	if c.Device, err = r.attach(threads); err != nil {
		return err
	}
	if c.DepGen, err = r.attachDepGen(threads); err != nil {
		return err
	}
	o := r.orchestrator()
	r.seat.boot(r.chip)
	report, err := tmr.Run(c, func(t *tmr.Orchestrator) {
		o.o = t
		r.orchestrate(o)
	})
	if report != nil {
		r.hazards(&hazards, report.Start)
		err = errors.Join(err, r.done(&report.Report, devicePhases(report, r.chip), deviceLines(r.launch.log.Inv, threads-1, report, r.chip)))
	}
	return r.finish(c.Device, err)
}

// finish writes what was recorded, even of a run that failed.
func (r *runner) finish(device *producer.Device, err error) error {
	if err != nil && r.records != nil {
		r.records.Failed()
	}
	if !r.ended && r.launch != nil && r.seat == nil {
		// How long the device ran is not known, and it tells nothing.
		r.launch.failed(process)
		r.logs(nil)
	}
	return errors.Join(err, r.export(device))
}

// hazards tells of tasks whose order nothing makes sure of.
func (r *runner) hazards(h *sim.Hazards, begin sim.Time) {
	r.result.Hazards = h.Found
	for i := range h.First {
		r.result.Notes = append(r.result.Notes, "nothing orders two tasks: "+h.First[i].String(begin))
	}
	if more := h.Found - len(h.First); more > 0 {
		r.result.Notes = append(r.result.Notes, fmt.Sprintf("nothing orders %d more pairs of tasks", more))
	}
}

// done notes how a run went that has ended.
func (r *runner) done(report *aicpu.Report, phases []hostlog.DevicePhase, lines []string) error {
	r.result.Makespan, r.result.Submits, r.result.Tasks = time.Duration(report.End-report.Start), report.Submits, report.Tasks
	if r.seat != nil {
		if err := r.seat.ended(r.launch, report, phases); err != nil {
			return err
		}
		r.ended, r.lines = true, lines
		return nil
	}
	r.ended, r.lines = true, lines
	r.launch.ended(process, report, phases)
	r.logs(lines)
	return nil
}

// logs writes what host and device tell of a run that has ended.
func (r *runner) logs(lines []string) {
	path, err := writeDeviceLog(r.logDir(), r.log, lines)
	if r.result.Device = path; err != nil {
		r.result.Notes = append(r.result.Notes, fmt.Sprintf("the log of the device cannot be written: %v", err))
	}
	if err := r.log.ChipRun(&r.launch.log); err != nil {
		r.result.Notes = append(r.result.Notes, err.Error())
	}
}

// logDir is where logs lie: with the artifacts, or in the case root of a node.
func (r *runner) logDir() string {
	if r.seat != nil {
		return r.seat.root
	}
	return r.Call.OutputPrefix
}

// ringHeap is the memory of the outputs of a ring.
const ringHeap = 256 << 20

// host is how a host of this architecture reaches the device's memory.
func (r *runner) host() collector.Memory {
	m := transport.Mapped(r.memory)
	if r.arch == abi.A5 {
		m = transport.Shadow(r.memory)
	}
	m.Zero = r.memory.Zero // the memory is new in every run
	return m
}

// attach begins the swimlane, on the host and on the device.
func (r *runner) attach(threads int) (device *producer.Device, err error) {
	cores, level := len(r.chip.Cores), abi.Level(r.Call.EnableChipSwimlane)
	if level == 0 {
		return nil, nil
	}
	if r.swimlane, err = collector.New(collector.Options{Arch: r.arch, Cores: cores, Threads: threads, Level: level, Memory: r.host()}); err != nil {
		return nil, err
	}
	var with []string
	if r.Call.EnableDepGen {
		with = []string{"dep_gen"}
	}
	if r.records, err = r.swimlane.Begin(collector.RunOptions{Level: level, Runtime: r.Scene.Runtime, CoCaptured: with, Clock: r.launch.clock, BootID: r.seat.bootID()}); err != nil {
		return nil, err
	}
	if err = r.records.Start(); err != nil {
		return nil, err
	}
	return producer.Attach(producer.Config{
		Region: r.swimlane.Layout(), Space: r.memory.Space(), RegionAddr: r.swimlane.DataBase(), RotationTable: r.swimlane.RotationTable(),
		Enable: abi.EnableSwimlane, Cores: cores,
	})
}

// attachDepGen begins dep_gen.
func (r *runner) attachDepGen(threads int) (device *producer.DepGen, err error) {
	if !r.Call.EnableDepGen {
		return nil, nil
	}
	if r.depGen, err = collector.NewDepGen(collector.DepGenOptions{Arch: r.arch, Threads: threads, Memory: r.host()}); err != nil {
		return nil, err
	}
	if r.deps, err = r.depGen.Begin(); err != nil {
		return nil, err
	}
	if err = r.deps.Start(); err != nil {
		return nil, err
	}
	return producer.AttachDepGen(producer.DepGenConfig{
		Region: r.depGen.Layout(), Space: r.memory.Space(), RegionAddr: r.depGen.DataBase(), Enable: abi.EnableDepGen,
	})
}

// export ends the recording and writes the artifacts.
func (r *runner) export(device *producer.Device) error {
	var errs []error
	if r.records != nil {
		r.faults(device.Faults())
		stalls := device.Stalls()
		r.records.Stalled(stalls.Count, stalls.Total)
		r.records.Stop()
		out := r.records.Outcome()
		r.note(out.Notices)
		out.Capture.Host = r.phases
		if r.block != nil {
			r.note(r.block.Sections(&out.Capture.Sections, abi.Level(r.Call.EnableChipSwimlane)))
		}
		path, err := out.Capture.Export(r.Call.OutputPrefix)
		r.result.Records = path
		errs = append(errs, err)
	}
	if r.deps != nil {
		r.deps.Stop()
		out := r.deps.Outcome()
		r.note(out.Notices)
		graph, err := depgen.Write(r.Call.OutputPrefix, out)
		r.result.Graph = graph.Path
		errs = append(errs, err)
	}
	if r.Call.diagnostics() {
		errs = append(errs, r.writeNames())
	}
	return errors.Join(errs...)
}

// faults tells of records that a writer of the device could not write as they are.
func (r *runner) faults(n uint64, first error) {
	if n > 0 {
		r.result.Notes = append(r.result.Notes, fmt.Sprintf("%d faults of the device's writers, the first: %v", n, first))
	}
}

func (r *runner) note(notices []collector.Notice) {
	for _, n := range notices {
		if n.Severity > collector.Info {
			r.result.Notes = append(r.result.Notes, n.Text)
		}
	}
}

// writeNames writes the name map beside what it names.
func (r *runner) writeNames() error {
	text := r.Scene.Callable.NameMap()
	if text == nil {
		return nil
	}
	path := filepath.Join(r.Call.OutputPrefix, r.NameMapFile())
	if err := writeWhole(path, text); err != nil {
		return err
	}
	r.result.Names = path
	return nil
}

// writeWhole writes a file, or nothing.
func writeWhole(path string, text []byte) error {
	f, err := outfile.Process.Create(path)
	if err != nil {
		return err
	}
	defer f.Discard()
	if _, err = f.Write(text); err == nil {
		err = f.Commit()
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return nil
}

func (r *runner) finalize() {
	if r.block != nil {
		r.block.Free()
	}
	if r.swimlane != nil {
		r.swimlane.Finalize()
	}
	if r.depGen != nil {
		r.depGen.Finalize()
	}
}
