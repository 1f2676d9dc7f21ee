package names_test

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"swimlane/internal/names"
)

const (
	level2Map = `{"level":2,"orchestrator_name":"orch2","callable_id_to_name":{"0":"kernel"}}`
	level3Map = `{"level":3,"orchestrator_name":"run_dag","callable_id_to_name":{"0":"vector_kernel"}}`
	plainMap  = `{"callable_id_to_name":{"0":"plain"}}`
)

func TestFind(t *testing.T) {
	const (
		input = "chip_swimlane_records.json"
		py    = `KERNELS = [{"func_id": 0, "name": "from_py"}]`
	)
	for _, tt := range []struct {
		name         string
		files        map[string]string
		request      names.Request // paths relative to the directory
		label        string        // name of function 0
		orchestrator string
		how          string
		warnings     []string // DIR stands for the directory
	}{
		{name: "nothing there"},
		{name: "one sibling", files: map[string]string{"name_map_case.json": `{"callable_id_to_name":{"0":"kernel"}}`},
			label: "kernel", how: "sibling"},
		{name: "--func-names wins over it", files: map[string]string{"name_map_case.json": level2Map, "other.json": `{"callable_id_to_name":{"0":"explicit"}}`},
			request: names.Request{FuncNames: "other.json"}, label: "explicit", how: "func-names"},
		{name: "--func-names wins over -k", files: map[string]string{"other.json": level2Map},
			request: names.Request{FuncNames: "other.json", KernelConfig: "missing.py"}, label: "kernel", orchestrator: "orch2", how: "func-names"},
		{name: "-k leaves the sibling alone", files: map[string]string{"name_map_case.json": `broken`, "kernel_config.py": py},
			request: names.Request{KernelConfig: "kernel_config.py"}, label: "from_py", how: "kernel-config"},
		{name: "the bare name counts", files: map[string]string{"name_map.json": level2Map}, label: "kernel", orchestrator: "orch2", how: "sibling"},
		{name: "other names do not count", files: map[string]string{"name_map.txt": level2Map, "xname_map.json": level2Map, "name_mapjson": level2Map, "NAME_MAP.json": level2Map, "name_map.json.bak": level2Map}},
		{name: "two siblings", files: map[string]string{"name_map_b.json": level2Map, "name_map_a.json": plainMap},
			warnings: []string{"multiple sibling name maps found next to DIR/chip_swimlane_records.json: name_map_a.json, name_map_b.json; pass --func-names explicitly."}},
		{name: "two siblings and one of a node", files: map[string]string{"name_map_b.json": level2Map, "name_map.json": plainMap, "name_map_a.json": level3Map},
			warnings: []string{"multiple sibling name maps found next to DIR/chip_swimlane_records.json: name_map.json, name_map_b.json; pass --func-names explicitly."}},
		{name: "one of each level", files: map[string]string{"name_map_a.json": level2Map, "name_map_l3.json": level3Map}, label: "kernel", orchestrator: "orch2", how: "sibling"},
		{name: "no level beside a node's", files: map[string]string{"name_map_a.json": level3Map, "name_map_b.json": plainMap}, label: "plain", how: "sibling"},
		{name: "only a node's", files: map[string]string{"name_map_case.json": level3Map},
			warnings: []string{"sibling name map ignored next to DIR/chip_swimlane_records.json: name_map_case.json; it describes level 3 (its ids are the callables of a node, which must not name kernels), the data is of level 2."}},
		{name: "only other levels", files: map[string]string{"name_map_b.json": level3Map, "name_map_a.json": `{"level":4}`},
			warnings: []string{"sibling name maps ignored next to DIR/chip_swimlane_records.json: name_map_a.json, name_map_b.json; they describe level 3 (its ids are the callables of a node, which must not name kernels), level 4 (its ids are not those of the data), the data is of level 2."}},
		{name: "explicit map of a node, no fallback", files: map[string]string{"name_map_case.json": level2Map, "l3.json": level3Map, "kernel_config.py": py},
			request:  names.Request{FuncNames: "l3.json", KernelConfig: "kernel_config.py"},
			warnings: []string{"the names of DIR/l3.json are ignored: it describes level 3 (its ids are the callables of a node, which must not name kernels), the data is of level 2; pass a name map of level 2."}},
		{name: "-k warns", files: map[string]string{"k.py": `KERNELS = [{"name": "x"}, {"func_id": 4}]`}, request: names.Request{KernelConfig: "k.py"}, how: "kernel-config",
			warnings: []string{`Kernel entry missing 'func_id', skipping: {"name": "x"}`, `Kernel entry for func_id=4 missing 'name', will use default naming`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, content := range tt.files {
				writeFile(t, dir, name, content)
			}
			req := tt.request
			req.Input, req.Level = filepath.Join(dir, input), 2
			for _, p := range []*string{&req.FuncNames, &req.KernelConfig} {
				if *p != "" {
					*p = filepath.Join(dir, *p)
				}
			}
			got, err := names.Find(req)
			if err != nil {
				t.Fatal(err)
			}
			label, _ := got.Map.Name(0)
			orchestrator := ""
			if got.Map != nil {
				orchestrator = got.Map.Orchestrator
			}
			if label != tt.label || orchestrator != tt.orchestrator || got.How != tt.how || (got.Map == nil) != (tt.how == "") {
				t.Errorf("name %q, orchestrator %q, how %q; want %q, %q, %q", label, orchestrator, got.How, tt.label, tt.orchestrator, tt.how)
			}
			want := strings.ReplaceAll(strings.Join(tt.warnings, "\n"), "DIR", dir)
			if warnings := strings.Join(got.Warnings, "\n"); warnings != want {
				t.Errorf("warnings\n%s\nwant\n%s", warnings, want)
			}
		})
	}
}

