package transport

import (
	"golang.org/x/sys/unix"

	"swimlane/internal/abi"
)

// hugePage is the size of a large page on all processors that we know.
const hugePage = 2 << 20

// adviseHuge asks the system to keep memory in large pages: a device writes to
// many places in turn, more than the processor remembers the small pages of.
func adviseHuge(mem abi.Mem) {
	if whole := mem.Aligned(hugePage); len(whole) > 0 {
		_ = unix.Madvise(whole, unix.MADV_HUGEPAGE) // without it everything works, only slower
	}
}
