package collector_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/collector"
	"swimlane/internal/producer"
	"swimlane/internal/transport/fault"
)

// What a device with real threads does, and an independent list of what it
// recorded. The records of the lists are made by functions of their place, so
// that a list is no more than an order.

// tokenOf is the token of task n of a core whose sequence stood at first: tokens
// count up to 0x7FFFFFEF and begin again at 0 (spec/device-abi.md §1).
func tokenOf(first uint32, n int) uint32 { return uint32((uint64(first) + 1 + uint64(n)) % 0x7FFFFFF0) }

func schedRecord(thread, i int) abi.SchedPhase {
	p := abi.SchedPhase{
		StartTime: uint64(thread+1)<<48 | uint64(i)*8, EndTime: uint64(thread+1)<<48 | uint64(i)*8 + 5, LoopIter: uint32(i),
		Kind: abi.Complete, TasksProcessed: uint32(i % 7), SharedDepthAtStart: [3]int16{int16(i % 100), 1, 2}, SharedDepthAtEnd: [3]int16{3, int16(i % 50), 4},
	}
	if i%3 == 0 {
		p.Kind = abi.Dispatch
		p.SetPops(uint32(i), uint32(thread))
	}
	return p
}

func orchRecord(i int) abi.OrchPhase {
	return abi.OrchPhase{StartTime: uint64(i)*10 + 1, EndTime: uint64(i)*10 + 9, TaskID: abi.TaskID(1, uint32(i)), SubmitIdx: uint32(i)}
}

// load is how much a device does in one run, and how it ends.
type load struct {
	tasks   int   // per core
	phases  int   // per scheduler thread
	submits int   // of the orchestrator
	first   []int // per core: sequence of the tokens before the first dispatch; 0 if nil
	// leave makes the device end as one that died: no thread flushes, and tasks
	// are in flight after so many that have finished on a core.
	leave int
	twice bool // a leader attaches, takes buffers, and another one attaches again
}

// made is what a device recorded, as its own threads list it.
type made struct {
	dispatched []int   // per core
	executed   []int   // per core: tasks 0…n−1
	recorded   [][]int // per core: tasks in the order of their AicpuTask records
	gates      []int   // per core: AicoreTask buffers whose gate was acknowledged
	phases     []int   // per scheduler thread
	submits    int
	lost       []uint64 // per core: tasks that found no slot
	stalls     int
	faults     error // of the writers; the first
}

// jitter yields at random.
type jitter struct {
	seed uint64
	n    atomic.Uint64
}

func (j *jitter) yield() {
	x := (j.seed + j.n.Add(1)) * 0x9E3779B97F4A7C15
	x ^= x >> 29
	for range (x * 0xBF58476D1CE4E5B9) >> 61 & 3 {
		runtime.Gosched()
	}
}

// aicore is a core with its two registers.
type aicore struct {
	data, cond atomic.Uint32
	left       chan struct{}
}

const noTask = -1

// runCore is the task loop of an AICore (spec/collector.md §2.3).
func (a *aicore) run(w *producer.Core, core int, executed *int, j *jitter) {
	defer close(a.left)
	for last := uint32(abi.TokenAicpuIdle); ; {
		token := a.data.Load()
		if token == last {
			runtime.Gosched()
			continue
		}
		if last = token; token == abi.TokenExit {
			return
		}
		w.Reserve()
		n := *executed
		a.cond.Store(abi.Ack(token))
		if n%5 == 0 {
			j.yield()
		}
		a.cond.Store(abi.Fin(token))
		if n%3 == 0 {
			j.yield()
		}
		r := aicoreRecord(core, n)
		w.Commit(r.TaskTokenRaw, token, r.StartTime-uint64(r.ReceiveToStartCycles), r.StartTime, r.EndTime)
		*executed = n + 1
	}
}

// slots are the two dispatch slots of a core, as its thread sees them: tasks,
// or noTask.
type slots struct {
	running, pending int
	acked            bool // the running task was
	finished         int  // tasks
}

