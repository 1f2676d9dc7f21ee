package scene

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"swimlane/internal/collector"
	"swimlane/internal/hostlog"
	"swimlane/internal/mailbox"
	"swimlane/internal/sim"
)

// nodeBatch is a case for a node with all its rounds: the dispatcher.
type nodeBatch struct {
	*batch
	node    *Node
	config  Config
	digests []string
	devices []int
	log     *nodeLog
	sched   *nodeSched
	runs    uint64 // so far, of all rounds: run_id of the one that is under way
	stderr  io.Writer

	completed int // tasks of chips, for who watches

	mu    sync.Mutex
	chips []*chipProcess
}

// nodeRun is one run of the node's orchestration.
type nodeRun struct {
	*nodeBatch
	id        uint64
	submitted int
}

// NeedDevices refuses too few devices; none at all stands for as many as are needed.
func (s Selected) NeedDevices(devices []int) error {
	if n := s.Case.Config.DeviceCount; devices != nil && len(devices) < n && s.Scene.level() == 3 {
		return fmt.Errorf("%s needs %d devices and gets %d: expected a list of at least %d, as -d 0-%d", s.Label(), n, len(devices), n, n-1)
	}
	return nil
}

// runNode runs a case for a node.
func (b *batch) runNode() error {
	n := &nodeBatch{batch: b, node: b.Scene.Node, config: b.Case.Config, digests: b.Scene.Node.digests(), devices: slices.Clone(b.Devices), stderr: b.Log}
	if err := b.NeedDevices(b.Devices); err != nil {
		return err
	}
	for i := len(n.devices); i < n.config.DeviceCount; i++ {
		n.devices = append(n.devices, i)
	}
	if known := registered.Load(); known == nil || !slices.ContainsFunc(*known, func(s *Scene) bool { return s.Class == b.Scene.Class && s.Node != nil }) {
		return errors.New("a scene of level 3 needs worker processes, which are this program started again, and this program does not know the scene: " +
			"call scene.Worker with it first thing in main, or scenetest.Main in TestMain")
	}
	if n.stderr == nil {
		n.stderr = os.Stderr
	} else if _, file := n.stderr.(*os.File); !file {
		n.stderr = &lockedWriter{w: n.stderr}
	}
	return n.runAll()
}

func (n *nodeBatch) runAll() (err error) {
	if n.Scene.Inputs != nil {
		if err := guard("Inputs", func() { n.inputs = n.Scene.Inputs(n.Case) }); err != nil {
			return err
		}
	}
	for i := range n.inputs {
		if _, _, err := n.inputs[i].kind(); err != nil {
			return err
		}
	}
	n.noGolden = n.compute()
	close, err := n.openLog()
	if err != nil {
		return err
	}
	defer close()
	n.sched = newNodeSched(n)
	nodes.Store(n.sched, nil)
	defer nodes.Delete(n.sched)
	if sim.Interrupted() {
		n.sched.fail(sim.ErrInterrupted)
	}
	ended, err := n.sched.start()
	defer n.collectLogs()
	if err == nil {
		err = n.rounds()
		n.sched.mu.Lock()
		n.sched.ending = true
		n.sched.mu.Unlock()
	}
	if failed := n.stopChips(); err == nil {
		err = failed // else some may have been ended from here
	}
	n.sched.stop()
	<-ended
	for _, c := range n.chips {
		if c.last.Log != "" {
			n.note(fmt.Sprintf("rank %d: %s", c.rank, c.last.Log))
		}
	}
	n.sched.mu.Lock()
	if n.sched.grace != nil {
		n.sched.grace.Stop()
	}
	n.sched.mu.Unlock()
	if n.Call.diagnostics() {
		n.sweep()
		err = errors.Join(err, n.writeNames())
	}
	if err != nil {
		n.log.log.Message(hostlog.Error, "run", "%s failed: %v", n.Label(), err)
	}
	return err
}

// sweep removes what workers that were killed have left half-written. None is there
// any more.
func (n *nodeBatch) sweep() {
	left, _ := filepath.Glob(filepath.Join(n.Call.OutputPrefix, "rank*", "d*", ".*.tmp"))
	for _, path := range left {
		os.Remove(path)
	}
}

