package collector

import (
	"errors"

	"swimlane/internal/abi"
)

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
	// Zero tells whether a new allocation holds zeros, which saves writing them; nil:
	// who knows.
	Zero func(addr uint64) bool
}

// check refuses a memory with which nothing can be done.
func (m *Memory) check() error {
	switch {
	case m.Alloc == nil || m.Free == nil:
		return errors.New("the memory operations alloc and free are mandatory")
	case (m.CopyToDevice == nil) != (m.CopyFromDevice == nil):
		return errors.New("one of the two copies is missing: memory is either shared, without copies, or not, with both")
	case m.Register == nil && m.CopyToDevice == nil:
		return errors.New("without copies the host needs the operation register to see the device's memory")
	}
	return nil
}

func (m *Memory) zero(addr uint64) bool { return m.Zero != nil && m.Zero(addr) }
