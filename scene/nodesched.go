package scene

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"swimlane/internal/mailbox"
)

// grace is how long a failed run waits for what is at work before it tells the workers
// to end what they run, and lastWords how long they then have to write what they have
// recorded, before they are killed. Both together are less than a command waits when it
// is interrupted. Tests change them.
var (
	grace     = 10 * time.Second
	lastWords = 3 * time.Second
)

// nodeSched hands submitted tasks to the workers when what they wait for has ended.
// It is one goroutine with a thread of its own, which also starts the workers: they
// die with the thread that started them.
type nodeSched struct {
	n *nodeBatch

	mu       sync.Mutex
	changed  sync.Cond
	incoming []*nodeTask
	arrived  []arrival
	open     int   // tasks that have been submitted and have not ended
	flying   int   // members that endpoints have
	err      error // why the batch ends
	ending   bool  // the workers have been told to stop
	quit     bool
	grace    *time.Timer

	wake chan struct{}

	// Of the goroutine alone:
	chips    []*chipProcess
	queues   [][]*nodeMember // of each chip
	subs     []*subWorker
	subQueue []*nodeMember
}

// arrival is what an endpoint has to tell.
type arrival struct {
	chip  *chipProcess
	frame mailbox.Frame
	sub   *subWorker
	err   error // of a chip: its process has ended, or is to; of a sub-worker: its function's
}

// subWorker is a place where a sub-worker's function runs.
type subWorker struct {
	index      int
	dispatches uint64
	at         *flight // nil: idle
}

func newNodeSched(n *nodeBatch) *nodeSched {
	s := &nodeSched{n: n, wake: make(chan struct{}, 1)}
	s.changed.L = &s.mu
	for i := range n.config.SubWorkers {
		s.subs = append(s.subs, &subWorker{index: i})
	}
	s.queues = make([][]*nodeMember, n.config.DeviceCount)
	return s
}

// start starts the goroutine, and the workers on its thread.
func (s *nodeSched) start() (ended <-chan struct{}, err error) {
	started, stopped := make(chan error, 1), make(chan struct{})
	var serve func()
	serve = func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if threadID() == int64(os.Getpid()) {
			// The main thread is that of the facade. As long as it is locked here
			// another goroutine has another one.
			inner := make(chan struct{})
			go func() { defer close(inner); serve() }()
			<-inner
			return
		}
		s.n.log.scheduler = threadID()
		err := s.startChips()
		started <- err
		if err == nil {
			s.loop()
		}
		close(stopped)
	}
	go serve()
	return stopped, <-started
}

// poke makes the goroutine look.
func (s *nodeSched) poke() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// submit takes over a task.
func (s *nodeSched) submit(t *nodeTask) {
	s.mu.Lock()
	s.incoming = append(s.incoming, t)
	s.open++
	s.mu.Unlock()
	s.poke()
}

// arrive takes over what an endpoint tells.
func (s *nodeSched) arrive(a arrival) {
	s.mu.Lock()
	s.arrived = append(s.arrived, a)
	s.mu.Unlock()
	s.poke()
}

// fail ends the batch: nothing is dispatched any more.
func (s *nodeSched) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil && err != nil {
		s.err = err
		s.grace = time.AfterFunc(grace, s.hurry)
	}
	s.changed.Broadcast()
}

// hurry tells the workers to end what they run, and soon kills them.
func (s *nodeSched) hurry() {
	s.n.eachChip((*chipProcess).tell)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.grace = time.AfterFunc(lastWords, func() {
		s.n.eachChip((*chipProcess).kill)
		s.mu.Lock()
		s.flying = 0 // a sub-worker that does not come back is left behind
		s.mu.Unlock()
		s.changed.Broadcast()
	})
}

// fence waits until all tasks have ended, or the batch has failed and nothing is at
// work.
func (s *nodeSched) fence() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.open > 0 && s.err == nil || s.err != nil && s.flying > 0 {
		s.changed.Wait()
	}
	return s.err
}

// stop makes the goroutine leave.
func (s *nodeSched) stop() {
	s.mu.Lock()
	s.quit = true
	s.mu.Unlock()
	s.poke()
}

// loop is the scheduler.
func (s *nodeSched) loop() {
	for spins := 0; ; spins++ {
		<-s.wake
		began := s.n.log.now()
		s.mu.Lock()
		incoming, arrived, quit := s.incoming, s.arrived, s.quit
		s.incoming, s.arrived = nil, nil
		s.mu.Unlock()
		for _, t := range incoming {
			s.intake(t)
		}
		for _, a := range arrived {
			s.drain(a)
		}
		drained := len(incoming) + len(arrived)
		drainNs := s.n.log.now() - began
		dispatched := s.dispatch()
		if drained+dispatched > 0 {
			s.n.log.loop(began, drained, dispatched, drainNs, spins)
			spins = 0
		}
		s.changed.Broadcast()
		if quit {
			return
		}
	}
}

// intake finds out what a task still waits for.
func (s *nodeSched) intake(t *nodeTask) {
	for _, p := range t.after {
		if !p.ended {
			p.consumers = append(p.consumers, t)
			t.waits++
		}
	}
	t.after = nil
	if t.waits == 0 {
		s.enqueue(t)
	}
}