// scheduler is one AICPU thread that drives cores.
type scheduler struct {
	*made
	load   load
	thread *producer.Thread
	index  int
	chip   []aicore
	mine   []int // cores
	slots  map[int]*slots
	rng    *rand.Rand
	jitter *jitter
}

func (s *scheduler) token(core, n int) uint32 {
	if s.load.first == nil {
		return tokenOf(0, n)
	}
	return tokenOf(uint32(s.load.first[core]), n)
}

func (s *scheduler) dispatch(core int) int {
	n := s.dispatched[core]
	s.thread.Dispatch(core, s.token(core, n))
	s.dispatched[core] = n + 1
	s.chip[core].data.Store(s.token(core, n))
	return n
}

func (s *scheduler) finish(core, n int) {
	at := dispatchOf(core, n)
	s.thread.Task(core, s.token(core, n), at, at+90)
	s.recorded[core] = append(s.recorded[core], n)
	s.slots[core].finished++
}

func (s *scheduler) ack(core, n int, id uint32) {
	s.thread.Ack(core, id)
	if n > 0 && n%1024 == 0 && s.gates[core] < n/1024 { // the first task of a buffer, of which a second event is nothing new
		s.gates[core] = n / 1024
	}
}

// poll looks at the register of a core and dispatches where there is room.
func (s *scheduler) poll(core int) {
	c, v := s.slots[core], s.chip[core].cond.Load()
	id, fin := v&abi.TaskIDMask, v&abi.StateMask != 0
	switch {
	case c.pending != noTask && id == s.token(core, c.pending): // which proves that the running one has finished
		s.ack(core, c.pending, id)
		running, pending := c.running, c.pending
		if fin {
			c.running, c.pending = noTask, noTask
			s.finish(core, pending) // pending first (spec/collector.md §2.6)
		} else {
			c.running, c.pending, c.acked = pending, noTask, true
		}
		s.finish(core, running)
	case c.running != noTask && id == s.token(core, c.running):
		c.acked = true
		s.ack(core, c.running, id)
		if fin && c.pending == noTask {
			n := c.running
			c.running = noTask
			s.finish(core, n)
		}
	}
	if s.dispatched[core] == s.load.tasks {
		return
	}
	switch {
	case c.running == noTask:
		c.running, c.acked = s.dispatch(core), false
	case c.pending == noTask && c.acked && s.rng.IntN(4) == 0:
		c.pending = s.dispatch(core)
	}
}

// run is the thread's loop.
func (s *scheduler) run() {
	s.slots = map[int]*slots{}
	for _, core := range s.mine {
		s.slots[core] = &slots{running: noTask, pending: noTask}
	}
	steps := max(1, s.load.tasks*len(s.mine))
	for {
		done := true
		for _, core := range s.mine {
			s.poll(core)
			c := s.slots[core]
			done = done && (s.load.leave > 0 && c.finished >= s.load.leave || c.finished == s.load.tasks)
		}
		if s.load.phases > 0 {
			finished := 0
			for _, c := range s.slots {
				finished += c.finished
			}
			s.emit(s.load.phases * finished / steps)
		}
		if done {
			break
		}
		s.jitter.yield()
	}
	if s.load.leave == 0 {
		s.emit(s.load.phases)
		s.thread.Flush(s.mine, s.exit)
	} else {
		for _, core := range s.mine {
			s.exit(core)
		}
	}
}

func (s *scheduler) emit(upTo int) {
	for s.phases[s.index] < upTo {
		p := schedRecord(s.index, s.phases[s.index])
		s.thread.SchedPhase(&p)
		s.phases[s.index]++
	}
}

// exit ends the task loop of a core.
func (s *scheduler) exit(core int) {
	s.chip[core].data.Store(abi.TokenExit)
	<-s.chip[core].left
}

