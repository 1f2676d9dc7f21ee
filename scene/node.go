package scene

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"

	"swimlane/internal/jsonscan"
)

// Node is what a scene of level 3 runs: an orchestration on the host that submits
// callables to the chips of the node, each of which a worker process serves
// (spec/name-map.md §2.2).
type Node struct {
	Name string // of the orchestration; may be empty
	// Callables are chip callables and sub-workers. What names one by number means its
	// place here.
	Callables []*NodeCallable
	// Run submits tasks. The arguments are the tensors that the scene's Inputs made. It is
	// called once for each run of a case; tensors keep their values in between.
	Run func(o *NodeOrchestrator, c *Case, args []NodeTensor)
}

// NodeCallable is a chip callable or a sub-worker: one of both is set.
type NodeCallable struct {
	Name string
	Chip *Callable // an orchestration with its kernels, run on a chip by its worker
	// Sub is a function of the host. It runs in the dispatcher's process, beside the
	// orchestration. The arguments are the node's tensors themselves: it may look at those
	// that it was given to read, and change those that it was given to write. An error
	// fails the case.
	Sub func(c *Case, args []Data) error
}

// name is what a callable is called at a place (spec/name-map.md §2.2).
func (k *NodeCallable) name(index int) string {
	if k.Name == "" {
		return "callable_" + strconv.Itoa(index)
	}
	return k.Name
}

// digest tells callables apart, in 64 hex digits.
func (k *NodeCallable) digest() string {
	h := sha256.New()
	fmt.Fprintf(h, "%q", k.Name)
	if c := k.Chip; c != nil {
		fmt.Fprintf(h, " chip %q %q", c.Orchestration.Name, c.Orchestration.Signature)
		for _, i := range c.Incores {
			fmt.Fprintf(h, " %d %q %s %q", i.FuncID, i.Name, i.Core, i.Signature)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// digests are those of all callables.
func (n *Node) digests() (list []string) {
	for _, k := range n.Callables {
		list = append(list, k.digest())
	}
	return list
}

// hashOf is the part of a digest that spans show.
func hashOf(digest string) string { return digest[:16] }

// NameMap is the level-3 name map of a node, nil if it names nothing.
func (n *Node) NameMap() []byte {
	if n.Name == "" && len(n.Callables) == 0 {
		return nil
	}
	b := []byte("{\n  \"level\": 3,\n  \"orchestrator_name\": ")
	if n.Name == "" {
		b = append(b, "null"...)
	} else {
		b = jsonscan.AppendString(b, n.Name)
	}
	for i, k := range n.Callables {
		if i == 0 {
			b = append(b, ",\n  \"callable_id_to_name\": {"...)
		} else {
			b = append(b, ',')
		}
		b = append(b, "\n    \""...)
		b = strconv.AppendInt(b, int64(i), 10)
		b = append(b, `": `...)
		b = jsonscan.AppendString(b, k.name(i))
	}
	if len(n.Callables) > 0 {
		b = append(b, "\n  }"...)
	}
	return append(b, "\n}"...)
}

// checkNode refuses a node that cannot be, and one in a scene that is none.
func (s *Scene) checkNode(fail func(format string, args ...any) error) error {
	if s.level() != 3 {
		if s.Node != nil {
			return fail("the level is %d and Node is set: expected level 3 for a node", s.level())
		}
		return nil
	}
	switch {
	case s.Node == nil:
		return fail("the level is 3 and Node is not set: expected the node's orchestration and callables")
	case s.Callable.Orchestration.Run != nil || len(s.Callable.Incores) > 0:
		return fail("Callable is set in a scene of level 3: expected chip callables in Node.Callables")
	}
	seen := map[*NodeCallable]bool{}
	for i, k := range s.Node.Callables {
		switch {
		case k == nil || seen[k]:
			return fail("callable %d is nil, or another one again", i)
		case (k.Chip == nil) == (k.Sub == nil):
			return fail("callable %d (%q) is neither a chip callable nor a sub-worker, or both: expected one of Chip and Sub", i, k.Name)
		}
		seen[k] = true
		if k.Chip == nil {
			continue
		}
		if err := k.Chip.check(func(format string, args ...any) error {
			return fail("callable %d (%q): "+format, append([]any{i, k.Name}, args...)...)
		}); err != nil {
			return err
		}
	}
	return nil
}

// maxWorkers is how many chips a node may have.
const maxWorkers = 64

// checkNode refuses numbers of workers that cannot be at a level.
func (c *Config) checkNode(level int) error {
	switch {
	case level != 3 && (c.DeviceCount > 1 || c.SubWorkers != 0 || c.Runs != 0):
		return fmt.Errorf("asks for %d devices, %d sub-workers and %d runs at level %d: expected those of cases for a node, level 3, only", c.DeviceCount, c.SubWorkers, c.Runs, level)
	case level == 3 && (c.DeviceCount < 1 || c.DeviceCount > maxWorkers):
		return fmt.Errorf("asks for %d devices: expected 1 to %d", c.DeviceCount, maxWorkers)
	case c.SubWorkers < 0 || c.SubWorkers > maxWorkers || c.Runs < 0:
		return fmt.Errorf("asks for %d sub-workers and %d runs: expected 0 to %d, and 0 or more", c.SubWorkers, c.Runs, maxWorkers)
	}
	return nil
}

// runnable refuses a scene that has no code, or that no simulator runs.
func (s *Scene) runnable() error {
	switch {
	case s.level() > 3:
		return fmt.Errorf("a scene of level %d is not simulated: expected one for one chip, level 2, or for a node, level 3", s.level())
	case s.Node == nil:
		return s.Callable.runnable()
	case s.Node.Run == nil:
		return errors.New("the node has no Run")
	}
	for i, k := range s.Node.Callables {
		if k.Chip == nil {
			continue
		}
		if err := k.Chip.runnable(); err != nil {
			return fmt.Errorf("callable %d (%q): %w", i, k.Name, err)
		}
	}
	return nil
}

// onChip is the scene for one chip that a chip callable of a node is.
func (s Selected) onChip(k *NodeCallable, config Config) Selected {
	c := *s.Case
	c.Config = config
	c.Config.DeviceCount, c.Config.SubWorkers, c.Config.Runs = 0, 0, 0
	return Selected{&Scene{Class: s.Scene.Class, Runtime: s.Scene.Runtime, Callable: *k.Chip, Cases: []Case{c}}, &c}
}
