package scene_test

import (
	"bytes"
	"strings"
	"testing"

	"swimlane/internal/hostlog"
	"swimlane/scene"
)

// orchestrated is a scene of one vector of 8 elements with an orchestration; its kernel
// does nothing.
func orchestrated(run func(o *scene.Orchestrator, k *scene.Incore, args []scene.Tensor)) scene.Selected {
	k := &scene.Incore{FuncID: 0, Name: "K", Core: scene.AIV, Run: func(*scene.Call) uint64 { return 100 }}
	return first(&scene.Scene{
		Class: "TestRefused", Runtime: scene.TensormapAndRingbuffer, Callable: scene.Callable{
			Incores:       []*scene.Incore{k},
			Orchestration: scene.Orchestration{Name: "Orch", Run: func(o *scene.Orchestrator, _ *scene.Case, args []scene.Tensor) { run(o, k, args) }},
		},
		Cases: []scene.Case{{Name: "basic", Platforms: []string{scene.A2A3Sim}}},
		Inputs: func(*scene.Case) []scene.Data {
			return []scene.Data{{Name: "x", Shape: []int{8}, F32: make([]float32, 8)}}
		},
	})
}

// TestSubmitRefused: what a task cannot be is told by the submit, with its line.
func TestSubmitRefused(t *testing.T) {
	like := scene.Shape(scene.Float32, 8)
	for want, run := range map[string]func(o *scene.Orchestrator, k *scene.Incore, args []scene.Tensor){
		"the zero ID, which names no task": func(o *scene.Orchestrator, k *scene.Incore, _ []scene.Tensor) {
			var last scene.ID
			o.Submit(scene.Task{AIV0: k, After: []scene.ID{last}})
		},
		"argument 0 is the zero Tensor": func(o *scene.Orchestrator, k *scene.Incore, _ []scene.Tensor) {
			o.Submit(scene.Task{AIV0: k, Args: []scene.Arg{scene.In(scene.Tensor{})}})
		},
		"argument 0 is a Shape, and no task has made it": func(o *scene.Orchestrator, k *scene.Incore, _ []scene.Tensor) {
			o.Submit(scene.Task{AIV0: k, Args: []scene.Arg{scene.InOut(like)}})
		},
		"argument 1 is to be made, and exists already": func(o *scene.Orchestrator, k *scene.Incore, args []scene.Tensor) {
			o.Submit(scene.Task{AIV0: k, Args: []scene.Arg{scene.In(args[0]), scene.Out(args[0])}})
		},
		"a task has 33 tensors: expected at most 32": func(o *scene.Orchestrator, k *scene.Incore, args []scene.Tensor) {
			var in []scene.Arg
			for range 33 {
				in = append(in, scene.In(args[0]))
			}
			o.Submit(scene.Task{AIV0: k, Args: in})
		},
		"a task has -1 blocks": func(o *scene.Orchestrator, k *scene.Incore, _ []scene.Tensor) {
			o.Submit(scene.Task{AIV0: k, Blocks: -1})
		},
	} {
		_, err := orchestrated(run).RunWith(scene.Setup{Platform: scene.A2A3Sim, LogLevel: "null"})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	s := orchestrated(func(o *scene.Orchestrator, k *scene.Incore, args []scene.Tensor) {
		o.Submit(scene.Task{AIV0: k, Args: []scene.Arg{scene.InOut(args[0])}})
	})
	if _, err := s.RunWith(scene.Setup{Platform: scene.A2A3Sim, LogLevel: "null"}); err != nil {
		t.Error(err)
	}
	s.Scene.Callable.Orchestration.Signature = []scene.Direction{scene.Reads}
	if _, err := s.RunWith(scene.Setup{Platform: scene.A2A3Sim, LogLevel: "null"}); err == nil || !strings.Contains(err.Error(), "argument 0 writes a tensor of the case that is IN") {
		t.Errorf("a tensor that is only read is written: %v", err)
	}
}

// TestPanicNamesItsLine: the kernel, its task and the line are told, and no stack.
func TestPanicNamesItsLine(t *testing.T) {
	s := orchestrated(func(o *scene.Orchestrator, k *scene.Incore, args []scene.Tensor) {
		o.Submit(scene.Task{AIV0: k, Args: []scene.Arg{scene.In(args[0])}, Blocks: 2})
	})
	s.Scene.Callable.Incores[0].Run = func(c *scene.Call) uint64 {
		return uint64(len(scene.Use[float32](c, 0).Row(3)))
	}
	_, err := s.RunWith(scene.Setup{Platform: scene.A2A3Sim, LogLevel: "null"})
	if err == nil || strings.Contains(err.Error(), "goroutine") ||
		!strings.Contains(err.Error(), `kernel "K" (func_id 0), task t0, block 0 of 2: row 3 of a tensor of the shape [8]: expected 0 to 0 (scene/refused_test.go:`) {
		t.Error(err)
	}
}

// TestLevelOfEachRun: runs that share a log have thresholds of their own.
func TestLevelOfEachRun(t *testing.T) {
	var text bytes.Buffer
	for level, spans := range map[string]bool{"null": false, "timing": true, "warn": false} {
		before := text.Len()
		if _, err := first(slotted()).RunWith(scene.Setup{Platform: scene.A2A3Sim, LogLevel: level, Log: &text}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(text.String()[before:], "name=chip.run "); got != spans {
			t.Errorf("level %s: spans are there: %v, want %v", level, got, spans)
		}
	}
	if n := strings.Count(text.String(), "[CLOCK_ANCHOR]"); n != 1 {
		t.Errorf("%d anchors in a log, want one", n)
	}
}

// TestLogOfARunThatFailed: its tree is there, without the device.
func TestLogOfARunThatFailed(t *testing.T) {
	dir := t.TempDir()
	s := orchestrated(func(*scene.Orchestrator, *scene.Incore, []scene.Tensor) { panic("no") })
	if _, err := s.RunWith(scene.Setup{Platform: scene.A2A3Sim, Call: scene.CallConfig{OutputPrefix: dir}}); err == nil {
		t.Fatal("it did not fail")
	}
	log, err := hostlog.ReadAll(nil, dir)
	if err != nil || len(log.Warnings()) > 0 {
		t.Fatal(err, log.Warnings())
	}
	names := map[string]bool{}
	for _, span := range log.Spans {
		names[span.Name] = true
		if span.Device() {
			t.Errorf("%s is of a device that has told nothing", span.Name)
		}
	}
	for _, want := range []string{"chip.run", "chip.run.bind", "chip.run.runner_run"} {
		if !names[want] {
			t.Errorf("there is no %s", want)
		}
	}
}

// TestNetworkRefusedByRun: the words are those of the command when there is none.
func TestNetworkRefusedByRun(t *testing.T) {
	s := slotted()
	s.Level = 4
	_, err := first(s).Run(scene.A2A3Sim, scene.CallConfig{EnableChipSwimlane: 1, OutputPrefix: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "NETWORK1/L4 needs a node namespace") {
		t.Error(err)
	}
}

// TestKindsOfDependencies: Behind waits, Keeps does not, After does both: by the times
// of the model, in the slots 0 and 1.
func TestKindsOfDependencies(t *testing.T) {
	for name, v := range map[string]struct {
		task  func(id scene.ID) scene.Task
		waits bool
	}{
		"After":  {func(id scene.ID) scene.Task { return scene.Task{After: []scene.ID{id}} }, true},
		"Behind": {func(id scene.ID) scene.Task { return scene.Task{Behind: []scene.ID{id}} }, true},
		"Keeps":  {func(id scene.ID) scene.Task { return scene.Task{Keeps: []scene.ID{id}} }, false},
	} {
		var text bytes.Buffer
		s := orchestrated(func(o *scene.Orchestrator, k *scene.Incore, _ []scene.Tensor) {
			zero, one := scene.Slot(0), scene.Slot(1)
			id, _ := o.Submit(scene.Task{AIV0: k, Slot: &zero})
			second := v.task(id)
			second.AIV0, second.Slot = k, &one
			o.Submit(second)
		})
		s.Scene.Callable.Incores[0].Run = func(*scene.Call) uint64 { return 90_000 } // 50 µs
		if _, err := s.RunWith(scene.Setup{Platform: scene.A2A3Sim, Log: &text}); err != nil {
			t.Fatal(err)
		}
		log, err := hostlog.ReadAll(&text, "-")
		if err != nil {
			t.Fatal(err)
		}
		slots := map[string]hostlog.Span{}
		for _, span := range log.Spans {
			if i := strings.Index(span.Name, "task_slot_"); i >= 0 {
				slots[span.Name[i:]] = span
			}
		}
		a, b := slots["task_slot_0"], slots["task_slot_1"]
		if got := b.TS >= a.End()-1000; got != v.waits || a.Dur < 50_000 || b.Dur < 50_000 {
			t.Errorf("%s: slots %d+%d and %d+%d ns; it waits: %v, want %v", name, a.TS, a.Dur, b.TS, b.Dur, got, v.waits)
		}
	}
}
