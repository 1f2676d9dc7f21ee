package scene

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The platforms (spec/name-map.md §5).
const (
	A2A3Sim = "a2a3sim"
	A2A3    = "a2a3"
	A5Sim   = "a5sim"
	A5      = "a5"
)

// Platforms are all platforms.
var Platforms = []string{A2A3Sim, A2A3, A5Sim, A5}

// The runtimes: the chip orchestrates while it runs, or the host before that.
const (
	TensormapAndRingbuffer = "tensormap_and_ringbuffer"
	HostBuildGraph         = "host_build_graph"
)

// Core is what a kernel runs on.
type Core string

// The kinds of cores: matrix and vector.
const (
	AIC Core = "aic"
	AIV Core = "aiv"
)

// Scene is a program for one chip or for a node of several, with its cases.
type Scene struct {
	Class    string // TestPagedAttention
	About    string // what it shows, in a few words
	Runtime  string
	Level    int      // 2 for one chip, 3 for a node, 4 for a network; 0 is 2
	Callable Callable // of a scene for one chip
	Node     *Node    // of a scene for a node, nil of any other
	Cases    []Case

	// Inputs makes the tensors that the orchestration gets. It is called once for a
	// case and must make the same ones each time.
	Inputs func(c *Case) []Data
	// Golden computes, from those inputs, what the tensors with Check hold after the
	// run, in their order.
	Golden     func(c *Case, inputs []Data) []Data
	RTol, ATol float64 // both 0: 1e-5
}

// Callable is what runs: an orchestration on the chip's AICPU, and the kernels
// that it submits.
type Callable struct {
	Orchestration Orchestration
	Incores       []*Incore
}

// Orchestration is the program that submits tasks. Its name may be empty.
type Orchestration struct {
	Name      string
	Signature []Direction // of the tensors that it gets; nil: not declared
	Run       func(o *Orchestrator, c *Case, args []Tensor)
}

// Direction is what becomes of an argument.
type Direction string

// The directions.
const (
	Reads      Direction = "IN"
	Writes     Direction = "OUT"
	ReadWrites Direction = "INOUT"
)

// Incore is a kernel. Its name may be empty.
type Incore struct {
	FuncID int32
	Name   string
	Core   Core
	// Signature is of the arguments of its tasks; nil: not declared. A task with
	// other ones is refused.
	Signature []Direction
	// Run computes a block, and tells how many cycles of a core's clock that takes, which
	// is 1.8 GHz unless costs say otherwise.
	Run func(c *Call) uint64
}

// Case is a scene with parameters.
type Case struct {
	Name       string
	Platforms  []string
	Manual     Manual
	SkipGolden bool // passes by running cleanly
	Config     Config
	Params     any // for the scene's own functions
}

// Manual says where a case runs only when it is asked for.
type Manual struct {
	Everywhere bool
	On         []string // platforms
}

// applies tells whether a case is manual on a platform.
func (m Manual) applies(platform string) bool {
	return m.Everywhere || slices.Contains(m.On, platform)
}

// Config is what a case changes of the runtime; zero values are its defaults.
type Config struct {
	AicpuThreads int // aicpu_thread_num
	Clusters     int // of the chip that the case uses; 0: all
	// AicpuSchedulers: AICPU threads schedule what the host has built on a5 too, where
	// the AICores do it otherwise.
	AicpuSchedulers bool

	// Of cases for a node:
	DeviceCount int // device_count: chips, each with a worker process
	SubWorkers  int // num_sub_workers: how many sub-workers run at once
	Runs        int // how often the node's orchestration runs; 0 is 1
}

// checkScenes refuses scenes that cannot run, and two of one name.
func checkScenes(scenes []*Scene) error {
	seen := map[string]bool{}
	for _, s := range scenes {
		if err := s.Check(); err != nil {
			return err
		}
		if seen[s.Class] {
			return fmt.Errorf("two scenes are called %q: expected a class name of its own for each", s.Class)
		}
		seen[s.Class] = true
	}
	return nil
}

func (s *Scene) level() int {
	if s.Level == 0 {
		return 2
	}
	return s.Level
}

// Check refuses what cannot run, naming class, index and case.
func (s *Scene) Check() error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("scene %q: "+format, append([]any{s.Class}, args...)...)
	}
	switch {
	case s.Class == "" || strings.Contains(s.Class, "::"):
		return fail("expected a class name, without ::")
	case s.Runtime != TensormapAndRingbuffer && s.Runtime != HostBuildGraph:
		return fail("the runtime is %q: expected %s or %s", s.Runtime, TensormapAndRingbuffer, HostBuildGraph)
	case s.level() < 2 || s.level() > 4:
		return fail("the level is %d: expected 2 for one chip, 3 for a node or 4 for a network", s.Level)
	case len(s.Cases) == 0:
		return fail("expected at least one case")
	}
	if s.RTol < 0 || s.ATol < 0 {
		return fail("the tolerances are %g and %g: expected 0 or more", s.RTol, s.ATol)
	}
	if err := s.Callable.check(fail); err != nil {
		return err
	}
	if err := s.checkNode(fail); err != nil {
		return err
	}
	names := map[string]bool{}
	for i, c := range s.Cases {
		switch {
		case c.Name == "" || strings.Contains(c.Name, "::") || names[c.Name]:
			return fail("case %d is named %q: expected a name of its own, without ::", i, c.Name)
		case len(c.Platforms) == 0:
			return fail("case %d (%q) has no platforms: expected some of %s", i, c.Name, strings.Join(Platforms, ", "))
		}
		names[c.Name] = true
		for _, p := range slices.Concat(c.Platforms, c.Manual.On) {
			if !slices.Contains(Platforms, p) {
				return fail("case %d (%q) names the platform %q: expected one of %s", i, c.Name, p, strings.Join(Platforms, ", "))
			}
		}
		if n := c.Config.AicpuThreads; n != 0 && (n < 2 || n > 5) {
			return fail("case %d (%q) asks for %d AICPU threads: expected 2 to 5, or 0 for the default", i, c.Name, n)
		}
		if err := c.Config.checkNode(s.level()); err != nil {
			return fail("case %d (%q) %v", i, c.Name, err)
		}
	}
	return nil
}

// check refuses kernels that cannot be.
func (c *Callable) check(fail func(format string, args ...any) error) error {
	ids := map[int32]bool{}
	for i, k := range c.Incores {
		switch {
		case k == nil:
			return fail("incore %d is nil", i)
		case k.FuncID < 0 || ids[k.FuncID]:
			return fail("incore %d (%q) has func_id %d: expected one of its own, from 0 on", i, k.Name, k.FuncID)
		case k.Core != AIC && k.Core != AIV:
			return fail("incore %d (%q) is for the core type %q: expected aic or aiv", i, k.Name, k.Core)
		}
		ids[k.FuncID] = true
	}
	return nil
}

// runnable refuses what has no code.
func (c *Callable) runnable() error {
	if c.Orchestration.Run == nil {
		return errors.New("the orchestration has no Run")
	}
	for i, k := range c.Incores {
		if k.Run == nil {
			return fmt.Errorf("incore %d (%q) has no Run", i, k.Name)
		}
	}
	return nil
}