// openLog begins the log of the dispatcher, in the case root, before the workers
// begin theirs.
func (n *nodeBatch) openLog() (close func(), err error) {
	prefix, clock := n.Call.OutputPrefix, hostlog.SystemClock()
	if prefix != "" {
		if err := os.MkdirAll(prefix, 0o777); err != nil {
			return nil, err
		}
	}
	pid := int64(os.Getpid())
	log := hostlog.New(hostlog.Options{Output: n.stderr, Clock: clock, Thread: func() int64 { return pid }, Threshold: n.threshold})
	if err := log.Bind(prefix); err != nil {
		n.note(fmt.Sprintf("the host's log cannot be written: %v", err))
	}
	if prefix != "" && log.Enabled(hostlog.Timing) {
		n.result.HostLog = filepath.Join(prefix, hostlog.FileName(os.Getpid()))
	}
	log.Anchor()
	log.Message(hostlog.Timing, "simulator", "%s on %s, %d chips: times of the device are those of a model, from the real time of each launch on",
		n.Label(), n.Platform, n.config.DeviceCount)
	n.log = newNodeLog(log, clock)
	return func() {
		if prefix == "" {
			return
		}
		if err := log.Close(); err != nil {
			n.note(err.Error())
		}
	}, nil
}

func (n *nodeBatch) note(text string) { n.result.Notes = append(n.result.Notes, text) }

// rounds runs the case as often as is wanted.
func (n *nodeBatch) rounds() error {
	for range n.Rounds {
		inputs := clones(n.inputs)
		var args []NodeTensor
		for i := range inputs {
			args = append(args, NodeTensor{&nodeTensor{data: inputs[i]}})
		}
		for i := range max(n.config.Runs, 1) {
			if err := n.once(i, args); err != nil {
				return err
			}
		}
		v := &runner{batch: n.batch}
		for _, a := range args {
			v.inputs = append(v.inputs, a.t.data)
		}
		n.result.Golden = v.verify()
		if n.result.Rounds++; n.result.Golden != nil {
			break
		}
	}
	return nil
}

// once runs the orchestration, and waits until all has ended that it submitted.
func (n *nodeBatch) once(index int, args []NodeTensor) error {
	n.runs++
	r := &nodeRun{nodeBatch: n, id: n.runs}
	began := n.log.now()
	if err := r.build(index, args); err != nil {
		n.sched.fail(err)
	}
	n.log.graphBuild(r.id, began)
	err := n.sched.fence()
	began = n.log.now()
	if err == nil {
		// Nobody waits for a task of this run any more.
		for _, a := range args {
			a.t.writer, a.t.readers = nil, nil
		}
	}
	n.log.retirement(r.id, 0, r.id, began)
	return err
}

// build calls the orchestration. Its panic is an error.
func (r *nodeRun) build(index int, args []NodeTensor) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the node's orchestration, run %d, after %d submits: %s", r.id, r.submitted, panicked(p))
		}
	}()
	r.node.Run(&NodeOrchestrator{r, index}, r.Case, args)
	return nil
}

// startChips starts the workers, one after the other.
func (s *nodeSched) startChips() error {
	n := s.n
	costs := n.Costs
	if costs == nil {
		costs = &Costs{arch: n.arch, rows: n.batch.costs}
	}
	var text bytes.Buffer
	if err := costs.Write(&text); err != nil {
		return err
	}
	for rank := range n.config.DeviceCount {
		c, err := startChip(&hello{
			Class: n.Scene.Class, Case: n.Case.Name, Config: n.config, Platform: n.Platform, Costs: text.String(), Rank: rank, Device: n.devices[rank],
			Root: n.Call.OutputPrefix, LogLevel: n.LogLevel, Swimlane: n.Call.EnableChipSwimlane, DepGen: n.Call.EnableDepGen, Digests: n.digests,
		}, n.stderr)
		if err != nil {
			return fmt.Errorf("rank %d (device %d) cannot start: %w", rank, n.devices[rank], err)
		}
		n.mu.Lock()
		n.chips = append(n.chips, c)
		n.mu.Unlock()
		s.chips = append(s.chips, c)
		go c.listen(s.arrive)
	}
	return nil
}

// stopChips ends all workers, and says which of them did not end well.
func (n *nodeBatch) stopChips() error {
	n.mu.Lock()
	chips := n.chips
	n.mu.Unlock()
	failed := make([]error, len(chips))
	var all sync.WaitGroup
	for i, c := range chips {
		all.Go(func() { failed[i] = c.stop() })
	}
	all.Wait()
	return errors.Join(failed...)
}

