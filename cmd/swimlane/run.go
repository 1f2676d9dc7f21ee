package main

import (
	"github.com/spf13/cobra"

	"swimlane/internal/console"
	"swimlane/scene"
	"swimlane/scenes"
)

func newRun(e *console.Env) *cobra.Command { return scene.NewCommand(e, scenes.All()) }
