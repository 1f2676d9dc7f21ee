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
)

// The exit codes.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

func main() {
	// Columns live for the whole run and garbage is rare, so collecting early
	// costs little and keeps the peak low.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(40)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	args := os.Args[1:]
	// Scripts that call a tool of the ecosystem by name can link that name to this binary.
	if name := filepath.Base(os.Args[0]); slices.Contains(aliases, name) {
		args = append([]string{name}, args...)
	}
	code := run(ctx, args, os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
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
	root := newRoot(&env{stdin: stdin, stdout: stdout, stderr: stderr})
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	var fail failure
	switch {
	case err == nil:
		return exitOK
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "Error: interrupted; no output was left behind")
		return exitInterrupted
	case errors.As(err, &fail) && !errors.As(err, &usageError{}):
		if !errors.Is(err, errSilent) {
			fmt.Fprintln(stderr, "Error: "+err.Error())
		}
		return exitFailed
	default:
		fmt.Fprintln(stderr, "Error: "+strings.TrimSpace(err.Error()))
		fmt.Fprintf(stderr, "Run '%s --help' for usage.\n", cmd.CommandPath())
		return exitUsage
	}
}