// eachChip does something with all workers.
func (n *nodeBatch) eachChip(do func(*chipProcess)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.chips {
		do(c)
	}
}

// order makes the frame of a flight to a chip.
func (n *nodeBatch) order(f *flight) (mailbox.Frame, error) {
	t := f.m.task
	o := order{
		Callable: t.callable, RunID: f.run, TaskSlot: t.slot, GroupIndex: f.m.index, GroupSize: len(t.members),
		DispatchID: f.dispatch, Slot: 0, Generation: f.generation,
	}
	var blob []byte
	for _, a := range f.m.args {
		d := &a.t.data
		kind, _, err := d.kind()
		if err != nil {
			return mailbox.Frame{}, err
		}
		o.Args = append(o.Args, orderArg{d.Name, kind, d.Shape, a.d})
		if a.d != Writes {
			blob = d.appendTo(blob)
		}
	}
	return mailbox.New(kindOrder, &o, blob)
}

// done takes what became of a flight.
func (n *nodeBatch) done(c *chipProcess, f *flight, frame mailbox.Frame) error {
	var d done
	if frame.Kind != kindDone {
		return fmt.Errorf("a frame of kind %d has come: expected %d", frame.Kind, kindDone)
	}
	if err := frame.Decode(&d); err != nil {
		return err
	}
	if d.DispatchID != f.dispatch {
		return fmt.Errorf("the answer is about dispatch %d: expected %d", d.DispatchID, f.dispatch)
	}
	out := Dispatch{
		Run: int(f.run), TaskSlot: f.m.task.slot, Rank: c.rank, Device: c.device, PID: c.cmd.Process.Pid,
		Callable: f.m.task.k.name(f.m.task.callable), Makespan: time.Duration(d.MakespanNs), Submits: d.Submits, Tasks: d.Tasks,
	}
	if d.Error != "" {
		out.Err = errors.New(d.Error)
	}
	if d.Capture >= 0 && n.Call.OutputPrefix != "" {
		out.Dir = captureDir(n.Call.OutputPrefix, c.rank, d.Capture)
		for _, x := range []struct {
			there bool
			path  *string
			name  string
		}{
			{d.Records, &out.Records, "chip_swimlane_records.json"}, {d.Graph, &out.Graph, "deps.json"},
			{d.Names, &out.Names, n.NameMapFile()}, {d.Phases, &out.Phases, collector.HostPhasesFile}, {true, &out.Sidecar, sidecarName},
		} {
			if x.there {
				*x.path = filepath.Join(out.Dir, x.name)
			}
		}
	}
	res := n.result
	res.Dispatches = append(res.Dispatches, out)
	if res.Rounds == 0 {
		res.Submits, res.Tasks, res.Hazards = res.Submits+d.Submits, res.Tasks+d.Tasks, res.Hazards+d.Hazards
	}
	res.Makespan = max(res.Makespan, out.Makespan)
	if n.completed += d.Tasks; n.Progress != nil {
		n.Progress(n.completed, n.completed)
	}
	for _, text := range d.Notes {
		n.note(fmt.Sprintf("rank %d: %s", c.rank, text))
	}
	if out.Err != nil {
		return out.Err
	}
	return results(f.m.args, frame.Blob)
}

// collectLogs lists the logs that the workers have left.
func (n *nodeBatch) collectLogs() {
	if n.Call.OutputPrefix == "" {
		return
	}
	for _, c := range n.chips {
		pid := c.cmd.Process.Pid
		for _, name := range []string{hostlog.FileName(pid), fmt.Sprintf("device.%d.log", pid)} {
			if path := filepath.Join(n.Call.OutputPrefix, name); exists(path) {
				n.result.Logs = append(n.result.Logs, path)
			}
		}
	}
}

// writeNames writes the level-3 name map, in the case root (spec/name-map.md §9,
// question 4).
func (n *nodeBatch) writeNames() error {
	text := n.node.NameMap()
	if text == nil {
		return nil
	}
	path := filepath.Join(n.Call.OutputPrefix, n.NameMapFile())
	if err := writeWhole(path, text); err != nil {
		return err
	}
	n.result.Names = path
	return nil
}
