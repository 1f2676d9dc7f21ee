package scene

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// lockDir locks a directory, which leaves nothing behind however the process ends.
func lockDir(dir string) (free func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	switch err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err {
	case nil:
	case unix.EWOULDBLOCK:
		f.Close()
		return nil, fmt.Errorf("another run writes to %s: expected a directory of its own for each run", dir)
	default: // a file system without locks
	}
	return func() { f.Close() }, nil
}
