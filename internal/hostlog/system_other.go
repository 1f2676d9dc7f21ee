//go:build !linux

package hostlog

import (
	"os"
	"time"
)

// systemClock are the clocks of this process: elsewhere than on linux the
// monotonic one is not shared with other processes, and begins with this one.
type systemClock struct{}

var begin = time.Now()

func (systemClock) Mono() int64 { return int64(time.Since(begin)) }

func (systemClock) Wall() int64 { return time.Now().UnixNano() }

// systemThread knows no threads: all goroutines are one.
func systemThread() int64 { return int64(os.Getpid()) }
