package scene_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"swimlane/scene"
)

// table is the example of spec/name-map.md §6.3.
func table() *scene.Scene {
	return &scene.Scene{Class: "TestTable", Runtime: scene.TensormapAndRingbuffer, Cases: []scene.Case{
		{Name: "ordinary", Platforms: []string{scene.A2A3Sim, scene.A5Sim}},
		{Name: "sim_manual", Platforms: []string{scene.A2A3Sim, scene.A5Sim}, Manual: scene.Manual{On: []string{scene.A2A3Sim}}},
		{Name: "other_platform", Platforms: []string{scene.A5Sim}},
	}}
}

func names(list []scene.Selected) (out []string) {
	for _, s := range list {
		out = append(out, s.Label())
	}
	return out
}

func TestSelect(t *testing.T) {
	other := &scene.Scene{Class: "TestOther", Runtime: scene.HostBuildGraph, Cases: []scene.Case{
		{Name: "ordinary", Platforms: []string{scene.A2A3Sim}}, {Name: "always_manual", Platforms: []string{scene.A2A3Sim}, Manual: scene.Manual{Everywhere: true}},
	}}
	for _, v := range []struct {
		scenes []*scene.Scene
		want   scene.Selection
		out    string
	}{
		{[]*scene.Scene{table()}, scene.Selection{Platform: "a2a3sim", Manual: scene.Exclude}, "TestTable::ordinary"},
		{[]*scene.Scene{table()}, scene.Selection{Platform: "a2a3sim", Manual: scene.Include}, "TestTable::ordinary TestTable::sim_manual"},
		{[]*scene.Scene{table()}, scene.Selection{Platform: "a2a3sim", Manual: scene.Only}, "TestTable::sim_manual"},
		{[]*scene.Scene{table()}, scene.Selection{Platform: "a2a3sim", Manual: scene.Include, Cases: []string{"TestTable::sim_manual"}}, "TestTable::sim_manual"},
		{[]*scene.Scene{table()}, scene.Selection{Platform: "a5sim", Manual: scene.Exclude}, "TestTable::ordinary TestTable::sim_manual TestTable::other_platform"},
		{[]*scene.Scene{table(), other}, scene.Selection{Platform: "a2a3sim", Manual: scene.Exclude, Cases: []string{"ordinary"}}, "TestTable::ordinary TestOther::ordinary"},
		{[]*scene.Scene{table(), other}, scene.Selection{Platform: "a2a3sim", Manual: scene.Exclude, Cases: []string{"::ordinary"}}, "TestTable::ordinary TestOther::ordinary"},
		{[]*scene.Scene{table(), other}, scene.Selection{Platform: "a2a3sim", Manual: scene.Include, Cases: []string{"TestOther::"}}, "TestOther::ordinary TestOther::always_manual"},
		{[]*scene.Scene{table(), other}, scene.Selection{Platform: "a2a3sim", Manual: scene.Include, Cases: []string{"TestOther::ordinary", "sim_manual"}}, "TestTable::sim_manual TestOther::ordinary"},
	} {
		got, err := scene.Select(v.scenes, v.want)
		if err != nil || strings.Join(names(got), " ") != v.out {
			t.Errorf("%+v: %v (%v), want %s", v.want, names(got), err, v.out)
		}
	}
}

func TestSelectErrors(t *testing.T) {
	for selector, want := range map[string]string{
		"TestX::":             "--case: unknown class 'TestX'. Available: TestTable",
		"TestX::ordinary":     "--case: unknown class 'TestX'. Available: TestTable",
		"nothing":             "--case: case 'nothing' not found in any class",
		"TestTable::nothing":  "--case: case 'nothing' not found in TestTable",
		"other_platform":      "no case of platform a2a3sim is left to run",
		"sim_manual":          "no case of platform a2a3sim is left to run; 1 would match but are manual: add --manual include",
		"TestTable::ordinary": "",
	} {
		_, err := scene.Select([]*scene.Scene{table()}, scene.Selection{Platform: "a2a3sim", Manual: scene.Exclude, Cases: []string{selector}})
		if got := ""; err != nil {
			if got = err.Error(); got != want {
				t.Errorf("%s: %q, want %q", selector, got, want)
			}
		} else if want != "" {
			t.Errorf("%s is no error, want %q", selector, want)
		}
	}
	for _, mode := range []string{"", "none", "Include"} {
		if _, err := scene.ParseMode(mode); err == nil {
			t.Errorf("the mode %q is no error", mode)
		}
	}
}

