package ranks

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"swimlane/capture"
)

const gigahertz = 1_000_000_000

// exampleA is the first worked example of spec/l3.md §9.5.
func exampleA() (Window, Extent) {
	return Window{Key: Key{7, 1}, Start: 1000, Dur: 5000, Wall: 2000, Phases: map[string]Phase{"sched": {700, 100}}},
		Extent{Rate: gigahertz, All: Bounds{1900, 2200}, Sched: Bounds{1900, 1950}}
}

func TestPlaceExampleA(t *testing.T) {
	w, e := exampleA()
	p, err := Place(&w, &e)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.joined.cycle(); got != 1175 {
		t.Errorf("origin %d, want 1175", got)
	}
	if p.Residual() != 50 || !slices.Equal(p.joined.sources, []string{"sched", "device_wall"}) {
		t.Errorf("residual %d from %v", p.Residual(), p.joined.sources)
	}
	if p.extent != 2000 || p.Slack() != 3000 || p.Low() != 1000 {
		t.Errorf("extent %v, slack %d, low %d", p.extent, p.Slack(), p.Low())
	}
	if got := p.Device(2100); got != 1925 {
		t.Errorf("cycle 2100 is at %d, want 1925", got)
	}
}

// TestPlaceVariants are those of example A.
func TestPlaceVariants(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Window, *Extent)
		want   string
	}{
		{"scheduler records wider than their window", func(_ *Window, e *Extent) { e.Sched.Last = 2100 },
			"pid 7 inv 1 and this capture cannot describe one run: the device windows they report do not overlap"},
		{"a late life cycle", func(_ *Window, e *Extent) { e.All.Last = 9000 },
			"pid 7 inv 1 and this capture cannot describe one run: the device windows they report do not overlap"},
		{"a short window", func(w *Window, _ *Extent) { w.Dur = 1500 },
			"pid 7 inv 1 draws 2.0 us of device work but its chip.run.runner_run window is only 1.5 us wide"},
	} {
		w, e := exampleA()
		c.change(&w, &e)
		if _, err := Place(&w, &e); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
	w, e := exampleA()
	w.Dur = 9000
	if p, err := Place(&w, &e); err != nil || p.Slack() != 7000 {
		t.Errorf("a wide window: %v, %v", p, err)
	}
	w, _ = exampleA()
	w.Phases["preamble"] = Phase{0, 300}
	p, err := Place(&w, nil)
	if err != nil || p.Slack() != 3000 || p.Phase(700) != 1700 || p.joined != nil {
		t.Errorf("no capture: %+v, %v", p, err)
	}
	for _, f := range p.fields() {
		if f[0] == "join" {
			t.Error("a join without a capture")
		}
	}
}

// TestPlaceExampleC is the placement of the third worked example, at 50 MHz.
func TestPlaceExampleC(t *testing.T) {
	phases := map[string]Phase{"preamble": {0, 1500}, "sched": {6000, 10000}}
	for _, c := range []struct {
		w                                     Window
		e                                     Extent
		origin, residual, slack, low, receive int64
		at                                    [2]uint64
		end                                   int64
	}{
		{Window{Start: 13000, Dur: 30000, Wall: 20000, Phases: phases}, Extent{Rate: 50_000_000, All: Bounds{1000310, 1000790}, Sched: Bounds{1000310, 1000790}},
			1000000, 400, 10000, 13000, 20800, [2]uint64{1000390, 1000700}, 27000},
		{Window{Start: 13700, Dur: 34000, Wall: 20000, Phases: phases}, Extent{Rate: 50_000_000, All: Bounds{5000305, 5000795}, Sched: Bounds{5000305, 5000795}},
			5000000, 200, 14000, 13700, 21500, [2]uint64{5000390, 5000700}, 27700},
	} {
		p, err := Place(&c.w, &c.e)
		if err != nil {
			t.Fatal(err)
		}
		got := []int64{p.joined.cycle(), p.Residual(), p.Slack(), p.Low(), p.Device(c.at[0]), p.Device(c.at[1])}
		if want := []int64{c.origin, c.residual, c.slack, c.low, c.receive, c.end}; !slices.Equal(got, want) {
			t.Errorf("origin, residual, slack, low, receive, end: %v, want %v", got, want)
		}
	}
}

