package transport

import (
	"fmt"
	"os"

	"swimlane/internal/abi"
)

// Mapping is the memory of a device as this process sees it.
type Mapping struct {
	space  abi.Space
	mapped []byte // what Close unmaps; nil if it is Go memory
}

// Open maps the memory of a device that another process made with [NewShared].
// base and size must be those of the device. The mapping does not need the file
// any more.
//
// It takes sealed memory only. Whoever truncates memory under another process
// kills that process at its next access, with SIGBUS; the seals rule that out.
func Open(file *os.File, base uint64, size int) (*Mapping, error) {
	mapped, err := mapSealed(file, size)
	if err != nil {
		return nil, fmt.Errorf("open device memory %s: %w", file.Name(), err)
	}
	space, err := abi.NewSpace(base, mapped)
	if err != nil {
		unmap(mapped)
		return nil, err
	}
	return &Mapping{space: space, mapped: mapped}, nil
}

// Space is the device's view of the memory.
func (m *Mapping) Space() abi.Space { return m.space }

// Close unmaps the memory. Nobody may use it any more: views that are left over
// end the process.
func (m *Mapping) Close() error {
	mapped := m.mapped
	if mapped == nil {
		return nil
	}
	*m = Mapping{} // from here on addresses are outside the memory, which is an error and no crash
	return unmap(mapped)
}
