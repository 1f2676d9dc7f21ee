package collector_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"swimlane/capture"
	"swimlane/internal/abi"
	"swimlane/internal/collector"
	"swimlane/internal/producer"
	"swimlane/internal/transport/fault"
)

var errBus = errors.New("bus error")

// rig is a chip whose device is driven one step at a time, and counted by itself.
type rig struct {
	*chip
	thread *producer.Thread
	cores  []*producer.Core
	tasks  []int // so far, per core
	phases uint32
	made   [abi.Kinds]uint64 // records that the run attempted
	strays []func()          // counts them in the totals, which are the writers' own until they have flushed
}

// newSmallChip is newChip with little memory, and with pools that fill a free
// queue and not more, if the test does not say otherwise.
func newSmallChip(t testing.TB, s setup) *chip {
	t.Helper()
	s.size = 32 << 20
	if s.depths == (collector.Depths{}) {
		s.depths = collector.Depths{ProfBuffersPerCore: 4, AicoreBuffersPerCore: 4, SchedBuffersPerThread: 4, OrchBuffersPerThread: 4}
	}
	return newChip(t, s)
}

// launchRig attaches the device. Thread 0 drives all cores and is the
// orchestrator too, so that one goroutine can play it.
func (c *chip) launchRig() *rig {
	c.t.Helper()
	d := c.launch()
	d.AnnounceOrchestrator(0)
	r := &rig{chip: c, thread: d.Thread(0), tasks: make([]int, c.cores)}
	for i := range c.cores {
		r.cores = append(r.cores, d.Core(i))
	}
	return r
}

// task runs the next task of a core.
func (r *rig) task(core int) {
	n := r.tasks[core]
	r.tasks[core]++
	task(r.thread, r.cores[core], core, n)
	r.made[abi.KindAicoreTask]++
	if r.thread.Level() >= abi.ScheduleTiming {
		r.made[abi.KindAicpuTask]++
	}
}

// run runs tasks on every core in turn.
func (r *rig) run(tasks int) {
	for range tasks {
		for i := range r.cores {
			r.task(i)
		}
	}
}

// phase writes a phase of the scheduler, if the level has them.
func (r *rig) phase() {
	if r.thread.Level() < abi.SchedPhases {
		return
	}
	r.phases++
	r.thread.SchedPhase(&abi.SchedPhase{StartTime: uint64(r.phases), EndTime: uint64(r.phases) + 1, LoopIter: r.phases, Kind: abi.Complete})
	r.made[abi.KindSchedPhase]++
}

// submit writes a submit of the orchestrator, if the level has them.
func (r *rig) submit() {
	if r.thread.Level() < abi.OrchPhases {
		return
	}
	n := uint32(r.made[abi.KindOrchPhase])
	r.thread.OrchPhase(&abi.OrchPhase{StartTime: uint64(n) + 1, EndTime: uint64(n) + 2, TaskID: uint64(n), SubmitIdx: n})
	r.made[abi.KindOrchPhase]++
}

func (r *rig) flush() {
	all := make([]int, r.chip.cores)
	for i := range all {
		all[i] = i
	}
	r.thread.Flush(all, nil)
	r.thread.FlushOrch()
	r.countStrays()
}

func (r *rig) countStrays() {
	for _, count := range r.strays {
		count()
	}
	r.strays = nil
}

// settle stops the run and holds it to the law: per kind the parts make up what
// was really produced, the file says the same, and every buffer is in one place.
func (r *rig) settle(run *collector.Run) *collector.Outcome {
	r.t.Helper()
	r.countStrays()
	run.Stop()
	o := run.Outcome()
	r.faults.Clear()
	r.law(o)
	return o
}

func (r *rig) law(o *collector.Outcome) {
	r.t.Helper()
	checkSums(r.t, o)
	for kind, a := range o.Capture.Accounting.Kinds {
		if a.Total != r.made[kind] {
			r.t.Errorf("kind %d: %+v, want a total of %d", kind, a, r.made[kind])
		}
		if r.sink == nil && a.Collected != uint64(o.Capture.Count(abi.Kind(kind))) {
			r.t.Errorf("kind %d: %+v, but the capture has %d", kind, a, o.Capture.Count(abi.Kind(kind)))
		}
	}
	r.file(o)
	if p, err := r.host.Where(); err != nil || p.InHand > 0 {
		r.t.Errorf("buffers: %+v: %v", p, err)
	}
}

// account is what a file says of a kind.
type account struct {
	Total, Collected, Dropped, Unflushed uint64
	HostLost                             uint64 `json:"host_lost"`
}

