package transport

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"sync"

	"swimlane/internal/abi"
)

// Device is the memory of a simulated device: a range of device addresses, and
// who has which of them. Allocations start on a multiple of [abi.Align], at the
// lowest address where they fit, so that the same calls give the same addresses
// and freed ones come back soon. Memory is zero when the device is made; an
// allocation holds what was there before. Safe for concurrent use, but for Close.
type Device struct {
	Mapping
	file *os.File // the memory, if other processes can map it

	mu    sync.Mutex
	holes []hole // by address; no two touch
	used  map[uint64]*allocation
	top   uint64 // nothing at and behind this address was ever in use
}

type hole struct{ addr, size uint64 }

type allocation struct {
	size       int // as asked for; it takes the next multiple of abi.Align
	registered bool
	zero       bool // it was never in use before
}

// New makes a device whose memory only this process sees. It is Go memory, so
// the race detector watches it, and in large pages where the system has them; what
// is never touched costs address space only.
func New(base uint64, size int) (*Device, error) {
	if err := checkSize(size); err != nil {
		return nil, err
	}
	mem := abi.NewMem(size)
	adviseHuge(mem)
	space, err := abi.NewSpace(base, mem)
	if err != nil {
		return nil, err
	}
	return newDevice(Mapping{space: space}, nil), nil
}

// NewShared makes a device whose memory other processes can map: pass them
// [Device.File], and let them [Open] it. The process that made the device is the
// only one to allocate.
func NewShared(base uint64, size int) (*Device, error) {
	if err := checkSize(size); err != nil {
		return nil, err
	}
	file, err := createSealed(size)
	if err != nil {
		return nil, err
	}
	m, err := Open(file, base, size)
	if err != nil {
		file.Close()
		return nil, err
	}
	return newDevice(*m, file), nil
}

func checkSize(size int) error {
	if size < abi.Align || size%abi.Align != 0 {
		return fmt.Errorf("a device cannot have %d bytes of memory: expected a positive multiple of %d", size, abi.Align)
	}
	return nil
}

func newDevice(m Mapping, file *os.File) *Device {
	all := hole{addr: m.space.Base(), size: uint64(m.space.Len())}
	return &Device{Mapping: m, file: file, holes: []hole{all}, used: map[uint64]*allocation{}}
}

// File is the memory for [Open] in another process; nil if it cannot be shared.
func (d *Device) File() *os.File { return d.file }

// Close gives the memory back, if it is shared; other processes keep theirs.
func (d *Device) Close() error {
	err := d.Mapping.Close()
	if d.file != nil {
		if e := d.file.Close(); err == nil {
			err = e
		}
		d.file = nil
	}
	return err
}

// InUse is how many allocations there are, and the bytes that were asked for.
func (d *Device) InUse() (allocations, bytes int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, a := range d.used {
		bytes += a.size
	}
	return len(d.used), bytes
}

// Zero tells whether an allocation was made where none has been, so that it holds
// zeros as long as nobody writes: what [collector.Memory.Zero] asks.
func (d *Device) Zero(addr uint64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	a := d.used[addr]
	return a != nil && a.zero
}

// alloc finds room for size bytes.
func (d *Device) alloc(size int) (uint64, error) {
	if size < 1 {
		return 0, fmt.Errorf("cannot allocate %d bytes of device memory: expected 1 or more", size)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	need := taken(size)
	var free, largest uint64
	for i, h := range d.holes {
		if h.size < need {
			free, largest = free+h.size, max(largest, h.size)
			continue
		}
		if d.holes[i] = (hole{addr: h.addr + need, size: h.size - need}); h.size == need {
			d.holes = slices.Delete(d.holes, i, i+1)
		}
		d.used[h.addr] = &allocation{size: size, zero: h.addr >= d.top}
		d.top = max(d.top, h.addr+need)
		return h.addr, nil
	}
	return 0, fmt.Errorf("device memory has no room for %d bytes: %d of %d bytes are free, and the largest hole has %d: free some, or give the device more",
		size, free, d.space.Len(), largest)
}

// taken is what an allocation takes of the memory. It cannot overflow: a
// positive int has a bit to spare in 64.
func taken(size int) uint64 { return (uint64(size) + abi.Align - 1) / abi.Align * abi.Align }

// free gives an allocation back.
func (d *Device) free(addr uint64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	a, err := d.allocation("free", addr)
	if err != nil {
		return err
	}
	if a.registered {
		return fmt.Errorf("cannot free device address %#x: the host still sees it: unregister it first", addr)
	}
	delete(d.used, addr)
	h := hole{addr: addr, size: taken(a.size)}
	// The holes before and behind it become one with it where they touch.
	i, _ := slices.BinarySearchFunc(d.holes, addr, func(h hole, addr uint64) int { return cmp.Compare(h.addr, addr) })
	first, end := i, i
	if i > 0 && d.holes[i-1].addr+d.holes[i-1].size == addr {
		first, h = i-1, hole{addr: d.holes[i-1].addr, size: d.holes[i-1].size + h.size}
	}
	if i < len(d.holes) && h.addr+h.size == d.holes[i].addr {
		end, h.size = i+1, h.size+d.holes[i].size
	}
	d.holes = slices.Replace(d.holes, first, end, h)
	return nil
}

// register gives the host's view of the first size bytes of an allocation.
func (d *Device) register(addr uint64, size int) (abi.Mem, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	a, err := d.allocation("register", addr)
	if err != nil {
		return nil, err
	}
	if a.registered {
		return nil, fmt.Errorf("cannot register device address %#x: the host sees it already", addr)
	}
	if size < 1 || size > a.size {
		return nil, fmt.Errorf("cannot register %d bytes at device address %#x: the allocation there has %d", size, addr, a.size)
	}
	mem, err := d.space.At(addr, size)
	a.registered = err == nil
	return mem, err
}

// unregister undoes register.
func (d *Device) unregister(addr uint64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	a, err := d.allocation("unregister", addr)
	if err != nil {
		return err
	}
	if !a.registered {
		return fmt.Errorf("cannot unregister device address %#x: it was not registered", addr)
	}
	a.registered = false
	return nil
}

func (d *Device) allocation(what string, addr uint64) (*allocation, error) {
	a := d.used[addr]
	if a == nil {
		return nil, fmt.Errorf("cannot %s device address %#x: no allocation starts there; was it freed already?", what, addr)
	}
	return a, nil
}
