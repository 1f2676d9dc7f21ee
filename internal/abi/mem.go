package abi

import (
	"fmt"
	"sync/atomic"
	"unsafe"
)

// Align is the alignment of every region and every record buffer.
const Align = 64

// Mem is memory that host and device share, as this process sees it. Offsets
// outside it panic, as they do with a slice: check numbers that come from the
// other side first.
type Mem []byte

// NewMem returns zeroed Go memory that starts on a multiple of [Align].
func NewMem(n int) Mem {
	b := make([]byte, n+Align)
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) & (Align - 1)
	return Mem(b[skip : skip+n : skip+n])
}

// Aligned is the part of the memory that consists of whole blocks of a size, a
// power of two, which begin on a multiple of it.
func (m Mem) Aligned(size int) Mem {
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(m)))) & (size - 1)
	if skip > len(m) {
		return nil
	}
	return m[skip : skip+(len(m)-skip)&^(size-1)]
}

// at is where the n bytes from off are.
func (m Mem) at(off uint64, n uint64) unsafe.Pointer {
	if off > uint64(len(m)) || n > uint64(len(m))-off {
		panic(fmt.Sprintf("abi: %d bytes at %d are outside %d bytes of memory", n, off, len(m)))
	}
	return unsafe.Add(unsafe.Pointer(unsafe.SliceData(m)), off)
}

// Word32 is the word at off, which must be a multiple of 4, for use as an atomic.
func (m Mem) Word32(off uint64) *atomic.Uint32 { return (*atomic.Uint32)(m.aligned(off, 4)) }

// Word64 is the word at off, which must be a multiple of 8, for use as an atomic.
func (m Mem) Word64(off uint64) *atomic.Uint64 { return (*atomic.Uint64)(m.aligned(off, 8)) }

// U32 is the word at off, which must be a multiple of 4, for plain use by its owner.
func (m Mem) U32(off uint64) *uint32 { return (*uint32)(m.aligned(off, 4)) }

func (m Mem) aligned(off, n uint64) unsafe.Pointer {
	p := m.at(off, n)
	if uintptr(p)%uintptr(n) != 0 {
		panic(fmt.Sprintf("abi: a word of %d bytes at %d is not aligned", n, off))
	}
	return p
}

// View is the structure at off. T must be one of this package's structures, or
// another without pointers.
func View[T any](m Mem, off uint64) *T {
	var t T
	return (*T)(m.structure(off, 1, uint64(unsafe.Sizeof(t)), uint64(unsafe.Alignof(t))))
}

// Views are n structures from off on, as [View] gives one.
func Views[T any](m Mem, off uint64, n int) []T {
	if n == 0 {
		return nil // there may be no memory behind the offset
	}
	var t T
	return unsafe.Slice((*T)(m.structure(off, uint64(n), uint64(unsafe.Sizeof(t)), uint64(unsafe.Alignof(t)))), n)
}

func (m Mem) structure(off, n, size, alignment uint64) unsafe.Pointer {
	if size > 0 && n > uint64(len(m))/size { // else n·size could overflow
		panic(fmt.Sprintf("abi: %d structures of %d bytes do not fit into %d bytes of memory", n, size, len(m)))
	}
	p := m.at(off, n*size)
	if uintptr(p)%uintptr(alignment) != 0 {
		panic(fmt.Sprintf("abi: a structure at %d is not aligned to %d bytes", off, alignment))
	}
	return p
}

// Bytes are the bytes of a structure without pointers, to be read.
func Bytes[T any](v *T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v))
}

// Space is a range of device addresses as this process sees it.
type Space struct {
	base uint64
	mem  Mem
}

// NewSpace says that the device's addresses from base on are mem. Both must be
// aligned to [Align], and base must not be 0, which means "no buffer".
func NewSpace(base uint64, mem Mem) (Space, error) {
	if base == 0 || base%Align != 0 || base+uint64(len(mem)) < base {
		return Space{}, fmt.Errorf("device memory of %d bytes cannot begin at address %#x: expected a multiple of %d other than 0", len(mem), base, Align)
	}
	if uintptr(unsafe.Pointer(unsafe.SliceData(mem)))%Align != 0 {
		return Space{}, fmt.Errorf("device memory is not aligned to %d bytes here", Align)
	}
	if probe := uint16(1); *(*byte)(unsafe.Pointer(&probe)) != 1 {
		return Space{}, fmt.Errorf("device memory is little-endian, and this machine is not")
	}
	return Space{base: base, mem: mem}, nil
}

// Base is the first device address, Len the number of bytes.
func (s Space) Base() uint64 { return s.base }

// Len is the number of bytes.
func (s Space) Len() int { return len(s.mem) }

// At is the memory of n bytes from a device address.
func (s Space) At(addr uint64, n int) (Mem, error) {
	if addr < s.base || n < 0 || addr-s.base > uint64(len(s.mem)) || uint64(n) > uint64(len(s.mem))-(addr-s.base) {
		return nil, fmt.Errorf("%d bytes at device address %#x are outside the device's memory %#x…%#x", n, addr, s.base, s.base+uint64(len(s.mem)))
	}
	off := addr - s.base
	return s.mem[off : off+uint64(n) : off+uint64(n)], nil
}
