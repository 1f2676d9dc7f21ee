//go:build unix

package parity

import (
	"syscall"
	"time"
)

// CPUTime is how long processors have worked for this process. What a test allows for a
// computation is compared with it: unlike the time that passes, it does not grow when others
// use the machine.
func CPUTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
