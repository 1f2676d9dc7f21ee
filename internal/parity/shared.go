package parity

import (
	"os"
	"path/filepath"
	"testing"
)

// Shared returns the directory of the real captures' tree, `../shared` beside
// the repository. Without it the test is skipped, or fails where the
// environment says that it must be there (SWIMLANE_REQUIRE_SHARED=1), lest a
// wrong mount turns all these tests off unnoticed.
func Shared(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above the working directory")
		}
		dir = parent
	}
	shared := filepath.Join(filepath.Dir(dir), "shared")
	if info, err := os.Stat(shared); err == nil && info.IsDir() {
		return shared
	}
	if os.Getenv("SWIMLANE_REQUIRE_SHARED") == "1" {
		t.Fatal("../shared is absent, and SWIMLANE_REQUIRE_SHARED says that it must be there")
	}
	t.Skip("../shared is absent: skipping tests against the real captures")
	return ""
}
