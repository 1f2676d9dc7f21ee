package parity

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Root returns the directory of go.mod.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above the working directory")
		}
		dir = parent
	}
}

// Unpacked returns the content of a file; one whose name ends in .gz is unpacked.
func Unpacked(t testing.TB, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return b
}

// Shared returns the directory of the real captures' tree, `../shared` beside
// the repository. Without it the test is skipped, or fails where the
// environment says that it must be there (SWIMLANE_REQUIRE_SHARED=1), lest a
// wrong mount turns all these tests off unnoticed.
func Shared(t testing.TB) string {
	t.Helper()
	shared := filepath.Join(filepath.Dir(Root(t)), "shared")
	if info, err := os.Stat(shared); err == nil && info.IsDir() {
		return shared
	}
	if os.Getenv("SWIMLANE_REQUIRE_SHARED") == "1" {
		t.Fatal("../shared is absent, and SWIMLANE_REQUIRE_SHARED says that it must be there")
	}
	t.Skip("../shared is absent: skipping tests against the real captures")
	return ""
}