// operate is a launch: scheduler threads, an orchestrator, which is the last
// thread, and AICores, all at the same time.
func (c *chip) operate(l load, j *jitter) *made {
	c.t.Helper()
	if l.twice {
		c.launch()
	}
	d := c.launch()
	scheds := c.threads - 1
	m := &made{
		dispatched: make([]int, c.cores), executed: make([]int, c.cores), recorded: make([][]int, c.cores), gates: make([]int, c.cores),
		phases: make([]int, scheds), lost: make([]uint64, c.cores),
	}
	chip, writers := make([]aicore, c.cores), make([]*producer.Core, c.cores)
	var running sync.WaitGroup
	for i := range chip {
		chip[i].data.Store(abi.TokenAicpuIdle)
		chip[i].cond.Store(abi.TokenAicoreIdle)
		chip[i].left = make(chan struct{})
		writers[i] = d.Core(i)
		running.Go(func() { chip[i].run(writers[i], i, &m.executed[i], j) })
	}
	owners := make([]int8, c.cores)
	for t := range scheds {
		s := &scheduler{made: m, load: l, thread: d.Thread(t), index: t, chip: chip, rng: rand.New(rand.NewPCG(j.seed, uint64(t))), jitter: j}
		for core := t; core < c.cores; core += scheds {
			s.mine = append(s.mine, core)
			owners[core] = int8(t)
		}
		running.Go(s.run)
	}
	running.Go(func() {
		thread := d.Thread(scheds)
		d.AnnounceOrchestrator(scheds)
		for m.submits < l.submits {
			o := orchRecord(m.submits)
			thread.OrchPhase(&o)
			if m.submits++; m.submits%512 == 0 {
				j.yield()
			}
		}
		if err := d.PublishCores(owners); err != nil {
			c.t.Error(err)
		}
		if l.leave == 0 {
			thread.FlushOrch()
		}
	})
	running.Wait()
	for t := range c.threads {
		m.stalls += d.Thread(t).Stalls().Count
		if _, err := d.Thread(t).Faults(); err != nil && m.faults == nil {
			m.faults = err
		}
	}
	for i, w := range writers {
		m.lost[i] = w.Lost()
	}
	return m
}

// disturb closes the push gate again and again, as a lane with a full ready
// queue does, until the function it returns is called.
func (c *chip) disturb(j *jitter) (end func()) {
	mem, err := c.memory.Space().At(c.host.DataBase(), int(c.host.Layout().TotalSize))
	if err != nil {
		c.t.Fatal(err)
	}
	bp := abi.View[abi.Backpressure](mem, c.host.Layout().Backpressure)
	var stop atomic.Bool
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for !stop.Load() {
			bp.RqContended.Store(1)
			for bp.RqContended.Load() != 0 && !stop.Load() {
				runtime.Gosched()
			}
			for range 200 {
				j.yield()
			}
		}
	}()
	return func() { stop.Store(true); <-ended }
}

// poolKey is a pool.
type poolKey struct {
	kind  abi.Kind
	index int
}

// sunk are buffers that a sink received, by pool.
type sunk struct {
	mu    sync.Mutex
	parts map[poolKey][]part
	stall func() // called for each buffer, without the lock
}

type part struct {
	seq  uint32
	data []byte
}

func (s *sunk) take(_ int, kind abi.Kind, index int, seq uint32, records []byte) {
	if s.stall != nil {
		s.stall()
	}
	data := append(abi.NewMem(len(records))[:0], records...)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.parts == nil {
		s.parts = map[poolKey][]part{}
	}
	s.parts[poolKey{kind, index}] = append(s.parts[poolKey{kind, index}], part{seq, data})
}

// sinkRecords are the records of a pool in the order of its buffers. Of a
// buffer of AicoreTask records only those slots count that the core can have
// written, given its dispatches.
func sinkRecords[R any](s *sunk, kind abi.Kind, index, dispatched int) (out []R) {
	parts := s.parts[poolKey{kind, index}]
	slices.SortStableFunc(parts, func(a, b part) int { return int(a.seq) - int(b.seq) })
	for _, p := range parts {
		n := len(p.data) / abi.Buffers[kind].RecordSize
		if kind == abi.KindAicoreTask {
			n = min(n, max(0, dispatched-int(p.seq)*1024))
		}
		out = append(out, abi.Views[R](p.data, 0, n)...)
	}
	return out
}

