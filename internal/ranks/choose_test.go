package ranks

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"swimlane/internal/parity"
)

// member is a capture of the trees of spec/l3.md §4.5: run, slot and group index.
type member struct {
	rank, d int
	of      [3]int // zero run: no sidecar
}

// grow makes a tree with captures of groups of two, empty but for their sidecars.
func grow(t *testing.T, members ...member) string {
	t.Helper()
	root := t.TempDir()
	for _, m := range members {
		dir := filepath.Join(root, fmt.Sprintf("rank%d/d%d", m.rank, m.d))
		put(t, filepath.Join(dir, "chip_swimlane_records.json"), "{}")
		if m.of[0] > 0 {
			put(t, filepath.Join(dir, IdentityFile), sidecarText(m.rank, m.d, m.of, 2))
		}
	}
	return root
}

func sidecarText(rank, d int, of [3]int, size int) string {
	return fmt.Sprintf(`{"schema_version": 1, "run_id": %d, "task_slot": %d, "group_index": %d, "group_size": %d, "host_pid": 4242, "chip_rank": %d,
  "local_capture_index": %d, "endpoint_dispatch_id": 41, "pipeline_slot": 1, "pipeline_generation": 23, "callable_digest": "%s"}
`, of[0], of[1], of[2], size, rank, d, strings.Repeat("ab", 32))
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// shown writes targets as "--dispatch d0 l3_swimlane_d0: rank0/d0 rank1/d0".
func shown(root string, t *Targets) string {
	var out []string
	for _, x := range t.Targets {
		text := x.Option() + " " + x.Stem + ":"
		for _, c := range x.Captures {
			rel, _ := filepath.Rel(root, filepath.Dir(c.Records))
			text += " " + rel
		}
		out = append(out, text)
	}
	if t.Warning != "" {
		out = append(out, "warning "+strings.ReplaceAll(t.Warning, root, "ROOT"))
	}
	return strings.Join(out, "; ")
}

// TestTargets are the examples of spec/l3.md §4.5.
func TestTargets(t *testing.T) {
	none := [3]int{}
	for _, c := range []struct {
		members []member
		want    string
	}{
		{[]member{{0, 0, [3]int{17, 5, 0}}, {0, 1, [3]int{17, 6, 0}}, {1, 0, [3]int{17, 6, 1}}, {1, 1, [3]int{17, 5, 1}}},
			"--dispatch-id 17:5 l3_swimlane_run17_task5: rank0/d0 rank1/d1; --dispatch-id 17:6 l3_swimlane_run17_task6: rank0/d1 rank1/d0"},
		{[]member{{0, 0, [3]int{17, 5, 0}}, {1, 0, [3]int{17, 5, 1}}, {0, 1, none}},
			"--dispatch-id 17:5 l3_swimlane_run17_task5: rank0/d0 rank1/d0; warning refusing to pair asymmetric local capture indexes under ROOT: rank0=['d1'], rank1=[]"},
		{[]member{{0, 0, [3]int{17, 5, 0}}, {1, 0, none}}, "incomplete parent dispatch 17:5: expected group indexes 0..1, found [0]"},
		{[]member{{0, 0, none}, {0, 1, none}, {1, 0, none}}, "refusing to pair asymmetric local capture indexes under ROOT: rank0=['d0', 'd1'], rank1=['d0']"},
		{[]member{{7, 0, none}, {7, 10, none}, {7, 9, none}, {10, 0, none}, {10, 9, none}, {10, 10, none}},
			"--dispatch d0 l3_swimlane_d0: rank7/d0 rank10/d0; --dispatch d9 l3_swimlane_d9: rank7/d9 rank10/d9; --dispatch d10 l3_swimlane_d10: rank7/d10 rank10/d10"},
		{[]member{{0, 0, [3]int{17, 5, 0}}, {0, 1, [3]int{17, 5, 1}}}, "parent dispatch 17:5 has several captures on the same Rank [0]; one Rank contributes at most one capture to a group"},
		{[]member{{0, 0, [3]int{17, 5, 1}}, {1, 1, [3]int{17, 5, 1}}}, "incomplete parent dispatch 17:5: expected group indexes 0..1, found [1, 1]"},
	} {
		root := grow(t, c.members...)
		got := ""
		if found, err := FindTargets(root); err != nil {
			got = strings.ReplaceAll(err.Error(), root, "ROOT")
		} else {
			got = shown(root, found)
		}
		if got != c.want {
			t.Errorf("%v:\n got %s\nwant %s", c.members, got, c.want)
		}
	}
	root := grow(t, member{0, 0, none})
	put(t, filepath.Join(root, "rank0/dx/y"), "")
	if _, err := FindTargets(root); err == nil || err.Error() != "invalid capture directory name: "+filepath.Join(root, "rank0/dx")+" (expected dN)" {
		t.Error(err)
	}
}

// TestTargetsOfTrees holds automatic_targets of the trees against what is found.
func TestTargetsOfTrees(t *testing.T) {
	captures := filepath.Join(parity.Shared(t), "captures")
	var files []string
	for _, glob := range []string{"l3/*/expect.json", "l3/*/*/expect.json"} {
		found, _ := filepath.Glob(filepath.Join(captures, glob))
		files = append(files, found...)
	}
	checked := 0
	for _, file := range files {
		var want struct {
			Targets *struct {
				Error   string
				Targets []struct {
					Dispatch *string
					ID       *string `json:"dispatch_id"`
					Output   string
					Captures []string
				}
			} `json:"automatic_targets"`
		}
		data, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(data, &want)
		}
		if err != nil {
			t.Fatal(err)
		}
		if want.Targets == nil {
			continue
		}
		checked++
		root := filepath.Dir(file)
		if strings.Contains(root, "simulator_trees") {
			root = filepath.Join(captures, filepath.Base(root))
		}
		got, err := FindTargets(root)
		if want.Targets.Error != "" {
			if err == nil || err.Error() != want.Targets.Error {
				t.Errorf("%s: %v, want %s", root, err, want.Targets.Error)
			}
			continue
		}
		if err != nil || len(got.Targets) != len(want.Targets.Targets) {
			t.Errorf("%s: %v, %v", root, got, err)
			continue
		}
		for i, w := range want.Targets.Targets {
			have := &got.Targets[i]
			var dirs []string
			for _, c := range have.Captures {
				rel, _ := filepath.Rel(root, filepath.Dir(c.Records))
				dirs = append(dirs, rel)
			}
			output := have.Stem + ".json"
			if len(got.Targets) == 1 {
				output = "l3_swimlane.json"
			}
			text := func(p *string) string {
				if p == nil {
					return ""
				}
				return *p
			}
			if have.Dispatch != text(w.Dispatch) || have.DispatchID != text(w.ID) || output != w.Output || !slices.Equal(dirs, w.Captures) {
				t.Errorf("%s: %+v is called %s, want %+v", root, have, output, w)
			}
		}
	}
	if checked == 0 {
		t.Error("no tree says what its targets are")
	}
}

