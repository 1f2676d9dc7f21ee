// Package fault makes a host's way to its device fail, wait and tear where a
// test says so, and counts what goes over it. The ordering rules of the protocol
// exist for these cases (spec/collector.md §8).
package fault

import (
	"sync"

	"swimlane/internal/abi"
	"swimlane/internal/collector"
)

// Op is an operation of a [collector.Memory].
type Op int

const (
	Alloc Op = iota
	Free
	Register
	Unregister
	ToDevice
	FromDevice
	ops
)

// Call is one call of an operation. Alloc has no Addr yet; Free and Unregister
// have no Size.
type Call struct {
	Op   Op
	Addr uint64
	Size int
}

// Rule says what happens to some calls. Op and the three fields behind it say to
// which; where several rules name a call, all of them act, in the order in which
// they were added.
type Rule struct {
	Op       Op
	Size     int    // calls of this size; 0 = of any
	From, To uint64 // calls that touch a device address in [From, To); To 0 = any
	Nth      int    // of the calls that match so far, only this one, counted from 1; 0 = each

	Before func(Call) // called first, in the goroutine of the call, which waits for it
	Err    error      // the call returns it and does nothing
	Tear   func(Call) // called when a copy has moved its first half; see [Memory]
}

// Count is what an operation did so far.
type Count struct {
	Calls  int   // all of them
	Failed int   // of these, by a rule or by themselves
	Bytes  int64 // of those that did not fail
}

// Memory wraps the operations of a host. It has those that the wrapped memory
// has, and is safe for concurrent use; the functions of a rule may themselves use
// the memory.
//
// A torn copy is two copies with a step of the device between them. The cut is
// the last multiple of 8 in the device's addresses up to the middle: hardware
// does not tear a word. A copy too short for a cut is made after the step.
type Memory struct {
	inner collector.Memory

	mu     sync.Mutex
	rules  []*rule
	counts [ops]Count
}

type rule struct {
	Rule
	seen int // calls that match, without regard to Nth
}

// New wraps memory.
func New(inner collector.Memory) *Memory { return &Memory{inner: inner} }

// Add adds a rule for the calls from now on.
func (m *Memory) Add(r Rule) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rules = append(m.rules, &rule{Rule: r})
}

// Clear takes all rules away.
func (m *Memory) Clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rules = nil
}

// Count tells what an operation did so far.
func (m *Memory) Count(op Op) Count {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.counts[op]
}

// Ops are the operations for a host to use.
func (m *Memory) Ops() collector.Memory {
	in, out := m.inner, collector.Memory{}
	if in.Alloc != nil {
		out.Alloc = func(size int) (addr uint64, err error) {
			err = m.do(Call{Op: Alloc, Size: size}, func(func(Call)) error {
				addr, err = in.Alloc(size)
				return err
			})
			return addr, err
		}
	}
	if in.Free != nil {
		out.Free = func(addr uint64) error {
			return m.do(Call{Op: Free, Addr: addr}, func(func(Call)) error { return in.Free(addr) })
		}
	}
	if in.Register != nil {
		out.Register = func(addr uint64, size int) (mem abi.Mem, err error) {
			err = m.do(Call{Op: Register, Addr: addr, Size: size}, func(func(Call)) error {
				mem, err = in.Register(addr, size)
				return err
			})
			return mem, err
		}
	}
	if in.Unregister != nil {
		out.Unregister = func(addr uint64) error {
			return m.do(Call{Op: Unregister, Addr: addr}, func(func(Call)) error { return in.Unregister(addr) })
		}
	}
	if in.CopyToDevice != nil {
		out.CopyToDevice = func(addr uint64, from []byte) error {
			return m.copy(Call{Op: ToDevice, Addr: addr, Size: len(from)}, func(begin, end int) error {
				return in.CopyToDevice(addr+uint64(begin), from[begin:end])
			})
		}
	}
	if in.CopyFromDevice != nil {
		out.CopyFromDevice = func(to []byte, addr uint64) error {
			return m.copy(Call{Op: FromDevice, Addr: addr, Size: len(to)}, func(begin, end int) error {
				return in.CopyFromDevice(to[begin:end], addr+uint64(begin))
			})
		}
	}
	return out
}

// copy does a copy, whole or torn.
func (m *Memory) copy(c Call, part func(begin, end int) error) error {
	return m.do(c, func(tear func(Call)) error {
		if tear == nil {
			return part(0, c.Size)
		}
		cut := c.Size / 2
		cut -= min(cut, int((c.Addr+uint64(cut))%8))
		if cut > 0 {
			if err := part(0, cut); err != nil {
				return err
			}
		}
		tear(c)
		return part(cut, c.Size)
	})
}

// do does a call as the rules say, without the lock: their functions may wait.
func (m *Memory) do(c Call, call func(tear func(Call)) error) error {
	var err error
	var tear func(Call)
	for _, r := range m.acting(c) {
		if r.Before != nil {
			r.Before(c)
		}
		if err == nil {
			err = r.Err
		}
		if tear == nil {
			tear = r.Tear
		}
	}
	if err == nil {
		err = call(tear)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := &m.counts[c.Op]; err != nil {
		n.Failed++
	} else {
		n.Bytes += int64(c.Size)
	}
	return err
}

// acting counts a call and gives the rules that act on it.
func (m *Memory) acting(c Call) []Rule {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.counts[c.Op].Calls++
	var out []Rule
	for _, r := range m.rules {
		if !r.names(c) {
			continue
		}
		if r.seen++; r.Nth == 0 || r.Nth == r.seen {
			out = append(out, r.Rule)
		}
	}
	return out
}

func (r *rule) names(c Call) bool {
	return r.Op == c.Op && (r.Size == 0 || r.Size == c.Size) &&
		(r.To == 0 || c.Addr < r.To && c.Addr+uint64(max(c.Size, 1)) > r.From)
}