// The warning shows the input as the user gave it.
func TestFindKeepsTheInputPath(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "name_map_b.json", level2Map)
	writeFile(t, dir, "name_map_a.json", level2Map)
	t.Chdir(dir)
	got, err := names.Find(names.Request{Input: "chip_swimlane_records.json", Level: 2})
	want := "multiple sibling name maps found next to chip_swimlane_records.json: name_map_a.json, name_map_b.json; pass --func-names explicitly."
	if err != nil || len(got.Warnings) != 1 || got.Warnings[0] != want {
		t.Errorf("%q, %v\nwant %q", got.Warnings, err, want)
	}
	os.Remove("name_map_b.json")
	if got, err := names.Find(names.Request{Input: "chip_swimlane_records.json", Level: 2}); err != nil || got.Map == nil || got.Map.Source != "name_map_a.json" {
		t.Errorf("source of %+v, %v; want name_map_a.json", got.Map, err)
	}
}

func TestFindFileKinds(t *testing.T) {
	dir := t.TempDir()
	input := filepath.Join(dir, "records.json")
	if err := os.Mkdir(filepath.Join(dir, "name_map_dir.json"), 0o755); err != nil {
		t.Fatal(err)
	}
	elsewhere := writeFile(t, t.TempDir(), "real.json", level2Map)
	if err := os.Symlink(elsewhere, filepath.Join(dir, "name_map_link.json")); err != nil {
		t.Skip("no links here:", err)
	}
	for name, target := range map[string]string{"name_map_dangling.json": filepath.Join(dir, "no.json"), "name_map_to_dir.json": dir} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := names.Find(names.Request{Input: input, Level: 2})
	if err != nil || got.How != names.FromSibling || got.Map.Source != filepath.Join(dir, "name_map_link.json") {
		t.Errorf("Find = %+v, %v; want the link to a regular file", got, err)
	}
}

