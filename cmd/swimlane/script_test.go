package main

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "write what the scripts' cmp commands find into the scripts")

// TestMain lets the test binary stand for the program, under both its names.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"swimlane": main, "swimlane_converter": main})
}

// TestScripts runs testdata/script. There, `exits N command…` runs a command
// that must end with that exit code, and $SMALL is the capture of the README.
func TestScripts(t *testing.T) {
	small, err := filepath.Abs("../../testdata/small")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("SMALL", small)
			return nil
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "full": // there is a device that is always full
				st, err := os.Stat("/dev/full")
				return err == nil && st.Mode()&os.ModeDevice != 0, nil
			case "root":
				return os.Geteuid() == 0, nil
			}
			return false, errors.New("unknown condition")
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	})
}

// exits runs a command and compares its exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE command…")
	}
	want, err := strconv.Atoi(args[0])
	if err != nil {
		ts.Fatalf("%v", err)
	}
	got := 0
	var exit *exec.ExitError
	switch err := ts.Exec(args[1], args[2:]...); {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}
