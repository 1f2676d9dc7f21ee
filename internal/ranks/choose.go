package ranks

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"swimlane/capture"
	"swimlane/internal/jsonscan"
	"swimlane/trace"
)

// Capture is the capture that a rank contributes.
type Capture struct {
	Rank     int
	Records  string    // path
	Identity *Identity // nil if there is no sidecar
	dispatch string    // name of its directory
}

// Choice are captures that belong together, one a rank, by ascending rank.
type Choice struct {
	Root                 string
	Dispatch, DispatchID string // what chose them: the other is empty
	Captures             []Capture
	Found                bool          // nothing was named: this is all there is
	Warning              string        // what was left out then, "" if nothing was
	pairing              []trace.Field // how they were found, for the document's metadata
	group                *Parent       // the submission that all of them are of; nil if that is not known
}

var errWhich = errors.New("directory input requires exactly one of --dispatch dN or --dispatch-id RUN_ID:TASK_SLOT")

var parentKey = regexp.MustCompile(`^([0-9]+):([0-9]+)$`)

// Choose finds the captures below root that are stored as dispatch (dN), or that
// belong to the submission dispatchID (RUN:SLOT). With neither it takes the only
// automatic target, and refuses if there are several (spec/l3.md §3, §12 D18): with
// that error it returns a choice without captures if there is a warning.
func Choose(root, dispatch, dispatchID string) (*Choice, error) {
	switch {
	case dispatch != "" && dispatchID != "":
		return nil, errWhich
	case dispatch == "" && dispatchID == "":
		return chooseOnly(root)
	}
	ranks, err := discover(root)
	if err != nil {
		return nil, err
	}
	c := &Choice{Root: root, Dispatch: dispatch, DispatchID: dispatchID}
	if dispatch != "" {
		err = c.byDispatch(ranks)
	} else {
		err = c.byParent(ranks)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

func chooseOnly(root string) (*Choice, error) {
	t, err := FindTargets(root)
	switch {
	case errors.Is(err, errNodes):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w; none was given, and none can be found: %w", errWhich, err)
	}
	if len(t.Targets) == 1 {
		only := t.Targets[0]
		c, err := Choose(root, only.Dispatch, only.DispatchID)
		if err == nil {
			c.Found = true
			c.Warning = t.Warning
		}
		return c, err
	}
	var names []string
	const most = 8
	for _, x := range t.Targets[:min(len(t.Targets), most)] {
		names = append(names, x.Option())
	}
	if n := len(t.Targets) - most; n > 0 {
		names = append(names, fmt.Sprintf("and %d more", n))
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%w; found no rankN/dN/%s below %s%s", errWhich, capture.FileName, root, ownerless(root))
	}
	return &Choice{Root: root, Warning: t.Warning}, fmt.Errorf("%w; found %s", errWhich, strings.Join(names, ", "))
}

// byDispatch takes the capture dN of every rank (spec/l3.md §4.2).
func (c *Choice) byDispatch(ranks []rankDir) error {
	if !dispatchName.MatchString(c.Dispatch) {
		return errors.New("--dispatch must name dN (for example, --dispatch d0)")
	}
	for _, r := range ranks {
		records, err := recordsOf(filepath.Join(c.Root, r.name, c.Dispatch))
		if err != nil {
			return err
		}
		if records == "" {
			return fmt.Errorf("rank%d is missing %s/%s%s", r.rank, c.Dispatch, capture.FileName, ownerless(c.Root))
		}
		c.Captures = append(c.Captures, Capture{Rank: r.rank, Records: records, dispatch: c.Dispatch})
	}
	known := 0
	for i := range c.Captures {
		id, err := readIdentity(c.Captures[i].Records)
		if err != nil {
			return err
		}
		if c.Captures[i].Identity = id; id != nil {
			known++
		}
	}
	c.note("dispatch_pairing", "local_capture_index")
	switch {
	case known == 0:
		return nil
	case known < len(c.Captures):
		return fmt.Errorf("%s has dispatch identity metadata for only %d/%d Ranks", c.Dispatch, known, len(c.Captures))
	case !slices.ContainsFunc(c.Captures, func(x Capture) bool { return x.Identity.GroupSize > 1 }):
		c.note("dispatch_identity_status", "individual_submissions")
		return nil
	}
	parent := c.Captures[0].Identity.Parent()
	for _, x := range c.Captures {
		if x.Identity.Parent() != parent {
			return fmt.Errorf("%s refers to different parent dispatches across Ranks; use --dispatch-id RUN_ID:TASK_SLOT", c.Dispatch)
		}
	}
	return c.groupOf(parent)
}

// ownerless tells of retained runs that lie in no rank's directory (spec/newest.md §18 U3).
func ownerless(root string) string {
	kept := capture.RetainedIn(root)
	if len(kept) == 0 {
		return ""
	}
	return fmt.Sprintf("; of what rank the retained runs in %s itself are nothing says (%s): move each below rankN/dN, or convert it alone", root, some(kept))
}

// byParent takes the captures of a submission (spec/l3.md §4.3).
func (c *Choice) byParent(ranks []rankDir) error {
	m := parentKey.FindStringSubmatch(c.DispatchID)
	if m == nil {
		return errors.New("--dispatch-id must use RUN_ID:TASK_SLOT (for example, 17:5)")
	}
	var want Parent
	var err1, err2 error
	want.Run, err1 = strconv.ParseInt(m[1], 10, 64)
	want.Slot, err2 = strconv.ParseInt(m[2], 10, 64)
	if err1 != nil || err2 != nil {
		return fmt.Errorf("no Rank captures found for parent dispatch %s", c.DispatchID) // no sidecar has such numbers
	}
	for _, r := range ranks {
		all, err := identified(c.Root, r)
		if err != nil {
			return err
		}
		for _, x := range all {
			if x.Identity != nil && x.Identity.Parent() == want {
				c.Captures = append(c.Captures, x)
			}
		}
	}
	c.DispatchID = want.String()
	return c.groupOf(want)
}

// identified lists the captures of a rank with their sidecars.
func identified(root string, r rankDir) ([]Capture, error) {
	var out []Capture
	for _, d := range dispatches(filepath.Join(root, r.name)) {
		dir := filepath.Join(root, r.name, d.name)
		records, err := recordsOf(dir)
		if err != nil {
			return nil, err
		}
		if records == "" {
			continue
		}
		id, err := readIdentity(records)
		if err != nil {
			return nil, err
		}
		out = append(out, Capture{Rank: r.rank, Records: records, Identity: id, dispatch: d.name})
	}
	return out, nil
}

// groupOf makes the choice one of a whole group.
func (c *Choice) groupOf(parent Parent) error {
	if err := checkGroup(parent, c.Captures); err != nil {
		return err
	}
	c.group = &parent
	id := c.Captures[0].Identity
	c.pairing = nil
	c.note("dispatch_pairing", "parent_dispatch_identity")
	c.pairing = append(c.pairing, trace.Field{Key: "dispatch_identity", JSON: fmt.Appendf(nil,
		`{"run_id":%d,"task_slot":%d,"group_size":%d,"callable_digest":%s}`,
		id.RunID, id.TaskSlot, id.GroupSize, jsonscan.AppendString(nil, id.Digest))})
	return nil
}

func (c *Choice) note(key, text string) {
	c.pairing = append(c.pairing, trace.Field{Key: key, JSON: jsonscan.AppendString(nil, text)})
}

// checkGroup checks that captures, by ascending rank, are all of a group (spec/l3.md §4.4).
func checkGroup(key Parent, members []Capture) error {
	if len(members) == 0 {
		return fmt.Errorf("no Rank captures found for parent dispatch %s", key)
	}
	first := members[0].Identity
	for _, m := range members {
		if m.Identity.GroupSize != first.GroupSize || m.Identity.Digest != first.Digest {
			return fmt.Errorf("inconsistent metadata for parent dispatch %s", key)
		}
	}
	if first.GroupSize <= 1 {
		return fmt.Errorf("parent dispatch %s is an individual submission; pair it by dN", key)
	}
	var twice []int
	for i := 1; i < len(members); i++ {
		if r := members[i].Rank; r == members[i-1].Rank && !slices.Contains(twice, r) {
			twice = append(twice, r)
		}
	}
	if len(twice) > 0 {
		return fmt.Errorf("parent dispatch %s has several captures on the same Rank %s; one Rank contributes at most one capture to a group", key, list(twice))
	}
	var found []int64
	for _, m := range members {
		found = append(found, m.Identity.GroupIndex)
	}
	slices.Sort(found)
	whole := int64(len(found)) == first.GroupSize
	for i, x := range found {
		whole = whole && x == int64(i)
	}
	if !whole {
		return fmt.Errorf("incomplete parent dispatch %s: expected group indexes 0..%d, found %s", key, first.GroupSize-1, list(found))
	}
	return nil
}

// list writes numbers as [0, 1].
func list[T cmp.Ordered](all []T) string {
	var texts []string
	for _, v := range all {
		texts = append(texts, fmt.Sprint(v))
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

// quoted writes texts as ['a', 'b'].
func quoted(all []string) string {
	var texts []string
	for _, s := range all {
		texts = append(texts, "'"+strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s)+"'")
	}
	return "[" + strings.Join(texts, ", ") + "]"
}
