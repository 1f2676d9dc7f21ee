package capture_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"swimlane/capture"
)

func pack(text string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(text))
	_ = z.Close()
	return b.Bytes()
}

// A file is read as it is, or unpacked if it begins like gzip, whatever its name.
func TestReadFiles(t *testing.T) {
	dir := t.TempDir()
	text := small(t)
	plain, packed := filepath.Join(dir, capture.FileName), filepath.Join(dir, "packed")
	write(t, plain, []byte(text))
	write(t, packed, pack(text))
	want := accept(t, text)
	for _, path := range []string{plain, packed} {
		var seen []int64
		got, err := capture.Read(path, capture.Options{Progress: func(n int64) { seen = append(seen, n) }})
		if err != nil {
			t.Fatal(err)
		}
		if got.Source != path || len(seen) == 0 || seen[len(seen)-1] != int64(len(text)) {
			t.Errorf("source %s, progress %v of %d", got.Source, seen, len(text))
		}
		got.Source = want.Source
		got.Warnings, want.Warnings = nil, nil // they name the file
		equal(t, got, want)
	}
}

func TestUnreadableFiles(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "none", capture.FileName)
	if _, err := capture.Read(missing, capture.Options{}); err == nil || err.Error() != "Input file not found: "+missing || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if _, err := capture.Read(dir, capture.Options{}); err == nil || !strings.Contains(err.Error(), dir+" is a directory") {
		t.Errorf("got %v", err)
	}
	whole := pack(small(t))
	damaged := bytes.Clone(whole)
	damaged[len(damaged)-5] ^= 1
	for name, content := range map[string][]byte{
		"empty": {}, "one byte": {0x1f}, "magic": {0x1f, 0x8b}, "cut head": whole[:8], "cut body": whole[:len(whole)/2], "cut tail": whole[:len(whole)-1],
		"damaged": damaged, "garbage behind": append(bytes.Clone(whole), "garbage"...),
	} {
		path := filepath.Join(dir, name)
		write(t, path, content)
		if rec, err := capture.Read(path, capture.Options{}); err == nil || rec != nil || !strings.Contains(err.Error(), "cannot read "+path+": ") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestLocate(t *testing.T) {
	t.Chdir(t.TempDir())
	if _, auto, err := capture.Locate(""); err == nil || !auto ||
		!strings.HasPrefix(err.Error(), "No outputs/*/chip_swimlane_records.json found under ") || !strings.Contains(err.Error(), "--enable-chip-swimlane") {
		t.Errorf("got %v", err)
	}
	at := func(dir string) string { return filepath.Join("outputs", dir, capture.FileName) }
	now := time.Now()
	for dir, age := range map[string]time.Duration{"A_1": 3 * time.Hour, "B_2": time.Hour, "C_3": time.Hour, "D_4": 2 * time.Hour} {
		write(t, at(dir), nil)
		if err := os.Chtimes(at(dir), now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join("outputs", "E_5", "l2_swimlane_records.json"), nil) // not found automatically (§9 no. 8)
	if path, auto, err := capture.Locate(""); path != at("C_3") || !auto || err != nil {
		t.Errorf("got %s, %v, %v", path, auto, err)
	}
	dir := filepath.Join("outputs", "A_1")
	if path, auto, err := capture.Locate(dir); path != at("A_1") || auto || err != nil {
		t.Errorf("got %s, %v, %v", path, auto, err)
	}
	old := filepath.Join("outputs", "E_5", "l2_swimlane_records.json")
	if path, _, err := capture.Locate(old); path != old || err != nil {
		t.Errorf("got %s, %v", path, err)
	}
	if _, _, err := capture.Locate(filepath.Dir(old)); err == nil || !strings.Contains(err.Error(), "no chip_swimlane_records.json in the directory") {
		t.Errorf("got %v", err)
	}
	if _, _, err := capture.Locate("nowhere"); err == nil || err.Error() != "Input file not found: nowhere" || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	write(t, filepath.Join("packed", capture.FileName+".gz"), nil)
	if path, _, err := capture.Locate("packed"); path != filepath.Join("packed", capture.FileName+".gz") || err != nil {
		t.Errorf("got %s, %v", path, err)
	}
	write(t, filepath.Join("ranks", "rank0", "d0", capture.FileName), nil)
	if _, _, err := capture.Locate("ranks"); !errors.Is(err, capture.ErrRanks) || !strings.Contains(err.Error(), filepath.Join("ranks", "rank0", "d0", capture.FileName)) {
		t.Errorf("got %v", err)
	}
}

func TestBeside(t *testing.T) {
	dir := t.TempDir()
	records := filepath.Join(dir, capture.FileName)
	if got, want := capture.Beside(records, capture.DepsFileName), filepath.Join(dir, "deps.json"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	write(t, filepath.Join(dir, "deps.json.gz"), nil)
	if got, want := capture.Beside(records, capture.DepsFileName), filepath.Join(dir, "deps.json.gz"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	write(t, filepath.Join(dir, "deps.json"), nil)
	if got, want := capture.Beside(records, capture.DepsFileName), filepath.Join(dir, "deps.json"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
