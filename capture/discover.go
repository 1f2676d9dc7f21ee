package capture

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// FileName is the fixed name of a records file (spec/records.md §1).
const FileName = "chip_swimlane_records.json"

// DepsFileName is the fixed name of a task graph.
const DepsFileName = "deps.json"

// ErrRanks says that a directory holds the captures of several ranks.
var ErrRanks = errors.New("a directory of several ranks")

// Locate turns what the user named into a records file. An empty argument is
// the newest outputs/*/chip_swimlane_records.json (or .gz) below the working
// directory; a directory that holds a records file and no rank* is that capture.
func Locate(arg string) (path string, auto bool, err error) {
	if arg == "" {
		path, err = newest()
		return path, true, err
	}
	st, err := os.Stat(arg)
	if err != nil {
		return "", false, plainPathError(err)
	}
	if !st.IsDir() {
		return arg, false, nil
	}
	if rank := firstRank(arg); rank != "" {
		return "", false, fmt.Errorf("%s is %w (%s, …); name one rank's records file, as %s",
			arg, ErrRanks, rank, filepath.Join(arg, rank, "d0", FileName))
	}
	if p := recordsIn(arg, isFile); p != "" {
		return p, false, nil
	}
	hint := ""
	if found := candidates(arg); len(found) > 0 {
		hint = ": " + strings.Join(found, ", ")
	}
	return "", false, fmt.Errorf("no %s in the directory %s; name the records file, or a directory that holds one%s", FileName, arg, hint)
}

// recordsIn is the records file of a directory, "" if it has none.
func recordsIn(dir string, there func(string) bool) string {
	for _, name := range []string{FileName, FileName + ".gz"} {
		if p := filepath.Join(dir, name); there(p) {
			return p
		}
	}
	return ""
}

// candidates are the files in or just below a directory that may have been
// meant: captures one directory down, and records under another name.
func candidates(dir string) []string {
	const most = 5
	var out []string
	subs, _ := filepath.Glob(filepath.Join(escape(dir), "*"))
	for _, p := range subs {
		if r := recordsIn(p, isFile); r != "" {
			out = append(out, r)
		}
	}
	for _, suffix := range []string{"", ".gz"} {
		named, _ := filepath.Glob(filepath.Join(escape(dir), "*swimlane_records*.json"+suffix))
		out = append(out, slices.DeleteFunc(named, func(p string) bool { return !isFile(p) })...)
	}
	if len(out) > most {
		out = append(out[:most], "…")
	}
	return out
}

// escape keeps the name of a directory from being read as a pattern.
func escape(dir string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(dir)
}

// firstRank is the first entry of a directory that is called rank…, "" if none is.
func firstRank(dir string) string {
	entries, _ := os.ReadDir(dir) // what cannot be listed cannot be read either
	for _, e := range entries {
		if isRank(e.Name()) {
			return e.Name()
		}
	}
	return ""
}

// isRank reports whether a name is rank and a number.
func isRank(name string) bool {
	digits, ok := strings.CutPrefix(name, "rank")
	return ok && digits != "" && strings.Trim(digits, "0123456789") == ""
}

func isFile(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular()
}

func newest() (string, error) {
	dirs, _ := filepath.Glob(filepath.Join("outputs", "*"))
	best := ""
	var when time.Time
	for _, dir := range dirs {
		p := recordsIn(dir, func(p string) bool { _, err := os.Stat(p); return err == nil })
		// Equal times happen on coarse file systems; the later name wins, as run directories end in their time.
		if st, err := os.Stat(p); err == nil && (best == "" || !st.ModTime().Before(when)) {
			best, when = p, st.ModTime()
		}
	}
	if best == "" {
		cwd, err := os.Getwd()
		if err != nil {
			cwd = "."
		}
		hint := ""
		if ranks := newestOfRanks(time.Time{}); ranks != "" {
			hint = "\nThere are captures of several ranks; name one rank's records file, as " + ranks
		}
		//lint:ignore ST1005 the text is that of spec/converter.md §8.3
		return "", fmt.Errorf("No outputs/*/%s found under %s\n"+
			"Run a test with --enable-chip-swimlane first, or specify an explicit input.%s", FileName, filepath.Join(cwd, "outputs"), hint)
	}
	return best, nil
}

// PassedOver is a records file of the newest outputs/*/rank*/d* whose records
// are newer than those at path, "" if there is none: Locate chooses among single
// captures, and a newer one of several ranks is worth a word.
func PassedOver(path string) string {
	st, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return newestOfRanks(st.ModTime())
}

func newestOfRanks(after time.Time) string {
	dirs, _ := filepath.Glob(filepath.Join("outputs", "*", "rank*", "d*"))
	best := ""
	for _, dir := range dirs {
		p := recordsIn(dir, isFile)
		if p == "" {
			continue
		}
		if st, err := os.Stat(p); err == nil && st.ModTime().After(after) {
			best, after = p, st.ModTime()
		}
	}
	return best
}

// Beside returns a sibling file of a records file: name, or name with .gz where only that exists.
func Beside(records, name string) string {
	p := filepath.Join(filepath.Dir(records), name)
	if !strings.HasSuffix(name, ".gz") && !isFile(p) && isFile(p+".gz") {
		return p + ".gz"
	}
	return p
}