// TestPlaceExampleD: streams of AICPU schedulers feed the join.
func TestPlaceExampleD(t *testing.T) {
	w := Window{Start: 2000000, Dur: 5000, Wall: 2000, Phases: map[string]Phase{"sched": {700, 500}}}
	e := Extent{Rate: gigahertz, All: Bounds{1000300, 1000700}, Sched: Bounds{1000300, 1000700}}
	p, err := Place(&w, &e)
	if err != nil {
		t.Fatal(err)
	}
	if p.joined.cycle() != 999550 || p.Residual() != 100 || p.Slack() != 3000 || p.Device(1000300) != 2000750 {
		t.Errorf("origin %d, residual %d, slack %d, cycle 1000300 at %d", p.joined.cycle(), p.Residual(), p.Slack(), p.Device(1000300))
	}
}

// launched is the window of spec/newest.md §17 N6 with a marker at an instant.
func launched(at int64) (Window, Extent) {
	return Window{Key: Key{42, 1}, Start: 2000000, Dur: 5000, Wall: 2000, Phases: map[string]Phase{"sched": {700, 500}}, Launch: &Launch{At: at}},
		Extent{Rate: gigahertz, All: Bounds{1000300, 1000700}, Sched: Bounds{1000300, 1000700}}
}

// TestPlaceLaunch is the worked example of spec/newest.md §17 N6: the marker moves
// the place and takes its part of the slack.
func TestPlaceLaunch(t *testing.T) {
	for _, c := range []struct {
		at                 int64
		low, slack, anchor int64
	}{
		{2002500, 2002500, 500, 2003250},
		{2000000, 2000000, 3000, 2000750}, // with the window: the same as without
		{2003000, 2003000, 0, 2003750},    // no room is left
	} {
		w, e := launched(c.at)
		p, err := Place(&w, &e)
		if err != nil {
			t.Errorf("at %d: %v", c.at, err)
			continue
		}
		got := map[string]string{}
		for _, f := range p.fields() {
			got[f[0]] = f[1]
		}
		want := map[string]string{
			"slack_ns": fmt.Sprint(c.slack), "place_lo_ns": fmt.Sprint(c.low), "place_hi_ns": "2003000", "outer_slack_ns": "3000",
			"aicpu_launch_ns": fmt.Sprint(c.at), "causal_constraint": `"aicpu_launch<=device_start"`,
		}
		for key, text := range want {
			if got[key] != text {
				t.Errorf("at %d: %s is %s, want %s", c.at, key, got[key], text)
			}
		}
		if p.joined.cycle() != 999550 || p.Residual() != 100 || p.Device(1000300) != c.anchor {
			t.Errorf("at %d: origin %d, residual %d, cycle 1000300 at %d, want %d", c.at, p.joined.cycle(), p.Residual(), p.Device(1000300), c.anchor)
		}
	}
	w, e := launched(0)
	w.Launch = nil
	p, err := Place(&w, &e)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range p.fields() {
		if slices.Contains([]string{"outer_slack_ns", "aicpu_launch_ns", "causal_constraint"}, f[0]) {
			t.Errorf("%s without a marker", f[0])
		}
	}
}

