package hostlog

import (
	"time"

	"golang.org/x/sys/unix"
)

// systemClock are the clocks of this system.
type systemClock struct{}

func (systemClock) Mono() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		return 0 // it cannot fail: every kernel has this clock
	}
	return t.Nano()
}

func (systemClock) Wall() int64 { return time.Now().UnixNano() }

func systemThread() int64 { return int64(unix.Gettid()) }
