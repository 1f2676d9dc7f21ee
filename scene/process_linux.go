package scene

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// dieTogether makes the system end a child when the thread that starts it ends.
func dieTogether(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// threadID is the id of the calling thread.
func threadID() int64 { return int64(unix.Gettid()) }

// program is the file of this program, even if another one lies in its place by now.
func program() (string, error) { return "/proc/self/exe", nil }
