package ranks

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Target is a set of captures of a tree that belong together.
type Target struct {
	Dispatch, DispatchID string // what chooses it: the other is empty
	Stem                 string // name of its output where there are several targets
	Captures             []Capture
}

// Option is the option that chooses the target.
func (t *Target) Option() string {
	if t.Dispatch != "" {
		return "--dispatch " + t.Dispatch
	}
	return "--dispatch-id " + t.DispatchID
}

// Targets are all that a tree holds.
type Targets struct {
	Targets []Target
	Warning string // "" if nothing was left out
}

// FindTargets finds the sets of captures that belong together (spec/l3.md §4.5).
func FindTargets(root string) (*Targets, error) {
	ranks, err := discover(root)
	if err != nil {
		return nil, err
	}
	groups := map[Parent][]Capture{}
	rest := make([][]Capture, len(ranks)) // of each rank, what is of no group
	for i, r := range ranks {
		for _, d := range dispatches(filepath.Join(root, r.name)) {
			if !dispatchName.MatchString(d.name) {
				return nil, fmt.Errorf("invalid capture directory name: %s (expected dN)", filepath.Join(root, r.name, d.name))
			}
		}
		all, err := identified(root, r)
		if err != nil {
			return nil, err
		}
		for _, c := range all {
			if c.Identity != nil && c.Identity.GroupSize > 1 {
				groups[c.Identity.Parent()] = append(groups[c.Identity.Parent()], c)
			} else {
				rest[i] = append(rest[i], c)
			}
		}
	}
	out := &Targets{}
	byKey := func(a, b Parent) int { return cmp.Or(cmp.Compare(a.Run, b.Run), cmp.Compare(a.Slot, b.Slot)) }
	for _, key := range slices.SortedFunc(maps.Keys(groups), byKey) {
		if err := checkGroup(key, groups[key]); err != nil {
			return nil, err
		}
		out.Targets = append(out.Targets, Target{
			DispatchID: key.String(), Captures: groups[key], Stem: fmt.Sprintf("l3_swimlane_run%d_task%d", key.Run, key.Slot),
		})
	}
	if text := asymmetry(root, ranks, rest); text != "" {
		if len(out.Targets) == 0 {
			return nil, errors.New(text)
		}
		out.Warning = text
		return out, nil
	}
	for i, first := range rest[0] {
		t := Target{Dispatch: first.dispatch, Stem: "l3_swimlane_" + first.dispatch}
		for _, of := range rest {
			t.Captures = append(t.Captures, of[i])
		}
		out.Targets = append(out.Targets, t)
	}
	return out, nil
}

// asymmetry says that the ranks do not have the same captures, "" if they have.
func asymmetry(root string, ranks []rankDir, rest [][]Capture) string {
	same := true
	var said []string
	for i, r := range ranks {
		same = same && slices.EqualFunc(rest[i], rest[0], func(a, b Capture) bool { return a.dispatch == b.dispatch })
		var names []string
		for _, c := range rest[i] {
			names = append(names, c.dispatch)
		}
		said = append(said, fmt.Sprintf("rank%d=%s", r.rank, quoted(names)))
	}
	if same {
		return ""
	}
	return fmt.Sprintf("refusing to pair asymmetric local capture indexes under %s: %s", root, strings.Join(said, ", "))
}