// got are the records of a run, by pool.
type got struct {
	aicore [][]abi.AicoreTask
	aicpu  [][]abi.AicpuTask
	sched  [][]abi.SchedPhase
	orch   []abi.OrchPhase
}

func (c *chip) received(capture *collector.Capture, s *sunk, m *made) (g got) {
	for core := range c.cores {
		g.aicore, g.aicpu = append(g.aicore, nil), append(g.aicpu, nil)
		for part := range capture.AicoreTasks(core) {
			g.aicore[core] = append(g.aicore[core], part...)
		}
		for part := range capture.AicpuTasks(core) {
			g.aicpu[core] = append(g.aicpu[core], part...)
		}
		if s != nil {
			g.aicore[core] = sinkRecords[abi.AicoreTask](s, abi.KindAicoreTask, core, m.dispatched[core])
			g.aicpu[core] = sinkRecords[abi.AicpuTask](s, abi.KindAicpuTask, core, 0)
		}
	}
	for t := range c.threads - 1 {
		g.sched = append(g.sched, nil)
		for part := range capture.SchedPhases(t) {
			g.sched[t] = append(g.sched[t], part...)
		}
		if s != nil {
			g.sched[t] = sinkRecords[abi.SchedPhase](s, abi.KindSchedPhase, t, 0)
		}
	}
	for part := range capture.OrchPhases(0) {
		g.orch = append(g.orch, part...)
	}
	if s != nil {
		g.orch = sinkRecords[abi.OrchPhase](s, abi.KindOrchPhase, 0, 0)
	}
	return g
}

// prefix compares records with the beginning of a list.
func prefix[R comparable](t testing.TB, what string, have []R, want func(i int) R, n int) {
	t.Helper()
	if len(have) != n {
		t.Errorf("%s: %d records, want %d", what, len(have), n)
	}
	for i := range min(len(have), n) {
		if have[i] != want(i) {
			t.Errorf("%s: record %d is %+v, want %+v", what, i, have[i], want(i))
			return
		}
	}
}

// wholeBuffers is what of n records was handed over without a flush, if a full
// buffer goes when it is full, or, late, with the record after.
func wholeBuffers(n, capacity int, late bool) int {
	if late && n > 0 {
		n--
	}
	return n / capacity * capacity
}

// check compares what came with what was made, when nothing may have been lost:
// records one to one, accounts to the last record.
func (c *chip) check(o *collector.Outcome, s *sunk, l load, m *made) {
	c.t.Helper()
	g, level := c.received(o.Capture, s, m), o.Capture.Level
	var want [abi.Kinds]collector.Account
	count := func(kind abi.Kind, total, collected int) {
		a := &want[kind]
		a.Total += uint64(total)
		a.Collected += uint64(collected)
		a.Unflushed += uint64(total - collected)
	}
	first := func(core int) uint32 {
		if l.first == nil {
			return 0
		}
		return uint32(l.first[core])
	}
	for core := range c.cores {
		n, k := m.executed[core], len(m.recorded[core])
		if l.leave > 0 {
			n, k = m.gates[core]*1024, wholeBuffers(k, 1000, false)
		} else if n != l.tasks || k != l.tasks {
			c.t.Fatalf("core %d executed %d tasks and %d were recorded, want %d", core, n, k, l.tasks)
		}
		prefix(c.t, fmt.Sprintf("AicoreTask of core %d", core), g.aicore[core], func(i int) abi.AicoreTask {
			r := aicoreRecord(core, i)
			r.RegTaskID = tokenOf(first(core), i)
			return r
		}, n)
		count(abi.KindAicoreTask, m.dispatched[core], n)
		total := len(m.recorded[core])
		if level < abi.ScheduleTiming {
			total, k = 0, 0
		}
		prefix(c.t, fmt.Sprintf("AicpuTask of core %d", core), g.aicpu[core], func(i int) abi.AicpuTask {
			n := m.recorded[core][i]
			r := aicpuRecord(core, n)
			r.RegTaskID = tokenOf(first(core), n)
			return r
		}, k)
		count(abi.KindAicpuTask, total, k)
	}
	for t := range c.threads - 1 {
		total := m.phases[t]
		if level < abi.SchedPhases {
			total = 0
		}
		n := total
		if l.leave > 0 {
			n = wholeBuffers(n, 16384, true)
		}
		prefix(c.t, fmt.Sprintf("SchedPhase of thread %d", t), g.sched[t], func(i int) abi.SchedPhase { return schedRecord(t, i) }, n)
		count(abi.KindSchedPhase, total, n)
	}
	total := m.submits
	if level < abi.OrchPhases {
		total = 0
	}
	n := total
	if l.leave > 0 {
		n = wholeBuffers(n, 16384, true)
	}
	prefix(c.t, "OrchPhase", g.orch, orchRecord, n)
	count(abi.KindOrchPhase, total, n)
	for kind, a := range o.Capture.Accounting.Kinds {
		if a != want[kind] {
			c.t.Errorf("%s: account %+v, want %+v", abi.Buffers[kind].Name, a, want[kind])
		}
	}
	if o.Faults != (collector.Faults{}) {
		c.t.Errorf("faults of the host: %+v", o.Faults)
	}
	if m.faults != nil {
		c.t.Errorf("fault of the device: %v", m.faults)
	}
}

