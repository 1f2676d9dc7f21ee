package collector

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"swimlane/internal/abi"
)

// mapping is the table of everything that was allocated on the device, and where
// the host sees it (spec/collector.md §3.1, §3.2). Lookups take no lock: each
// change publishes a new table.
type mapping struct {
	mem    Memory
	mu     sync.Mutex // one change at a time
	blocks atomic.Pointer[[]*block]
}

// block is one allocation: the region, a table, or buffers carved one after
// another out of one piece.
type block struct {
	addr    uint64
	host    abi.Mem
	stride  uint64 // of the buffers
	buffers []buffer
}

// place is where a buffer is. Exactly one side owns it at any time.
type place = uint32

const (
	atHost   place = iota // free, in a recycled lane or on its way there
	atDevice              // in a free queue, being filled, or in a ready queue
	inHand                // taken from a ready queue, not collected yet
	retired               // out of use until the collector ends
)

// buffer is one record buffer.
type buffer struct {
	addr uint64
	host abi.Mem // the buffer itself, or its shadow
	kind int
	// at changes with the owner; a compare-and-swap takes the buffer over, so a
	// ready entry that names a buffer the device does not hold is noticed.
	at atomic.Uint32
}

func (m *mapping) table() []*block {
	if t := m.blocks.Load(); t != nil {
		return *t
	}
	return nil
}

// allocate allocates on the device and makes the memory visible to the host; if
// that fails, nothing is left behind.
func (m *mapping) allocate(size int) (*block, error) {
	addr, err := m.mem.Alloc(size)
	if err != nil {
		return nil, fmt.Errorf("allocate %d bytes of device memory: %w", size, err)
	}
	host, err := m.register(addr, size)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make %d bytes at device address %#x visible to the host: %w", size, addr, err), m.mem.Free(addr))
	}
	b := &block{addr: addr, host: host}
	m.change(func(t []*block) []*block {
		i, _ := find(t, addr)
		return slices.Insert(t, i, b)
	})
	return b, nil
}

// register is the device's own way of showing memory to the host, or the default,
// a shadow. The zeros of a shadow are pushed to the device.
func (m *mapping) register(addr uint64, size int) (host abi.Mem, err error) {
	if m.mem.Register == nil {
		host = abi.NewMem(size)
	} else if host, err = m.mem.Register(addr, size); err != nil {
		return nil, err
	} else if len(host) != size {
		return nil, fmt.Errorf("%d bytes were asked for, and %d came", size, len(host))
	}
	if m.mem.CopyToDevice == nil || m.mem.Register == nil && m.mem.zero(addr) {
		return host, nil // a new shadow holds zeros too
	}
	clear(host)
	return host, m.mem.CopyToDevice(addr, host)
}

// change publishes a new table made from a copy of the old one.
func (m *mapping) change(f func([]*block) []*block) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := f(slices.Clone(m.table()))
	m.blocks.Store(&t)
}

// find is the place of an address among blocks, and whether one begins there.
func find(t []*block, addr uint64) (int, bool) {
	return slices.BinarySearchFunc(t, addr, func(b *block, addr uint64) int {
		switch {
		case b.addr < addr:
			return -1
		case b.addr > addr:
			return 1
		}
		return 0
	})
}

// carve allocates count buffers of zeros in one piece, each rounded up to 64 bytes.
func (m *mapping) carve(kind, size, count int) (*block, error) {
	stride := (size + abi.Align - 1) &^ (abi.Align - 1)
	if size <= 0 || count <= 0 || stride > (1<<40)/count {
		return nil, fmt.Errorf("%d buffers of %d bytes cannot be allocated", count, size)
	}
	b, err := m.allocate(stride * count)
	if err != nil {
		return nil, err
	}
	if m.mem.CopyToDevice == nil && !m.mem.zero(b.addr) {
		clear(b.host) // shared memory holds what was there before; a slot never written must read 0
	}
	b.stride = uint64(stride)
	buffers := make([]buffer, count)
	for i := range buffers {
		at := i * stride
		buffers[i].addr, buffers[i].host, buffers[i].kind = b.addr+uint64(at), b.host[at:at+size:at+size], kind
	}
	b.buffers = buffers
	return b, nil
}

// block is the allocation that an address lies in, nil if there is none.
func (m *mapping) block(addr uint64) *block {
	t := m.table()
	i, exact := find(t, addr)
	if !exact {
		i--
	}
	if i < 0 || addr-t[i].addr >= uint64(len(t[i].host)) {
		return nil
	}
	return t[i]
}

func errNoMapping(addr uint64) error { return fmt.Errorf("no host mapping for dev_ptr=%#x", addr) }

// buffer is the buffer that begins at an address.
func (m *mapping) buffer(addr uint64) (*buffer, error) {
	b := m.block(addr)
	if b == nil || b.buffers == nil {
		return nil, errNoMapping(addr)
	}
	off := addr - b.addr
	if off%b.stride != 0 {
		return nil, fmt.Errorf("dev_ptr=%#x is %d bytes inside a buffer: a buffer begins at %#x", addr, off%b.stride, addr-off%b.stride)
	}
	return &b.buffers[off/b.stride], nil
}

// release gives back the allocation that an address lies in, once: a second call
// for the same allocation finds nothing.
func (m *mapping) release(addr uint64) error {
	var found *block
	m.change(func(t []*block) []*block {
		if found = m.block(addr); found == nil {
			return t
		}
		i, _ := find(t, found.addr)
		return slices.Delete(t, i, i+1)
	})
	if found == nil {
		return errNoMapping(addr)
	}
	var first error
	if m.mem.Unregister != nil {
		first = m.mem.Unregister(found.addr)
	}
	return errors.Join(first, m.mem.Free(found.addr))
}

// releaseAll gives everything back, in ascending order of addresses.
func (m *mapping) releaseAll() error {
	var errs []error
	for _, b := range m.table() {
		errs = append(errs, m.release(b.addr))
	}
	return errors.Join(errs...)
}

// each calls f for every buffer.
func (m *mapping) each(f func(*buffer)) {
	for _, b := range m.table() {
		for i := range b.buffers {
			f(&b.buffers[i])
		}
	}
}
