package hostlog_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"swimlane/internal/hostlog"
)

// lines are the spans in a log in short.
func lines(r *hostlog.Records) []string {
	var out []string
	for _, s := range r.Spans {
		out = append(out, fmt.Sprintf("%d/%d %d %s %d+%d %s", s.Inv, s.TID, s.Depth, strings.TrimPrefix(s.Name, "chip.run"), s.TS, s.Dur, s.Attrs))
	}
	return out
}

// logged writes a run and reads it back.
func logged(t *testing.T, run *hostlog.ChipRun) []string {
	t.Helper()
	var out bytes.Buffer
	options, _ := simulated(&out)
	l := hostlog.New(options)
	if err := l.ChipRun(run); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return lines(read(t, out.String()))
}

func TestChipRun(t *testing.T) { // spec/host-log.md §4.2, §4.4, §4.5
	at := func(start, end int64) hostlog.Interval { return hostlog.Interval{Start: start, End: end} }
	ptr := func(start, end int64) *hostlog.Interval { i := at(start, end); return &i }
	got := logged(t, &hostlog.ChipRun{
		TID: 7, Inv: 3, HID: "abc", Interval: at(1000, 9000),
		Identity:  &hostlog.Identity{RunID: 17, DispatchID: 2, SlotID: 0, Generation: 5, RunEpoch: 1<<64 - 1},
		Bind:      ptr(1100, 2000),
		BindSteps: []hostlog.BindStep{{Name: "args", Interval: at(1110, 1200), Attrs: []hostlog.Attr{hostlog.Int("ntensor", 4)}}, {Name: "prebuilt", Interval: at(1200, 1900)}},
		RunnerRun: ptr(2100, 8000), ClaimRelease: ptr(7000, 7100), Validate: ptr(8100, 8200),
		Device: &hostlog.DeviceRun{
			Wall: 5000,
			Phases: []hostlog.DevicePhase{
				{Phase: hostlog.Sched, Interval: at(50_500, 53_000)}, {Phase: hostlog.Sched, Interval: at(50_400, 52_000)}, // two threads
				{Phase: hostlog.Orch, Interval: at(50_300, 51_000)},
				{Phase: hostlog.SmReset, Interval: at(50_290, 50_290)}, // 0 ns
				{Phase: hostlog.Preamble, Interval: at(50_000, 50_000)}, {Phase: hostlog.Preamble, Interval: at(50_100, 50_200)},
			},
			Tasks: []hostlog.TimedTask{
				{Slot: 15, Dispatch: 50_600, Finish: 50_700},
				{Slot: 3, Dispatch: 50_900, Finish: 51_500}, {Slot: 3, Dispatch: 50_800, Finish: 51_000},
				{Slot: 0, Dispatch: 50_900, Finish: 0}, {Slot: 1, Dispatch: 50_900, Finish: 50_900}, // not seen to finish
			},
		},
	})
	want := []string{
		"3/7 2 .bind.args 1110+90 ntensor=4",
		"3/7 2 .bind.prebuilt 1200+700 ",
		"3/7 1 .bind 1100+900 ",
		"3/7 1 .claim_release 7000+100 ",
		"3/7 1 .runner_run 2100+5900 ",
		"3/7 1 .validate 8100+100 ",
		"3/7 2 .runner_run.device_wall 0+5000 clk=dev",
		"3/7 3 .runner_run.device_wall.preamble 0+200 clk=dev",
		"3/7 3 .runner_run.device_wall.orch 300+700 clk=dev",
		"3/7 3 .runner_run.device_wall.sched 400+2600 clk=dev",
		"3/7 3 .runner_run.device_wall.task_slot_3 800+700 clk=dev",
		"3/7 3 .runner_run.device_wall.task_slot_15 600+100 clk=dev",
		"3/7 0  1000+8000 run_id=17 dispatch_id=2 slot_id=0 generation=5 run_epoch=18446744073709551615",
	}
	if !slices.Equal(got, want) {
		t.Errorf("run\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}

	// Without a stamped phase the earliest tagged dispatch is the zero, of a slot of
	// whatever end.
	got = logged(t, &hostlog.ChipRun{Inv: 1, Interval: at(0, 1), Device: &hostlog.DeviceRun{
		Tasks: []hostlog.TimedTask{{Slot: 2, Dispatch: 700, Finish: 900}, {Slot: 4, Dispatch: 600}},
	}})
	want = []string{
		"1/410 2 .runner_run.device_wall 0+0 clk=dev",
		"1/410 3 .runner_run.device_wall.task_slot_2 100+200 clk=dev",
		"1/410 0  0+1 ",
	}
	if !slices.Equal(got, want) {
		t.Errorf("run\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestChipRunsThatCannotBe(t *testing.T) {
	for want, run := range map[string]*hostlog.ChipRun{
		"task-timing slot 16": {Device: &hostlog.DeviceRun{Tasks: []hostlog.TimedTask{{Slot: 16, Finish: 1}}}},
		"task-timing slot -1": {Device: &hostlog.DeviceRun{Tasks: []hostlog.TimedTask{{Slot: -1, Finish: 1}}}},
		"phase 9":             {Device: &hostlog.DeviceRun{Phases: []hostlog.DevicePhase{{Phase: 9}}}},
		"chip.run is from 5":  {Interval: hostlog.Interval{Start: 5, End: 4}},
		"bind is from -1":     {Bind: &hostlog.Interval{Start: -1}},
		"device_wall is from": {Device: &hostlog.DeviceRun{Wall: -1}},
		"sched is from":       {Device: &hostlog.DeviceRun{Phases: []hostlog.DevicePhase{{Phase: hostlog.Sched, Interval: hostlog.Interval{Start: 2, End: 1}}}}},
		"task_slot_1 is from": {Device: &hostlog.DeviceRun{ // dispatched before the device began
			Phases: []hostlog.DevicePhase{{Phase: hostlog.Sched, Interval: hostlog.Interval{Start: 2, End: 3}}}, Tasks: []hostlog.TimedTask{{Slot: 1, Dispatch: 1, Finish: 9}}}},
	} {
		var out bytes.Buffer
		options, _ := simulated(&out)
		err := hostlog.New(options).ChipRun(run)
		if err == nil || !strings.Contains(err.Error(), want) || out.Len() > 0 {
			t.Errorf("error %v after %d bytes, want %q and nothing written", err, out.Len(), want)
		}
	}
}

func TestDeviceSwitch(t *testing.T) { // §4.4
	for value, want := range map[string]bool{"": true, "0": false, "1": true, "00": true, "off": true} {
		if hostlog.DeviceEnabled(value) != want {
			t.Errorf("%s=%s means %v, want %v", hostlog.DeviceSwitch, value, !want, want)
		}
	}
}

// runOf is the run that wrote the spans of a log, with its device phases in
// another order and on another axis.
func runOf(t *testing.T, spans []*hostlog.Span) *hostlog.ChipRun {
	t.Helper()
	run := &hostlog.ChipRun{TID: spans[0].TID, Inv: spans[0].Inv, HID: spans[0].HID}
	const zero = 123_456
	for _, s := range spans {
		interval := hostlog.Interval{Start: s.TS, End: s.TS + s.Dur}
		onDevice := hostlog.Interval{Start: interval.Start + zero, End: interval.End + zero}
		switch s.Name {
		case "chip.run":
			run.Interval = interval
			if s.Attrs != "" {
				var n [5]uint64
				for i, key := range []string{"run_id", "dispatch_id", "slot_id", "generation", "run_epoch"} {
					_, after, _ := strings.Cut(" "+s.Attrs+" ", " "+key+"=")
					value, _, _ := strings.Cut(after, " ")
					n[i] = atoi(t, value, 10)
				}
				run.Identity = &hostlog.Identity{RunID: n[0], DispatchID: n[1], SlotID: n[2], Generation: n[3], RunEpoch: n[4]}
			}
		case "chip.run.bind":
			run.Bind = &interval
		case "chip.run.runner_run":
			run.RunnerRun = &interval
		case "chip.run.validate":
			run.Validate = &interval
		case "chip.run.runner_run.device_wall":
			run.Device = &hostlog.DeviceRun{Wall: s.Dur}
		default:
			if step, ok := strings.CutPrefix(s.Name, "chip.run.bind."); ok {
				run.BindSteps = append(run.BindSteps, hostlog.BindStep{Name: step, Interval: interval})
				continue
			}
			leaf := strings.TrimPrefix(s.Name, "chip.run.runner_run.device_wall.")
			if slot, ok := strings.CutPrefix(leaf, "task_slot_"); ok {
				run.Device.Tasks = append(run.Device.Tasks, hostlog.TimedTask{Slot: int(atoi(t, slot, 10)), Dispatch: onDevice.Start, Finish: onDevice.End})
				continue
			}
			phase := map[string]hostlog.Phase{
				"preamble": hostlog.Preamble, "config_validate": hostlog.ConfigValidate, "arena_wire": hostlog.ArenaWire, "sm_reset": hostlog.SmReset,
				"post_orch": hostlog.PostOrch, "orch": hostlog.Orch, "sched": hostlog.Sched,
			}
			p, ok := phase[leaf]
			if !ok {
				t.Fatalf("%s is no phase", s.Name)
			}
			run.Device.Phases = append(run.Device.Phases, hostlog.DevicePhase{Phase: p, Interval: onDevice})
		}
	}
	if d := run.Device; d != nil {
		rand.Shuffle(len(d.Phases), func(i, j int) { d.Phases[i], d.Phases[j] = d.Phases[j], d.Phases[i] })
	}
	return run
}

// TestRealRunsLoggedAgain logs each run that a real log holds whole, and expects its
// spans in the order of that log.
func TestRealRunsLoggedAgain(t *testing.T) {
	runs, phases := 0, map[string]int{}
	captures(t, func(t *testing.T, path string, log []byte) {
		if filepath.Base(path) == "log.txt" {
			return
		}
		f := oracle(log)
		byInv := map[uint64][]*hostlog.Span{}
		for i := range f.spans {
			if s := &f.spans[i]; strings.HasPrefix(s.Name, "chip.run") {
				byInv[s.Inv] = append(byInv[s.Inv], s)
			}
		}
		for _, spans := range byInv {
			if spans[len(spans)-1].Name != "chip.run" {
				continue // made by hand to be refused: without a root
			}
			var want []string
			for _, s := range spans {
				want = append(want, lines(&hostlog.Records{Spans: []hostlog.Span{*s}})...)
				phases[s.Name]++
			}
			got := logged(t, runOf(t, spans))
			if !slices.Equal(got, want) {
				t.Errorf("run %s of %s\n%s\nwant\n%s", strconv.FormatUint(spans[0].Inv, 10), path, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			runs++
		}
	})
	if runs < 200 || phases["chip.run.runner_run.device_wall.task_slot_3"] == 0 || phases["chip.run.bind.host_orch"] == 0 || phases["chip.run.runner_run.device_wall.preamble"] == 0 {
		t.Errorf("%d runs with %v, expected at least 200, and a task slot, HBG segments and preambles among them", runs, phases)
	}
}
