package doctor

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"swimlane/capture"
	"swimlane/internal/console"
	"swimlane/internal/ranks"
)

// ErrIrregular says that what should be examined is neither a directory nor a file
// that can be read more than once.
var ErrIrregular = errors.New("expected a directory or a regular file")

// Newest is the directory below outputs/ that was written to last, "" if there is
// none. Unlike the newest capture it may be one that lacks its records.
func Newest() string {
	best, when := "", time.Time{}
	entries, _ := os.ReadDir("outputs") // what cannot be listed holds nothing that could be read
	for _, e := range entries {
		st, err := os.Stat(filepath.Join("outputs", e.Name()))
		// Equal times happen on coarse file systems; names of runs end in their time.
		if err == nil && st.IsDir() && (best == "" || !st.ModTime().Before(when)) {
			best, when = filepath.Join("outputs", e.Name()), st.ModTime()
		}
	}
	return best
}

// Look examines a records file, or everything in a directory and below it.
func Look(root string, p *console.Progress) (*Report, error) {
	r := &Report{Root: root}
	st, err := os.Stat(root)
	switch {
	case err != nil:
		return nil, err
	case !st.IsDir() && !st.Mode().IsRegular():
		return nil, ErrIrregular
	case !st.IsDir():
		x := blocked(filepath.Dir(root))
		if x == nil {
			x = examineRecords(root, filepath.Dir(root), p)
		}
		r.Exams = append(r.Exams, x)
	default:
		s := search{report: r, progress: p}
		s.directory(filepath.Clean(root), 0)
		if len(r.Exams) == 0 {
			x := &Exam{Path: root, Kind: OfRun, dir: root}
			x.find(Finding{Code: "no-records", File: root, Found: "no " + capture.FileName + " in this directory or below it, and nothing else that a run leaves"})
			r.Exams = append(r.Exams, x)
		}
		if s.cut {
			x := &Exam{Path: root, Kind: OfRun, dir: root}
			x.find(Finding{Code: "too-many-directories", File: root, Count: mostDirectories,
				Found: "looked into " + console.Thousands(mostDirectories) + " directories, at most " + console.Count(deepest, "level") + " down; there are more"})
			r.Exams = append(r.Exams, x)
		}
	}
	for _, x := range r.Exams {
		x.settle()
	}
	return r, nil
}

// Trees are searched so far and no further.
const (
	mostDirectories = 20000
	deepest         = 12
)

// search goes through a tree of directories.
type search struct {
	report   *Report
	progress *console.Progress
	seen     int
	cut      bool
}

// directory examines what a directory holds. Below a capture nothing is looked for.
func (s *search) directory(dir string, depth int) {
	if s.seen++; s.seen > mostDirectories || depth > deepest {
		s.cut = true
		return
	}
	if x := blocked(dir); x != nil {
		s.report.Exams = append(s.report.Exams, x)
		return
	}
	if ranks.IsTree(dir) {
		s.report.Exams = append(s.report.Exams, s.tree(dir)...)
		return
	}
	if found := capture.In(dir); len(found) > 0 {
		for _, path := range found {
			s.report.Exams = append(s.report.Exams, examineRecords(path, dir, s.progress))
		}
		return
	}
	if x := examineRun(dir, s.progress); x != nil {
		s.report.Exams = append(s.report.Exams, x)
		return
	}
	for _, name := range subdirectories(dir) {
		s.directory(filepath.Join(dir, name), depth+1)
	}
}

// blocked finds files that nobody would write and that reading could wait for without
// end. nil: there are none.
func blocked(dir string) *Exam {
	var found []string
	for _, pattern := range []string{"*", filepath.Join("rank*", "*"), filepath.Join("rank*", "d*", "*")} {
		list, _ := filepath.Glob(filepath.Join(escape(dir), pattern))
		for _, path := range list {
			if st, err := os.Stat(path); err == nil && !st.IsDir() && !st.Mode().IsRegular() {
				found = append(found, path)
			}
		}
	}
	if len(found) == 0 {
		return nil
	}
	slices.Sort(found)
	x := &Exam{Path: dir, Kind: OfRun, dir: dir}
	for i, path := range found {
		found[i], _ = filepath.Rel(dir, path)
	}
	x.find(Finding{Code: "irregular-file", File: dir, Count: int64(len(found)), Found: someOf(found)})
	return x
}

// escape keeps the name of a directory from being read as a pattern.
func escape(dir string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(dir)
}

// subdirectories are those of a directory, sorted, links and hidden ones left out.
func subdirectories(dir string) []string {
	entries, _ := os.ReadDir(dir)
	var out []string
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			out = append(out, e.Name())
		}
	}
	return out
}

// here are the entries of a directory that fit a pattern, sorted, as paths.
func here(dir, pattern string) []string {
	entries, _ := os.ReadDir(dir)
	var out []string
	for _, e := range entries {
		if ok, _ := filepath.Match(pattern, e.Name()); ok {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	slices.Sort(out)
	return out
}

func isFile(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular()
}

func isDir(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

func modified(path string) (time.Time, bool) {
	st, err := os.Stat(path)
	if err != nil || !st.Mode().IsRegular() {
		return time.Time{}, false
	}
	return st.ModTime(), true
}

// missing reports whether an error says that a file is not there.
func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
