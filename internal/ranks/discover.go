package ranks

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"swimlane/capture"
)

// rankDir is the directory of a rank.
type rankDir struct {
	rank int
	name string
}

var (
	rankName     = regexp.MustCompile(`^rank([0-9]+)$`)
	dispatchName = regexp.MustCompile(`^d([0-9]+)$`)
	nodeName     = regexp.MustCompile(`^(node[0-9]+|network1.*)$`)
)

// IsTree reports whether a directory holds the captures of several ranks or, what
// is refused later, of several nodes.
func IsTree(root string) bool {
	for _, name := range subdirectories(root, "") {
		if rankName.MatchString(name) {
			return true
		}
	}
	return recordsOf(root) == "" && len(nodes(root)) > 0
}

// nodes are the directories that belong to nodes (spec/l3.md §12 D6).
func nodes(root string) []string {
	return slices.DeleteFunc(subdirectories(root, ""), func(name string) bool { return !nodeName.MatchString(name) })
}

// discover lists the ranks below root by their number (spec/l3.md §4.1).
func discover(root string) ([]rankDir, error) {
	var out []rankDir
	for _, name := range subdirectories(root, "rank") {
		m := rankName.FindStringSubmatch(name)
		if m == nil {
			return nil, fmt.Errorf("invalid Rank directory name: %s (expected rankN)", name)
		}
		n, err := strconv.Atoi(m[1])
		if err != nil || n > maxRank {
			return nil, fmt.Errorf("invalid Rank directory name: %s (expected a number up to %d)", name, maxRank)
		}
		out = append(out, rankDir{n, name})
	}
	if len(out) == 0 {
		if len(nodes(root)) > 0 {
			return nil, errors.New("NETWORK1/L4 needs a node namespace; only one same-host L3 Worker can be merged")
		}
		return nil, fmt.Errorf("no rankN directories found under %s", root)
	}
	slices.SortStableFunc(out, func(a, b rankDir) int { return cmp.Compare(a.rank, b.rank) })
	for i := 1; i < len(out); i++ {
		if out[i].rank == out[i-1].rank {
			return nil, fmt.Errorf("duplicate Rank number %d under %s", out[i].rank, root)
		}
	}
	return out, nil
}

// maxRank bounds the numbers of ranks: each has a hundred process numbers, of 32 bits.
const maxRank = 10_000_000

// dispatchDir is a directory below that of a rank. index is −1 if its name is not dN.
type dispatchDir struct {
	name  string
	index int
}

// dispatches lists the directories d* of a rank by number, those of other names last.
func dispatches(dir string) []dispatchDir {
	var out []dispatchDir
	for _, name := range subdirectories(dir, "d") {
		d := dispatchDir{name, -1}
		if m := dispatchName.FindStringSubmatch(name); m != nil {
			if n, err := strconv.Atoi(m[1]); err == nil {
				d.index = n
			}
		}
		out = append(out, d)
	}
	slices.SortStableFunc(out, func(a, b dispatchDir) int {
		if (a.index < 0) != (b.index < 0) {
			return cmp.Compare(b.index, a.index)
		}
		return cmp.Compare(a.index, b.index)
	})
	return out
}

// subdirectories are the directories in dir whose names begin so, sorted. A link
// counts as what it leads to.
func subdirectories(dir, prefix string) []string {
	entries, _ := os.ReadDir(dir) // what cannot be listed cannot be read either
	var out []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		if st, err := os.Stat(filepath.Join(dir, e.Name())); err == nil && st.IsDir() {
			out = append(out, e.Name())
		}
	}
	return out
}

// recordsOf is the records file in a directory, "" if there is none.
func recordsOf(dir string) string {
	for _, name := range []string{capture.FileName, capture.FileName + ".gz"} {
		path := filepath.Join(dir, name)
		if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() {
			return path
		}
	}
	return ""
}