// file exports the capture and holds its accounting to the outcome, by a reader
// of its own and by the one that users have. It gives what that read, nil without
// any record.
func (r *rig) file(o *collector.Outcome) *capture.Records {
	r.t.Helper()
	path, err := o.Capture.Export(r.t.TempDir())
	if errors.Is(err, collector.ErrNoData) {
		return nil
	}
	if err != nil {
		r.t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		r.t.Fatal(err)
	}
	var file struct {
		Metadata struct {
			Accounting struct {
				Policy string
				Kinds  map[string]account
			} `json:"capture_accounting"`
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		r.t.Fatal(err)
	}
	var lost int64
	for kind, name := range map[abi.Kind]string{
		abi.KindAicpuTask: "AICPU_TASK", abi.KindSchedPhase: "SCHED_PHASE", abi.KindOrchPhase: "ORCH_PHASE", abi.KindAicoreTask: "AICORE_TASK",
	} {
		got, want := file.Metadata.Accounting.Kinds[name], o.Capture.Accounting.Kinds[kind]
		if got != (account{Total: want.Total, Collected: want.Collected, Dropped: want.Dropped, Unflushed: want.Unflushed, HostLost: want.HostLost}) {
			r.t.Errorf("the file says %+v of %s, the outcome %+v", got, name, want)
		}
		lost += int64(want.Dropped + want.HostLost + want.Unflushed)
	}
	rec, err := capture.Read(path, capture.Options{})
	if err != nil {
		r.t.Fatalf("the file cannot be read: %v", err)
	}
	if rec.Loss.Accounting != lost {
		r.t.Errorf("a reader finds %d records lost, want %d", rec.Loss.Accounting, lost)
	}
	return rec
}

// want compares the account of a kind.
func (r *rig) want(o *collector.Outcome, kind abi.Kind, want collector.Account) {
	r.t.Helper()
	if got := o.Capture.Accounting.Kinds[kind]; got != want {
		r.t.Errorf("%s: account %+v, want %+v", abi.Buffers[kind].Name, got, want)
	}
}

// silent demands that nothing was said of losses or faults.
func (r *rig) silent(o *collector.Outcome) {
	r.t.Helper()
	for _, n := range o.Notices {
		if n.Severity != collector.Info {
			r.t.Errorf("said %v: %s", n.Severity, n.Text)
		}
	}
}

// said demands one notice of a severity that has a text, and no second.
func (r *rig) said(o *collector.Outcome, s collector.Severity, text string) {
	r.t.Helper()
	found := 0
	for _, n := range saidOf(o.Notices, s.String()) {
		if strings.Contains(n, text) {
			found++
		}
	}
	if found != 1 {
		r.t.Errorf("%d notices (%v) say %q, want 1: %q", found, s, text, saidOf(o.Notices, s.String()))
	}
}

// region is the device's own view of the shared words.
func (c *chip) region() abi.Mem {
	c.t.Helper()
	mem, err := c.memory.Space().At(c.host.DataBase(), int(c.host.Layout().TotalSize))
	if err != nil {
		c.t.Fatal(err)
	}
	return mem
}

func (c *chip) pool(kind abi.Kind, index int) *abi.Pool {
	return abi.View[abi.Pool](c.region(), c.host.Layout().Pool(kind, index))
}

// buffer is the device's view of a record buffer.
func (c *chip) buffer(kind abi.Kind, addr uint64) abi.Mem {
	c.t.Helper()
	mem, err := c.memory.Space().At(addr, abi.Buffers[kind].Size)
	if err != nil {
		c.t.Fatal(err)
	}
	return mem
}

// publish hands an entry over on a queue, as a device does.
func (c *chip) publish(queue int, e abi.ReadyEntry) {
	l, mem := c.host.Layout(), c.region()
	tail := mem.Word32(l.Tail(queue))
	*abi.View[abi.ReadyEntry](mem, l.Entry(queue, tail.Load())) = e
	tail.Store((tail.Load() + 1) % uint32(l.QueueSize))
}

// word names the transfers of some bytes of the region.
func (c *chip) word(op fault.Op, off uint64, size int, r fault.Rule) fault.Rule {
	r.Op, r.Size, r.From, r.To = op, size, c.host.DataBase()+off, c.host.DataBase()+off+uint64(size)
	return r
}

// patience is a clock that moves only while a device waits, 1 ms per look, so
// that a wait which nobody ends is over after so many looks.
func patience(timeout, deadline time.Duration) producer.Waiting {
	looks := int64(0)
	return producer.Waiting{
		Timeout: timeout, Deadline: deadline,
		Now:  func() time.Time { return time.UnixMilli(looks) },
		Wait: func() { looks++ },
	}
}

// A buffer that cannot be copied is tried again, and lost by the host if that
// fails too; its place goes on (spec/collector.md §5.5).
func TestFailingCopies(t *testing.T) {
	const buffers = 4
	for position := 1; position <= buffers; position++ {
		for _, always := range []bool{false, true} {
			for _, count := range []bool{false, true} { // fails too
				if count && (!always || position != 3) {
					continue
				}
				t.Run(fmt.Sprintf("buffer %d/always=%v/count=%v", position, always, count), func(t *testing.T) {
					c := newSmallChip(t, setup{shadow: true, cores: 1, shards: 1})
					const size, counted = 32064, 32000 // spec/device-abi.md §3
					run := c.begin()
					r := c.launchRig()
					c.faults.Add(fault.Rule{Op: fault.FromDevice, Size: size, Nth: position, Err: errBus, Before: func(call fault.Call) {
						if always {
							c.faults.Add(fault.Rule{Op: fault.FromDevice, Size: size, From: call.Addr, To: call.Addr + 1, Err: errBus})
						}
						if count {
							c.faults.Add(fault.Rule{Op: fault.FromDevice, Size: 4, From: call.Addr + counted, To: call.Addr + counted + 4, Err: errBus})
						}
					}})
					r.run(buffers * 1000)
					r.flush()
					o := r.settle(run)
					want := collector.Account{Total: buffers * 1000, Collected: buffers * 1000}
					if always {
						want.Collected, want.HostLost = want.Collected-1000, 1000
						r.said(o, collector.Warning, "1000 of 4000 AICPU_TASK records reached the host and were lost there")
					} else {
						r.silent(o)
					}
					r.want(o, abi.KindAicpuTask, want)
					r.want(o, abi.KindAicoreTask, collector.Account{Total: buffers * 1000, Collected: buffers * 1000})
					wantFaults := collector.Faults{}
					if always {
						wantFaults.Copies = 1
					}
					if o.Faults != wantFaults {
						t.Errorf("faults %+v, want %+v", o.Faults, wantFaults)
					}
					if p, _ := c.host.Where(); p.Retired+p.Astray > 0 {
						t.Errorf("buffers %+v: some are out of circulation", p)
					}
				})
			}
		}
	}
}

// Words that cannot be moved are tried again: once costs nothing; always costs
// what it says, and the end comes all the same.
func TestFailingWords(t *testing.T) {
	const tasks = 4000 // the free queues hold buffers for so many of both kinds
	for _, w := range []struct {
		name string
		op   fault.Op
		at   func(c *chip) (off uint64, size int)
		lost bool // for good, if it always fails: nothing can be taken from the device
	}{
		{"queue tail", fault.FromDevice, func(c *chip) (uint64, int) { return c.host.Layout().Tail(0), 4 }, true},
		{"ready entry", fault.FromDevice, func(c *chip) (uint64, int) { return c.host.Layout().Entry(0, 0), 32 }, true},
		{"queue head", fault.ToDevice, func(c *chip) (uint64, int) { return c.host.Layout().Head(0), 4 }, true},
		{"free queue head", fault.FromDevice, func(c *chip) (uint64, int) { return c.host.Layout().Pool(abi.KindAicpuTask, 0) + 96, 4 }, false},
		{"free slot", fault.ToDevice, func(c *chip) (uint64, int) { return c.host.Layout().Pool(abi.KindAicpuTask, 0) + 64, 8 }, false},
		{"free queue tail", fault.ToDevice, func(c *chip) (uint64, int) { return c.host.Layout().Pool(abi.KindAicpuTask, 0) + 100, 4 }, false},
	} {
		for _, always := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/always=%v", w.name, always), func(t *testing.T) {
				c := newSmallChip(t, setup{
					shadow: true, cores: 1, threads: 1, shards: 1, depths: collector.DefaultDepths(),
					waiting: producer.Waiting{Timeout: 20 * time.Millisecond, Deadline: 20 * time.Millisecond},
				})
				run := c.begin()
				r := c.launchRig()
				rule := fault.Rule{Err: errBus}
				if !always {
					rule.Nth = 1
				}
				off, size := w.at(c)
				before, _ := c.memory.InUse()
				failed := c.faults.Count(w.op).Failed
				c.faults.Add(c.word(w.op, off, size, rule))
				r.run(tasks)
				// The device needs nothing more from the host, which may come to it later.
				for end := time.Now().Add(time.Minute); c.faults.Count(w.op).Failed == failed; time.Sleep(time.Millisecond) {
					if time.Now().After(end) {
						t.Fatal("the host never moved the word")
					}
				}
				r.flush()
				o := r.settle(run)
				if o.Faults.Transfers == 0 || o.Faults.Retired != 0 {
					t.Errorf("faults %+v, want failed transfers, and no buffer out of use", o.Faults)
				}
				if after, _ := c.memory.InUse(); after > before+2 { // a lane of each kind may have been short once
					t.Errorf("%d allocations, and %d at the start: failing transfers use buffers up", after, before)
				}
				want := collector.Account{Total: tasks, Collected: tasks}
				switch {
				case !always:
					r.want(o, abi.KindAicpuTask, want)
					r.want(o, abi.KindAicoreTask, want)
					r.silent(o)
				case w.lost:
					want = collector.Account{Total: tasks, HostLost: tasks}
					r.want(o, abi.KindAicpuTask, want)
					r.want(o, abi.KindAicoreTask, want)
				}
			})
		}
	}
}
