package collector

import "swimlane/internal/abi"

// Memory is how the host reaches the memory of a device: five operations, of
// which some devices lack some (spec/collector.md §3.1).
//
// Without the copies host and device share memory, and Register gives the host
// its view of an allocation. With them every allocation has a shadow on the host,
// and the copies move narrow ranges between the two; Register is then optional,
// and the default shadow is zeroed memory whose zeros are pushed to the device.
//
// Copies of an aligned word of 4 or 8 bytes must be atomic. All operations may be
// called from several goroutines.
type Memory struct {
	Alloc          func(size int) (addr uint64, err error)      // a device address that is a multiple of [abi.Align]
	Free           func(addr uint64) error                      // of a whole allocation
	Register       func(addr uint64, size int) (abi.Mem, error) // makes an allocation visible to the host
	Unregister     func(addr uint64) error                      // undoes Register; may be nil
	CopyToDevice   func(addr uint64, from []byte) error         // nil: the memory is shared
	CopyFromDevice func(to []byte, addr uint64) error           // nil: the memory is shared
}
