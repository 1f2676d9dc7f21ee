package console

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"

	"swimlane/internal/outfile"
)

// stopWait is how long a command is waited for that wants to keep what it has made.
const stopWait = 15 * time.Second

// Main runs a program with the streams of this process, and ends the process
// with the exit code that run returns, or with that of the signal that came before.
func Main(run func(ctx context.Context, e *Env) int) {
	// A reader of the standard output that goes away must not end the program
	// before it has put away what it was writing elsewhere: see Stdout.
	signal.Ignore(syscall.SIGPIPE)
	stop := make(chan os.Signal, 1)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) { // as under nohup
			signal.Notify(stop, s)
		}
	}
	e := New(os.Stdin, os.Stdout, os.Stderr)
	done := make(chan int, 1)
	go func() { done <- run(context.Background(), e) }()
	select {
	case code := <-done:
		os.Exit(code)
	case s := <-stop:
		if f := e.onStop.Load(); f != nil {
			(*f)()
			select {
			case <-done:
			case <-stop: // once more: at once
			case <-time.After(stopWait):
			}
		}
		// The command may be waiting for a pipe, so nothing waits for it: all
		// that must not stay behind are unfinished outputs.
		e.Outputs.Abandon()
		outfile.Process.Abandon()
		if term.IsTerminal(int(os.Stderr.Fd())) {
			fmt.Fprint(os.Stderr, "\r\x1b[K") // the rest of a progress bar
		}
		fmt.Fprintln(os.Stderr, "Error: interrupted")
		code := ExitSignal
		if n, ok := s.(syscall.Signal); ok {
			code += int(n)
		}
		os.Exit(code)
	}
}