// seeds are the seeds of a randomized test: that of SWIMLANE_SEED, to repeat
// one, or so many new ones.
func seeds(t *testing.T, n int) []uint64 {
	if text := os.Getenv("SWIMLANE_SEED"); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return []uint64{seed}
	}
	if testing.Short() {
		n = (n + 1) / 2
	}
	out := make([]uint64, n)
	for i := range out {
		out[i] = uint64(rand.Uint32())
	}
	return out
}

// TestRandomSchedules runs a device with real threads beside a collector that is
// kept over several runs, over both transports and with every number of shards,
// with yields at every seam. Every record must come once and every account must
// be exact, whatever the order of things.
func TestRandomSchedules(t *testing.T) {
	variant := 0
	for _, seed := range seeds(t, 12) {
		variant++
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Logf("repeat with SWIMLANE_SEED=%d", seed)
			randomRuns(t, seed, variant)
		})
	}
}

func randomRuns(t *testing.T, seed uint64, variant int) {
	rng := rand.New(rand.NewPCG(seed, 7))
	j := &jitter{seed: seed}
	s := setup{
		shadow: variant%2 == 0, cores: 1 + rng.IntN(4), threads: 2 + rng.IntN(3), level: abi.OrchPhases,
		waiting: producer.Waiting{Wait: func() { j.yield(); runtime.Gosched() }},
	}
	if rng.IntN(2) == 0 {
		s.arch, s.threads = abi.A5, 2+rng.IntN(4)
	}
	s.shards = 1 + rng.IntN(s.threads)
	if rng.IntN(2) == 0 { // small pools, so that the device must wait; two leaders take two buffers
		s.depths = collector.Depths{ProfBuffersPerCore: 1, AicoreBuffersPerCore: 1, SchedBuffersPerThread: 2, OrchBuffersPerThread: 2}
	}
	c := newChip(t, s)
	for _, op := range []fault.Op{fault.Alloc, fault.FromDevice, fault.ToDevice} {
		c.faults.Add(fault.Rule{Op: op, Before: func(fault.Call) { j.yield() }})
	}
	for range 2 {
		l := load{tasks: 1 + rng.IntN(2000), phases: rng.IntN(40000), submits: rng.IntN(40000), twice: rng.IntN(3) == 0}
		if rng.IntN(3) == 0 { // more than all buffers of a core at the start hold, so that they come again
			l.tasks += 4 * 1024
		}
		if rng.IntN(3) == 0 {
			l.leave = 1 + rng.IntN(l.tasks)
		}
		if rng.IntN(2) == 0 {
			for range c.cores {
				l.first = append(l.first, 0x7FFFFFF0-1-rng.IntN(2000))
			}
		}
		level := abi.Level(1 + rng.IntN(4))
		var into *sunk
		if rng.IntN(2) == 0 {
			into = &sunk{stall: func() {
				for range 20 {
					j.yield()
				}
			}}
		}
		t.Logf("%s, shadow %v, %d cores, %d threads, %d shards, level %d, depths %v, sink %v: %+v",
			c.arch.Name, c.shadow, c.cores, c.threads, c.shards, level, c.depths, into != nil, l)
		o, m := c.once(level, into, l, j)
		c.check(o, into, l, m)
		if t.Failed() {
			return
		}
	}
}

