package parity

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

func TestCorpus(t *testing.T) {
	t.Chdir(t.TempDir())
	dir := filepath.Join("testdata", "fuzz", "FuzzX")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"a": "go test fuzz v1\nstring(\"a(b)\\n\\xff\")\n",
		"b": "go test fuzz v1\n[]byte(`x\"y`)\nbool(true)\nint(-5)",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got := map[string][]string{}
	Corpus(t, "FuzzX", map[string]string{"a": "A", "b": "B"}, func(_ *testing.T, args []string, line string) { got[line] = args })
	if want := map[string][]string{"A": {"a(b)\n\xff"}, "B": {`x"y`, "true", "-5"}}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
