//go:build !linux

package scene

import (
	"os"
	"os/exec"
)

// dieTogether does nothing: a child ends when the pipe from its parent does.
func dieTogether(*exec.Cmd) {}

// threadID knows no threads, and only must not be that of the main one.
func threadID() int64 { return int64(os.Getpid()) + 1 }

// program is the file of this program.
func program() (string, error) { return os.Executable() }
