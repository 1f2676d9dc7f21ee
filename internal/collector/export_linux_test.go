package collector_test

import (
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"swimlane/internal/collector"
)

// TestExportIsAtomic: a file that cannot be completed leaves nothing, and does
// not take the place of an old one.
func TestExportIsAtomic(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, collector.RecordsFile)
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	c, _, _ := large(20_000)

	// No file may grow beyond a part of what has to be written.
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 300 << 10, Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	written, err := c.Export(dir)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	if written != "" || err == nil || !strings.Contains(err.Error(), "cannot write "+path) || !strings.Contains(err.Error(), "file too large") {
		t.Errorf("got %q, %v", written, err)
	}
	same(t, "files", files(t, dir), []string{collector.RecordsFile})
	equalText(t, "file", read(t, path), "old")

	if _, err := c.Export(dir); err != nil {
		t.Fatal(err)
	}
	equalText(t, "file", read(t, path), text(t, c))
}
