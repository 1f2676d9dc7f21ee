package doctor_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"swimlane/capture"
	"swimlane/internal/console"
	"swimlane/internal/doctor"
)

// FuzzLook: whatever lies in a directory, there is a report, and it says that the
// capture cannot be drawn exactly where the reader refuses it.
func FuzzLook(f *testing.F) {
	good := small(f)
	f.Add([]byte(good[recordsName]), []byte(good[depsName]), []byte(good[mapName]), []byte(sidecar(0, 0, 5, 0, 1)), []byte(anchor(1)+run(1, 1, 1000)))
	f.Add([]byte(good[recordsName][:900]), []byte("{"), []byte("[]"), []byte("{}"), []byte("[STRACE] v=1"))
	f.Add([]byte(meta(f, accounts("AICPU_TASK", 3, 2, 1, 0, 0))[recordsName]), []byte(`{"edges":[]}`), []byte(""), []byte(""), []byte(""))
	dir := f.TempDir()
	tree := filepath.Join(dir, "rank0", "d0")
	if err := os.MkdirAll(tree, 0o777); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, records, deps, names, side, log []byte) {
		for path, data := range map[string][]byte{
			filepath.Join(tree, recordsName): records, filepath.Join(tree, depsName): deps, filepath.Join(tree, mapName): names,
			filepath.Join(tree, sidecarName): side, filepath.Join(dir, "host.1.log"): log,
		} {
			if err := os.WriteFile(path, data, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		r, err := doctor.Look(dir, console.NewProgress(io.Discard))
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Text(io.Discard, doctor.Style{All: true, Colour: true}); err != nil {
			t.Fatal(err)
		}
		_, strict := capture.Read(filepath.Join(tree, recordsName), capture.Options{})
		if strict == nil {
			return // what joins and draws may refuse it all the same
		}
		for _, x := range r.Exams {
			if x.Kind == doctor.OfCapture && x.Worst() != doctor.Error {
				t.Errorf("the reader says %v, the report\n%s", strict, listed(r))
			}
		}
	})
}
