package console

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
)

// broken is a standard output that fails.
type broken struct{ err error }

func (b broken) Write([]byte) (int, error) {
	return 0, &fs.PathError{Op: "write", Path: "x", Err: b.err}
}

// TestExitCodes: 0 done, 1 an input that cannot be used, 2 a wrong call, 128 + n
// ended by a signal; and what is said of each.
func TestExitCodes(t *testing.T) {
	bad := errors.New("bad input")
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for _, x := range []struct {
		what    string
		ctx     context.Context
		err     error
		args    []string
		stdout  io.Writer
		code    int
		printed string
	}{
		{what: "done"},
		{what: "failed", err: bad, code: 1, printed: "Error: bad input\n"},
		{what: "everything said", err: ErrSilent, code: 1},
		{what: "wrong call inside", err: fmt.Errorf("no: %w", Usagef("%d are too many", 3)), code: 2, printed: "Error: no: 3 are too many\nRun 'prog --help' for usage.\n"},
		{what: "wrong argument", args: []string{"x"}, code: 2, printed: "Error: unexpected argument \"x\": prog takes none\nRun 'prog --help' for usage.\n"},
		{what: "unknown flag", args: []string{"--none"}, code: 2, printed: "Error: unknown flag: --none: expected --form, --help or --name\nRun 'prog --help' for usage.\n"},
		{what: "no such choice", args: []string{"--form", "z"}, code: 2, printed: "Error: invalid value \"z\" of --form: expected a, b or c\nRun 'prog --help' for usage.\n"},
		{what: "no value", args: []string{"--name"}, code: 2, printed: "Error: --name lacks its value: expected --name FILE\nRun 'prog --help' for usage.\n"},
		{what: "empty value", args: []string{"--name="}, code: 2, printed: "Error: --name is empty: expected --name FILE\nRun 'prog --help' for usage.\n"},
		{what: "interrupted", ctx: stopped, err: bad, code: 130, printed: "Error: interrupted\n"},
		{what: "reader gone", stdout: broken{syscall.EPIPE}, code: 141},
		{what: "disk full", stdout: broken{syscall.ENOSPC}, code: 1, printed: "Error: cannot write the standard output: no space left on device\n"},
		{what: "disk full, command fails of it", err: syscall.ENOSPC, stdout: broken{syscall.ENOSPC}, code: 1, printed: "Error: cannot write the standard output: no space left on device\n"},
	} {
		t.Run(x.what, func(t *testing.T) {
			var stderr bytes.Buffer
			if x.stdout == nil {
				x.stdout = io.Discard
			}
			if x.ctx == nil {
				x.ctx = t.Context()
			}
			if x.args == nil {
				x.args = []string{} // nil would be those of the test
			}
			e := New(strings.NewReader(""), x.stdout, &stderr)
			var name string
			root := &cobra.Command{Use: "prog", Args: NoArguments, RunE: RunE(func(*cobra.Command, []string) error {
				fmt.Fprintln(e.Stdout, "text")
				return x.err
			})}
			Choose(root, "form", "form", "a", "b", "c")
			root.Flags().Var(File(&name), "name", "a file")
			if code := e.Run(x.ctx, root, x.args); code != x.code || stderr.String() != x.printed {
				t.Errorf("exit code %d, want %d; it says %q, want %q", code, x.code, stderr.String(), x.printed)
			}
		})
	}
}
