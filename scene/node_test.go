package scene_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"swimlane/capture"
	"swimlane/internal/mailbox"
	"swimlane/internal/sim"
	"swimlane/scene"
)

// asProgram makes the test binary a program that runs the scenes for a node.
const asProgram = "SWIMLANE_TEST_PROGRAM"

// workerExits makes the test binary end at once where it is a worker.
const workerExits = "SWIMLANE_TEST_WORKER_EXITS"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		scene.Main(doomed(), doomedSub(), builtGraphs())
	}
	if os.Getenv(workerExits) != "" && os.Getenv(scene.WorkerEnv) != "" {
		os.Exit(3)
	}
	scene.Worker(doomed(), doomedSub(), scaled(), idle(func(*scene.Case, []scene.Data) error { return nil }))
	if os.Getenv("GORACE") == "" { // workers with the race detector would each sleep for a second at their end
		os.Setenv("GORACE", "atexit_sleep_ms=0")
	}
	os.Exit(m.Run())
}

// What the kernel of doomed does with these values.
const (
	doPanic = 100 + iota
	doExit
	doKill
	doHang
	doFull
	doTell
	doLast
)

// fate is what each case of doomed gives to chip 1.
var fates = map[string]float32{"well": 1, "panics": doPanic, "exits": doExit, "killed": doKill, "hangs": doHang, "full": doFull, "told": doTell, "lasts": doLast}

// doomed doubles a number on each of three chips, or does something else on chip 1.
func doomed() *scene.Scene {
	double := &scene.Incore{FuncID: 0, Name: "DOUBLE", Core: scene.AIV, Run: func(c *scene.Call) uint64 {
		in, out := scene.Use[float32](c, 0), scene.Use[float32](c, 1)
		switch in.Row(0)[0] {
		case doPanic:
			panic("the kernel has had enough")
		case doExit:
			os.Exit(42)
		case doKill:
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		case doHang:
			time.Sleep(time.Hour)
		case doFull: // no file of this process gets any longer from now on
			signal.Ignore(syscall.SIGXFSZ)
			if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{}); err != nil {
				panic(err)
			}
		case doTell:
			_ = syscall.Kill(os.Getpid(), syscall.SIGTERM)
			for !sim.Interrupted() {
				time.Sleep(time.Millisecond)
			}
		case doLast: // for an hour of the model, which passes on the real clock
			return 3600 * 1_800_000_000
		}
		out.Row(0)[0] = 2 * in.Row(0)[0]
		return 50
	}}
	chip := &scene.NodeCallable{Name: "double", Chip: &scene.Callable{
		Incores: []*scene.Incore{double},
		Orchestration: scene.Orchestration{Name: "Doubling", Signature: []scene.Direction{scene.Reads, scene.Writes},
			Run: func(o *scene.Orchestrator, _ *scene.Case, args []scene.Tensor) {
				o.Submit(scene.Task{AIV0: double, Args: []scene.Arg{scene.In(args[0]), scene.Into(args[1])}})
			}},
	}}
	s := &scene.Scene{
		Class: "TestDoomed", Runtime: scene.TensormapAndRingbuffer, Level: 3,
		Node: &scene.Node{Name: "run_all", Callables: []*scene.NodeCallable{chip}, Run: func(o *scene.NodeOrchestrator, _ *scene.Case, args []scene.NodeTensor) {
			for w := range 3 {
				o.Submit(scene.NodeTask{Callable: chip, Worker: w, Args: []scene.NodeArg{args[2*w].In(), args[2*w+1].Out()}})
			}
		}},
		Inputs: func(c *scene.Case) (all []scene.Data) {
			for w := range 3 {
				in := []float32{1}
				if w == 1 {
					in[0] = fates[c.Name]
				}
				all = append(all, scene.Data{Name: fmt.Sprint("in", w), Shape: []int{1}, F32: in}, scene.Data{Name: fmt.Sprint("out", w), Shape: []int{1}, F32: []float32{0}, Check: true})
			}
			return all
		},
		Golden: func(_ *scene.Case, in []scene.Data) (want []scene.Data) {
			for w := range 3 {
				in[2*w+1].F32[0] = 2 * in[2*w].F32[0]
				want = append(want, in[2*w+1])
			}
			return want
		},
	}
	for _, name := range []string{"well", "panics", "exits", "killed", "hangs", "full", "told", "lasts"} {
		s.Cases = append(s.Cases, scene.Case{Name: name, Platforms: []string{scene.A2A3Sim}, Config: scene.Config{DeviceCount: 3, Clusters: 1}})
	}
	return s
}

// caseOf is a case of a scene by its name.
func caseOf(s *scene.Scene, name string) scene.Selected {
	for i := range s.Cases {
		if s.Cases[i].Name == name {
			return scene.Selected{Scene: s, Case: &s.Cases[i]}
		}
	}
	panic(name)
}

// workersOf are the processes that left a log in a directory, but for one.
func workersOf(t *testing.T, dir string, main int) (pids []int) {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(dir, "host.*.log"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range logs {
		pid, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "host."), ".log"))
		if err != nil {
			t.Fatal(err)
		}
		if pid != main {
			pids = append(pids, pid)
		}
	}
	return pids
}

