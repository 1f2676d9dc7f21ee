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
	records, err := recordsOf(root)
	return records == "" && err == nil && len(nodes(root)) > 0
}

// nodes are the directories that belong to nodes (spec/l3.md §12 D6), by number.
func nodes(root string) []string {
	out := slices.DeleteFunc(subdirectories(root, ""), func(name string) bool { return !nodeName.MatchString(name) })
	slices.SortFunc(out, func(a, b string) int {
		return cmp.Or(cmp.Compare(strings.TrimRight(a, "0123456789"), strings.TrimRight(b, "0123456789")), cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	return out
}

// maxNesting is how many levels of nodes are looked through.
const maxNesting = 4

// nodeRoots finds the directories of nodes below dir that hold ranks, and says how many each has.
func nodeRoots(dir string, level int) (roots []string, ranks []int) {
	for _, name := range nodes(dir) {
		path, n := filepath.Join(dir, name), 0
		for _, sub := range subdirectories(path, "rank") {
			if rankName.MatchString(sub) {
				n++
			}
		}
		if n > 0 {
			roots, ranks = append(roots, path), append(ranks, n)
		}
		if level < maxNesting {
			r, k := nodeRoots(path, level+1)
			roots, ranks = append(roots, r...), append(ranks, k...)
		}
	}
	return roots, ranks
}

var errNodes = errors.New("NETWORK1/L4 needs a node namespace; only one same-host L3 Worker can be merged")

// ofNodes says that a directory holds the captures of nodes, which ones, and how to
// choose one (spec/l3.md §12 D6, spec/newest.md §15).
func ofNodes(root string) error {
	roots, ranks := nodeRoots(root, 1)
	if len(roots) == 0 {
		return fmt.Errorf("%w; %s holds %s, and no rankN below", errNodes, root, some(nodes(root)))
	}
	said := make([]string, len(roots))
	for i, path := range roots {
		said[i] = fmt.Sprintf("%s (%d ranks)", path, ranks[i])
		if ranks[i] == 1 {
			said[i] = path + " (1 rank)"
		}
	}
	holds := fmt.Sprintf("those of %d nodes", len(roots))
	if len(roots) == 1 {
		holds = "that of one node"
	}
	return fmt.Errorf("%w; %s holds %s: %s; name one of them, as swimlane convert %s", errNodes, root, holds, some(said), roots[0])
}

// some lists texts as far as one cares to read.
func some(all []string) string {
	if n := len(all) - maxSaid; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(all[:maxSaid], ", "), n)
	}
	return strings.Join(all, ", ")
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
			return nil, ofNodes(root)
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

// recordsOf is the records file in a directory, "" if there is none. A run that was
// retained counts if there is no other (spec/newest.md §9).
func recordsOf(dir string) (string, error) {
	for _, name := range []string{capture.FileName, capture.FileName + ".gz"} {
		path := filepath.Join(dir, name)
		if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() {
			return path, nil
		}
	}
	kept := capture.RetainedIn(dir)
	switch len(kept) {
	case 0:
		return "", nil
	case 1:
		return kept[0], nil
	}
	said := make([]string, len(kept))
	for i, path := range kept {
		said[i] = strings.TrimPrefix(path, dir+string(filepath.Separator))
	}
	return "", fmt.Errorf("%s holds %d retained runs (%s), and a merge takes one capture of each rank; leave only one of them there, or convert each alone", dir, len(kept), some(said))
}
