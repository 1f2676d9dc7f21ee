package sim_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"swimlane/internal/sim"
)

// trace notes what threads do.
type trace []string

func (l *trace) add(t *sim.Thread, what string) {
	*l = append(*l, fmt.Sprintf("%d %s %s", t.Now(), t.Name(), what))
}

func TestThreadsRunInTheOrderOfTime(t *testing.T) {
	var e sim.Engine
	var l trace
	for i, step := range []sim.Time{30, 20, 20} {
		e.Start(string(rune('a'+i)), 0, func(t *sim.Thread) {
			for range 3 {
				t.Advance(step)
				l.add(t, "")
			}
		})
	}
	if err := e.Run(); err != nil {
		t.Fatal(err)
	}
	// Equal times in the order in which the threads were made.
	want := trace{"20 b ", "20 c ", "30 a ", "40 b ", "40 c ", "60 a ", "60 b ", "60 c ", "90 a "}
	if !slices.Equal(l, want) {
		t.Errorf("%q, want %q", l, want)
	}
}

func TestSleepAndWake(t *testing.T) {
	var e sim.Engine
	var l trace
	var sleeper, dozer *sim.Thread
	sleeper = e.Start("sleeper", 0, func(t *sim.Thread) {
		t.Advance(10)
		t.Sleep(sim.Never)
		l.add(t, "woken")
		t.Sleep(50) // not woken in time
		l.add(t, "slept")
		t.Sleep(40) // has passed
		l.add(t, "at once")
	})
	dozer = e.Start("dozer", 0, func(t *sim.Thread) {
		t.Advance(35)
		t.Sleep(100)
		l.add(t, "woken early")
	})
	e.Start("waker", 0, func(t *sim.Thread) {
		sleeper.Wake(0) // is awake: nothing
		t.Advance(20)
		sleeper.Wake(25)
		sleeper.Wake(90) // no later
		t.Advance(20)
		dozer.Wake(0) // now
		t.Advance(20)
		sleeper.Wake(60)
		l.add(t, "done")
	})
	if err := e.Run(); err != nil {
		t.Fatal(err)
	}
	want := trace{"25 sleeper woken", "40 dozer woken early", "50 sleeper slept", "50 sleeper at once", "60 waker done"}
	if !slices.Equal(l, want) {
		t.Errorf("%q, want %q", l, want)
	}
}

// What a thread does at a time has happened for every thread that is later.
func TestSharedState(t *testing.T) {
	var e sim.Engine
	var times []sim.Time
	for i := range 4 {
		e.Start(fmt.Sprint(i), sim.Time(i), func(t *sim.Thread) {
			for range 100 {
				t.Advance(sim.Time(1 + (int(t.Now())*7+i*13)%11))
				times = append(times, t.Now())
			}
		})
	}
	if err := e.Run(); err != nil {
		t.Fatal(err)
	}
	if len(times) != 400 || !slices.IsSorted(times) {
		t.Errorf("%d steps, in the order of time: %v", len(times), slices.IsSorted(times))
	}
}

func TestStuck(t *testing.T) {
	var e sim.Engine
	cleaned := false
	e.Start("orchestrator", 0, func(t *sim.Thread) {
		defer func() { cleaned = true }()
		t.Advance(7)
		t.Sleep(sim.Never)
	})
	e.Start("other", 0, func(t *sim.Thread) { t.Advance(100) })
	err := e.Run()
	if err == nil || !strings.Contains(err.Error(), "orchestrator (since 7 ns)") || strings.Contains(err.Error(), "other") {
		t.Errorf("error %v, want one that names the thread that waits", err)
	}
	if !cleaned {
		t.Error("the program that waits was not unwound")
	}
}