// enqueue puts the members of a task where their workers look.
func (s *nodeSched) enqueue(t *nodeTask) {
	for _, m := range t.members {
		if t.k.Chip == nil {
			s.subQueue = append(s.subQueue, m)
		} else {
			s.queues[m.worker] = append(s.queues[m.worker], m)
		}
	}
}

// failed tells whether the batch ends.
func (s *nodeSched) failed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err != nil
}

// dispatch hands members to idle endpoints.
func (s *nodeSched) dispatch() (n int) {
	for i, q := range s.queues {
		if c := s.chips[i]; len(q) > 0 && c.at == nil && !c.dead && !s.failed() {
			s.queues[i] = q[1:]
			s.toChip(c, q[0])
			n++
		}
	}
	for _, w := range s.subs {
		if w.at == nil && len(s.subQueue) > 0 && !s.failed() {
			m := s.subQueue[0]
			s.subQueue = s.subQueue[1:]
			s.toSub(w, m)
			n++
		}
	}
	return n
}

// fly counts a member that is at work.
func (s *nodeSched) fly() {
	s.mu.Lock()
	s.flying++
	s.mu.Unlock()
}

// toChip sends a member to its chip's worker.
func (s *nodeSched) toChip(c *chipProcess, m *nodeMember) {
	began := s.n.log.now()
	c.dispatches++
	c.at = &flight{m, m.task.run, c.rank, c.dispatches, m.task.run}
	s.fly()
	f, err := s.n.order(c.at)
	sending := s.n.log.now()
	if err == nil {
		err = mailbox.Write(c.to, f)
	}
	s.n.log.frameSubmit(c.at, sending)
	s.n.log.dispatched(c.at, began)
	if err != nil {
		// If the process has ended, its reader says so and knows why.
		c.fault = fmt.Errorf("the order cannot be sent: %w", err)
		c.kill()
	}
}

// toSub runs a member in a goroutine.
func (s *nodeSched) toSub(w *subWorker, m *nodeMember) {
	began := s.n.log.now()
	w.dispatches++
	w.at = &flight{m, m.task.run, w.index, w.dispatches, m.task.run}
	s.fly()
	sending := s.n.log.now()
	var args []Data
	for _, a := range m.args {
		args = append(args, a.t.data)
	}
	go func() {
		var err error
		defer func() {
			if r := recover(); r != nil {
				err = errors.New(panicked(r))
			}
			s.arrive(arrival{sub: w, err: err})
		}()
		err = errors.New("it has left its goroutine") // runtime.Goexit
		err = m.task.k.Sub(s.n.Case, args)
	}()
	s.n.log.frameSubmit(w.at, sending)
	s.n.log.dispatched(w.at, began)
}

// drain takes what an endpoint tells.
func (s *nodeSched) drain(a arrival) {
	began := s.n.log.now()
	if a.sub != nil {
		f := a.sub.at
		a.sub.at = nil
		if a.err != nil {
			s.fail(fmt.Errorf("sub-worker %d, %s: %w", a.sub.index, f.what(), a.err))
		}
		s.complete(f, began, a.err != nil)
		return
	}
	c := a.chip
	f := c.at
	if a.err == nil && f != nil {
		c.at = nil
		err := s.n.done(c, f, a.frame)
		if err != nil {
			s.fail(fmt.Errorf("%s, %s: %w", c.who(), f.what(), err))
		}
		s.complete(f, began, err != nil)
		return
	}
	if a.err == nil {
		c.kill()
		s.fail(fmt.Errorf("%s sent a frame of kind %d and had no order", c.who(), a.frame.Kind))
		return
	}
	// The process has ended.
	c.at, c.dead = nil, true
	s.mu.Lock()
	expected := s.ending
	s.mu.Unlock()
	switch {
	case f != nil:
		s.fail(fmt.Errorf("%s, %s: %w", c.who(), f.what(), errors.Join(a.err, c.fault)))
		s.complete(f, began, true)
	case !expected:
		s.fail(fmt.Errorf("%s, with nothing to do: %w", c.who(), errors.Join(a.err, c.fault)))
	}
}

// complete ends a member, and its task if it was the last one. The facade's fence may
// open with the last count: what the log tells of the member comes before.
func (s *nodeSched) complete(f *flight, began int64, failed bool) {
	t := f.m.task
	if t.left--; t.left == 0 && !failed {
		t.ended = true
		for _, c := range t.consumers {
			if c.waits--; c.waits == 0 {
				s.enqueue(c)
			}
		}
		t.consumers = nil
	}
	s.n.log.completed(f, began, failed)
	s.mu.Lock()
	if t.ended {
		s.open--
	}
	s.flying = max(s.flying-1, 0)
	s.mu.Unlock()
}

// what says what an endpoint is doing.
func (f *flight) what() string {
	of := ""
	if f.m.task.group {
		of = fmt.Sprintf(", member %d of %d", f.m.index, len(f.m.task.members))
	}
	return fmt.Sprintf("running %q (run %d, task slot %d%s, dispatch %d)", f.m.task.k.name(f.m.task.callable), f.run, f.m.task.slot, of, f.dispatch)
}
