package scene

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Diagnostics are what is recorded of a case.
type Diagnostics struct {
	Swimlane int // level 0 to 4
	DepGen   bool
	Overhead bool // counter tracks in the trace
}

// Check refuses what cannot be recorded.
func (d *Diagnostics) Check() error {
	if d.Overhead && d.Swimlane == 0 {
		return errors.New("--enable-swimlane-overhead requires --enable-chip-swimlane")
	}
	return nil
}

// ForRounds switches everything off for more than one round, whose times come from
// the host's log instead, and tells what was on (spec/name-map.md §6.5).
func (d *Diagnostics) ForRounds(rounds int) (warnings []string) {
	if rounds <= 1 {
		return nil
	}
	for _, x := range []struct {
		on   bool
		name string
	}{{d.Swimlane > 0, "chip swimlane"}, {d.DepGen, "dep_gen"}, {d.Overhead, "swimlane overhead"}} {
		if x.on {
			warnings = append(warnings, x.name+" disabled: --rounds > 1")
		}
	}
	*d = Diagnostics{}
	return warnings
}

func (d *Diagnostics) any() bool { return d.Swimlane > 0 || d.DepGen || d.Overhead }

// ParseDevices reads a list of devices: 0, 4-7 or 0,2-4,7. It is sorted, and each is
// in it once (spec/name-map.md §6.1).
func ParseDevices(text string) ([]int, error) {
	const most = 1024
	var out []int
	for part := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(strings.TrimSpace(part), "-")
		if !isRange {
			last = first
		}
		a, err := strconv.ParseUint(first, 10, 16)
		b, errLast := strconv.ParseUint(last, 10, 16)
		if err != nil || errLast != nil || a > b || b >= most {
			return nil, fmt.Errorf("--device: %q is no list of devices: expected numbers below %d and ranges of them, as 0 or 4-7 or 0,2-4,7", text, most)
		}
		for n := a; n <= b; n++ {
			out = append(out, int(n))
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// ProjectRoot is the directory below which outputs/ lies: the root of the Go module
// that a directory is in, or else the directory itself.
func ProjectRoot(dir string) (string, error) {
	whole, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for at := whole; ; {
		if st, err := os.Stat(filepath.Join(at, "go.mod")); err == nil && st.Mode().IsRegular() && at != whole {
			return at, nil
		} else if err == nil {
			return dir, nil
		}
		up := filepath.Dir(at)
		if up == at {
			return dir, nil
		}
		at = up
	}
}

// makePrefix makes a directory of its own for the artifacts of a case: a second run
// in the same second does not write over the first one.
func makePrefix(want string) (string, error) {
	refused := func(err error) (string, error) {
		if whole, werr := filepath.Abs(filepath.Dir(want)); werr == nil {
			return "", fmt.Errorf("no directory for what is recorded can be made in %s: %w; --root names another", whole, err)
		}
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(want), 0o777); err != nil {
		return refused(err)
	}
	for n := 1; ; n++ {
		path := want
		if n > 1 {
			path = fmt.Sprintf("%s_%d", want, n)
		}
		switch err := os.Mkdir(path, 0o777); {
		case err == nil:
			return path, nil
		case !errors.Is(err, os.ErrExist):
			return refused(err)
		}
	}
}
