// Swimlane shows where the time of an Ascend NPU task graph goes.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// The exit codes. A signal that ends the program gives 128 and its number, as
// shells have it: 130 for SIGINT.
const (
	exitOK         = 0
	exitFailed     = 1
	exitUsage      = 2
	exitSignal     = 128
	exitBrokenPipe = exitSignal + int(syscall.SIGPIPE)
)

func main() {
	// Columns live for the whole run and garbage is rare, so collecting early
	// costs little and keeps the peak low.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(40)
	}
	// A reader of the standard output that goes away must not end the program
	// before it has put away what it was writing elsewhere: see console.
	signal.Ignore(syscall.SIGPIPE)
	stop := make(chan os.Signal, 1)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) { // as under nohup
			signal.Notify(stop, s)
		}
	}
	args := os.Args[1:]
	// Scripts that call a tool of the ecosystem by name can link that name to this binary.
	if name := filepath.Base(os.Args[0]); slices.Contains(aliases, name) {
		args = append([]string{name}, args...)
	}
	e := newEnv(os.Stdin, os.Stdout, os.Stderr)
	done := make(chan int, 1)
	go func() { done <- e.run(context.Background(), args) }()
	select {
	case code := <-done:
		os.Exit(code)
	case s := <-stop:
		// The command may be waiting for a pipe, so nothing waits for it: all
		// that must not stay behind are unfinished outputs.
		e.outputs.Abandon()
		if term.IsTerminal(int(os.Stderr.Fd())) {
			fmt.Fprint(os.Stderr, "\r\x1b[K") // the rest of a progress bar
		}
		fmt.Fprintln(os.Stderr, "Error: interrupted")
		code := exitSignal
		if n, ok := s.(syscall.Signal); ok {
			code += int(n)
		}
		os.Exit(code)
	}
}

// usageError marks a wrong call: exit code 2.
type usageError struct{ error }

func (u usageError) Unwrap() error { return u.error }

// failure marks an error that is not the caller's wording: exit code 1.
type failure struct{ error }

func (f failure) Unwrap() error { return f.error }

// errSilent fails without a further message; everything was said.
var errSilent = errors.New("")

// run executes one command line and returns its exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return newEnv(stdin, stdout, stderr).run(ctx, args)
}

func (e *env) run(ctx context.Context, args []string) int {
	root := newRoot(e)
	if err := aloneVersion(args); err != nil {
		return e.usage(root, err)
	}
	if len(args) > 0 && slices.Contains(aliases, args[0]) {
		// Under its own name, not as a command of swimlane.
		root, args = newConverterAlias(e), args[1:]
	}
	root.SetArgs(args)
	root.SetIn(e.stdin)
	root.SetOut(e.stdout)
	root.SetErr(e.stderr)
	cmd, err := root.ExecuteContextC(ctx)
	var fail failure
	switch {
	case errors.Is(e.stdout.err, syscall.EPIPE):
		// Whoever read us has enough, as head does. That is no failure to talk about.
		return exitBrokenPipe
	case ctx.Err() != nil:
		fmt.Fprintln(e.stderr, "Error: interrupted")
		return exitSignal + int(syscall.SIGINT)
	case err == nil && e.stdout.err == nil:
		return exitOK
	case err == nil || errors.Is(err, e.stdout.err) || errors.Is(err, errSilent) && e.stdout.err != nil:
		fmt.Fprintf(e.stderr, "Error: cannot write the standard output: %v\n", e.stdout.err)
		return exitFailed
	case errors.As(err, &fail) && !errors.As(err, &usageError{}):
		if !errors.Is(err, errSilent) {
			fmt.Fprintln(e.stderr, "Error: "+err.Error())
		}
		return exitFailed
	default:
		return e.usage(cmd, err)
	}
}

// usage reports a wrong call of a command.
func (e *env) usage(cmd *cobra.Command, err error) int {
	fmt.Fprintln(e.stderr, "Error: "+strings.TrimSpace(err.Error()))
	fmt.Fprintf(e.stderr, "Run '%s --help' for usage.\n", cmd.CommandPath())
	return exitUsage
}
