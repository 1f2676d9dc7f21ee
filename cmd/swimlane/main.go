// Swimlane shows where the time of an Ascend NPU task graph goes.
package main

import (
	"context"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"

	"swimlane/internal/console"
	"swimlane/internal/depview"
	"swimlane/scene"
	"swimlane/scenes"
)

func main() {
	// Columns live for the whole run and garbage is rare, so collecting early
	// costs little and keeps the peak low.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(40)
	}
	scene.Worker(scenes.All()...) // a chip worker of a run does not come back from here
	args := os.Args[1:]
	// Scripts that call a tool of the ecosystem by name can link that name to this binary.
	if name := filepath.Base(os.Args[0]); slices.Contains(aliases, name) {
		args = append([]string{name}, args...)
	}
	console.Main(func(ctx context.Context, e *console.Env) int { return run(ctx, e, args) })
}

// run executes one command line and returns its exit code.
func run(ctx context.Context, e *console.Env, args []string) int {
	root := newRoot(e)
	if err := aloneVersion(args); err != nil {
		return e.Usage(root, err)
	}
	if len(args) > 0 && slices.Contains(aliases, args[0]) {
		// Under its own name, not as a command of swimlane.
		root, args = newAlias(e, args[0]), args[1:]
	}
	if len(args) > 0 && args[0] == "deps" {
		args = depview.JoinPair(args)
	}
	if len(args) > 0 && args[0] == "run" {
		args = scene.JoinLevels(args)
	}
	return e.Run(ctx, root, args)
}
