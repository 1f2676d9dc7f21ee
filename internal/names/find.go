package names

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"swimlane/capture"
)

// A Request says for which data names are wanted and what the user asked for.
type Request struct {
	Input        string // path of the records file, as the user gave it
	FuncNames    string // --func-names; "": not given
	KernelConfig string // -k; "": not given
	Level        int    // level of the data: 2 for the records of a chip; 0 takes any map
	// Newest takes the map that was written last where several lie beside the input,
	// the last by name of those, instead of none.
	Newest bool
	// Merged says that the input is one of several that are merged, for which no
	// --func-names can be given.
	Merged bool
}

// How the names of a Result were found.
const (
	FromFuncNames    = "func-names"
	FromKernelConfig = "kernel-config"
	FromSibling      = "sibling"
)

// A Result is what Find found. Map is nil and How is "" when there are no names.
type Result struct {
	Map      *Map
	How      string
	Warnings []string
	Unused   string // why a map that is there is not used, as the last warning says it; "" if none is
}

// Why a map is not used.
const (
	SeveralMaps = "several"  // which of them is not known
	OtherLevel  = "level"    // it describes something else
	Unlisted    = "unlisted" // the directory cannot be listed, so one may be there
)

// Find gets the names for one records file in the order of spec/name-map.md §4.1:
// --func-names, then -k, then the unique sibling name_map*.json, then none. Only
// the first of these that is given is looked at.
func Find(req Request) (Result, error) {
	switch {
	case req.FuncNames != "":
		return findExplicit(req)
	case req.KernelConfig != "":
		m, warnings, err := ReadKernelConfig(req.KernelConfig)
		if err != nil {
			return Result{Warnings: warnings}, err
		}
		return Result{Map: m, How: FromKernelConfig, Warnings: warnings}, nil
	default:
		return findSibling(req)
	}
}

// findExplicit reads the map the user named. When its level is wrong the user hears
// so and gets no names at all: falling back to another map would label the picture
// with names nobody asked for (spec/name-map.md, disagreement 3).
func findExplicit(req Request) (Result, error) {
	m, err := ReadMap(req.FuncNames)
	if err != nil {
		return Result{}, err
	}
	if !req.fits(m.Level) {
		return Result{Unused: OtherLevel, Warnings: []string{fmt.Sprintf(
			"the names of %s are ignored: it describes level %d (%s), the data is of level %d; pass a name map of level %d.",
			req.FuncNames, m.Level, meaning(m.Level), req.Level, req.Level)}}, nil
	}
	return Result{Map: m, How: FromFuncNames}, nil
}

// fits says whether a map may label the data. One that states no level may.
func (req Request) fits(level int) bool {
	return level == 0 || req.Level == 0 || level == req.Level
}

// meaning says what the ids of a map of one level count.
func meaning(level int) string {
	switch level {
	case 2:
		return "its ids are the kernels of a chip"
	case 3:
		return "its ids are the callables of a node, which must not name kernels"
	}
	return "its ids are not those of the data"
}

// findSibling uses the only name map whose level fits, of those beside the input or,
// for a retained run that has none there, of those one directory above.
func findSibling(req Request) (Result, error) {
	var out Result
	for i, dir := range capture.Dirs(req.Input) {
		where := "next to"
		if i > 0 {
			where = "one directory above"
		}
		got, none, err := req.siblingIn(dir, where)
		switch {
		case err != nil:
			return Result{}, err
		case !none:
			// Maps of other levels that were passed over before are in their place.
			return got, nil
		}
		out.Warnings = append(out.Warnings, got.Warnings...)
		if got.Unused != "" {
			out.Unused = got.Unused
		}
	}
	return out, nil
}

