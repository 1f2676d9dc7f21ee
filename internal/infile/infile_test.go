package infile_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"swimlane/internal/infile"
)

// A regular file has changed when its size or its time has, not when it was read
// or when another file took its place.
func TestChanged(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(path string) error
		want   string
	}{
		"read": {func(path string) error { _, err := os.ReadFile(path); return err }, ""},
		"appended to": {func(path string) error {
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = f.WriteString("more")
			return err
		}, "4 bytes at first, 8 now"},
		"cut":        {func(path string) error { return os.Truncate(path, 1) }, "4 bytes at first, 1 now"},
		"written to": {func(path string) error { return os.Chtimes(path, time.Time{}, time.Unix(1, 0)) }, "still 4 bytes, but written to meanwhile"},
		"replaced": {func(path string) error {
			if err := os.WriteFile(path+".tmp", []byte("another"), 0o644); err != nil {
				return err
			}
			return os.Rename(path+".tmp", path)
		}, ""},
		"removed": {os.Remove, ""},
	} {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte("text"), 0o644); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		before := infile.Now(f)
		if _, err := io.ReadAll(f); err != nil {
			t.Fatal(err)
		}
		if err := tt.change(path); err != nil {
			t.Fatal(err)
		}
		if got := before.Changed(); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
		f.Close()
	}
}

// A file that is opened again differs if it was written to, or if another one took its place.
func TestDiffers(t *testing.T) {
	dir := t.TempDir()
	stat := func(name, text string, at int64) os.FileInfo {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Time{}, time.Unix(at, 0)); err != nil {
			t.Fatal(err)
		}
		st, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return st
	}
	was := stat("a", "text", 1)
	for want, now := range map[string]os.FileInfo{
		"": was, "another file now": stat("b", "text", 1),
		"4 bytes at first, 8 now":                 stat("a", "textmore", 1),
		"still 4 bytes, but written to meanwhile": stat("a", "text", 2),
	} {
		if got := infile.Differs(was, now); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
