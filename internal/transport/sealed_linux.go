package transport

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// seals fix the size, and the seals themselves.
var seals = []struct {
	bit  int
	name string
}{
	{unix.F_SEAL_SHRINK, "shrinking"},
	{unix.F_SEAL_GROW, "growing"},
	{unix.F_SEAL_SEAL, "other seals"},
}

// createSealed makes memory of a size that nobody can change.
func createSealed(size int) (*os.File, error) {
	fd, err := unix.MemfdCreate("swimlane-device", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("create device memory to be shared: %w", err)
	}
	file := os.NewFile(uintptr(fd), "swimlane-device")
	if err := file.Truncate(int64(size)); err != nil {
		file.Close()
		return nil, fmt.Errorf("create %d bytes of device memory to be shared: %w", size, err)
	}
	all := 0
	for _, s := range seals {
		all |= s.bit
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, all); err != nil {
		file.Close()
		return nil, fmt.Errorf("seal device memory: %w", err)
	}
	return file, nil
}

// mapSealed maps memory that createSealed made.
func mapSealed(file *os.File, size int) ([]byte, error) {
	defer runtime.KeepAlive(file) // it would close the descriptor
	fd := file.Fd()
	found, err := unix.FcntlInt(fd, unix.F_GET_SEALS, 0)
	if err != nil {
		return nil, fmt.Errorf("cannot be sealed, so it is not a device's memory (memfd_create makes that): %w", err)
	}
	var open []string
	for _, s := range seals {
		if found&s.bit == 0 {
			open = append(open, s.name)
		}
	}
	if open != nil {
		return nil, fmt.Errorf("not sealed against %s: a process that truncates it would end the others with SIGBUS: share memory that is sealed like that of a shared device",
			strings.Join(open, ", "))
	}
	// Only now that it can no longer change, the size means something.
	var st unix.Stat_t
	if err := unix.Fstat(int(fd), &st); err != nil {
		return nil, err
	}
	if st.Size != int64(size) {
		return nil, fmt.Errorf("%d bytes, but the device has %d: give both processes the same size", st.Size, size)
	}
	mapped, err := unix.Mmap(int(fd), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map %d bytes: %w", size, err)
	}
	return mapped, nil
}

func unmap(mapped []byte) error { return unix.Munmap(mapped) }