func TestCheck(t *testing.T) {
	if err := table().Check(); err != nil {
		t.Error(err)
	}
	for want, spoil := range map[string]func(*scene.Scene){
		"without ::":                    func(s *scene.Scene) { s.Class = "A::b" },
		`the runtime is "x"`:            func(s *scene.Scene) { s.Runtime = "x" },
		"at least one case":             func(s *scene.Scene) { s.Cases = nil },
		`incore 0 ("k") has func_id -1`: func(s *scene.Scene) { s.Callable.Incores = []*scene.Incore{{FuncID: -1, Name: "k", Core: scene.AIC}} },
		`incore 1 ("b") has func_id 3`: func(s *scene.Scene) {
			s.Callable.Incores = []*scene.Incore{{FuncID: 3, Name: "a", Core: scene.AIC}, {FuncID: 3, Name: "b", Core: scene.AIV}}
		},
		`is for the core type "gpu"`:           func(s *scene.Scene) { s.Callable.Incores = []*scene.Incore{{FuncID: 0, Name: "a", Core: "gpu"}} },
		`case 1 is named "ordinary"`:           func(s *scene.Scene) { s.Cases[1].Name = "ordinary" },
		`case 2 ("other_platform") has no`:     func(s *scene.Scene) { s.Cases[2].Platforms = nil },
		`names the platform "a5onboard"`:       func(s *scene.Scene) { s.Cases[0].Manual.On = []string{"a5onboard"} },
		`("ordinary") asks for 1 AICPU thread`: func(s *scene.Scene) { s.Cases[0].Config.AicpuThreads = 1 },
	} {
		s := table()
		spoil(s)
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "scene ") {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

// The declarations of spec/name-map.md §2.3.
func TestNameMap(t *testing.T) {
	for _, v := range []struct {
		c    scene.Callable
		want string
	}{
		{scene.Callable{
			Orchestration: scene.Orchestration{Name: "PagedAttn"},
			Incores:       []*scene.Incore{{FuncID: 0, Name: "QK", Core: scene.AIC}, {FuncID: 1, Name: "SF", Core: scene.AIV}, {FuncID: 2, Name: "PV", Core: scene.AIC}, {FuncID: 3, Name: "UP", Core: scene.AIV}},
		}, `{
  "level": 2,
  "orchestrator_name": "PagedAttn",
  "callable_id_to_name": {
    "0": "QK",
    "1": "SF",
    "2": "PV",
    "3": "UP"
  }
}`},
		{scene.Callable{Incores: []*scene.Incore{{FuncID: 0, Name: "", Core: scene.AIC}}}, ""},
		{scene.Callable{Orchestration: scene.Orchestration{Name: "X"}}, "{\n  \"level\": 2,\n  \"orchestrator_name\": \"X\"\n}"},
		{scene.Callable{Incores: []*scene.Incore{{FuncID: 5, Name: "a\"b", Core: scene.AIC}, {FuncID: 1, Name: "", Core: scene.AIV}}}, "{\n  \"level\": 2,\n  \"orchestrator_name\": null,\n  \"callable_id_to_name\": {\n    \"5\": \"a\\\"b\"\n  }\n}"},
	} {
		got := v.c.NameMap()
		if string(got) != v.want {
			t.Errorf("%+v: %s, want %s", v.c, got, v.want)
		}
		if v.want != "" && !json.Valid(got) {
			t.Errorf("%s is not JSON", got)
		}
	}
}

func TestPrefix(t *testing.T) {
	s := scene.Selected{Scene: &scene.Scene{Class: "TestPA"}, Case: &scene.Case{Name: "basic"}}
	at := time.Date(2026, 4, 16, 15, 13, 1, 999, time.Local)
	if got, want := s.Prefix("/w", at), filepath.FromSlash("/w/outputs/TestPA_basic_20260416_151301"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := s.NameMapFile(); got != "name_map_TestPA_basic.json" {
		t.Errorf("the name map is %s", got)
	}
	for label, want := range map[string]string{"TestA_a b/c": "TestA_a_b_c", "x.y-z_1": "x.y-z_1", "注意力٣": "注意力٣", "a:b*": "a_b_"} {
		if got := scene.Safe(label); got != want {
			t.Errorf("%q is %q, want %q", label, got, want)
		}
	}
	if len(scene.Platforms) != 4 || !slices.Contains(scene.Platforms, "a5sim") {
		t.Errorf("the platforms are %v", scene.Platforms)
	}
}
