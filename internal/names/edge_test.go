package names_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"swimlane/internal/names"
	"swimlane/internal/parity"
)

// sharedCaptures finds the captures that lie beside the repository, or skips.
func sharedCaptures(t *testing.T) string {
	t.Helper()
	return filepath.Join(parity.Shared(t), "captures")
}

// referenceTrace returns the labels of an edge case's trace, without the task ids,
// and the names of its processes.
func referenceTrace(t *testing.T, dir string) (labels, processes map[string]bool) {
	t.Helper()
	var trace struct {
		TraceEvents []struct {
			Name string
			Ph   string
			Args struct{ Name string }
		}
	}
	if err := json.Unmarshal(parity.Unpacked(t, filepath.Join(dir, "reference", "trace.json.gz")), &trace); err != nil {
		t.Fatal(err)
	}
	labels, processes = map[string]bool{}, map[string]bool{}
	for _, e := range trace.TraceEvents {
		if i := strings.LastIndexByte(e.Name, '('); e.Ph == "X" && i >= 0 {
			labels[e.Name[:i]] = true
		}
		if e.Name == "process_name" {
			processes[e.Args.Name] = true
		}
	}
	return labels, processes
}

func TestEdgeCases(t *testing.T) {
	captures := sharedCaptures(t)
	for _, tt := range []struct {
		dir          string
		source       string // "": no names
		orchestrator string
		names        ids
		warning      string
	}{
		{dir: "names_special", source: "name_map_case.json", orchestrator: "orch\n\"x\"",
			names: ids{0: `q"uote's`, 1: `back\slash\n`, 2: "ctl\x01\t\n\x7f\x00end"}},
		{dir: "names_unicode", source: "name_map_case.json", orchestrator: "编排器 🎛",
			names: ids{0: "注意力得分", 1: "🚀 rocket \u200d👩\u200d💻", 2: "</script><b>&amp;"}},
		{dir: "two_sibling_maps",
			warning: "multiple sibling name maps found next to chip_swimlane_records.json: name_map_a.json, name_map_b.json; pass --func-names explicitly."},
		{dir: "level2_and_level3_sibling_maps", source: "name_map_a.json", orchestrator: "orchA", names: ids{0: "A0", 1: "A1", 2: "A2"}},
		{dir: "level3_map_beside_level2_data",
			warning: "sibling name map ignored next to chip_swimlane_records.json: name_map_case.json; it describes level 3 (its ids are the callables of a node, which must not name kernels), the data is of level 2."},
	} {
		t.Run(tt.dir, func(t *testing.T) {
			dir := filepath.Join(captures, "edge", tt.dir)
			labels, processes := referenceTrace(t, dir)
			t.Chdir(dir)
			got, err := names.Find(names.Request{Input: "chip_swimlane_records.json", Level: 2})
			if err != nil {
				t.Fatal(err)
			}
			if warnings := strings.Join(got.Warnings, "\n"); warnings != tt.warning {
				t.Errorf("warnings %q, want %q", warnings, tt.warning)
			}
			if tt.source == "" {
				if got.Map != nil || got.How != "" {
					t.Errorf("found %+v, want no names", got)
				}
				if !labels["func_0_a"] {
					t.Errorf("the reference has the labels %v", labels)
				}
				return
			}
			if got.Map == nil || got.Map.Source != tt.source || got.Map.Orchestrator != tt.orchestrator || got.Map.Len() != len(tt.names) {
				t.Fatalf("found %+v", got.Map)
			}
			for id, want := range tt.names {
				if name, ok := got.Map.Name(id); !ok || name != want {
					t.Errorf("name of %d: %q, want %q", id, name, want)
				}
			}
			// What the reference wrote into its trace is the same text.
			used := 0
			for _, name := range tt.names {
				if labels[name] {
					used++
				}
			}
			if used == 0 || labels["func_0_a"] {
				t.Errorf("the reference has the labels %v", labels)
			}
			if processes["AICPU Orchestrator"] { // it goes by the name of the map
				t.Errorf("the reference has the processes %+v", processes)
			}
		})
	}
}

func TestEdgeCaseInvalidUTF8(t *testing.T) {
	t.Chdir(filepath.Join(sharedCaptures(t), "edge", "names_invalid_utf8"))
	_, err := names.Find(names.Request{Input: "chip_swimlane_records.json", Level: 2})
	want := `name_map_case.json:1:74 (byte 73): found the byte 0xff inside a string, expected UTF-8`
	if !errors.Is(err, names.ErrSyntax) || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error %q, want %q", err, want)
	}
}

// Every name map of the captures is read, and says what encoding/json says.
func TestAllSharedMaps(t *testing.T) {
	read := 0
	err := filepath.WalkDir(sharedCaptures(t), func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		ok, _ := filepath.Match("name_map*.json", e.Name())
		if !ok || strings.Contains(path, "names_invalid_utf8") {
			return nil
		}
		m, err := names.ReadMap(path)
		if err != nil {
			t.Error(err)
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		checkMap(t, m, data)
		read++
		return nil
	})
	if err != nil || read == 0 {
		t.Errorf("read %d maps, error %v", read, err)
	}
}
