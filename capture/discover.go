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
// One without a file of that name that holds exactly one retained run is that run.
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
		more := ""
		if runs := retainedIn(arg); len(runs) > 0 {
			more = ", or that of a retained run: " + someOf(pathsOf(runs))
		}
		return "", false, fmt.Errorf("%s is %w (%s, …); name one rank's records file, as %s%s",
			arg, ErrRanks, rank, filepath.Join(arg, rank, "d0", FileName), more)
	}
	if p := recordsIn(arg, isFile); p != "" {
		return p, false, nil
	}
	switch runs := retainedIn(arg); len(runs) {
	case 0:
	case 1:
		return runs[0].path, false, nil
	default:
		return "", false, severalRetained(arg, runs)
	}
	hint := ""
	if found := candidates(arg); len(found) > 0 {
		hint = ": " + strings.Join(found, ", ")
	}
	return "", false, fmt.Errorf("no %s in the directory %s; name the records file, or a directory that holds one%s", FileName, arg, hint)
}

// In lists the records files of a directory, those of a run of several ranks aside:
// the one of the usual name first, then those of retained runs, then those whose
// names are former ones or a user's.
func In(dir string) []string {
	var out []string
	if p := recordsIn(dir, isFile); p != "" {
		out = append(out, p)
	}
	out = append(out, pathsOf(retainedIn(dir))...)
	for _, p := range named(dir) {
		plain, packed := strings.CutSuffix(p, ".gz")
		base := filepath.Base(plain)
		if base != FileName && !(packed && isFile(plain)) {
			out = append(out, p)
		}
	}
	return out
}

// named are the files of a directory whose names are like those of records files.
func named(dir string) []string {
	var out []string
	for _, suffix := range []string{"", ".gz"} {
		found, _ := filepath.Glob(filepath.Join(escape(dir), "*swimlane_records*.json"+suffix))
		out = append(out, slices.DeleteFunc(found, func(p string) bool { return !isFile(p) })...)
	}
	return out
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
// meant: captures one directory down or in its outputs/, and records under another
// name.
func candidates(dir string) []string {
	const most = 5
	var out []string
	subs, _ := filepath.Glob(filepath.Join(escape(dir), "*"))
	below, _ := filepath.Glob(filepath.Join(escape(dir), "outputs", "*")) // dir is where a run was started
	for _, p := range slices.Concat(subs, below) {
		if r := recordsIn(p, isFile); r != "" {
			out = append(out, r)
		} else {
			out = append(out, pathsOf(retainedIn(p))...)
		}
	}
	out = append(out, named(dir)...)
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
		for _, p := range notChosen(time.Time{}) {
			if p.Retained {
				hint += "\nThere are retained runs; name the records file of one, as " + p.Path
			} else {
				hint += fmt.Sprintf("\nThere are captures of several ranks; draw them with 'swimlane convert %s', or name one rank's records file, as %s", p.Run, p.Path)
			}
		}
		//lint:ignore ST1005 the text is that of spec/converter.md §8.3
		return "", fmt.Errorf("No outputs/*/%s found under %s\n"+
			"Run a test with --enable-chip-swimlane first, or specify an explicit input.%s", FileName, filepath.Join(cwd, "outputs"), hint)
	}
	return best, nil
}

// NewestAnywhere is the newest records file at any depth below outputs in the
// working directory, as the analyses choose it (spec/sched-overhead.md §2). Of
// equal times the later path wins.
func NewestAnywhere() (string, error) {
	best := ""
	var when time.Time
	var look func(dir string, top bool)
	look = func(dir string, top bool) {
		p := recordsIn(dir, isFile)
		if st, err := os.Stat(p); p != "" && err == nil && (best == "" || !st.ModTime().Before(when)) {
			best, when = p, st.ModTime()
		}
		entries, _ := os.ReadDir(dir) // what cannot be listed cannot be read either
		for _, e := range entries {
			sub := filepath.Join(dir, e.Name())
			if e.IsDir() || top && isDir(sub) { // a link deeper down may lead in a circle
				look(sub, false)
			}
		}
	}
	look("outputs", true)
	if best == "" {
		cwd, err := os.Getwd()
		if err != nil {
			cwd = "."
		}
		//lint:ignore ST1005 the text is that of spec/sched-overhead.md §2
		return "", fmt.Errorf("No %s found anywhere under %s\n"+
			"Run a test with --enable-chip-swimlane first, or name a records file.", FileName, filepath.Join(cwd, "outputs"))
	}
	return best, nil
}

func isDir(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

// Beside returns the file called name that belongs to a records file, or name with
// .gz where only that exists. It lies in the same directory, or for a retained run
// one above. If there is none it is the place where it should be.
func Beside(records, name string) string {
	dirs := Dirs(records)
	for _, dir := range dirs {
		p := filepath.Join(dir, name)
		if isFile(p) {
			return p
		}
		if !strings.HasSuffix(name, ".gz") && isFile(p+".gz") {
			return p + ".gz"
		}
	}
	return filepath.Join(dirs[0], name)
}