// alive tells whether there is a worker that is no corpse: these have no command line.
// Another process may have the number of one that has ended.
func alive(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err == nil && bytes.Contains(text, []byte("\x00chip-worker\x00TestDoomed"))
}

// threeEnded checks that three workers of this process have left a log and are gone, and
// names them.
func threeEnded(t *testing.T, dir string) (pids []int) {
	t.Helper()
	pids = workersOf(t, dir, os.Getpid())
	if len(pids) != 3 {
		t.Errorf("%d workers have a log, want 3", len(pids))
	}
	for _, pid := range pids {
		if alive(pid) {
			t.Errorf("worker %d is still there", pid)
		}
	}
	return pids
}

// TestWorkerThatFails: it is named with what it did, the others come to their end and are
// ended, and what they captured is there.
func TestWorkerThatFails(t *testing.T) {
	const did = `^TestDoomed::%s: rank 1 \(process \d+, device 1\), running "double" \(run 1, task slot 1, dispatch 1\): `
	for name, want := range map[string]string{
		"well":   "",
		"panics": `kernel "DOUBLE" \(func_id 0\), task t0, block 0 of 1: the kernel has had enough \(scene/node_test.go:\d+\)$`,
		"exits":  `the process has ended: exit status 42`,
		"killed": `the process has ended: signal: killed`,
		"hangs":  "",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := doomed()
			grace := time.Minute
			if name == "hangs" {
				grace = 100 * time.Millisecond
				// Nothing fails by itself then, so the orchestration does.
				run := s.Node.Run
				s.Node.Run = func(o *scene.NodeOrchestrator, c *scene.Case, args []scene.NodeTensor) {
					run(o, c, args)
					panic("the orchestration stops")
				}
			}
			defer scene.SetGrace(grace, grace)()
			r, err := caseOf(s, name).Run(scene.A2A3Sim, scene.CallConfig{EnableChipSwimlane: 2, EnableDepGen: true, OutputPrefix: dir})
			switch {
			case name == "hangs":
				if err == nil || !strings.Contains(err.Error(), "the node's orchestration, run 1, after 3 submits: the orchestration stops (scene/node_test.go:") {
					t.Errorf("%v", err)
				}
			case (err == nil) != (want == ""), err != nil && !regexp.MustCompile(fmt.Sprintf(did, name)+want).MatchString(err.Error()):
				t.Errorf("%v, want %q", err, want)
			}
			threeEnded(t, dir)
			kept := 0
			for _, d := range r.Dispatches {
				if d.Err != nil {
					continue
				}
				kept++
				c, err := capture.Read(d.Records, capture.Options{})
				if err != nil || c.Tasks.Len() != 1 {
					t.Errorf("rank %d: %v", d.Rank, err)
				}
			}
			// Chip 0 had its order before chip 1 had, chip 2 got one unless chip 1 was faster.
			if most := map[bool]int{true: 3, false: 2}[name == "well"]; name != "hangs" && kept < 1 || kept > most {
				t.Errorf("%d captures were kept", kept)
			}
			if name == "panics" {
				if _, err := os.Stat(filepath.Join(dir, "rank1", "d0", "chip_swimlane_records.json")); err != nil {
					t.Errorf("what chip 1 had recorded is lost: %v", err)
				}
			}
		})
	}
}

// TestWorkerThatIsToldToEnd: what it runs ends early then, and what that has recorded is kept
// and marked. It is told by whoever tells its process, and by its dispatcher when a batch
// that has failed is not over in time.
func TestWorkerThatIsToldToEnd(t *testing.T) {
	for name, want := range map[string]string{
		"told":  `^TestDoomed::told: rank 1 \(process \d+, device 1\), running "double" \(run 1, task slot 1, dispatch 1\): interrupted$`,
		"lasts": `^TestDoomed::lasts: the node's orchestration, run 1, after 3 submits: the orchestration stops `,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := doomed()
			if name == "lasts" {
				run := s.Node.Run
				s.Node.Run = func(o *scene.NodeOrchestrator, c *scene.Case, args []scene.NodeTensor) {
					run(o, c, args)
					for begun := false; !begun; time.Sleep(time.Millisecond) { // else it would not be dispatched
						_, err := os.Stat(filepath.Join(dir, "rank1", "d0", "dispatch_identity.json"))
						begun = err == nil
					}
					panic("the orchestration stops")
				}
				defer scene.SetGrace(10*time.Millisecond, time.Minute)()
			}
			_, err := caseOf(s, name).Run(scene.A2A3Sim, scene.CallConfig{EnableChipSwimlane: 4, EnableDepGen: true, OutputPrefix: dir})
			if err == nil || !regexp.MustCompile(want).MatchString(err.Error()) {
				t.Errorf("%v, want %q", err, want)
			}
			pids := threeEnded(t, dir)
			if c, err := capture.Read(filepath.Join(dir, "rank1", "d0", "chip_swimlane_records.json"), capture.Options{}); err != nil || !c.Loss.EndedEarly {
				t.Errorf("%v, or the capture does not say that its run ended early", err)
			}
			for _, pid := range pids { // its log has no run that would not be as long as its device
				log, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("host.%d.log", pid)))
				if err != nil || strings.Contains(string(log), "rank 1 failed: interrupted") && strings.Contains(string(log), "device_wall") {
					t.Errorf("worker %d: %v\n%s", pid, err, log)
				}
			}
		})
	}
}

