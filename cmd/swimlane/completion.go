package main

import (
	"fmt"
	"slices"

	"swimlane/internal/console"

	"github.com/spf13/cobra"
)

func newCompletion(e *console.Env) *cobra.Command {
	shells := []string{"bash", "zsh", "fish"}
	return &cobra.Command{
		Use:   "completion bash|zsh|fish",
		Short: "Print a script that completes commands and flags in a shell",
		Example: `  source <(swimlane completion bash)                                # this shell
  swimlane completion bash > /etc/bash_completion.d/swimlane        # every shell
  swimlane completion zsh > "${fpath[1]}/_swimlane"
  swimlane completion fish > ~/.config/fish/completions/swimlane.fish`,
		ValidArgs: shells,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("found %d arguments, expected one shell: %s", len(args), console.OrList(shells))
			}
			if !slices.Contains(shells, args[0]) {
				return fmt.Errorf("unknown shell %q: expected %s", args[0], console.OrList(shells))
			}
			return nil
		},
		RunE: console.RunE(func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(e.Stdout, true)
			case "zsh":
				return root.GenZshCompletion(e.Stdout)
			default:
				return root.GenFishCompletion(e.Stdout, true)
			}
		}),
	}
}
