package depgen_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"swimlane/internal/depgen"
	"swimlane/internal/parity"
	"swimlane/internal/producer"
)

// TestBuiltCaptures submits again what the real captures say a host has built, and
// gets their files to the byte, as [TestCaptures] does with the others.
func TestBuiltCaptures(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(parity.Shared(t), "captures", "a2a3sim_hbg_*", "deps.json*"))
	if err != nil || len(paths) < 9 {
		t.Errorf("%d graphs are found (%v), want nine at least", len(paths), err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) {
			want := parity.Unpacked(t, path)
			g := parsed(t, want)
			dir := t.TempDir()
			s, err := depgen.WriteBuilt(dir, func(yield func(*producer.Submit) bool) { resubmit(t, &g, yield) })
			if err != nil {
				t.Fatal(err)
			}
			if s.Tasks != len(g.Tasks) || s.Tensors != len(g.Tensors) || s.Edges != len(g.Edges) || s.Path != filepath.Join(dir, "deps.json") {
				t.Errorf("%+v, want %d tasks, %d tensors and %d edges", s, len(g.Tasks), len(g.Tensors), len(g.Edges))
			}
			got, err := os.ReadFile(s.Path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("the file of %d bytes is not the captured one of %d", len(got), len(want))
			}
		})
	}
}

func TestBuiltNeedsPath(t *testing.T) {
	if _, err := depgen.WriteBuilt("", func(func(*producer.Submit) bool) {}); !errors.Is(err, depgen.ErrNoPath) {
		t.Errorf("error %v, want %v", err, depgen.ErrNoPath)
	}
}