// siblingIn uses the only name map of a directory whose level fits; none says that
// no map there does. where says how the directory lies to the input.
func (req Request) siblingIn(dir, where string) (got Result, none bool, err error) {
	files, err := siblings(dir)
	if err != nil {
		// The records may well be readable where the directory is not. That is worth a
		// word, because a map that is there will not be found.
		return Result{Unused: Unlisted, Warnings: []string{fmt.Sprintf(
			"cannot look for name maps %s %s: %v; %s.", where, req.Input, err, req.remedy("make the directory readable"))}}, false, nil
	}
	if len(files) == 0 {
		return Result{}, true, nil
	}

	var only *Map
	var fit, other []string
	otherLevels := map[int]bool{}
	for _, name := range files {
		path := filepath.Join(dir, name)
		var level int
		if len(files) == 1 {
			if only, err = ReadMap(path); err == nil {
				level = only.Level
			}
		} else {
			level, err = levelOf(path)
		}
		if err != nil {
			return Result{}, false, req.siblingError(path, where, err)
		}
		if req.fits(level) {
			fit = append(fit, name)
		} else {
			other = append(other, name)
			otherLevels[level] = true
		}
	}

	switch {
	case len(fit) == 1:
		// Maps of other levels beside it are in their place and worth no word: a run on
		// a node leaves both.
		if only == nil {
			path := filepath.Join(dir, fit[0])
			if only, err = ReadMap(path); err != nil {
				return Result{}, false, req.siblingError(path, where, err)
			}
		}
		return Result{Map: only, How: FromSibling}, false, nil
	case len(fit) > 1 && req.Newest:
		path := newest(dir, fit)
		if only, err = ReadMap(path); err != nil {
			return Result{}, false, req.siblingError(path, where, err)
		}
		return Result{Map: only, How: FromSibling}, false, nil
	case len(fit) > 1:
		text := fmt.Sprintf("multiple sibling name maps found %s %s: %s; pass --func-names explicitly.", where, req.Input, strings.Join(fit, ", "))
		if req.Merged { // the words of spec/l3.md §10.8 name an option that merges refuse
			text += " A merge takes none: leave only one map there, or convert these records alone."
		}
		return Result{Unused: SeveralMaps, Warnings: []string{text}}, false, nil
	}
	return Result{Unused: OtherLevel, Warnings: []string{req.otherLevelWarning(where, other, otherLevels)}}, true, nil
}

// newest is the path of the file that was written last, the last by name of several.
func newest(dir string, files []string) string {
	best := ""
	var when time.Time
	for _, name := range files { // by name
		path := filepath.Join(dir, name)
		if st, err := os.Stat(path); err == nil && (best == "" || !st.ModTime().Before(when)) {
			best, when = path, st.ModTime()
		}
	}
	if best == "" { // all are gone meanwhile; reading says so
		return filepath.Join(dir, files[len(files)-1])
	}
	return best
}

func (req Request) otherLevelWarning(where string, files []string, levels map[int]bool) string {
	what, reason := "name map", "it describes"
	if len(files) > 1 {
		what, reason = "name maps", "they describe"
	}
	var said []string
	for level := range levels {
		said = append(said, fmt.Sprintf("level %d (%s)", level, meaning(level)))
	}
	slices.Sort(said)
	return fmt.Sprintf("sibling %s ignored %s %s: %s; %s %s, the data is of level %d.",
		what, where, req.Input, strings.Join(files, ", "), reason, strings.Join(said, ", "), req.Level)
}

// siblingError tells a user who named no map where it came from and how to go on.
func (req Request) siblingError(path, where string, err error) error {
	if errors.Is(err, ErrChanged) {
		return err // which says what to do
	}
	hint := "it was found " + where + " the input; " + req.remedy("repair or remove it")
	if errors.Is(err, ErrSyntax) || strings.Contains(err.Error(), path) {
		return fmt.Errorf("%w (%s)", err, hint)
	}
	return fmt.Errorf("cannot use the name map %s: %w (%s)", path, err, hint)
}

// remedy says what to do about maps that are found: that, or to name one, where the
// user can.
func (req Request) remedy(what string) string {
	if req.Merged {
		return what
	}
	return what + ", or pass --func-names explicitly"
}

// siblings lists the name maps of a directory: regular files and links to such,
// by base name, sorted.
func siblings(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		if ok, _ := filepath.Match("name_map*.json", e.Name()); !ok {
			continue
		}
		// Stat, not the entry's own type: a link counts as what it leads to.
		if st, err := os.Stat(filepath.Join(dir, e.Name())); err == nil && st.Mode().IsRegular() {
			files = append(files, e.Name())
		}
	}
	slices.Sort(files)
	return files, nil
}
