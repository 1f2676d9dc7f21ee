package capture_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"swimlane/capture"
)

// meanwhile are things that happen to a file while it is read, and what is said of
// them if the file had n bytes; "" if it is read all the same.
var meanwhile = map[string]struct {
	happen func(path string) error
	want   func(n int) string
}{
	"appended to, and still a whole": {
		func(path string) error { return appendTo(path, "\n") },
		func(n int) string { return fmt.Sprintf("%d bytes at first, %d now", n, n+1) },
	},
	"appended to": {
		func(path string) error { return appendTo(path, "]") },
		func(n int) string { return fmt.Sprintf("%d bytes at first, %d now", n, n+1) },
	},
	"begun anew": {
		func(path string) error { return os.Truncate(path, 0) },
		func(n int) string { return fmt.Sprintf("%d bytes at first, 0 now", n) },
	},
	"overwritten": {
		func(path string) error { return os.Chtimes(path, time.Time{}, time.Unix(1, 0)) },
		func(n int) string { return fmt.Sprintf("still %d bytes, but written to meanwhile", n) },
	},
	"replaced": {
		func(path string) error {
			if err := os.WriteFile(path+".tmp", []byte("{"), 0o644); err != nil {
				return err
			}
			return os.Rename(path+".tmp", path)
		},
		func(int) string { return "" },
	},
}

func appendTo(path, text string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

const whenComplete = "it is still being written: read it when it is complete"

// changing calls read with files that something happens to while they are read, in
// full, packed and half written. read is given what to call on the way.
func changing(t *testing.T, text string, read func(path string, progress func(int64)) error, want func(path, how string) string) {
	t.Helper()
	for form, content := range map[string][]byte{"full": []byte(text), "packed": pack(text), "half": []byte(text[:len(text)/2]), "half packed": pack(text)[:len(pack(text))/2]} {
		for name, event := range meanwhile {
			path := filepath.Join(t.TempDir(), "file.json")
			write(t, path, content)
			reads := 0
			_ = read(path, func(int64) { reads++ })
			for _, at := range []int{1, reads} {
				path := filepath.Join(t.TempDir(), "file.json")
				write(t, path, content)
				n := 0
				err := read(path, func(int64) {
					if n++; n == at {
						if err := event.happen(path); err != nil {
							t.Fatal(err)
						}
					}
				})
				if n < at {
					t.Fatalf("%s, %s: it did not happen", form, name)
				}
				how := event.want(len(content))
				switch whole := form == "full" || form == "packed"; {
				case how == "" && whole:
					if err != nil {
						t.Errorf("%s, %s: %v", form, name, err)
					}
				case how == "":
					if err == nil || errors.Is(err, capture.ErrChanged) {
						t.Errorf("%s, %s: got %v, want that it is cut off", form, name, err)
					}
				default:
					if err == nil || !errors.Is(err, capture.ErrChanged) || errors.Is(err, capture.ErrSyntax) || err.Error() != want(path, how) {
						t.Errorf("%s, %s:\n got %v\nwant %s", form, name, err, want(path, how))
					}
				}
			}
		}
	}
}

// What is read while it is being written is no capture, whatever it looks like.
func TestRecordsThatChange(t *testing.T) {
	changing(t, small(t), func(path string, progress func(int64)) error {
		rec, err := capture.Read(path, capture.Options{Progress: progress})
		if (rec == nil) != (err != nil) {
			t.Errorf("got %v and the error %v", rec, err)
		}
		return err
	}, func(path, how string) string {
		return "cannot read " + path + ": it changed while it was read (" + how + "); " + whenComplete
	})
}

func TestDepsThatChange(t *testing.T) {
	changing(t, `{"tasks": [{"task_id": "1"}], "edges": [{"pred": "1", "succ": "2"}]}`, func(path string, progress func(int64)) error {
		d, err := capture.ReadDeps(path, progress)
		if (d == nil) != (err != nil) {
			t.Errorf("got %v and the error %v", d, err)
		}
		return err
	}, func(path, how string) string {
		return "it changed while it was read (" + how + ") (in " + path + "); " + whenComplete
	})
}
