package sim

import (
	"errors"
	"fmt"
	"iter"
	"runtime/debug"
	"strings"
	"sync/atomic"
)

// Time is virtual time, in ns since the chip was switched on.
type Time int64

// Never is later than everything that happens.
const Never = Time(1<<63 - 1)

// Engine runs threads in virtual time. Its threads are coroutines of the
// goroutine that calls Run.
type Engine struct {
	threads []*Thread
	running *Thread
	horizon *Thread // the next one to run among the others; nil if none can
	err     error
}

// Thread is a program in virtual time. Its methods are called by the program
// itself, but for Wake.
type Thread struct {
	name   string
	index  int
	engine *Engine
	at     Time // its time; of a sleeper, when it goes on
	from   Time // of a sleeper: since when
	waker  Moment
	state  threadState
	next   func() (struct{}, bool)
	stop   func()
	yield  func(struct{}) bool
}

type threadState uint8

const (
	awake  threadState = iota
	asleep             // until its time, or until another thread wakes it
	ended
)

// unwound ends a program that must not go on.
type unwound struct{}

// Start adds a thread that begins at a time. Programs may be started while others
// run, at a time that is not before theirs.
func (e *Engine) Start(name string, at Time, program func(*Thread)) *Thread {
	t := &Thread{name: name, index: len(e.threads), engine: e, at: at}
	t.next, t.stop = iter.Pull(func(yield func(struct{}) bool) {
		t.yield = yield
		defer t.recover()
		program(t)
	})
	e.threads = append(e.threads, t)
	if e.running != nil {
		e.consider(t)
	}
	return t
}

// recover turns a panic of the program into the error of the run.
func (t *Thread) recover() {
	t.state = ended
	switch r := recover().(type) {
	case nil, unwound:
	case Failure:
		t.engine.fail(errors.New(string(r)))
	default:
		t.engine.fail(fmt.Errorf("%s: panic: %v\n%s", t.name, r, debug.Stack()))
	}
}

// ErrInterrupted is why a simulation ended that somebody has stopped.
var ErrInterrupted = errors.New("interrupted")

// interrupted ends all simulations of the process.
var interrupted atomic.Bool

// Interrupt ends all simulations of this process, those under way and those that come,
// with ErrInterrupted.
func Interrupt() { interrupted.Store(true) }

// Interrupted tells whether Interrupt was called.
func Interrupted() bool { return interrupted.Load() }

// Failure is what a program panics with when all is said that there is to say. Other
// panics end the run with their stack.
type Failure string

// Unwinding tells whether what was recovered is the end of a thread whose simulation
// has failed already: it has to go on.
func Unwinding(recovered any) bool { return recovered == any(unwound{}) }

func (e *Engine) fail(err error) {
	if e.err == nil {
		e.err = err
	}
}

// Run runs all threads until they have ended. It fails when one of them failed,
// and when all that are left wait for each other.
func (e *Engine) Run() error {
	defer func() {
		for _, t := range e.threads {
			t.stop()
		}
	}()
	for e.err == nil {
		if interrupted.Load() {
			e.fail(ErrInterrupted)
			break
		}
		t := e.earliest(nil)
		if t == nil {
			return e.deadlock()
		}
		e.running, e.horizon = t, e.earliest(t)
		t.next()
	}
	return e.err
}

// deadlock is nil if every thread has ended.
func (e *Engine) deadlock() error {
	var waiting []string
	for _, t := range e.threads {
		if t.state != ended {
			waiting = append(waiting, fmt.Sprintf("%s (since %d ns)", t.name, t.from))
		}
	}
	if waiting == nil {
		return nil
	}
	return fmt.Errorf("the simulated chip is stuck: nothing will happen any more that these threads wait for: %s", strings.Join(waiting, ", "))
}

// earliest is the thread to run next, leaving one out.
func (e *Engine) earliest(but *Thread) (first *Thread) {
	for _, t := range e.threads {
		if t != but && t.state != ended && t.at < Never && (first == nil || t.before(first)) {
			first = t
		}
	}
	return first
}

func (t *Thread) before(u *Thread) bool { return t.at < u.at || t.at == u.at && t.index < u.index }

// consider takes into account that a thread can run now, or earlier than before.
func (e *Engine) consider(t *Thread) {
	if t != e.running && (e.horizon == nil || t.before(e.horizon)) {
		e.horizon = t
	}
}

// Name is the name of the thread.
func (t *Thread) Name() string { return t.name }

// Now is the time of the thread.
func (t *Thread) Now() Time { return t.at }

// Advance lets time pass. Whatever other threads do in that time has happened
// when it returns.
func (t *Thread) Advance(d Time) {
	t.at += d
	t.settle()
}

// Until lets time pass until a time; one that has passed is now.
func (t *Thread) Until(at Time) {
	t.at = max(t.at, at)
	t.settle()
}

// settle lets the threads run that are earlier.
func (t *Thread) settle() {
	if h := t.engine.horizon; h != nil && h.before(t) {
		t.switchAway()
	}
}

func (t *Thread) switchAway() {
	if !t.yield(struct{}{}) {
		panic(unwound{})
	}
}

// Moment is a point in the order in which things happen: what a thread does at a
// time. The zero value is before all.
type Moment struct {
	At     Time
	thread int
}

// Moment is what the thread does now.
func (t *Thread) Moment() Moment { return Moment{t.at, t.index} }

// Before tells whether what the thread does now comes before a moment.
func (t *Thread) Before(m Moment) bool { return t.at < m.At || t.at == m.At && t.index < m.thread }

// Sleep lets time pass until a time, or until another thread calls Wake. Never is
// a time that only Wake ends. The result is when that was; zero: nobody did.
func (t *Thread) Sleep(until Time) (woken Moment) {
	t.from, t.at, t.state, t.waker = t.at, max(t.at, until), asleep, Moment{}
	if h := t.engine.horizon; t.at == Never || h != nil && h.before(t) {
		t.switchAway()
	}
	t.state = awake
	return t.waker
}

// Rewind goes back to a time since the thread fell asleep: for a program that did
// something in its sleep that no other thread can notice. Until the moment that
// ended the sleep it must not look at what others do, nor do anything itself.
func (t *Thread) Rewind(at Time) {
	if at < t.from || at > t.at {
		panic(fmt.Sprintf("sim: %s goes back from %d ns to %d ns, and slept since %d ns", t.name, t.at, at, t.from))
	}
	t.at = at
}

// Wake lets a sleeper go on at a time, or now if that has passed. It does not make
// it sleep longer, and does nothing to a thread that is awake.
func (t *Thread) Wake(at Time) {
	at = max(at, t.engine.running.at, t.from)
	if t.state != asleep || at > t.at || at == t.at && t.waker != (Moment{}) {
		return
	}
	t.waker = Moment{at, t.engine.running.index}
	if at < t.at {
		t.at = at
		t.engine.consider(t)
	}
}

// Fail ends the simulation with an error.
func (t *Thread) Fail(err error) {
	t.engine.fail(err)
	panic(unwound{})
}