// once is one run with disturbances.
func (c *chip) once(level abi.Level, into *sunk, l load, j *jitter) (*collector.Outcome, *made) {
	c.t.Helper()
	options := collector.RunOptions{Level: level, Runtime: tmr}
	if into != nil {
		options.Sink = into.take
	}
	run, err := c.host.Begin(options)
	if err != nil {
		c.t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		c.t.Fatal(err)
	}
	end := c.disturb(j)
	m := c.operate(l, j)
	end()
	run.Stop()
	o := run.Outcome()
	checkSums(c.t, o)
	return o, m
}

// TestFreezeUnderLoad: lanes that run out of buffers again and again, and are
// served again and again. A lost wake-up would end in the deadline, as a fault.
func TestFreezeUnderLoad(t *testing.T) {
	for _, lanes := range []int{1, 2, 4} {
		for _, shadow := range []bool{false, true} {
			t.Run(fmt.Sprintf("lanes=%d/shadow=%v", lanes, shadow), func(t *testing.T) {
				j := &jitter{seed: uint64(lanes)}
				var waits atomic.Int64
				var ended atomic.Bool
				into := &sunk{stall: func() { // until the device has waited since
					for seen := waits.Load(); waits.Load() == seen && !ended.Load(); {
						runtime.Gosched()
					}
				}}
				c := newChip(t, setup{
					arch: abi.A5, shadow: shadow, cores: lanes, threads: lanes + 1, level: abi.ScheduleTiming, sink: into.take,
					waiting: producer.Waiting{Wait: func() { waits.Add(1); j.yield() }},
					// A target of 0: what a lane has is what came back.
					depths: collector.Depths{ProfBuffersPerCore: 1, AicoreBuffersPerCore: 1, SchedBuffersPerThread: 1, OrchBuffersPerThread: 1},
				})
				run := c.begin()
				d := c.launch()
				const tasks = 20_000
				var running sync.WaitGroup
				for lane := range lanes {
					running.Go(func() {
						core := d.Core(lane)
						for n := range tasks {
							task(d.Thread(lane), core, lane, n)
						}
						d.Thread(lane).Flush([]int{lane}, nil)
					})
				}
				running.Wait()
				ended.Store(true)
				run.Stop()
				o := run.Outcome()
				for lane := range lanes {
					prefix(t, fmt.Sprintf("AicoreTask of core %d", lane), sinkRecords[abi.AicoreTask](into, abi.KindAicoreTask, lane, tasks),
						func(i int) abi.AicoreTask { return aicoreRecord(lane, i) }, tasks)
					prefix(t, fmt.Sprintf("AicpuTask of core %d", lane), sinkRecords[abi.AicpuTask](into, abi.KindAicpuTask, lane, tasks),
						func(i int) abi.AicpuTask { return aicpuRecord(lane, i) }, tasks)
				}
				stalls := 0
				for lane := range lanes {
					stalls += d.Thread(lane).Stalls().Count
					if _, err := d.Thread(lane).Faults(); err != nil {
						t.Error(err)
					}
				}
				all := uint64(lanes * tasks)
				for _, kind := range []abi.Kind{abi.KindAicpuTask, abi.KindAicoreTask} {
					if got, want := o.Capture.Accounting.Kinds[kind], (collector.Account{Total: all, Collected: all}); got != want {
						t.Errorf("kind %d: %+v, want %+v", kind, got, want)
					}
				}
				if o.Faults != (collector.Faults{}) {
					t.Errorf("faults %+v", o.Faults)
				}
				t.Logf("%d stalls, %d freezes opened, %d released", stalls, c.said.count("TRIGGERED"), c.said.count("RELEASED"))
				if stalls == 0 || c.said.count("pop-gate freeze OPENED") == 0 {
					t.Error("no freeze was opened: the test tests nothing")
				}
			})
		}
	}
}

