package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"swimlane/internal/console"

	"github.com/spf13/cobra"
)

func newVersion(e *console.Env) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version of this binary",
		Example: `  swimlane version`,
		Args:    console.NoArguments,
		RunE:    console.RunE(func(*cobra.Command, []string) error { return printVersion(e) }),
	}
}

func printVersion(e *console.Env) error {
	_, err := io.WriteString(e.Stdout, versionText())
	return err
}

func versionText() string {
	return fmt.Sprintf("swimlane %s %s/%s %s\n", version(), runtime.GOOS, runtime.GOARCH, runtime.Version())
}

// version is the module's version, or the commit it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	rev, dirty := "", ""
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			rev = s.Value[:min(12, len(s.Value))]
		case "vcs.modified":
			if s.Value == "true" {
				dirty = "+changes"
			}
		}
	}
	if rev == "" {
		return "development"
	}
	return rev + dirty
}

// aloneVersion refuses arguments behind -v or --version: before a command the
// flag would be taken for --verbose, which stands behind it.
func aloneVersion(args []string) error {
	if len(args) > 1 && (args[0] == "-v" || args[0] == "--version") {
		return fmt.Errorf("%s prints the version and goes with nothing else: found %s; --verbose stands behind the command", args[0], strings.Join(args[1:], " "))
	}
	return nil
}