// TestPlaceLaunchErrors are the refusals of spec/newest.md §10.1.
func TestPlaceLaunchErrors(t *testing.T) {
	const invalid = "invalid AICPU launch marker: expected Host clock, zero duration, and time within runner window"
	for _, c := range []struct {
		name   string
		change func(*Window)
		want   string
	}{
		{"behind the window", func(w *Window) { w.Launch.At = 2006000 }, invalid + " (pid 42 inv 1: it is at 2006000, the window from 2000000 to 2005000)"},
		{"before it", func(w *Window) { w.Launch.At = 1999999 }, invalid},
		{"far before it", func(w *Window) { w.Launch.At = math.MinInt64 }, invalid},
		{"of the device", func(w *Window) { w.Launch.Device = true }, invalid + " (pid 42 inv 1: it is on the device's clock)"},
		{"with a length", func(w *Window) { w.Launch.Dur = 1 }, invalid + " (pid 42 inv 1: it lasts 1 ns)"},
		{"too late", func(w *Window) { w.Launch.At = 2003001 },
			"pid 42 inv 1 has no legal placement: its chip.run.runner_run.aicpu_launch marker would put the device block outside the runner window"},
		{"at the window's end", func(w *Window) { w.Launch.At = 2005000 },
			"pid 42 inv 1 has no legal placement: its chip.run.runner_run.aicpu_launch marker would put the device block outside the runner window"},
		{"in a window that is too short anyway", func(w *Window) { w.Dur = 1500; w.Launch.At = 2000100 },
			"pid 42 inv 1 draws 2.0 us of device work but its chip.run.runner_run window is only 1.5 us wide"},
	} {
		w, e := launched(2002500)
		c.change(&w)
		if p, err := Place(&w, &e); err == nil || p != nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}

// TestPlaceLaunchNaive holds places with markers at random against the rule of
// spec/newest.md §10.1, computed step by step.
func TestPlaceLaunchNaive(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 7))
	placed := 0
	for range 2000 {
		w := Window{Start: 1 + random.Int64N(1000), Dur: random.Int64N(6000), Wall: random.Int64N(3000), Phases: map[string]Phase{"sched": {random.Int64N(1000), 1 + random.Int64N(2500)}}}
		w.Launch = &Launch{At: random.Int64N(8000), Dur: random.Int64N(20) / 19}
		e := Extent{Rate: gigahertz, All: Bounds{5000, 5000 + uint64(random.IntN(2000))}}
		outer := w.Dur - max(w.Wall, w.Phases["sched"].Start+w.Phases["sched"].Dur)
		low := max(w.Start, w.Launch.At)
		slack := w.Start + outer - low
		fits := int64(e.All.Last-e.All.First) <= w.Wall
		legal := w.Launch.Dur == 0 && w.Launch.At >= w.Start && w.Launch.At <= w.Start+w.Dur && outer >= 0 && slack >= 0
		p, err := Place(&w, &e)
		if (err == nil) != (fits && legal) {
			t.Fatalf("%+v, launch %+v, extent %+v: %v, want a place: %v", w, *w.Launch, e.All, err, fits && legal)
		}
		if err != nil {
			continue
		}
		placed++
		if p.Low() != low || p.Slack() != slack || p.Phase(0) != low {
			t.Fatalf("%+v, launch %+v: low %d, slack %d, want %d and %d", w, *w.Launch, p.Low(), p.Slack(), low, slack)
		}
	}
	if placed < 100 {
		t.Errorf("only %d were placed", placed)
	}
}

