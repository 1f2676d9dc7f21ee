package scene

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"syscall"

	"swimlane/internal/hostlog"
	"swimlane/internal/mailbox"
	"swimlane/internal/sim"
	"swimlane/internal/transport"
)

// workerEnv tells a process that it is a chip worker, with the version of the
// protocol as its value.
const workerEnv = "SWIMLANE_CHIP_WORKER"

// The descriptors of a worker's pipes.
const (
	workerFrom = 3
	workerTo   = 4
)

// registered are the scenes that processes of this program can be workers for.
var registered atomic.Pointer[[]*Scene]

// Worker makes the calling program one that can run scenes of level 3, whose chips
// are served by further processes of it: a process that was started as such a worker
// stays here until it is done, and ends. Every other one returns at once. It must
// come first in main, with all scenes that the program runs; [Main] calls it.
func Worker(scenes ...*Scene) {
	registered.Store(&scenes)
	version := os.Getenv(workerEnv)
	if version == "" {
		return
	}
	os.Unsetenv(workerEnv)      // a child of this one is none
	signal.Ignore(os.Interrupt) // a terminal sends it to all of a group; the dispatcher decides
	endEarly()
	if version != fmt.Sprint(mailbox.Version) {
		fmt.Fprintf(os.Stderr, "Error: a chip worker of version %s is wanted: this program has %d\n", version, mailbox.Version)
		os.Exit(1)
	}
	os.Exit(beWorker(scenes, os.NewFile(workerFrom, "from the dispatcher"), os.NewFile(workerTo, "to the dispatcher")))
}

// endEarly lets the run that is under way end as one that failed, with what it has
// recorded, when this process is told to end: by its dispatcher, or with the whole group.
// Told once more it ends at once.
func endEarly() {
	told := make(chan os.Signal, 1)
	for _, s := range []os.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) { // as under nohup
			signal.Notify(told, s)
		}
	}
	go func() {
		<-told
		sim.Interrupt()
		signal.Reset(syscall.SIGTERM)
	}()
}

// beWorker serves one dispatcher. The result is an exit code.
func beWorker(scenes []*Scene, from io.Reader, to io.Writer) int {
	frames := make(chan mailbox.Frame)
	go func() {
		for {
			f, err := mailbox.Read(from)
			if err == io.EOF {
				os.Exit(1) // the dispatcher is gone, and with it who would want the results
			} else if err != nil {
				fmt.Fprintf(os.Stderr, "Error: a chip worker cannot read its orders: %v\n", err)
				os.Exit(1)
			}
			frames <- f
			if f.Kind == kindStop {
				return
			}
		}
	}()
	w := &chipWorker{clock: hostlog.SystemClock()}
	err := w.greet(scenes, <-frames)
	answer, head := uint16(kindReady), any(ready{w.Rank, os.Getpid()})
	if err != nil {
		answer, head = kindRefused, refusal{err.Error()}
	}
	if !send(to, answer, head, nil) || err != nil {
		return 1
	}
	for f := range frames {
		switch f.Kind {
		case kindStop:
			var last farewell
			if err := w.log.Close(); err != nil {
				last.Log = err.Error()
			}
			if !send(to, kindEnded, last, nil) {
				return 1
			}
			return 0
		case kindOrder:
			head, blob := w.serve(f)
			if !send(to, kindDone, head, blob) {
				return 1
			}
		default:
			fmt.Fprintf(os.Stderr, "Error: a chip worker got a frame of kind %d: expected an order or the end\n", f.Kind)
			return 1
		}
	}
	return 1
}

// send writes a frame, and says so on the standard error if that cannot be.
func send(to io.Writer, kind uint16, head any, blob []byte) bool {
	f, err := mailbox.New(kind, head, blob)
	if err == nil {
		err = mailbox.Write(to, f)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "Error: a chip worker cannot answer: %v\n", err)
	}
	return err == nil
}

// chipWorker is a process that serves a chip of a node.
type chipWorker struct {
	hello
	Selected
	clock    hostlog.Clock
	log      *hostlog.Log
	costs    *Costs
	inv      uint64 // runs of the chip so far
	captures int    // directories so far
}

// greet finds what the dispatcher wants this process to be.
func (w *chipWorker) greet(scenes []*Scene, f mailbox.Frame) error {
	if f.Kind != kindHello {
		return fmt.Errorf("the first frame is of kind %d: expected %d", f.Kind, kindHello)
	}
	if err := f.Decode(&w.hello); err != nil {
		return err
	}
	for _, s := range scenes {
		if s.Class != w.Class || s.Node == nil {
			continue
		}
		for i := range s.Cases {
			if s.Cases[i].Name == w.hello.Case {
				w.Selected = Selected{s, &s.Cases[i]}
			}
		}
	}
	if w.Scene == nil {
		return fmt.Errorf("there is no case %s::%s of level 3 among the %d scenes of this program", w.Class, w.hello.Case, len(scenes))
	}
	if err := errors.Join(w.Scene.Check(), w.Scene.runnable(), w.hello.Config.checkNode(3)); err != nil {
		return err
	}
	if got := w.Scene.Node.digests(); strings.Join(got, " ") != strings.Join(w.Digests, " ") {
		return fmt.Errorf("the callables of %s are others here than in the dispatcher: give scene.Worker the scene that is run", w.Class)
	}
	var err error
	if w.costs, err = DefaultCosts(w.Platform); err != nil {
		return err
	}
	if err := w.costs.Read(strings.NewReader(w.Costs)); err != nil {
		return err
	}
	return w.openLog()
}