func TestFailAndPanic(t *testing.T) {
	boom := errors.New("boom")
	for name, program := range map[string]func(*sim.Thread){
		"fail":  func(t *sim.Thread) { t.Fail(boom) },
		"panic": func(*sim.Thread) { panic(boom) },
	} {
		var e sim.Engine
		unwound := false
		e.Start("good", 0, func(t *sim.Thread) {
			defer func() { unwound = true }()
			for {
				t.Advance(1)
			}
		})
		e.Start("bad", 5, program)
		err := e.Run()
		if err == nil || !strings.Contains(err.Error(), "boom") {
			t.Errorf("%s: error %v, want boom", name, err)
		}
		if name == "panic" && !strings.Contains(err.Error(), "bad: panic") {
			t.Errorf("the error %v does not name the thread", err)
		}
		if !unwound {
			t.Errorf("%s: the other thread was not unwound", name)
		}
	}
}

// BenchmarkSwitch is two threads that take turns.
func BenchmarkSwitch(b *testing.B) {
	var e sim.Engine
	for i := range 2 {
		e.Start(fmt.Sprint(i), 0, func(t *sim.Thread) {
			for range b.N {
				t.Advance(1)
			}
		})
	}
	if err := e.Run(); err != nil {
		b.Fatal(err)
	}
}

// TestRewind: a sleeper learns when it was woken, and by whom it must not have been
// seen yet; it can do what it did in its sleep after the fact.
func TestRewind(t *testing.T) {
	var e sim.Engine
	var l trace
	var first, last *sim.Thread
	sleep := func(t *sim.Thread) {
		woken := t.Sleep(100)
		l.add(t, fmt.Sprintf("woken at %d, before that: %v", woken.At, t.Before(woken)))
		t.Rewind(40)
		l.add(t, fmt.Sprintf("before that: %v", t.Before(woken)))
		t.Advance(10)
		l.add(t, fmt.Sprintf("before that: %v", t.Before(woken)))
		t.Advance(1)
		l.add(t, fmt.Sprintf("before that: %v", t.Before(woken)))
	}
	first = e.Start("first", 0, sleep)
	e.Start("waker", 0, func(t *sim.Thread) {
		t.Advance(50)
		first.Wake(50)
		last.Wake(50)
		t.Advance(10)
		l.add(t, "goes on")
	})
	last = e.Start("last", 0, sleep)
	e.Start("alone", 0, func(t *sim.Thread) {
		t.Advance(20)
		if woken := t.Sleep(30); woken != (sim.Moment{}) || t.Before(woken) {
			t.Fail(fmt.Errorf("woken by %v", woken))
		}
		defer func() {
			if recover() == nil {
				l.add(t, "went back too far")
			}
		}()
		t.Rewind(19)
	})
	if err := e.Run(); err != nil {
		t.Fatal(err)
	}
	// What happens at one time does so in the order of the threads.
	want := trace{
		"50 first woken at 50, before that: true", "40 first before that: true", "50 first before that: true", "51 first before that: false",
		"50 last woken at 50, before that: false", "40 last before that: true", "50 last before that: false", "51 last before that: false",
		"60 waker goes on",
	}
	slices.SortStableFunc(l, func(a, b string) int { return strings.Compare(who(a), who(b)) })
	slices.SortStableFunc(want, func(a, b string) int { return strings.Compare(who(a), who(b)) })
	if !slices.Equal(l, want) {
		t.Errorf("%q, want %q", l, want)
	}
}

func who(line string) string { return strings.Fields(line)[1] }

// TestWakeAtTheEndOfASleep: who is woken when it would have gone on anyway knows it.
func TestWakeAtTheEndOfASleep(t *testing.T) {
	var e sim.Engine
	var sleeper *sim.Thread
	e.Start("waker", 0, func(t *sim.Thread) {
		t.Advance(50)
		sleeper.Wake(50)
	})
	var woken sim.Moment
	sleeper = e.Start("sleeper", 0, func(t *sim.Thread) { woken = t.Sleep(50) })
	if err := e.Run(); err != nil {
		t.Fatal(err)
	}
	if woken.At != 50 {
		t.Errorf("woken by %+v, want at 50", woken)
	}
}
