//go:build !unix

package parity

import "time"

var began = time.Now()

// CPUTime is the time that has passed: there is no other one here.
func CPUTime() time.Duration { return time.Since(began) }
