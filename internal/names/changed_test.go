package names

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A map or a kernel configuration that is written to between its opening and its
// last read is refused, even if what was read is well-formed, and before anything
// else is said of it.
func TestFilesThatChange(t *testing.T) {
	for _, tt := range []struct {
		name, text, now string // "": another time, the same text
		want            string
	}{
		{"still whole", `{"level": 2}`, `{"level": 2} `, "12 bytes at first, 13 now"},
		{"cut", `{"level": 2}`, `{"level": `, "12 bytes at first, 10 now"},
		{"of the same size", `{"level": 2}`, "", "still 12 bytes, but written to meanwhile"},
	} {
		for way, read := range map[string]func(*file) error{
			"in full":        func(f *file) error { _, err := f.content(mapFile); return err },
			"only its level": func(f *file) error { _, err := f.level(); return err },
		} {
			path := filepath.Join(t.TempDir(), "name_map_x.json")
			if err := os.WriteFile(path, []byte(tt.text), 0o644); err != nil {
				t.Fatal(err)
			}
			f, err := openFile(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if tt.now != "" {
				err = os.WriteFile(path, []byte(tt.now), 0o644)
			} else {
				err = os.Chtimes(path, time.Time{}, time.Unix(1, 0))
			}
			if err != nil {
				t.Fatal(err)
			}
			err = read(f)
			want := path + " changed while it was read (" + tt.want + "); it is still being written: read it when it is complete"
			if err == nil || !errors.Is(err, ErrChanged) || err.Error() != want {
				t.Errorf("%s, %s:\n got %v\nwant %s", tt.name, way, err, want)
			}
			if got := (Request{}).siblingError(path, "next to", err); got.Error() != want {
				t.Errorf("beside the input: got %v, want %s", got, want)
			}
		}
	}
}