// TestChooseOnly: what nobody named is taken if there is no other.
func TestChooseOnly(t *testing.T) {
	root := grow(t, member{0, 0, [3]int{17, 5, 0}}, member{1, 3, [3]int{17, 5, 1}})
	c, err := Choose(root, "", "")
	if err != nil || !c.Found || c.DispatchID != "17:5" || c.Dispatch != "" || len(c.Captures) != 2 {
		t.Errorf("%+v, %v", c, err)
	}
	root = grow(t, member{0, 0, [3]int{}}, member{0, 1, [3]int{}})
	want := errWhich.Error() + "; found --dispatch d0, --dispatch d1"
	if _, err = Choose(root, "", ""); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if c, err = Choose(root, "d1", ""); err != nil || c.Found || len(c.Captures) != 1 {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err = Choose(root, "d1", "1:2"); err == nil || err.Error() != errWhich.Error() {
		t.Error(err)
	}
}

// TestGroupByDispatch: dN may be a whole group, or parts of several.
func TestGroupByDispatch(t *testing.T) {
	root := grow(t, member{0, 0, [3]int{17, 5, 0}}, member{1, 0, [3]int{17, 6, 1}})
	if _, err := Choose(root, "d0", ""); err == nil || err.Error() != "d0 refers to different parent dispatches across Ranks; use --dispatch-id RUN_ID:TASK_SLOT" {
		t.Error(err)
	}
	root = grow(t, member{0, 0, [3]int{17, 5, 1}}, member{1, 0, [3]int{17, 5, 0}})
	c, err := Choose(root, "d0", "")
	if err != nil || string(c.pairing[0].JSON) != `"parent_dispatch_identity"` || c.Dispatch != "d0" ||
		string(c.pairing[1].JSON) != `{"run_id":17,"task_slot":5,"group_size":2,"callable_digest":"`+strings.Repeat("ab", 32)+`"}` {
		t.Errorf("%+v, %v", c, err)
	}
	put(t, filepath.Join(root, "rank1/d0", IdentityFile), sidecarText(1, 0, [3]int{17, 5, 0}, 3))
	if _, err := Choose(root, "", "17:5"); err == nil || err.Error() != "inconsistent metadata for parent dispatch 17:5" {
		t.Error(err)
	}
}

// TestIdentity is the table of spec/l3.md §2.1, each rule broken alone, in its order.
func TestIdentity(t *testing.T) {
	whole := sidecarText(2, 7, [3]int{17, 5, 1}, 4)
	id, err := parseIdentity("a/rank2/d7/dispatch_identity.json", []byte(whole))
	if err != nil || id.HostPID != 4242 || id.Dispatch != (Dispatch{17, 41, 1, 23}) || id.Parent() != (Parent{17, 5}) || !json.Valid(id.JSON) {
		t.Fatalf("%+v, %v", id, err)
	}
	for _, c := range []struct{ from, to, path, want string }{
		{`"schema_version": 1`, `"schema_version": true`, "", "unsupported dispatch identity schema"},
		{`"schema_version": 1`, `"schema_version": 1.0`, "", "unsupported dispatch identity schema"},
		{`"task_slot": 5`, `"task_slot": false`, "", "dispatch identity task_slot must be an integer"},
		{`"pipeline_slot": 1`, `"x": 1`, "", "dispatch identity pipeline_slot must be an integer"},
		{`"run_id": 17`, `"run_id": 0`, "", "dispatch identity has an invalid parent key"},
		{`"task_slot": 5`, `"task_slot": -1`, "", "dispatch identity has an invalid parent key"},
		{`"endpoint_dispatch_id": 41`, `"endpoint_dispatch_id": 0`, "", "dispatch identity has invalid endpoint diagnostics"},
		{`"group_index": 1`, `"group_index": 4`, "", "dispatch identity has invalid group membership"},
		{`"host_pid": 4242`, `"host_pid": true`, "", "dispatch identity host_pid must be a positive integer"},
		{`"host_pid": 4242`, `"host_pid": null`, "", "dispatch identity host_pid must be a positive integer"},
		{`abab"`, `abAB"`, "", "dispatch identity has an invalid callable digest"},
		{`"ab`, `"b`, "", "dispatch identity has an invalid callable digest"},
		{"", "", "rank2/e7", "dispatch identity is not below rankN/dN"},
		{"", "", "rank2/d8", "dispatch identity disagrees with its rankN/dN path"},
		{"", "", "rank3/d7", "dispatch identity disagrees with its rankN/dN path"},
	} {
		dir := c.path
		if dir == "" {
			dir = "rank2/d7"
		}
		path := filepath.Join(dir, IdentityFile)
		if _, err := parseIdentity(path, []byte(strings.Replace(whole, c.from, c.to, 1))); err == nil || err.Error() != c.want+": "+path {
			t.Errorf("%s → %s: %v, want %s", c.from, c.to, err, c.want)
		}
	}
	without := strings.Replace(whole, `"host_pid": 4242, `, "", 1)
	if id, err := parseIdentity("rank02/d7/x", []byte(without)); err != nil || id.HostPID != 0 {
		t.Errorf("%+v, %v", id, err)
	}
}
