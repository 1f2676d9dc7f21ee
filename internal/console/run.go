package console

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// The exit codes. A signal that ends the program gives 128 and its number, as
// shells have it: 130 for SIGINT.
const (
	ExitOK         = 0
	ExitFailed     = 1
	ExitUsage      = 2
	ExitSignal     = 128
	ExitBrokenPipe = ExitSignal + int(syscall.SIGPIPE)
)

// UsageError marks a wrong call: exit code 2.
type UsageError struct{ Err error }

func (u UsageError) Error() string { return u.Err.Error() }
func (u UsageError) Unwrap() error { return u.Err }

// Usagef makes a UsageError, as fmt.Errorf makes an error.
func Usagef(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// failure marks an error that is not the caller's wording: exit code 1.
type failure struct{ error }

func (f failure) Unwrap() error { return f.error }

// ErrSilent fails without a further message; everything was said.
var ErrSilent = errors.New("")

// RunE wraps a command's work: what fails inside is a failed input, unless it
// says otherwise. Empty flags are refused before.
func RunE(work func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := noEmptyFlags(cmd); err != nil {
			return err
		}
		if err := work(cmd, args); err != nil {
			return failure{err}
		}
		return nil
	}
}

// Run executes a command line of a root command, prints what went wrong, and
// returns the exit code. An error of a command whose RunE is not from RunE is a
// wrong call.
func (e *Env) Run(ctx context.Context, root *cobra.Command, args []string) int {
	root.SilenceUsage, root.SilenceErrors = true, true
	root.SetFlagErrorFunc(flagError)
	root.SetArgs(args)
	root.SetIn(e.Stdin)
	root.SetOut(e.Stdout)
	root.SetErr(e.Stderr)
	cmd, err := root.ExecuteContextC(ctx)
	var fail failure
	switch {
	case errors.Is(e.Stdout.err, syscall.EPIPE):
		// Whoever read us has enough, as head does. That is no failure to talk about.
		return ExitBrokenPipe
	case ctx.Err() != nil:
		fmt.Fprintln(e.Stderr, "Error: interrupted")
		return ExitSignal + int(syscall.SIGINT)
	case err == nil && e.Stdout.err == nil:
		return ExitOK
	case err == nil || errors.Is(err, e.Stdout.err) || errors.Is(err, ErrSilent) && e.Stdout.err != nil:
		fmt.Fprintf(e.Stderr, "Error: cannot write the standard output: %v\n", e.Stdout.err)
		return ExitFailed
	case errors.As(err, &fail) && !errors.As(err, &UsageError{}):
		if !errors.Is(err, ErrSilent) {
			fmt.Fprintln(e.Stderr, "Error: "+err.Error())
		}
		return ExitFailed
	default:
		return e.Usage(cmd, err)
	}
}

// Usage reports a wrong call of a command, unless that was done, and returns its
// exit code.
func (e *Env) Usage(cmd *cobra.Command, err error) int {
	if errors.Is(err, ErrSilent) {
		return ExitUsage
	}
	fmt.Fprintln(e.Stderr, "Error: "+strings.TrimSpace(err.Error()))
	fmt.Fprintf(e.Stderr, "Run '%s --help' for usage.\n", cmd.CommandPath())
	return ExitUsage
}

// PathText is what the system said of a file, without the file's name. That the
// file is not there is for the caller to say.
func PathText(err error) (string, bool) {
	var p *fs.PathError
	if errors.As(err, &p) && !errors.Is(err, fs.ErrNotExist) {
		return p.Err.Error(), true
	}
	return "", false
}
