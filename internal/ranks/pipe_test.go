//go:build unix

package ranks

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestLogFromAPipe: what a pipe hands out cannot be read again, so all of it is kept,
// and of the logs beside it, too.
func TestLogFromAPipe(t *testing.T) {
	dir := t.TempDir()
	file, pipe := filepath.Join(dir, "host.1.log"), filepath.Join(dir, "host.2.log")
	put(t, file, bracket(1, 2, 1000))
	if err := syscall.Mkfifo(pipe, 0o644); err != nil {
		t.Fatal(err)
	}
	const runs = 100
	wrote := make(chan error)
	go func() { wrote <- os.WriteFile(pipe, []byte(strings.Repeat(bracket(2, 1, 1000), runs)), 0o644) }()
	l := logReader{paths: []string{file, pipe}}
	if err := l.read(); err != nil {
		t.Fatal(err)
	}
	if err := <-wrote; err != nil {
		t.Fatal(err)
	}
	windows, err := l.windows()
	if err != nil || len(windows) != 2 || windows[1].PID != 2 {
		t.Fatalf("%+v, %v", windows, err)
	}
	spans, err := l.around([]*Member{{Pair: Pair{Window: &windows[1]}, Placement: &Placement{low: 1000}}})
	if err != nil || len(spans) != 2+2*runs || len(windows[1].spans) != 2*runs {
		t.Errorf("%d spans, %d of them of the run: %v", len(spans), len(windows[1].spans), err)
	}
}
