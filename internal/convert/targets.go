package convert

import (
	"context"
	"fmt"
	"path/filepath"

	"swimlane/internal/console"
	"swimlane/internal/ranks"
)

// Merged is what MergeAll did.
type Merged struct {
	Outputs []string
	Records map[string]bool // the captures that are in one of them
	Errors  []error         // of what could not be merged
}

// MergeAll draws all sets of captures in a directory of several ranks that belong
// together: a single one as l3_swimlane.json, several under the names of what they
// are of (spec/l3.md §4.5). It goes on where one of them fails.
func MergeAll(ctx context.Context, e *console.Env, o *Options, root string) *Merged {
	out := &Merged{Records: map[string]bool{}}
	found, err := ranks.FindTargets(root)
	if err != nil {
		out.Errors = append(out.Errors, err)
		return out
	}
	if found.Warning != "" {
		fmt.Fprintln(e.Stderr, "Warning: "+found.Warning)
	}
	for i := range found.Targets {
		t := &found.Targets[i]
		own := *o
		own.ranks.dispatch, own.ranks.dispatchID = t.Dispatch, t.DispatchID
		own.Output = filepath.Join(root, mergedName)
		if len(found.Targets) > 1 {
			own.Output = filepath.Join(root, t.Stem+".json")
		}
		if err := own.mergeRanks(ctx, e, root); err != nil {
			out.Errors = append(out.Errors, fmt.Errorf("%s: %w", t.Option(), err))
			continue
		}
		out.Outputs = append(out.Outputs, own.Output)
		for _, c := range t.Captures {
			out.Records[c.Records] = true
		}
	}
	return out
}
