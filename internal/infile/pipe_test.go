//go:build unix

package infile_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"swimlane/internal/infile"
)

// The time of a pipe is that of the last write to it, which says nothing.
func TestPipesNeverChange(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	before := infile.Now(f)
	if err := os.Chtimes(path, time.Time{}, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if st, err := f.Stat(); err != nil || !st.ModTime().Equal(time.Unix(1, 0)) {
		t.Fatalf("the pipe's time did not change: %v", err)
	}
	if got := before.Changed(); got != "" {
		t.Errorf("got %q", got)
	}
}
