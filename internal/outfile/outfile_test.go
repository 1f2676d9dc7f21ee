package outfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"swimlane/internal/outfile"
)

// listing is what lies in a directory, a name with the content behind a blank.
func listing(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e.Name()+" "+string(data))
	}
	return strings.Join(out, ", ")
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func wantListing(t *testing.T, dir, want string) {
	t.Helper()
	if got := listing(t, dir); got != want {
		t.Errorf("the directory has %q, want %q", got, want)
	}
}

func create(t *testing.T, s *outfile.Set, path, text string) *outfile.File {
	t.Helper()
	f, err := s.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestCommit(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	put(t, path, "old")
	var s outfile.Set
	f := create(t, &s, path, "new")
	if data, _ := os.ReadFile(path); string(data) != "old" {
		t.Errorf("before the commit the place has %q", data)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	f.Discard()
	s.Abandon()
	wantListing(t, dir, "out new")
}

func TestDiscard(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	put(t, path, "old")
	var s outfile.Set
	f := create(t, &s, path, "new")
	f.Discard()
	f.Discard()
	wantListing(t, dir, "out old")
}

func TestAbandon(t *testing.T) {
	dir := t.TempDir()
	var s outfile.Set
	f := create(t, &s, filepath.Join(dir, "one"), "1")
	create(t, &s, filepath.Join(dir, "two"), "2")
	s.Abandon()
	wantListing(t, dir, "")
	if err := f.Commit(); !errors.Is(err, outfile.ErrAbandoned) {
		t.Errorf("a commit after it gives %v", err)
	}
	if _, err := s.Create(filepath.Join(dir, "three")); !errors.Is(err, outfile.ErrAbandoned) {
		t.Errorf("a new output after it gives %v", err)
	}
	f.Discard()
	wantListing(t, dir, "")
}

// TestAbandonWhileWriting: whatever others are doing, each place has its old
// content or a whole new one, and nothing else is left.
func TestAbandonWhileWriting(t *testing.T) {
	dir := t.TempDir()
	var s outfile.Set
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			path := filepath.Join(dir, string(rune('a'+i)))
			for {
				f, err := s.Create(path)
				if err != nil {
					return
				}
				if _, err := f.Write([]byte("whole")); err != nil {
					f.Discard()
					return
				}
				if f.Commit() != nil {
					return
				}
			}
		})
	}
	s.Abandon()
	wg.Wait()
	if got := listing(t, dir); strings.Contains(got, ".tmp") || strings.Count(got, " whole") != strings.Count(got, " ")-strings.Count(got, ",") {
		t.Errorf("the directory has %q", got)
	}
}

func TestInputsAreRefused(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in")
	put(t, in, "input")
	link, hard := filepath.Join(dir, "link"), filepath.Join(dir, "hard")
	if os.Symlink("in", link) != nil || os.Link(in, hard) != nil {
		t.Skip("no links here")
	}
	var s outfile.Set
	for _, out := range []string{in, link, hard, filepath.Join(dir, "..", filepath.Base(dir), "in")} {
		if _, err := s.Create(out, "", "nowhere", in); !errors.Is(err, outfile.ErrIsInput) {
			t.Errorf("%s: %v", out, err)
		}
		if _, err := s.Create(in, out); !errors.Is(err, outfile.ErrIsInput) {
			t.Errorf("with the input %s: %v", out, err)
		}
	}
	wantListing(t, dir, "hard input, in input, link input")
}

func TestLinks(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"a", "b/c"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// a/first → second → ../b/c/out, through a directory that is a link too.
	for link, to := range map[string]string{"a/first": "second", "a/second": "../dir/../b/c/out", "dir": "b/c", "loop": "loop"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skip("no links here")
		}
	}
	// dir is b/c, so dir/.. is b, and b/b does not exist: ".." starts from where a directory really is.
	var s outfile.Set
	if f, err := s.Create(filepath.Join(dir, "a/first")); err == nil {
		f.Discard()
		t.Error("a link that leads nowhere was followed as if it were text")
	}
	if err := os.Remove(filepath.Join(dir, "a/second")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../dir/out", filepath.Join(dir, "a/second")); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"first", "second"} { // a new file, then an existing one
		if err := create(t, &s, filepath.Join(dir, "a/first"), text).Commit(); err != nil {
			t.Fatal(err)
		}
		wantListing(t, filepath.Join(dir, "b/c"), "out "+text)
	}
	if st, err := os.Lstat(filepath.Join(dir, "a/first")); err != nil || st.Mode()&fs.ModeSymlink == 0 {
		t.Error("the link was replaced")
	}
	if _, err := s.Create(filepath.Join(dir, "loop")); err == nil {
		t.Error("a link to itself can be written to")
	}
}

func TestPermissions(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	put(t, path, "old")
	if err := os.Chmod(path, 0o604); err != nil {
		t.Fatal(err)
	}
	var s outfile.Set
	if err := create(t, &s, path, "new").Commit(); err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o604 {
		t.Errorf("mode %v, %v", st.Mode(), err)
	}
}

func TestLongName(t *testing.T) {
	dir := t.TempDir()
	name := strings.Repeat("n", 250)
	var s outfile.Set
	if err := create(t, &s, filepath.Join(dir, name), "x").Commit(); err != nil {
		t.Fatal(err)
	}
	wantListing(t, dir, name+" x")
}

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "file"), "x")
	var s outfile.Set
	for path, want := range map[string]string{
		dir:                                   "is a directory, expected a file path",
		filepath.Join(dir, "no", "out"):       "does not exist; create it",
		filepath.Join(dir, "file", "out"):     "not a directory",
		filepath.Join(dir, "new") + "/":       "does not exist; create it",
		filepath.Join(dir, "bad\x00byte"):     "invalid argument",
		filepath.Join(dir, string(make256())): "name too long",
	} {
		if _, err := s.Create(path); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), ".tmp") {
			t.Errorf("%q: error %v, want one with %q", path, err, want)
		}
	}
	wantListing(t, dir, "file x")
}

func make256() []byte { return []byte(strings.Repeat("x", 256)) }

// TestDevice: what cannot be renamed over is written in place.
func TestDevice(t *testing.T) {
	if st, err := os.Stat(os.DevNull); err != nil || st.Mode()&fs.ModeDevice == 0 {
		t.Skip("no null device here")
	}
	var s outfile.Set
	f := create(t, &s, os.DevNull, "gone")
	if err := f.Commit(); err != nil {
		t.Error(err)
	}
	f.Discard()
	if st, err := os.Stat(os.DevNull); err != nil || st.Mode()&fs.ModeDevice == 0 {
		t.Fatal("the null device was replaced")
	}
}

// TestFull: errors name no path, as the one written to is not the user's.
func TestFull(t *testing.T) {
	if st, err := os.Stat("/dev/full"); err != nil || st.Mode()&fs.ModeDevice == 0 {
		t.Skip("no full device here")
	}
	var s outfile.Set
	f, err := s.Create("/dev/full")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Discard()
	if _, err := f.Write([]byte("x")); err == nil || err.Error() != "no space left on device" {
		t.Errorf("error %v", err)
	}
}
