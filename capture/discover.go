package capture

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
// the newest outputs/*/chip_swimlane_records.json below the working directory;
// a directory that holds a records file and no rank* is that capture.
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
	for _, name := range []string{FileName, FileName + ".gz"} {
		if p := filepath.Join(arg, name); isFile(p) {
			return p, false, nil
		}
	}
	return "", false, fmt.Errorf("no %s in the directory %s; name the records file, or a directory that holds one", FileName, arg)
}

// firstRank is the first entry of a directory that is called rank…, "" if none is.
func firstRank(dir string) string {
	entries, _ := os.ReadDir(dir) // what cannot be listed cannot be read either
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "rank") {
			return e.Name()
		}
	}
	return ""
}

func isFile(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular()
}

func newest() (string, error) {
	found, _ := filepath.Glob(filepath.Join("outputs", "*", FileName))
	best := ""
	var when time.Time
	for _, p := range found {
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
		//lint:ignore ST1005 the text is that of spec/converter.md §8.3
		return "", fmt.Errorf("No outputs/*/%s found under %s\n"+
			"Run a test with --enable-chip-swimlane first, or specify an explicit input.", FileName, filepath.Join(cwd, "outputs"))
	}
	return best, nil
}

// Beside returns a sibling file of a records file: name, or name with .gz where only that exists.
func Beside(records, name string) string {
	p := filepath.Join(filepath.Dir(records), name)
	if !strings.HasSuffix(name, ".gz") && !isFile(p) && isFile(p+".gz") {
		return p + ".gz"
	}
	return p
}