// TestPlaceKeepsDigits: a counter that has run for long has more digits than a
// float, and the place must not move by it.
func TestPlaceKeepsDigits(t *testing.T) {
	w, e := exampleA()
	const far = 1 << 62
	for _, b := range []*Bounds{&e.All, &e.Sched} {
		b.First += far
		b.Last += far
	}
	p, err := Place(&w, &e)
	if err != nil || p.joined.cycle() != far+1175 || p.Device(far+2100) != 1925 {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestSlotsOnly: slots that count from their own zero take no part.
func TestSlotsOnly(t *testing.T) {
	w, e := exampleA()
	w.Phases = map[string]Phase{"task_slot_0": {0, 4000}}
	p, err := Place(&w, &e)
	if err != nil || p.Slack() != 3000 {
		t.Errorf("%+v, %v", p, err)
	}
	w.Phases["sched"] = Phase{700, 100}
	if p, err = Place(&w, &e); err != nil || p.Slack() != 1000 {
		t.Errorf("beside others: %+v, %v", p, err)
	}
}

func TestUncertainty(t *testing.T) {
	for _, c := range []struct {
		slacks []int64
		want   int64
		ok     bool
	}{
		{[]int64{6000}, 6000, false}, {nil, 0, false}, {[]int64{1000, 6000, 4000}, 10000, true}, {[]int64{3000, 7000}, 10000, true}, {[]int64{5, 5}, 10, true},
	} {
		if got, ok := Uncertainty(c.slacks); got != c.want || ok != c.ok {
			t.Errorf("%v: %d, %v", c.slacks, got, ok)
		}
	}
}

// TestRoundHalfEven: a zero between two cycles is published as the even one.
func TestRoundHalfEven(t *testing.T) {
	for first, want := range map[uint64]int64{1000: 1000, 1001: 1002} {
		j := join{e: Extent{All: Bounds{first, first}}, origin: 0.5}
		if got := j.cycle(); got != want {
			t.Errorf("%d + 0.5: %d, want %d", first, got, want)
		}
	}
}

// TestExtent are the examples of spec/l3.md §7.2.
func TestExtent(t *testing.T) {
	const head = `{"chip_swimlane_level": 3, "metadata": {"clock_freq_hz": 1000000000, "core_types": ["aic"]}, `
	const sched = `"scheduler_tasks": {"schema_version": 1, "producer": "aicpu", "records": [[0, 1, 2100, 2200]]}, "aicpu_scheduler_phases": [[{"kind": "dispatch", "start_cycles": 1900, "end_cycles": 1950, "loop_iter": 0, "tasks_processed": 1}]]`
	for _, c := range []struct {
		name, text string
		want       Bounds
	}{
		{"plain", `"aicore_tasks": [[0, 5, 1, 2100, 2200, 0]], ` + sched, Bounds{1900, 2200}},
		{"received early", `"aicore_tasks": [[0, 5, 1, 2100, 2200, 300]], ` + sched, Bounds{1800, 2200}},
		{"a life cycle", `"aicore_tasks": [[0, 5, 1, 2100, 2200, 0]], "aicpu_lifecycle_records": [{"aicpu_thread_id": 0, "any_cycles": 3400, "other_cycles": true, "ns": 9000}], ` + sched, Bounds{1900, 3400}},
		{"a known one", `"aicore_tasks": [[0, 5, 1, 2100, 2200, 0]], "aicpu_lifecycle_records": [{"aicpu_thread_id": 0, "exit_wait_start_cycles": 0, "exit_wait_end_cycles": 3400}], ` + sched, Bounds{1900, 3400}},
	} {
		rec, err := capture.ReadFrom(strings.NewReader(head+c.text+"}"), "test", capture.Options{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		e, err := ExtentOf(rec)
		if err != nil || e.All != c.want || e.Sched != (Bounds{1900, 1950}) || e.Orch != (Bounds{}) {
			t.Errorf("%s: %+v, %v", c.name, e, err)
		}
	}
	for want, rec := range map[string]*capture.Records{
		"capture metadata has no usable clock_freq_hz":   {},
		"capture holds no device-clock records to place": {Meta: capture.Metadata{ClockHz: 1}},
	} {
		if _, err := ExtentOf(rec); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	streams := &capture.Records{Meta: capture.Metadata{ClockHz: 1}, Streams: []capture.Stream{
		{Producer: capture.ProducerAICore, Phases: capture.Phases{Start: []uint64{5}, End: []uint64{9}}},
		{Producer: capture.ProducerAICPU, Phases: capture.Phases{Start: []uint64{6, 0}, End: []uint64{7, 0}}},
	}, DeviceOrc: []capture.Submits{{Start: []uint64{8}, End: []uint64{20}}}}
	if e, err := ExtentOf(streams); err != nil || e.All != (Bounds{5, 20}) || e.Sched != (Bounds{6, 7}) || e.Orch != (Bounds{8, 20}) {
		t.Errorf("streams: %+v, %v", e, err)
	}
}

// fitting makes a window of spec/l3.md §8.5 and a capture.
func fitting(pid int, inv uint64, sched int64) Window {
	return Window{Key: Key{pid, inv}, Start: 1000, Dur: 5000, Wall: 2000, Phases: map[string]Phase{"sched": {700, sched}}}
}

func running(rank int, sched uint64) Subject {
	return Subject{Rank: rank, Extent: Extent{Rate: gigahertz, All: Bounds{1900, 2200}, Sched: Bounds{1900, 1900 + sched}}}
}

func named(w Window, d Dispatch) Window {
	w.Dispatch = &d
	return w
}

func knows(s Subject, pid int64, d *Dispatch) Subject {
	s.HostPID, s.Dispatch = pid, d
	return s
}

// TestMatch are the examples of spec/l3.md §8.5, and its rules.
func TestMatch(t *testing.T) {
	const ambiguous = "the captures pair ambiguously with the Host log's invocations: "
	var four, forty []Window
	for inv := uint64(1); inv <= 40; inv++ {
		w := named(fitting(10, inv, 100), Dispatch{17, int64(inv), 0, 1})
		if inv <= 4 {
			four = append(four, w)
		}
		forty = append(forty, w)
	}
	var six []Window
	for _, pid := range []int{10, 11} {
		for inv := uint64(1); inv <= 3; inv++ {
			six = append(six, named(fitting(pid, inv, 100), Dispatch{1, int64(inv), 0, 1}))
		}
	}
	same := &Dispatch{1, 1, 0, 1}
	twins := []Window{named(fitting(10, 1, 100), *same), named(fitting(11, 1, 100), *same)}
	two := []Subject{running(0, 50), running(1, 50)}
	for _, c := range []struct {
		name     string
		windows  []Window
		subjects []Subject
		pins     []string
		want     string // rank→pid:inv source …, or what an error begins with
	}{
		{"by width", []Window{fitting(10, 1, 100), fitting(11, 1, 300)}, []Subject{running(0, 50), running(1, 250)}, nil,
			"0→10:1 device_window_fit [] excess 50 margin inf, 1→11:1 device_window_fit [] excess 50 margin inf"},
		{"the same shape", []Window{fitting(10, 1, 100), fitting(11, 1, 100)}, two, nil, ambiguous + "the best match is off by 0.1 us of window and the next by 0.1 us, which is too close to tell apart."},
		{"pinned crosswise", []Window{fitting(10, 1, 100), fitting(11, 1, 100)}, two, []string{"0=11", "1=10"},
			"0→11:1 pinned [] excess 0 margin inf, 1→10:1 pinned [] excess 0 margin inf"},
		{"four runs alike", four, []Subject{running(0, 50)}, nil, ambiguous},
		{"the sidecar names one", four, []Subject{knows(running(0, 50), 0, &Dispatch{17, 3, 0, 1})}, nil, "0→10:3 capture_sidecar [dispatch] excess 0 margin inf"},
		{"a pin of several", four, []Subject{running(0, 50)}, []string{"0=10"},
			"pinned pairing 0=10 names a pid with 4 placeable invocations (inv 1, 2, 3, 4); name the invocation too, as 0=10:INV"},
		{"a pin of one", four, []Subject{running(0, 50)}, []string{"0=10", " 0 = 10 : 2 "}, "0→10:2 pinned [] excess 0 margin inf"},
		{"too many", forty, []Subject{running(0, 50), running(1, 50), running(2, 50), running(3, 50)}, nil,
			"4 capture(s) carry no dispatch_identity.json and the Host logs hold 40 candidate chip.run.runner_run windows, which is 2193360 ways of matching them — too many to score. "},
		{"two sidecars alike", twins, []Subject{knows(running(0, 50), 0, same), knows(running(1, 50), 0, same)}, nil, ambiguous},
		{"told apart by their pids", twins, []Subject{knows(running(0, 50), 11, same), knows(running(1, 50), 10, same)}, nil,
			"0→11:1 capture_sidecar [host_pid dispatch] excess 0 margin inf, 1→10:1 capture_sidecar [host_pid dispatch] excess 0 margin inf"},
		{"a pid of three runs", six, []Subject{knows(running(0, 50), 11, nil)}, nil, ambiguous},
		{"a pid and a dispatch", six, []Subject{knows(running(0, 50), 11, &Dispatch{1, 2, 0, 1})}, nil, "0→11:2 capture_sidecar [host_pid dispatch] excess 0 margin inf"},
		{"both name the same one", twins[:2], []Subject{knows(running(0, 50), 10, same), knows(running(1, 50), 10, same)}, nil, ambiguous},
		{"a sidecar of another run", []Window{fitting(10, 1, 100)}, []Subject{knows(running(0, 50), 99, same)}, nil, "0→10:1 device_window_fit [] excess 50 margin inf lost"},
		{"fewer windows", twins[:1], two, nil, "2 captures but only 1 Host invocations to place them in"},
		{"a pin of a stranger", twins, two, []string{"4=10", "3=10"}, "pinned pairing names a capture that is not being merged: [3, 4]"},
		{"a pin of no run", twins, two, []string{"0=10:9"}, "pinned pairing 0=10:9 names an invocation with no placeable chip.run.runner_run window in the Host logs"},
		{"a pin of no pid", twins, two, []string{"0=12"}, "pinned pairing 0=12 names a pid with 0 placeable invocations (inv none); name the invocation too, as 0=12:INV"},
		{"two pins of one run", twins, two, []string{"0=10", "1=10"}, "pinned pairing sends two captures to one Host invocation"},
		{"a pin of another's run", twins, []Subject{running(0, 50), knows(running(1, 50), 10, same)}, []string{"0=10"},
			"capture 1's sidecar names a Host invocation that a pinned pairing already claims; the pin and the capture disagree about which invocation ran it"},
		{"no fit", []Window{fitting(10, 1, 40)}, []Subject{running(0, 50)}, nil, "no way of matching these captures to the Host log's invocations puts every capture inside a window wide enough to hold it; the log"},
		{"a margin", []Window{fitting(10, 1, 60), fitting(10, 2, 200)}, []Subject{running(0, 50)}, nil, "0→10:1 device_window_fit [] excess 10 margin 140"},
		{"four times is too close", []Window{fitting(10, 1, 60), fitting(10, 2, 90)}, []Subject{running(0, 50)}, nil, ambiguous},
		{"exactly full", []Window{fitting(10, 1, 50), fitting(10, 2, 51)}, []Subject{running(0, 50)}, nil, "0→10:1 device_window_fit [] excess 0 margin 1"},
	} {
		pins, err := parsePins(c.pins)
		if err != nil {
			t.Fatal(err)
		}
		pairs, err := Match(c.windows, c.subjects, pins)
		got := ""
		if err != nil {
			got = err.Error()
		}
		for i, p := range pairs {
			if i > 0 {
				got += ", "
			}
			got += fmt.Sprintf("%d→%d:%d %s %v excess %v margin ", c.subjects[i].Rank, p.Window.PID, p.Window.Inv, p.Source, p.Keys, p.Excess)
			if math.IsInf(p.Margin, 1) {
				got += "inf"
			} else {
				got += fmt.Sprint(p.Margin)
			}
			if p.Lost {
				got += " lost"
			}
		}
		if err == nil && got != c.want || err != nil && !strings.HasPrefix(got, c.want) || c.want == "" {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestRunsOf: the runs that can be chosen are listed as far as one cares to read.
func TestRunsOf(t *testing.T) {
	var all []Window
	for _, inv := range []uint64{1, 2, 3, 4, 7, 1 << 63} {
		all = append(all, Window{Key: Key{PID: 10, Inv: inv}})
	}
	all = append(all, Window{Key: Key{PID: 11, Inv: 5}}, Window{Key: Key{PID: 11, Inv: 6}})
	if got, want := runsOf(all), "pid 10 (inv 1-4, 7, 9223372036854775808), pid 11 (inv 5, 6)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	all = nil
	for i := range 1000 {
		all = append(all, Window{Key: Key{PID: i / 100, Inv: uint64(2 * (i % 100))}})
	}
	got := runsOf(all)
	if !strings.HasPrefix(got, "pid 0 (inv 0, 2, 4, 6, 8, 10, 12, 14 and 92 more), pid 1 (") || !strings.HasSuffix(got, "92 more) and 2 more") {
		t.Errorf("got %s", got)
	}
}

// TestSearchFindsTheTwoBest holds the search with its short cuts against one without.
func TestSearchFindsTheTwoBest(t *testing.T) {
	next := uint64(1)
	random := func(n int) int {
		next = next*6364136223846793005 + 1442695040888963407
		return int(next>>33) % n
	}
	for range 300 {
		k := 1 + random(3)
		n := k + random(3)
		cost := make([][]float64, k)
		for i := range cost {
			for range n {
				v := float64(random(50))
				if v < 12 {
					v = math.Inf(1)
				}
				cost[i] = append(cost[i], v)
			}
		}
		var all []float64
		var walk func(i int, used []bool, sum float64)
		walk = func(i int, used []bool, sum float64) {
			if i == k {
				all = append(all, sum)
				return
			}
			for w := range n {
				if !used[w] {
					used[w] = true
					walk(i+1, used, sum+cost[i][w])
					used[w] = false
				}
			}
		}
		walk(0, make([]bool, n), 0)
		slices.Sort(all)
		all = append(all, math.Inf(1))
		s := search{cost: cost, used: make([]bool, n), now: make([]int, k), best: math.Inf(1), next: math.Inf(1)}
		s.from(0, 0)
		if s.best != all[0] || s.next != all[1] {
			t.Fatalf("%v: %v and %v, want %v and %v", cost, s.best, s.next, all[0], all[1])
		}
	}
}

func TestPins(t *testing.T) {
	for item, want := range map[string]string{
		"zero=4101": "--rank-pid must be RANK=PID or RANK=PID:INV (for example, 0=4242), not 'zero=4101'",
		"0":         "--rank-pid must be RANK=PID or RANK=PID:INV (for example, 0=4242), not '0'",
		"0=":        "--rank-pid must be RANK=PID or RANK=PID:INV (for example, 0=4242), not '0='",
		"0=1:x":     "--rank-pid invocation must be a number, as RANK=PID:INV, not '0=1:x'",
		"0=1:2:3":   "--rank-pid invocation must be a number, as RANK=PID:INV, not '0=1:2:3'",
	} {
		if _, err := parsePins([]string{item}); err == nil || err.Error() != want {
			t.Errorf("%s: %v", item, err)
		}
	}
	pins, err := parsePins([]string{"3=7:1", "3 = 8:", "4=9: 2"})
	if err != nil || len(pins) != 2 || pins[3] != (Pin{PID: 8}) || pins[4] != (Pin{9, 2, true}) {
		t.Errorf("%v, %v", pins, err)
	}
}

func TestRankList(t *testing.T) {
	if got, err := parseRanks("0,3-5"); err != nil || !slices.Equal(got, [][2]int{{0, 0}, {3, 5}}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, text := range []string{"", "a", "5-3", "1,", "-1"} {
		if _, err := parseRanks(text); !errors.Is(err, errRankList) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