func TestFindErrors(t *testing.T) {
	for _, tt := range []struct {
		name    string
		files   map[string]string
		request names.Request
		is      error
		want    []string // DIR stands for the directory
	}{
		{name: "no such map", request: names.Request{FuncNames: "no.json"}, is: fs.ErrNotExist, want: []string{"Func names JSON not found: DIR/no.json"}},
		{name: "malformed map", files: map[string]string{"m.json": "{"}, request: names.Request{FuncNames: "m.json"}, is: names.ErrSyntax, want: []string{"DIR/m.json:1:2 (byte 1): "}},
		{name: "no such kernel config", request: names.Request{KernelConfig: "no.py"}, is: fs.ErrNotExist, want: []string{"Kernel config file not found: DIR/no.py"}},
		{name: "no KERNELS", files: map[string]string{"k.py": "X = 1\n"}, request: names.Request{KernelConfig: "k.py"}, is: names.ErrNoKernels, want: []string{"kernel_config.py missing KERNELS definition", "DIR/k.py"}},
		{name: "the only sibling is broken", files: map[string]string{"name_map_x.json": `{"level":2,}`}, is: names.ErrSyntax,
			want: []string{"DIR/name_map_x.json:1:12 (byte 11): ", "found next to the input", "pass --func-names explicitly"}},
		{name: "the only sibling, of a node, is broken after its level", files: map[string]string{"name_map_x.json": `{"level":3,}`}, is: names.ErrSyntax, want: []string{"DIR/name_map_x.json:1:12"}},
		{name: "one of several states no readable level", files: map[string]string{"name_map_x.json": `{"a":1,`, "name_map_y.json": level2Map}, is: names.ErrSyntax, want: []string{"DIR/name_map_x.json:1:8 (byte 7): "}},
		{name: "the one to use is broken after its level", files: map[string]string{"name_map_x.json": `{"level":2,}`, "name_map_y.json": level3Map}, is: names.ErrSyntax, want: []string{"DIR/name_map_x.json:1:12"}},
		{name: "bad UTF-8", files: map[string]string{"name_map_x.json": "{\"a\":\"\xfe\"}"}, is: names.ErrSyntax, want: []string{"DIR/name_map_x.json", "(byte 6)", "0xfe"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, content := range tt.files {
				writeFile(t, dir, name, content)
			}
			req := tt.request
			req.Input, req.Level = filepath.Join(dir, "records.json"), 2
			for _, p := range []*string{&req.FuncNames, &req.KernelConfig} {
				if *p != "" {
					*p = filepath.Join(dir, *p)
				}
			}
			got, err := names.Find(req)
			if err == nil {
				t.Fatalf("no error, but %+v", got)
			}
			if !errors.Is(err, tt.is) {
				t.Errorf("error %v is not %v", err, tt.is)
			}
			for _, want := range tt.want {
				if want = strings.ReplaceAll(want, "DIR", dir); !strings.Contains(err.Error(), want) {
					t.Errorf("error %q lacks %q", err, want)
				}
			}
		})
	}
}

// The map of a retained run lies beside it or one directory above, whatever lies
// there for other records.
func TestFindRetained(t *testing.T) {
	for _, tt := range []struct {
		name    string
		files   map[string]string
		input   string // "": that of a retained run
		source  string
		warning string // begins, RUN stands for the directory
		err     string
	}{
		{name: "beside it", files: map[string]string{"swimlane-0/name_map_a.json": level2Map, "name_map_b.json": level2Map}, source: "swimlane-0/name_map_a.json"},
		{name: "above it", files: map[string]string{"name_map_b.json": level2Map, "../name_map_c.json": level2Map}, source: "name_map_b.json"},
		{name: "two above it", files: map[string]string{"../name_map_c.json": level2Map}},
		{name: "not for other records", files: map[string]string{"name_map_b.json": level2Map}, input: "swimlane-0/chip_swimlane_records.json"},
		{name: "only a node's beside it", files: map[string]string{"swimlane-0/name_map_a.json": level3Map, "name_map_b.json": plainMap}, source: "name_map_b.json"},
		{name: "only a node's above it", files: map[string]string{"name_map_b.json": level3Map},
			warning: "sibling name map ignored one directory above RUN/swimlane-0/records_e7.json: name_map_b.json; it describes level 3 "},
		{name: "only a node's beside it, none above", files: map[string]string{"swimlane-0/name_map_a.json": level3Map},
			warning: "sibling name map ignored next to RUN/swimlane-0/records_e7.json: name_map_a.json; it describes level 3 "},
		{name: "several beside it", files: map[string]string{"swimlane-0/name_map_a.json": level2Map, "swimlane-0/name_map_b.json": level2Map, "name_map_c.json": level2Map},
			warning: "multiple sibling name maps found next to RUN/swimlane-0/records_e7.json: name_map_a.json, name_map_b.json;"},
		{name: "several above it", files: map[string]string{"name_map_a.json": level2Map, "name_map_b.json": level2Map},
			warning: "multiple sibling name maps found one directory above RUN/swimlane-0/records_e7.json: name_map_a.json, name_map_b.json;"},
		{name: "a broken one above it", files: map[string]string{"name_map_a.json": "{"}, err: "it was found one directory above the input"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			run := filepath.Join(t.TempDir(), "run")
			if err := os.MkdirAll(filepath.Join(run, "swimlane-0"), 0o755); err != nil {
				t.Fatal(err)
			}
			for name, content := range tt.files {
				writeFile(t, run, name, content)
			}
			got, err := names.Find(names.Request{Input: filepath.Join(run, cmp.Or(tt.input, "swimlane-0/records_e7.json")), Level: 2})
			if (err != nil) != (tt.err != "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Fatalf("got the error %v, want %q", err, tt.err)
			}
			source := ""
			if got.Map != nil {
				source, _ = filepath.Rel(run, got.Map.Source)
			}
			warnings := strings.Join(got.Warnings, "\n")
			if want := strings.ReplaceAll(tt.warning, "RUN", run); source != tt.source || !strings.HasPrefix(warnings, want) || (want == "") != (warnings == "") || len(got.Warnings) > 1 {
				t.Errorf("source %s, warnings %q; want %s, %q…", source, got.Warnings, tt.source, want)
			}
		})
	}
}