// TestDropUnderLoad: a device that never waits, and a host that takes nothing
// until the device has ended. Nobody can say which records are lost, but every
// lost one is counted, and those that came are what was made, in order.
func TestDropUnderLoad(t *testing.T) {
	for _, level := range []abi.Level{abi.ScheduleTiming, abi.OrchPhases} {
		for _, shadow := range []bool{false, true} {
			if testing.Short() && shadow == (level == abi.OrchPhases) {
				continue
			}
			t.Run(fmt.Sprintf("level=%d/shadow=%v", level, shadow), func(t *testing.T) {
				c := newChip(t, setup{
					shadow: shadow, cores: 1, threads: 2, level: level, policy: abi.Drop,
					depths: collector.Depths{ProfBuffersPerCore: 1, AicoreBuffersPerCore: 1, SchedBuffersPerThread: 1, OrchBuffersPerThread: 1},
				})
				for round := range 2 { // the buffers of the second hold records of the first
					j := &jitter{seed: uint64(round)}
					l := load{tasks: 7000 - 500*round, phases: 85_000, submits: 85_000}
					var open atomic.Bool
					stalled := &sunk{stall: func() {
						for !open.Load() {
							runtime.Gosched()
						}
					}}
					run, err := c.host.Begin(collector.RunOptions{Level: level, Runtime: tmr, Policy: abi.Drop, Sink: stalled.take})
					if err != nil {
						t.Fatal(err)
					}
					if err := run.Start(); err != nil {
						t.Fatal(err)
					}
					m := c.operate(l, j)
					open.Store(true)
					run.Stop()
					c.checkSubset(run.Outcome(), stalled, m)
					if t.Failed() {
						return
					}
				}
			})
		}
	}
}

// checkSubset compares what came with what was made when the device may have
// dropped records.
func (c *chip) checkSubset(o *collector.Outcome, s *sunk, m *made) {
	c.t.Helper()
	checkSums(c.t, o)
	g := c.received(o.Capture, s, m)
	var want [abi.Kinds]struct{ total, collected int }
	for core := range c.cores {
		want[abi.KindAicoreTask].total += m.executed[core]
		want[abi.KindAicoreTask].collected += len(g.aicore[core])
		inOrder(c.t, fmt.Sprintf("AicoreTask of core %d", core), g.aicore[core], func(i int) abi.AicoreTask { return aicoreRecord(core, i) }, m.executed[core])
		if lost := m.executed[core] - len(g.aicore[core]); lost < 0 || uint64(lost) < m.lost[core] {
			c.t.Errorf("core %d: %d of %d AicoreTask records came, and %d found no slot", core, len(g.aicore[core]), m.executed[core], m.lost[core])
		}
		if o.Capture.Level >= abi.ScheduleTiming {
			want[abi.KindAicpuTask].total += len(m.recorded[core])
			want[abi.KindAicpuTask].collected += len(g.aicpu[core])
			inOrder(c.t, fmt.Sprintf("AicpuTask of core %d", core), g.aicpu[core], func(i int) abi.AicpuTask { return aicpuRecord(core, m.recorded[core][i]) }, len(m.recorded[core]))
		}
	}
	if o.Capture.Level >= abi.OrchPhases {
		for t := range c.threads - 1 {
			want[abi.KindSchedPhase].total += m.phases[t]
			want[abi.KindSchedPhase].collected += len(g.sched[t])
			inOrder(c.t, fmt.Sprintf("SchedPhase of thread %d", t), g.sched[t], func(i int) abi.SchedPhase { return schedRecord(t, i) }, m.phases[t])
		}
		want[abi.KindOrchPhase].total += m.submits
		want[abi.KindOrchPhase].collected += len(g.orch)
		inOrder(c.t, "OrchPhase", g.orch, orchRecord, m.submits)
	}
	dropped := uint64(0)
	for kind, a := range o.Capture.Accounting.Kinds {
		w := collector.Account{Total: uint64(want[kind].total), Collected: uint64(want[kind].collected)}
		w.Dropped = w.Total - w.Collected
		dropped += w.Dropped
		if a != w {
			c.t.Errorf("%s: account %+v, want %+v", abi.Buffers[kind].Name, a, w)
		}
	}
	if dropped == 0 {
		c.t.Error("nothing was dropped: the test tests nothing")
	}
	if o.Faults != (collector.Faults{}) {
		c.t.Errorf("faults of the host: %+v", o.Faults)
	}
}