// openLog begins the log of this process, in the case root.
func (w *chipWorker) openLog() error {
	b := batch{Setup: Setup{LogLevel: w.LogLevel}}
	if err := b.readLogLevel(); err != nil {
		return err
	}
	w.log = hostlog.New(hostlog.Options{Thread: func() int64 { return int64(os.Getpid()) }, Threshold: b.threshold})
	err := w.log.Bind(w.Root)
	w.log.Anchor()
	w.log.Message(hostlog.Info, "worker", "rank %d of %s on device %d", w.Rank, w.Label(), w.Device)
	return err
}

// serve runs an order.
func (w *chipWorker) serve(f mailbox.Frame) (d *done, blob []byte) {
	var o order
	d = &done{Capture: -1}
	defer func() {
		if r := recover(); r != nil {
			d.Error, blob = fmt.Sprintf("panic: %v\n%s", r, debug.Stack()), nil
		}
	}()
	err := f.Decode(&o)
	if err == nil {
		d.DispatchID = o.DispatchID
		blob, err = w.run(&o, f.Blob, d)
	}
	if err != nil {
		d.Error, blob = err.Error(), nil
		w.log.Message(hostlog.Error, "run", "rank %d failed: %v", w.Rank, err)
	}
	return d, blob
}

// run runs an order on a chip that was just switched on.
func (w *chipWorker) run(o *order, blob []byte, d *done) ([]byte, error) {
	if o.Callable < 0 || o.Callable >= len(w.Digests) || w.Scene.Node.Callables[o.Callable].Chip == nil {
		return nil, fmt.Errorf("callable %d is no chip callable of the %d of %s", o.Callable, len(w.Digests), w.Class)
	}
	w.inv++
	seat := newSeat(w.clock, w.Root, w.Digests[o.Callable], w.inv, o)
	call := CallConfig{EnableChipSwimlane: w.Swimlane, EnableDepGen: w.DepGen}
	if call.diagnostics() && w.Root != "" {
		d.Capture = w.captures
		w.captures++
		call.OutputPrefix, call.CaptureClockAnchors = captureDir(w.Root, w.Rank, d.Capture), w.Swimlane > 0
		if err := os.MkdirAll(call.OutputPrefix, 0o777); err != nil {
			return nil, err
		}
		if err := writeSidecar(call.OutputPrefix, w.Rank, d.Capture, o, w.Digests[o.Callable]); err != nil {
			return nil, err
		}
	}
	args, err := o.arguments(blob)
	if err != nil {
		return nil, err
	}
	b := &batch{
		Selected: w.onChip(w.Scene.Node.Callables[o.Callable], w.hello.Config),
		Setup:    Setup{Platform: w.Platform, Call: call, Costs: w.costs, Rounds: 1, LogLevel: w.LogLevel},
		log:      w.log, result: &Result{},
	}
	if err := b.check(); err != nil {
		return nil, err
	}
	err = b.dispatch(seat, args)
	r := b.result
	d.Records, d.Graph, d.Names, d.Phases = exists(r.Records), exists(r.Graph), exists(r.Names), exists(r.Phases)
	d.Submits, d.Tasks, d.Hazards, d.MakespanNs, d.Notes = r.Submits, r.Tasks, r.Hazards, r.Makespan.Nanoseconds(), r.Notes
	if err != nil {
		return nil, err
	}
	var out []byte
	for i := range args {
		if o.Args[i].travels(true) {
			out = args[i].appendTo(out)
		}
	}
	return out, nil
}

// exists tells whether a file was written.
func exists(path string) bool {
	if path == "" {
		return false
	}
	st, err := os.Stat(filepath.Clean(path))
	return err == nil && st.Mode().IsRegular()
}

// dispatch runs a chip callable with arguments that it may change.
func (b *batch) dispatch(seat *seat, args []Data) error {
	if s := b.Scene.Callable.Orchestration.Signature; s != nil && len(s) != len(args) {
		return fmt.Errorf("there are %d arguments: expected the %d of the orchestration's signature", len(args), len(s))
	}
	memory, err := transport.NewShared(memoryBase, memorySize)
	if err != nil {
		return err
	}
	defer memory.Close()
	r := &runner{batch: b, memory: memory, alloc: transport.Mapped(memory).Alloc, inputs: args, seat: seat}
	copying := hostlog.Interval{Start: seat.clock.Mono()}
	if err := r.upload(); err != nil {
		return err
	}
	copying.End = seat.clock.Mono()
	if r.chip, err = sim.NewChip(r.arch, r.clusters(), &r.costs); err != nil {
		return err
	}
	seat.bound(copying, len(args))
	err = r.execute()
	if !r.ended {
		return err
	}
	seat.collected(r.launch)
	err = errors.Join(err, r.download())
	seat.validated(r.launch)
	r.logs(r.lines)
	return err
}