// Of several maps only as much is read as tells their level, so one that is of no
// use cannot spoil the rest.
func TestFindReadsOnlyLevels(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "name_map_a.json", level2Map)
	writeFile(t, dir, "name_map_b.json", `{"level": 3, "callable_id_to_name": {"0": broken`)
	// The level stands beyond the window that is read first, and across its end.
	pad := strings.Repeat(" ", 256<<10)
	writeFile(t, dir, "name_map_c.json", `{"x": 0,`+pad+`"level": 3}`)
	// This one is of level 22, though what is read first ends after one 2.
	head := `{"level": 2`
	writeFile(t, dir, "name_map_d.json", pad[len(head):]+head+`2}`)
	got, err := names.Find(names.Request{Input: filepath.Join(dir, "records.json"), Level: 2})
	if err != nil || got.How != names.FromSibling || filepath.Base(got.Map.Source) != "name_map_a.json" || got.Warnings != nil {
		t.Errorf("Find = %+v, %v; want name_map_a.json", got, err)
	}
}

// A map above the size limit is in nobody's way when its level tells soon that it
// is of no use. When the level is not found within the limit, it is refused.
func TestFindLargeSiblings(t *testing.T) {
	dir := t.TempDir()
	req := names.Request{Input: filepath.Join(dir, "records.json"), Level: 2}
	writeFile(t, dir, "name_map_a.json", level2Map)
	big := writeFile(t, dir, "name_map_b.json", `{"level": 3,`)
	if err := os.Truncate(big, 64<<20+1); err != nil {
		t.Skip("no sparse files here:", err)
	}
	if got, err := names.Find(req); err != nil || got.Map == nil || filepath.Base(got.Map.Source) != "name_map_a.json" {
		t.Errorf("Find = %+v, %v; want name_map_a.json", got, err)
	}
	writeFile(t, dir, "name_map_b.json", `{"x": 0`+strings.Repeat(" ", 64<<20)+`}`)
	if got, err := names.Find(req); !errors.Is(err, names.ErrTooLarge) || !strings.Contains(err.Error(), big+" is above the 64 MiB") {
		t.Errorf("Find = %+v, %v; want ErrTooLarge", got, err)
	}
}

func TestFindWithoutDirectory(t *testing.T) {
	input := filepath.Join(t.TempDir(), "gone", "records.json")
	got, err := names.Find(names.Request{Input: input, Level: 2})
	if err != nil || len(got.Warnings) != 1 || !strings.HasPrefix(got.Warnings[0], "cannot look for name maps next to "+input+": ") {
		t.Errorf("Find = %+v, %v", got, err)
	}
}

// Data of no stated level takes any map.
func TestFindAnyLevel(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "name_map_a.json", level3Map)
	got, err := names.Find(names.Request{Input: filepath.Join(dir, "records.json")})
	if err != nil || got.Map.Len() != 1 || got.Map.Level != 3 {
		t.Errorf("Find = %+v, %v", got, err)
	}
}

// TestFindNewest: of several maps that fit the one that was written last counts, and
// of those the last by name (spec/sched-overhead.md §10.1).
func TestFindNewest(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	for name, c := range map[string]struct {
		level int
		age   time.Duration
	}{"name_map_a.json": {2, 1}, "name_map_b.json": {2, 1}, "name_map_c.json": {2, 2}, "name_map_d.json": {3, 0}} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, fmt.Appendf(nil, `{"level":%d,"callable_id_to_name":{"0":"%s"}}`, c.level, name), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now, now.Add(-c.age*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := names.Find(names.Request{Input: filepath.Join(dir, "chip_swimlane_records.json"), Level: 2, Newest: true})
	if err != nil {
		t.Fatal(err)
	}
	if name, _ := got.Map.Name(0); name != "name_map_b.json" || len(got.Warnings) > 0 {
		t.Errorf("took %q, warnings %q", name, got.Warnings)
	}
}