// inOrder tells whether records are some of a list, in its order.
func inOrder[R comparable](t testing.TB, what string, have []R, made func(i int) R, n int) {
	t.Helper()
	at := 0
	for i, r := range have {
		for at < n && made(at) != r {
			at++
		}
		if at == n {
			t.Errorf("%s: record %d, %+v, was not made, or came twice, or out of order", what, i, r)
			return
		}
		at++
	}
}

// TestNothingLeaks: runs that end with buffers in the device's hands, again and
// again, take no more memory than one.
func TestNothingLeaks(t *testing.T) {
	for _, shadow := range []bool{false, true} {
		c := newChip(t, setup{shadow: shadow, cores: 3, threads: 3, level: abi.OrchPhases})
		j := &jitter{}
		var before int
		for round := range 40 {
			run := c.begin()
			c.operate(load{tasks: 2, phases: 3, submits: 3, leave: 1, twice: true}, j)
			run.Stop()
			o := run.Outcome()
			checkSums(t, o)
			if o.Faults != (collector.Faults{}) {
				t.Fatalf("round %d: %+v", round, o.Faults)
			}
			_, bytes := c.memory.InUse()
			switch {
			case round == 2:
				before = bytes
			case round > 2 && bytes != before:
				t.Fatalf("shadow %v: run %d uses %d bytes of device memory, and run 2 used %d", shadow, round, bytes, before)
			}
		}
	}
}

// TestMissedRotation: a core that gets no buffer when its own is full loses
// records, and the buffer that it gets later holds records of another life. None
// of those may come.
func TestMissedRotation(t *testing.T) {
	for _, level := range []abi.Level{abi.TaskTiming, abi.ScheduleTiming} {
		for _, shadow := range []bool{false, true} {
			t.Run(fmt.Sprintf("level=%d/shadow=%v", level, shadow), func(t *testing.T) {
				c := newChip(t, setup{shadow: shadow, cores: 1, shards: 1, level: level, policy: abi.Drop})
				run := c.begin()
				c.play(c.launch(), 12*1024) // each of the core's buffers is filled
				run.Stop()
				checkSums(t, run.Outcome())

				run, err := c.host.Begin(collector.RunOptions{Level: level, Runtime: tmr, Policy: abi.Drop})
				if err != nil {
					t.Fatal(err)
				}
				d := c.launch()
				thread, core := d.Thread(0), d.Core(0)
				var want []int
				for n := range 6*1024 + 700 {
					if n == 6*1024 { // until now the host has stood still, and there were 4 buffers
						if err := run.Start(); err != nil {
							t.Fatal(err)
						}
					}
					if n < 4*1024 || n >= 6*1024 {
						want = append(want, n)
					}
					task(thread, core, 0, n)
				}
				thread.Flush([]int{0}, nil)
				run.Stop()
				o := run.Outcome()
				checkSums(t, o)
				g := c.received(o.Capture, nil, nil)
				prefix(t, "AicoreTask", g.aicore[0], func(i int) abi.AicoreTask { return aicoreRecord(0, want[i]) }, len(want))
				lost := uint64(2 * 1024)
				account := collector.Account{Total: 6*1024 + 700, Collected: 6*1024 + 700 - lost, Dropped: lost}
				if got := o.Capture.Accounting.Kinds[abi.KindAicoreTask]; got != account {
					t.Errorf("account %+v, want %+v", got, account)
				}
				if n := core.Lost(); n != lost {
					t.Errorf("%d tasks found no slot, want %d", n, lost)
				}
			})
		}
	}
}