// TestWorkerWithoutRoom: what a worker cannot write of its log is told with its rank, and no
// more than that; what it cannot write of a capture fails the case. Others are whole.
func TestWorkerWithoutRoom(t *testing.T) {
	dir := t.TempDir()
	r, err := caseOf(doomed(), "full").Run(scene.A2A3Sim, scene.CallConfig{OutputPrefix: dir})
	if err != nil || r.Golden != nil || len(r.Notes) != 2 {
		t.Fatalf("%v, golden %v, notes %q; want two notes", err, r.Golden, r.Notes)
	}
	for i, want := range []string{`^rank 1: the log of the device cannot be written: .*file too large$`, `^rank 1: \d+ record\(s\) of the host's log were dropped, the first because: .*file too large$`} {
		if !regexp.MustCompile(want).MatchString(r.Notes[i]) {
			t.Errorf("note %q, want %q", r.Notes[i], want)
		}
	}
	dir = t.TempDir()
	r, err = caseOf(doomed(), "full").Run(scene.A2A3Sim, scene.CallConfig{EnableChipSwimlane: 4, EnableDepGen: true, OutputPrefix: dir})
	if err == nil || !strings.Contains(err.Error(), "rank 1 (process ") || !strings.Contains(err.Error(), "file too large") {
		t.Errorf("%v, want what could not be written, and of whom", err)
	}
	for _, d := range r.Dispatches {
		_, failed := capture.Read(filepath.Join(d.Dir, "chip_swimlane_records.json"), capture.Options{})
		if (failed == nil) != (d.Rank != 1) {
			t.Errorf("rank %d: %v", d.Rank, failed)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "rank*", "d*", ".*")); left != nil {
		t.Errorf("%v is left half-written", left)
	}
}

// TestExitCodeOfNode: a worker that fails makes the case fail, and the exit code 1.
func TestExitCodeOfNode(t *testing.T) {
	code, out, problems := command("TestDoomed --case panics --case well -p a2a3sim --enable-dep-gen --root "+t.TempDir(), doomed())
	if code != 1 || !strings.Contains(out, "TestDoomed::panics ... FAILED: rank 1 (process ") || !strings.Contains(out, "TestDoomed::well ... PASSED") {
		t.Errorf("exit code %d\n%s%s", code, out, problems)
	}
	if !strings.Contains(out, "rank0/d0/") {
		t.Errorf("no files\n%s%s", out, problems)
	}
	code, _, problems = command("TestDoomed --case well -p a2a3sim -d 3,5", doomed())
	if code != 2 || !strings.Contains(problems, "TestDoomed::well needs 3 devices and gets 2: expected a list of at least 3, as -d 0-2") {
		t.Errorf("exit code %d\n%s", code, problems)
	}
}

