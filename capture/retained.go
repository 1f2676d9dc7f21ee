package capture

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// RetainedEpoch is the epoch in the name of the records file of a retained run,
// records_e<epoch>.json or .json.gz: such runs are written in the background, to
// swimlane-<k>/ in the directory of the run (spec/newest.md §9).
func RetainedEpoch(path string) (epoch string, ok bool) {
	digits, ok := strings.CutPrefix(filepath.Base(path), "records_e")
	if !ok {
		return "", false
	}
	digits, ok = strings.CutSuffix(strings.TrimSuffix(digits, ".gz"), ".json")
	if !ok || digits == "" || strings.Trim(digits, "0123456789") != "" {
		return "", false
	}
	return digits, true
}

// Dirs are the directories in which the files that belong to a records file are
// looked for, the first one first: its own, and for a retained run the one above,
// where the files of all its epochs lie.
func Dirs(records string) []string {
	own := filepath.Dir(records)
	if _, ok := RetainedEpoch(records); ok {
		return []string{own, filepath.Join(own, "..")}
	}
	return []string{own}
}

// retained is the records file of a retained run.
type retained struct{ dir, path, epoch string }

// retainedIn are the retained runs in a directory and its swimlane-<k>/, by
// directory and epoch. A run that lies there packed and unpacked counts once.
func retainedIn(dir string) []retained {
	var out []retained
	below, _ := filepath.Glob(filepath.Join(escape(dir), "swimlane-*"))
	for _, d := range append([]string{dir}, below...) {
		entries, _ := os.ReadDir(d) // what cannot be listed holds nothing that could be read
		for _, e := range entries {
			epoch, ok := RetainedEpoch(e.Name())
			path := filepath.Join(d, e.Name())
			if !ok || !isFile(path) {
				continue
			}
			if plain, packed := strings.CutSuffix(path, ".gz"); packed && isFile(plain) {
				continue
			}
			out = append(out, retained{d, path, epoch})
		}
	}
	slices.SortFunc(out, func(a, b retained) int {
		return cmp.Or(compareNumbered(a.dir, b.dir), compareNumbered(a.epoch, b.epoch))
	})
	return out
}

// RetainedIn are the records files of the retained runs in a directory and its
// swimlane-<k>/, by directory and epoch.
func RetainedIn(dir string) []string { return pathsOf(retainedIn(dir)) }

// compareNumbered compares texts that end in numbers and begin alike by these numbers.
func compareNumbered(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }

// severalRetained says that a directory holds several retained runs, and which.
func severalRetained(dir string, runs []retained) error {
	var epochs []string
	for _, r := range runs {
		if !slices.Contains(epochs, r.epoch) {
			epochs = append(epochs, r.epoch)
		}
	}
	slices.SortFunc(epochs, compareNumbered)
	what := "epochs"
	if len(epochs) == 1 {
		what = "epoch"
	}
	return fmt.Errorf("%s holds %d retained runs (%s %s); name the records file of one: %s", dir, len(runs), what, someOf(epochs), someOf(pathsOf(runs)))
}

func pathsOf(runs []retained) []string {
	var out []string
	for _, r := range runs {
		out = append(out, r.path)
	}
	return out
}

// someOf lists texts as far as one cares to read.
func someOf(list []string) string {
	const most = 8
	if more := len(list) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), more)
	}
	return strings.Join(list, ", ")
}

// Passed is a records file that Locate does not choose by itself.
type Passed struct {
	Path     string
	Run      string // the directory of its run, outputs/…, or of the node
	Retained bool   // of a retained run; otherwise it is one of several ranks
}

// PassedOver are the captures that are newer than the records at path and that
// Locate does not choose by itself, the newest of each kind: Locate chooses among
// single captures of the usual name, and a newer one of another kind is worth a word.
func PassedOver(path string) []Passed {
	st, err := os.Stat(path)
	if err != nil {
		return nil
	}
	return notChosen(st.ModTime())
}

// notChosen are the newest captures of each kind that are not chosen
// automatically, as far as they were written after the given time.
func notChosen(after time.Time) []Passed {
	runs, _ := filepath.Glob(filepath.Join("outputs", "*"))
	ranks, _ := filepath.Glob(filepath.Join("outputs", "*", "rank*", "d*"))
	nodes, _ := filepath.Glob(filepath.Join("outputs", "*", "node*", "rank*", "d*")) // spec/newest.md §15
	ranks = append(ranks, nodes...)
	var ofRanks, kept []string
	for _, dir := range ranks {
		if p := recordsIn(dir, isFile); p != "" {
			ofRanks = append(ofRanks, p)
		}
	}
	for _, dir := range append(runs, ranks...) {
		kept = append(kept, pathsOf(retainedIn(dir))...)
	}
	var out []Passed
	if p := newestOf(ofRanks, after); p != "" {
		out = append(out, Passed{Path: p, Run: filepath.Dir(filepath.Dir(filepath.Dir(p)))})
	}
	if p := newestOf(kept, after); p != "" {
		out = append(out, Passed{Path: p, Run: runOf(p), Retained: true})
	}
	return out
}

// newestOf is the file that was written last, and after the given time; "" if none was.
func newestOf(paths []string, after time.Time) string {
	best := ""
	for _, p := range paths {
		if st, err := os.Stat(p); err == nil && st.ModTime().After(after) {
			best, after = p, st.ModTime()
		}
	}
	return best
}

// runOf is the directory outputs/… that a path lies in.
func runOf(path string) string {
	parts := strings.SplitN(path, string(filepath.Separator), 3)
	return filepath.Join(parts[:2]...)
}
