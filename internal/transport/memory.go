package transport

import (
	"encoding/binary"

	"swimlane/internal/abi"
	"swimlane/internal/collector"
)

// Mapped is how a host reaches the memory that it shares with a device: there is
// nothing to copy. It holds the host to the order of the calls: an allocation is
// registered once, and unregistered before it is freed.
func Mapped(d *Device) collector.Memory {
	return collector.Memory{Alloc: d.alloc, Free: d.free, Register: d.register, Unregister: d.unregister}
}

// Shadow is how a host reaches the memory of a device that it cannot map: it
// copies. It has no Register; the shadows are the host's own.
func Shadow(d *Device) collector.Memory {
	return collector.Memory{
		Alloc: d.alloc,
		Free:  d.free,
		CopyToDevice: func(addr uint64, from []byte) error {
			mem, err := d.space.At(addr, len(from))
			if err == nil {
				store(mem, addr, from)
			}
			return err
		},
		CopyFromDevice: func(to []byte, addr uint64) error {
			mem, err := d.space.At(addr, len(to))
			if err == nil {
				load(to, mem, addr)
			}
			return err
		},
	}
}

// wordwise is the size up to which aligned copies move words with atomics: one
// cache line, though no copy of the protocol has more than one live word.
const wordwise = 64

// inWords tells whether a copy moves words. Device memory is aligned here as it
// is there, so the device's address says how the words lie.
func inWords(addr uint64, n int) bool { return n <= wordwise && addr%4 == 0 && n%4 == 0 }

// store copies to the device. Words of 8 bytes stay whole where they lie on a
// multiple of 8: a slot or a buffer pointer must not be seen half. The host's
// side is the caller's own, and plain.
func store(mem abi.Mem, addr uint64, from []byte) {
	if !inWords(addr, len(from)) {
		copy(mem, from)
		return
	}
	for off := 0; off < len(from); {
		if (addr+uint64(off))%8 == 0 && len(from)-off >= 8 {
			mem.Word64(uint64(off)).Store(binary.LittleEndian.Uint64(from[off:]))
			off += 8
		} else {
			mem.Word32(uint64(off)).Store(binary.LittleEndian.Uint32(from[off:]))
			off += 4
		}
	}
}

// load copies from the device, as store copies to it.
func load(to []byte, mem abi.Mem, addr uint64) {
	if !inWords(addr, len(to)) {
		copy(to, mem)
		return
	}
	for off := 0; off < len(to); {
		if (addr+uint64(off))%8 == 0 && len(to)-off >= 8 {
			binary.LittleEndian.PutUint64(to[off:], mem.Word64(uint64(off)).Load())
			off += 8
		} else {
			binary.LittleEndian.PutUint32(to[off:], mem.Word32(uint64(off)).Load())
			off += 4
		}
	}
}