// TestWorkersDieWithTheirParent: when the dispatcher is killed no worker is left, whatever
// it does.
func TestWorkersDieWithTheirParent(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	cmd := exec.Command(self, "TestDoomed", "--case", "hangs", "-p", "a2a3sim", "--enable-dep-gen", "--root", root)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	// It hangs when chips 0 and 2 are through.
	var pids []int
	deadline := time.Now().Add(time.Minute)
	for begun := 0; begun < 3; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the dispatches do not begin: %d have", begun)
		}
		cards, _ := filepath.Glob(filepath.Join(root, "outputs", "*", "rank*", "d0", "dispatch_identity.json"))
		begun = len(cards)
	}
	dirs, _ := filepath.Glob(filepath.Join(root, "outputs", "*"))
	if pids = workersOf(t, dirs[0], cmd.Process.Pid); len(pids) != 3 {
		t.Fatalf("the workers are %v", pids)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for _, pid := range pids {
		for alive(pid) {
			if time.Now().After(deadline) {
				t.Fatalf("worker %d outlives its parent", pid)
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
}

// doomedSub has a sub-worker that behaves as the case is called.
func doomedSub() *scene.Scene {
	sub := &scene.NodeCallable{Name: "look", Sub: func(c *scene.Case, args []scene.Data) error {
		switch c.Name {
		case "error":
			return errors.New("it looks wrong")
		case "panic":
			panic("it looks terrible")
		}
		args[0].I32[0]++
		return nil
	}}
	s := &scene.Scene{
		Class: "TestDoomedSub", Runtime: scene.TensormapAndRingbuffer, Level: 3,
		Node: &scene.Node{Callables: []*scene.NodeCallable{sub}, Run: func(o *scene.NodeOrchestrator, c *scene.Case, args []scene.NodeTensor) {
			for range 5 { // one after the other, on two sub-workers
				o.Submit(scene.NodeTask{Callable: sub, Args: []scene.NodeArg{args[0].InOut()}})
			}
		}},
		Inputs: func(*scene.Case) []scene.Data {
			return []scene.Data{{Name: "n", Shape: []int{1}, I32: []int32{0}, Check: true}}
		},
		Golden: func(_ *scene.Case, in []scene.Data) []scene.Data { in[0].I32[0] = 5; return in },
	}
	for _, name := range []string{"well", "error", "panic", "wrong"} {
		s.Cases = append(s.Cases, scene.Case{Name: name, Platforms: []string{scene.A2A3Sim}, Config: scene.Config{DeviceCount: 1, SubWorkers: 2, Clusters: 1}})
	}
	return s
}

// idle is doomed with a sub-worker behind it.
func idle(sub func(*scene.Case, []scene.Data) error) *scene.Scene {
	s := doomed()
	s.Class = "TestIdle"
	s.Cases = s.Cases[:1]
	s.Cases[0].Config.SubWorkers = 1
	run, after := s.Node.Run, &scene.NodeCallable{Name: "after", Sub: sub}
	s.Node.Callables = append(s.Node.Callables, after)
	s.Node.Run = func(o *scene.NodeOrchestrator, c *scene.Case, args []scene.NodeTensor) {
		run(o, c, args)
		o.Submit(scene.NodeTask{Callable: after, Args: []scene.NodeArg{args[1].In(), args[3].In(), args[5].In()}})
	}
	return s
}

// TestWorkerThatDiesIdle: a worker that is killed when it has done its work is an error too.
func TestWorkerThatDiesIdle(t *testing.T) {
	dir := t.TempDir()
	killed := 0
	s := idle(func(*scene.Case, []scene.Data) error {
		text, err := os.ReadFile(filepath.Join(dir, "rank1", "d0", "dispatch_identity.json"))
		if err != nil {
			return err
		}
		m := regexp.MustCompile(`"host_pid": (\d+)`).FindStringSubmatch(string(text))
		if killed, err = strconv.Atoi(m[1]); err != nil {
			return err
		}
		return syscall.Kill(killed, syscall.SIGKILL)
	})
	r, err := first(s).Run(scene.A2A3Sim, scene.CallConfig{EnableDepGen: true, OutputPrefix: dir})
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("rank 1 (process %d, device 1), ", killed)) || !strings.Contains(err.Error(), "signal: killed") {
		t.Errorf("%v, want that rank 1, process %d, was killed", err, killed)
	}
	if len(r.Dispatches) != 3 {
		t.Errorf("%d dispatches, want 3", len(r.Dispatches))
	}
}

func TestSubWorkers(t *testing.T) {
	for name, want := range map[string]string{
		"well":  "",
		"error": `TestDoomedSub::error: sub-worker 0, running "look" (run 1, task slot 0, dispatch 1): it looks wrong`,
		"panic": `TestDoomedSub::panic: sub-worker 0, running "look" (run 1, task slot 0, dispatch 1): it looks terrible (scene/node_test.go:`,
	} {
		r, err := caseOf(doomedSub(), name).RunWith(scene.Setup{Platform: scene.A2A3Sim, LogLevel: "null"})
		if want == "" && (err != nil || r.Golden != nil) || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%s: %v, golden %v; want %q", name, err, r.Golden, want)
		}
	}
	// Wrong values are no error of the run.
	s := doomedSub()
	s.Golden = func(_ *scene.Case, in []scene.Data) []scene.Data { in[0].I32[0] = 6; return in }
	r, err := caseOf(s, "well").RunWith(scene.Setup{Platform: scene.A2A3Sim, LogLevel: "null"})
	if err != nil || r.Golden == nil || !strings.Contains(r.Golden.Error(), "5, expected 6") {
		t.Errorf("%v, golden %v", err, r.Golden)
	}
}

// TestSubmitsThatAreRefused end the run with an error that says what is wrong.
func TestSubmitsThatAreRefused(t *testing.T) {
	for want, task := range map[string]func(k *scene.NodeCallable, a []scene.NodeTensor) scene.NodeTask{
		"none of the scene's 1": func(_ *scene.NodeCallable, a []scene.NodeTensor) scene.NodeTask { return scene.NodeTask{} },
		"it is for worker 3: expected 0 to 2": func(k *scene.NodeCallable, a []scene.NodeTensor) scene.NodeTask {
			return scene.NodeTask{Callable: k, Worker: 3, Args: []scene.NodeArg{a[0].In(), a[1].Out()}}
		},
		"it has 1 arguments: expected the 2": func(k *scene.NodeCallable, a []scene.NodeTensor) scene.NodeTask {
			return scene.NodeTask{Callable: k, Args: []scene.NodeArg{a[0].In()}}
		},
		"argument 1 is INOUT: expected OUT": func(k *scene.NodeCallable, a []scene.NodeTensor) scene.NodeTask {
			return scene.NodeTask{Callable: k, Args: []scene.NodeArg{a[0].In(), a[1].InOut()}}
		},
		"argument 0 is no tensor": func(k *scene.NodeCallable, a []scene.NodeTensor) scene.NodeTask {
			return scene.NodeTask{Callable: k, Args: []scene.NodeArg{{}, a[1].Out()}}
		},
		`tensor "in0" is written, and is an argument twice`: func(k *scene.NodeCallable, a []scene.NodeTensor) scene.NodeTask {
			return scene.NodeTask{Callable: k, Args: []scene.NodeArg{a[0].In(), a[0].Out()}}
		},
		"two members of the group are for worker 2": func(k *scene.NodeCallable, a []scene.NodeTensor) scene.NodeTask {
			return scene.NodeTask{Callable: k, Group: []scene.NodeMember{
				{Worker: 2, Args: []scene.NodeArg{a[0].In(), a[1].Out()}}, {Worker: 2, Args: []scene.NodeArg{a[2].In(), a[3].Out()}},
			}}
		},
		"come after no task": func(k *scene.NodeCallable, a []scene.NodeTensor) scene.NodeTask {
			return scene.NodeTask{Callable: k, Args: []scene.NodeArg{a[0].In(), a[1].Out()}, After: []scene.NodeID{{}}}
		},
	} {
		s := doomed()
		s.Node.Run = func(o *scene.NodeOrchestrator, _ *scene.Case, args []scene.NodeTensor) {
			o.Submit(task(s.Node.Callables[0], args))
		}
		_, err := caseOf(s, "well").RunWith(scene.Setup{Platform: scene.A2A3Sim, LogLevel: "null"})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// scaled computes n·10 + 3 on two chips that pass it to each other, in a group too.
func scaled() *scene.Scene {
	kernel := func(name string, f func(x int32) int32) *scene.NodeCallable {
		k := &scene.Incore{Name: name, Core: scene.AIV, Run: func(c *scene.Call) uint64 {
			scene.Use[int32](c, 0).Row(0)[0] = f(scene.Use[int32](c, 0).Row(0)[0])
			return 10
		}}
		return &scene.NodeCallable{Name: name, Chip: &scene.Callable{Incores: []*scene.Incore{k}, Orchestration: scene.Orchestration{
			Run: func(o *scene.Orchestrator, _ *scene.Case, args []scene.Tensor) {
				o.Submit(scene.Task{AIV0: k, Args: []scene.Arg{scene.InOut(args[0])}})
			}}}}
	}
	tens, ones := kernel("tens", func(x int32) int32 { return 10 * x }), kernel("ones", func(x int32) int32 { return x + 1 })
	return &scene.Scene{
		Class: "TestScaled", Runtime: scene.TensormapAndRingbuffer, Level: 3,
		Node: &scene.Node{Name: "mix", Callables: []*scene.NodeCallable{tens, ones}, Run: func(o *scene.NodeOrchestrator, c *scene.Case, args []scene.NodeTensor) {
			x, y := args[0], args[1]
			// Only x orders the first three; the group waits for both.
			o.Submit(scene.NodeTask{Callable: tens, Worker: 0, Args: []scene.NodeArg{x.InOut()}})
			o.Submit(scene.NodeTask{Callable: ones, Worker: 1, Args: []scene.NodeArg{x.InOut()}})
			o.Submit(scene.NodeTask{Callable: ones, Worker: 0, Args: []scene.NodeArg{x.InOut()}})
			o.Submit(scene.NodeTask{Callable: tens, Worker: 1, Args: []scene.NodeArg{y.InOut()}})
			o.Submit(scene.NodeTask{Callable: ones, Group: []scene.NodeMember{{Worker: 1, Args: []scene.NodeArg{x.InOut()}}, {Worker: 0, Args: []scene.NodeArg{y.InOut()}}}})
		}},
		Cases: []scene.Case{{Name: "twice", Platforms: []string{scene.A2A3Sim, scene.A5Sim}, Config: scene.Config{DeviceCount: 2, Clusters: 1, Runs: 2}}},
		Inputs: func(*scene.Case) []scene.Data {
			return []scene.Data{{Name: "x", Shape: []int{1}, I32: []int32{7}, Check: true}, {Name: "y", Shape: []int{1}, I32: []int32{2}, Check: true}}
		},
		// x: 7 → 73 → 733; y: 2 → 21 → 211.
		Golden: func(_ *scene.Case, in []scene.Data) []scene.Data {
			in[0].I32[0], in[1].I32[0] = 733, 211
			return in
		},
	}
}

// TestTensorsTravel: what one chip has written another one reads, in the order of the
// submits, and from run to run; a group's members go where they are sent.
func TestTensorsTravel(t *testing.T) {
	for _, platform := range []string{scene.A2A3Sim, scene.A5Sim} {
		r, err := first(scaled()).RunWith(scene.Setup{Platform: platform, LogLevel: "null"})
		if err != nil || r.Golden != nil || len(r.Dispatches) != 2*6 {
			t.Fatalf("%s: %v, golden %v, %d dispatches", platform, err, r.Golden, len(r.Dispatches))
		}
		count := map[string]int{}
		for _, d := range r.Dispatches {
			count[fmt.Sprintf("%d:%d on %d %s", d.Run, d.TaskSlot, d.Rank, d.Callable)]++
		}
		for _, want := range []string{"1:0 on 0 tens", "1:1 on 1 ones", "2:2 on 0 ones", "2:3 on 1 tens", "1:4 on 1 ones", "2:4 on 0 ones"} {
			if count[want] != 1 {
				t.Errorf("%s: %q %d times, want once; all: %v", platform, want, count[want], count)
			}
		}
	}
}

// TestUnknownProgram: a scene that workers cannot know is refused, and so is one that is
// another one there.
func TestUnknownProgram(t *testing.T) {
	s := doomed()
	s.Class = "TestNotRegistered"
	if _, err := caseOf(s, "well").Run(scene.A2A3Sim, scene.CallConfig{}); err == nil || !strings.Contains(err.Error(), "call scene.Worker with it") {
		t.Errorf("%v", err)
	}
	s = doomed()
	s.Node.Callables[0].Chip.Incores[0].FuncID = 9
	_, err := caseOf(s, "well").RunWith(scene.Setup{Platform: scene.A2A3Sim, LogLevel: "null"})
	if err == nil || !strings.Contains(err.Error(), "rank 0 (device 0) cannot start: the worker refuses: the callables of TestDoomed are others here than in the dispatcher") {
		t.Errorf("%v", err)
	}
}

// TestNodeChecks: what cannot be is refused with class, index and case.
func TestNodeChecks(t *testing.T) {
	for want, change := range map[string]func(s *scene.Scene){
		"the level is 3 and Node is not set":                     func(s *scene.Scene) { s.Node = nil },
		"the level is 2 and Node is set":                         func(s *scene.Scene) { s.Level = 2 },
		"Callable is set in a scene of level 3":                  func(s *scene.Scene) { s.Callable = *s.Node.Callables[0].Chip },
		"callable 0 is nil":                                      func(s *scene.Scene) { s.Node.Callables[0] = nil },
		"callable 1 is nil, or another one again":                func(s *scene.Scene) { s.Node.Callables = append(s.Node.Callables, s.Node.Callables[0]) },
		"neither a chip callable nor a sub-worker":               func(s *scene.Scene) { s.Node.Callables[0].Chip = nil },
		`callable 0 ("double"): incore 0 ("DOUBLE") has func_id`: func(s *scene.Scene) { s.Node.Callables[0].Chip.Incores[0].FuncID = -1 },
		`case 0 ("well") asks for 0 devices: expected 1 to 64`:   func(s *scene.Scene) { s.Cases[0].Config.DeviceCount = 0 },
		"asks for -1 sub-workers":                                func(s *scene.Scene) { s.Cases[0].Config.SubWorkers = -1 },
	} {
		s := doomed()
		change(s)
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	chip := slotted()
	chip.Cases[0].Config.DeviceCount = 2
	if err := chip.Check(); err == nil || !strings.Contains(err.Error(), "level 3, only") {
		t.Errorf("%v", err)
	}
}

// TestNodeNameMap is spec/name-map.md §2.3.
func TestNodeNameMap(t *testing.T) {
	sub := func(name string) *scene.NodeCallable {
		return &scene.NodeCallable{Name: name, Sub: func(*scene.Case, []scene.Data) error { return nil }}
	}
	for want, n := range map[string]*scene.Node{
		"{\n  \"level\": 3,\n  \"orchestrator_name\": \"run_dag\",\n  \"callable_id_to_name\": {\n    \"0\": \"vector_kernel\",\n    \"1\": \"verify\"\n  }\n}": {
			Name: "run_dag", Callables: []*scene.NodeCallable{{Name: "vector_kernel", Chip: &scene.Callable{}}, sub("verify")}},
		"{\n  \"level\": 3,\n  \"orchestrator_name\": \"f\",\n  \"callable_id_to_name\": {\n    \"0\": \"callable_0\",\n    \"1\": \"verify\"\n  }\n}": {
			Name: "f", Callables: []*scene.NodeCallable{{Chip: &scene.Callable{}}, sub("verify")}},
		"{\n  \"level\": 3,\n  \"orchestrator_name\": null,\n  \"callable_id_to_name\": {\n    \"0\": \"callable_0\"\n  }\n}": {Callables: []*scene.NodeCallable{sub("")}},
		"{\n  \"level\": 3,\n  \"orchestrator_name\": \"x\"\n}":                                                               {Name: "x"},
		"": {},
	} {
		if got := string(n.NameMap()); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// hello is what a dispatcher tells a worker for TestDoomed.
func hello(t *testing.T) scene.Hello {
	t.Helper()
	costs, err := scene.DefaultCosts(scene.A2A3Sim)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := costs.Write(&text); err != nil {
		t.Fatal(err)
	}
	return scene.Hello{Class: "TestDoomed", Case: "well", Config: doomed().Cases[0].Config, Platform: scene.A2A3Sim, Costs: text.String(), LogLevel: "null"}
}

// TestHostileOrders: a worker answers what cannot be with an error, and goes on.
func TestHostileOrders(t *testing.T) {
	good := scene.Order{RunID: 1, GroupSize: 1, DispatchID: 7, Generation: 1, Args: []scene.OrderArg{
		{Name: "in", Type: scene.Float32, Shape: []int{1}, Use: scene.Reads}, {Name: "out", Type: scene.Float32, Shape: []int{1}, Use: scene.Writes}}}
	four := []byte{0, 0, 128, 63} // 1
	for _, v := range []struct {
		name   string
		change func(o *scene.Order)
		blob   []byte
		want   string
	}{
		{"good", func(*scene.Order) {}, four, ""},
		{"short", func(*scene.Order) {}, four[:3], `tensor "in" needs 4 bytes, and there are 3`},
		{"long", func(*scene.Order) {}, append(four[:4:4], 1), "1 bytes are left behind the arguments"},
		{"shape", func(o *scene.Order) { o.Args[0].Shape = []int{1 << 40} }, four, "at most 1073741824 elements"},
		{"overflow", func(o *scene.Order) { o.Args[0].Shape = []int{1 << 20, 1 << 20, 1 << 24} }, four, "at most 1073741824 elements"},
		{"negative", func(o *scene.Order) { o.Args[0].Shape = []int{-1} }, four, "some in each dimension"},
		{"no dimension", func(o *scene.Order) { o.Args[0].Shape = nil }, four, "no dimension"},
		{"type", func(o *scene.Order) { o.Args[0].Type = 200 }, four, "elements of type 200"},
		{"use", func(o *scene.Order) { o.Args[1].Use = "MAYBE" }, four, `argument 1 is "MAYBE"`},
		{"callable", func(o *scene.Order) { o.Callable = 5 }, four, "callable 5 is no chip callable"},
		{"arguments", func(o *scene.Order) { o.Args = o.Args[:1] }, four, "there are 1 arguments: expected the 2"},
	} {
		o := good
		o.Args = append([]scene.OrderArg(nil), good.Args...)
		v.change(&o)
		var from, to bytes.Buffer
		h := hello(t)
		h.Digests = scene.Digests(doomed())
		for _, m := range []struct {
			kind uint16
			head any
			blob []byte
		}{{scene.KindHello, h, nil}, {scene.KindOrder, o, v.blob}, {scene.KindOrder, good, four}, {scene.KindStop, struct{}{}, nil}} {
			f, err := mailbox.New(m.kind, m.head, m.blob)
			if err != nil {
				t.Fatal(err)
			}
			if err := mailbox.Write(&from, f); err != nil {
				t.Fatal(err)
			}
		}
		if code := scene.BeWorker([]*scene.Scene{doomed()}, &from, &to); code != 0 {
			t.Fatalf("%s: the worker ends with %d", v.name, code)
		}
		if f, err := mailbox.Read(&to); err != nil || f.Kind != scene.KindReady {
			t.Fatalf("%s: it answers %+v (%v)", v.name, f, err)
		}
		for i, want := range []string{v.want, ""} {
			f, err := mailbox.Read(&to)
			if err != nil || f.Kind != scene.KindDone {
				t.Fatalf("%s: it answers %+v (%v)", v.name, f, err)
			}
			if text := string(f.Head); want == "" && (!strings.Contains(text, `"Error":""`) || !bytes.Equal(f.Blob, []byte{0, 0, 0, 64})) || !strings.Contains(strings.ReplaceAll(text, `\"`, `"`), want) {
				t.Errorf("%s, order %d: %s, % x, want %q", v.name, i, text, f.Blob, want)
			}
		}
		if f, err := mailbox.Read(&to); err != nil || f.Kind != scene.KindEnded || to.Len() > 0 {
			t.Errorf("%s: it ends with %+v (%v), and %d bytes", v.name, f, err, to.Len())
		}
	}
}

// TestRefusedWorkers: a worker that cannot be what it is told says why.
func TestRefusedWorkers(t *testing.T) {
	for want, change := range map[string]func(h *scene.Hello){
		"there is no case TestOther::well": func(h *scene.Hello) { h.Class = "TestOther" },
		"there is no case TestDoomed::x":   func(h *scene.Hello) { h.Case = "x" },
		"are others here":                  func(h *scene.Hello) { h.Digests = nil },
		`platform \"b\" is unknown`:        func(h *scene.Hello) { h.Platform = "b" },
		"asks for 99 devices":              func(h *scene.Hello) { h.Config.DeviceCount = 99 },
		`\"loud\" is no level`:             func(h *scene.Hello) { h.LogLevel = "loud" },
		"costs":                            func(h *scene.Hello) { h.Costs = "{" },
	} {
		h := hello(t)
		h.Digests = scene.Digests(doomed())
		change(&h)
		f, err := mailbox.New(scene.KindHello, h, nil)
		if err != nil {
			t.Fatal(err)
		}
		var from, to bytes.Buffer
		_ = mailbox.Write(&from, f)
		stop, _ := mailbox.New(scene.KindStop, struct{}{}, nil)
		_ = mailbox.Write(&from, stop)
		code := scene.BeWorker([]*scene.Scene{doomed()}, &from, &to)
		if f, err := mailbox.Read(&to); code != 1 || err != nil || f.Kind != scene.KindRefused || !strings.Contains(strings.ToLower(string(f.Head)), strings.ToLower(want)) {
			t.Errorf("exit code %d, %s (%v), want %q", code, f.Head, err, want)
		}
	}
}

// TestHostileResults: what comes back must be as long as the tensors that were written.
func TestHostileResults(t *testing.T) {
	d := scene.Data{Name: "out", Shape: []int{2}, I32: []int32{5, 6}}
	for n, ok := range map[int]bool{0: false, 4: false, 7: false, 8: true, 9: false, 16: false} {
		err := scene.Results(&d, make([]byte, n))
		if (err == nil) != ok || err != nil && !errors.Is(err, mailbox.ErrFrame) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	if d.I32[0] != 0 || d.I32[1] != 0 {
		t.Errorf("the tensor is %v, want zeros", d.I32)
	}
}

// FuzzOrder: whatever stands in an order, its arguments are an error or as long as the
// blob says.
func FuzzOrder(f *testing.F) {
	f.Add([]byte(`{"Args":[{"Name":"x","Type":0,"Shape":[1],"Use":"IN"}]}`), []byte{0, 0, 128, 63})
	f.Add([]byte(`{"Args":[{"Name":"x","Type":1,"Shape":[2],"Use":"INOUT"},{"Shape":[1],"Use":"OUT"}]}`), []byte{0, 0, 128, 63})
	f.Add([]byte(`{"Args":[{"Shape":[4611686018427387904,4],"Use":"IN"}]}`), []byte{})
	f.Fuzz(func(t *testing.T, head, blob []byte) {
		var o scene.Order
		frame := mailbox.Frame{Head: head}
		if frame.Decode(&o) != nil {
			return
		}
		total := 0
		for _, a := range o.Args {
			n := 1
			for _, s := range a.Shape {
				if s < 1 || s > 1<<12/n {
					return // large tensors are refused or take their time
				}
				n *= s
			}
			total += n
		}
		if total > 1<<14 {
			return
		}
		args, err := o.Arguments(blob)
		if err != nil {
			return
		}
		var again []byte
		for i := range args {
			if o.Args[i].Use != scene.Writes {
				again = append(again, args[i].Bytes()...)
			}
		}
		if !bytes.Equal(again, blob) {
			t.Errorf("% x was read, % x are there", blob, again)
		}
	})
}

// TestWorkerThatNeverAnswers: a worker that ends before it has said anything is told
// with its rank, and nobody waits for it.
func TestWorkerThatNeverAnswers(t *testing.T) {
	t.Setenv(workerExits, "1")
	s := doomed()
	_, err := first(s).RunWith(scene.Setup{Platform: scene.A2A3Sim, LogLevel: "null"})
	if err == nil || !strings.Contains(err.Error(), "rank 0") || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("%v, want the rank and how the process ended", err)
	}
}

// TestOneRunOnePrefix: a directory that holds a capture, or in which a run is under way,
// is refused.
func TestOneRunOnePrefix(t *testing.T) {
	dir := t.TempDir()
	cfg := scene.CallConfig{EnableDepGen: true, OutputPrefix: dir}
	var inner error
	s := orchestrated(func(o *scene.Orchestrator, k *scene.Incore, _ []scene.Tensor) {
		_, inner = first(slotted()).Run(scene.A2A3Sim, cfg)
		o.Submit(scene.Task{AIV0: k})
	})
	if _, err := s.Run(scene.A2A3Sim, cfg); err != nil {
		t.Fatal(err)
	}
	if inner == nil || !strings.Contains(inner.Error(), "another run writes to "+dir) {
		t.Errorf("the run inside of the run: %v", inner)
	}
	if _, err := first(slotted()).Run(scene.A2A3Sim, cfg); err == nil || !strings.Contains(err.Error(), "deps.json is of an earlier run") {
		t.Errorf("a second run: %v", err)
	}
	tree := t.TempDir()
	if err := os.Mkdir(filepath.Join(tree, "rank0"), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := first(slotted()).Run(scene.A2A3Sim, scene.CallConfig{EnableDepGen: true, OutputPrefix: tree}); err == nil || !strings.Contains(err.Error(), "rank0 is of an earlier run") {
		t.Errorf("a run into a tree: %v", err)
	}
}

// TestFullDiskIsTold: what cannot be written of the device's log is told.
func TestFullDiskIsTold(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("there is no device that is always full")
	}
	dir := t.TempDir()
	if err := os.Symlink("/dev/full", filepath.Join(dir, fmt.Sprintf("device.%d.log", os.Getpid()))); err != nil {
		t.Fatal(err)
	}
	r, err := first(slotted()).Run(scene.A2A3Sim, scene.CallConfig{OutputPrefix: dir})
	if err != nil || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "the log of the device cannot be written: ") || !strings.Contains(r.Notes[0], "no space left") {
		t.Errorf("%v, notes %q", err, r.Notes)
	}
}
