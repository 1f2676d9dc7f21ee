package capture

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
)

// oldFileName is what records files were called once. They are found only where a
// whole directory is asked for (spec/sched-overhead.md §10.1).
const oldFileName = "l2_perf_records.json"

// Builds are the records files in a directory and all those below it that have a
// task graph beside them, by path, and those that have none. Links to directories
// below it are not followed.
func Builds(root string) (usable, graphless []string, err error) {
	// With a separator behind it the directory may itself be a link.
	err = filepath.WalkDir(root+string(filepath.Separator), func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return err
		}
		dir := filepath.Clean(path)
		records := recordsIn(dir, isFile)
		if old := filepath.Join(dir, oldFileName); records == "" && isFile(old) {
			records = old
		}
		switch {
		case records == "":
		case isFile(Beside(records, DepsFileName)):
			usable = append(usable, records)
		default:
			graphless = append(graphless, records)
		}
		return nil
	})
	return usable, graphless, err
}

// MergedBeside is the newest merged_swimlane*.json beside a records file, the last
// by name of several that are as new, "" if there is none. The retained runs of a
// directory have one each.
func MergedBeside(records string) string {
	name := "merged_swimlane*.json"
	if epoch, ok := RetainedEpoch(records); ok {
		name = "merged_swimlane_e" + epoch + ".json"
	}
	found, _ := filepath.Glob(filepath.Join(escape(filepath.Dir(records)), name))
	best := ""
	var when fs.FileInfo
	for _, p := range found {
		st, err := os.Stat(p)
		if err != nil || !st.Mode().IsRegular() {
			continue
		}
		if when == nil || cmp.Or(st.ModTime().Compare(when.ModTime()), cmp.Compare(p, best)) > 0 {
			best, when = p, st
		}
	}
	return best
}

// IsBuildFile reports whether a file is called as the records that Builds finds.
func IsBuildFile(path string) bool {
	name := filepath.Base(path)
	return name == FileName || name == FileName+".gz" || name == oldFileName
}
