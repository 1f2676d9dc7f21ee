package doctor_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"swimlane/capture"
	"swimlane/internal/collector"
	"swimlane/internal/doctor"
	"swimlane/internal/hostlog"
	"swimlane/internal/parity"
)

// unpacked copies a stored capture, without its reference, to where files may be unpacked.
func unpacked(t *testing.T, dir string) string {
	t.Helper()
	out := t.TempDir()
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && e.Name() == "reference":
			return filepath.SkipDir
		case e.IsDir():
			return nil
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		to := filepath.Join(out, strings.TrimSuffix(rel, ".gz"))
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return err
		}
		return os.WriteFile(to, parity.Unpacked(t, path), 0o666)
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func worst(r *doctor.Report) doctor.Severity {
	out := doctor.Note
	for _, x := range r.Exams {
		out = max(out, x.Worst())
	}
	return out
}

// codes are the codes of findings other than notes, sorted, each once.
func codes(r *doctor.Report) (out []string) {
	for _, x := range r.Exams {
		for _, f := range x.Findings {
			if f.Severity > doctor.Note {
				out = append(out, f.Code)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// TestEdgeCases: an error is found where expect.txt says that the capture is refused,
// and nowhere else; and what its README says is special is what is found.
func TestEdgeCases(t *testing.T) {
	root := filepath.Join(parity.Shared(t), "captures", "edge")
	special := map[string][]string{
		"a5_older_kinds_one_stream": {"no-deps"}, "both_scheduler_and_aicpu_tasks": {"scheduler-shape"}, "deps_edges_not_array": {"deps-without-edges"},
		"deps_truncated": {"deps-unreadable"}, "dispatch_after_kernel_start": {"skewed-clocks"}, "dropped_lower_stream": {"phases-of-thread"},
		"duplicate_join_key_aicore": {"kernel-rows"}, "empty_file": {"json-cut"}, "empty_l1": {"capture-empty", "no-deps"}, "empty_l2": {"capture-empty", "no-deps"},
		"empty_l3": {"capture-empty", "no-deps"}, "empty_l4": {"capture-empty", "no-deps"}, "host_capture_partial": {"no-deps", "submits-lost"},
		"legacy_l2_swimlane": {"former-name"}, "level3_map_beside_level2_data": {"names-level"}, "level_5": {"level"}, "lifecycle_at_origin": {"no-deps"},
		"metric_out_of_range": {"streams"}, "missing_scheduler_rows": {"partners"}, "names_invalid_utf8": {"names-unreadable"}, "negative_interval_kernel": {"kernel-rows"},
		"negative_interval_phase": {"streams"}, "no_clock": {"clock"}, "receive_before_everything": {"skewed-clocks"}, "receive_negative": {"kernel-rows"},
		"run_epoch_columns": {"runtime"}, "scheduler_record_extra_key": {"streams"}, "scheduler_tasks_producer_host": {"scheduler-shape"},
		"scheduler_tasks_schema_2": {"scheduler-shape"}, "scheduler_tasks_three_columns": {"scheduler-shape"}, "trailing_comma": {"json-broken"},
		"truncated_file": {"json-cut"}, "two_sibling_maps": {"names-several"}, "unknown_phase_kinds": {"unknown-kinds"}, "unmatched_scheduler_rows": {"no-deps", "unmatched-scheduler-rows"},
	}
	dirs, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range dirs {
		if !e.IsDir() {
			continue
		}
		r := look(t, filepath.Join(root, e.Name()))
		expect := string(parity.Unpacked(t, filepath.Join(root, e.Name(), "expect.txt")))
		refused := strings.Contains(expect, "exit: 1") && e.Name() != "file_with_dispatch_option" // whose files are good
		if refused != (worst(r) == doctor.Error) {
			t.Errorf("%s: refused is %v, but\n%s", e.Name(), refused, listed(r))
		}
		if got := codes(r); !slices.Equal(got, special[e.Name()]) {
			t.Errorf("%s: %v, want %v\n%s", e.Name(), got, special[e.Name()], listed(r))
		}
	}
}

// TestRecordedCaptures: captures in which nothing is wrong get no finding but that
// they lie there without a task graph; and of trees what expect.json or the merge
// of the stored ones says.
func TestRecordedCaptures(t *testing.T) {
	root := filepath.Join(parity.Shared(t), "captures")
	dirs, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	// Ranks of these trees have one shape and no sidecars: rank_pids.json pins them.
	ambiguous := map[string]bool{"a2a3sim_hbg_l3_vector2x2_l4_deps": true, "a2a3sim_tmr_l3_vector3x4_l4_deps": true}
	for _, e := range dirs {
		name := e.Name()
		if !e.IsDir() || name == "edge" || name == "l3" || testing.Short() && strings.Contains(name, "large") {
			continue
		}
		var want []string
		if ambiguous[name] {
			want = append(want, "pairing-ambiguous")
		}
		dir := filepath.Join(root, name)
		has := func(file string) bool {
			for _, pattern := range []string{file, filepath.Join("rank*", "d*", file)} {
				if found, _ := filepath.Glob(filepath.Join(dir, pattern) + "*"); len(found) > 0 {
					return true
				}
			}
			return false
		}
		if has(capture.FileName) && !has(capture.DepsFileName) {
			want = append(want, "no-deps")
		}
		if r := look(t, unpacked(t, dir)); !slices.Equal(codes(r), want) {
			t.Errorf("%s: %v, want %v\n%s", name, codes(r), want, listed(r))
		}
	}
}

// TestTrees: of the made trees what their expect.json says about automatic targets,
// or about every invocation, is what is found.
func TestTrees(t *testing.T) {
	root := filepath.Join(parity.Shared(t), "captures", "l3")
	want := map[string]string{ // of errors
		"ambiguous_fit": "pairing-ambiguous", "missing_sidecar": "group-incomplete sidecar-missing",
		"discovery_errors/bad_rank_name": "rank-directories", "discovery_errors/duplicate_rank_number": "rank-directories",
		"discovery_errors/log_without_windows": "log-without-windows", "discovery_errors/no_host_log": "log-missing",
		"discovery_errors/node_directories":       "log-missing node-directories",
		"placement_errors/runner_run_too_short":   "placement",
		"placement_errors/sched_window_too_short": "placement",
		"placement_errors/too_many_assignments":   "pairing-ambiguous",
	}
	expects, err := filepath.Glob(filepath.Join(root, "*", "expect.json"))
	if err != nil {
		t.Fatal(err)
	}
	more, _ := filepath.Glob(filepath.Join(root, "*", "*", "expect.json"))
	for _, path := range append(expects, more...) {
		dir := filepath.Dir(path)
		name, _ := filepath.Rel(root, dir)
		name = filepath.ToSlash(name)
		if strings.HasPrefix(name, "simulator_trees/") || name == "discovery_errors/no_rank_directories" {
			continue // the captures lie elsewhere; a single capture, which is no tree
		}
		var expect struct {
			Invocations []struct {
				Exit   int
				Stderr []string `json:"stderr_contains"`
			}
			Targets struct {
				Targets []struct {
					Dispatch   string
					DispatchID string `json:"dispatch_id"`
				}
				Error string
			} `json:"automatic_targets"`
		}
		if err := json.Unmarshal(parity.Unpacked(t, path), &expect); err != nil {
			t.Fatal(err)
		}
		r := look(t, dir)
		var found []string
		for _, x := range r.Exams {
			for _, f := range x.Findings {
				if f.Severity == doctor.Error {
					found = append(found, f.Code)
				}
			}
		}
		slices.Sort(found)
		expected := want[name]
		if strings.HasPrefix(name, "sidecar_errors/") {
			expected = "log-missing sidecar-invalid" // they have no logs either
		}
		if got := strings.Join(slices.Compact(found), " "); got != expected {
			t.Errorf("%s: %q, want %q\n%s", name, got, expected, listed(r))
		}
		// The message of the refusal is what was found, word for word.
		if text := expect.Targets.Error; text != "" && !strings.Contains(listed(r), text) {
			t.Errorf("%s: nothing says %q\n%s", name, text, listed(r))
		}
		// Every set that can be merged is named as healthy.
		for _, target := range expect.Targets.Targets {
			option := "--dispatch " + target.Dispatch
			if target.Dispatch == "" {
				option = "--dispatch-id " + target.DispatchID
			}
			merges := slices.ContainsFunc(r.Exams[0].Parts, func(p doctor.Part) bool { return strings.HasPrefix(p.Text, option+": ") })
			if merges == (expected != "") {
				t.Errorf("%s: %s merges: %v\n%s", name, option, merges, listed(r))
			}
		}
	}
}

// TestPoolOptions: the options that findings name are those that a collector has, with
// the values that are said.
func TestPoolOptions(t *testing.T) {
	presets := doctor.PoolPresets()
	for kind, option := range doctor.PoolOptions() {
		var d collector.Depths
		if err := d.Set(option + "=7"); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
	// spec/device-abi.md §1
	for kind, want := range map[string]int{"AICPU_TASK": 8, "AICORE_TASK": 4, "SCHED_PHASE": 6, "ORCH_PHASE": 8} {
		if presets[kind] != want {
			t.Errorf("%s has %d buffers, want %d", kind, presets[kind], want)
		}
	}
}

// TestWhatChanges: findings that need files which change under the reader, or a
// directory that cannot be listed.
func TestWhatChanges(t *testing.T) {
	changed := &capture.Error{File: "x.json", Row: -1, Text: "cannot read x.json: it changed", Class: capture.ErrChanged}
	for code, found := range map[string][]doctor.Finding{
		"file-changes":   doctor.Refused(&capture.Diagnosis{File: "x.json", Err: changed}),
		"names-unlisted": doctor.Warned(capture.Warning{Code: "names", Count: 1, Text: "cannot look"}, "unlisted"),
		"log-changed":    doctor.LogWarned(hostlog.Warning{Code: "log-changed", Count: 1, Text: "changed"}),
	} {
		if len(found) != 1 || found[0].Code != code || found[0].Why == "" {
			t.Errorf("%s: %+v", code, found)
		}
	}
	if !errors.Is(changed, capture.ErrChanged) {
		t.Error("not the class of files that change")
	}
}

// TestEveryWarningIsExplained: every code that the sources warn with has an advice, or
// a reason to have none.
func TestEveryWarningIsExplained(t *testing.T) {
	other := map[string]string{
		"names":                  "told apart by why the map is not used",
		"records-lost":           "told part by part",
		"deps-missing":           "of an option",
		"nothing-selected":       "of an option",
		"overhead-without-deps":  "of an option",
		"overhead-without-times": "of an option",
		"retained-passed-over":   "of the automatic choice",
		"ranks-passed-over":      "of the automatic choice",
	}
	warn := regexp.MustCompile(`\.warn\("([a-z0-9-]+)"`)
	root, seen := parity.Root(t), 0
	for _, dir := range []string{"capture", "timeline", "internal/draw", "internal/convert"} {
		list, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range list {
			for _, m := range warn.FindAllStringSubmatch(string(parity.Unpacked(t, file)), -1) {
				seen++
				if _, _, _, ok := doctor.Explain(m[1]); !ok && other[m[1]] == "" {
					t.Errorf("%s warns with %s, which nothing explains", file, m[1])
				}
			}
		}
	}
	if seen < 20 {
		t.Errorf("only %d warnings in the sources", seen)
	}
}

// TestFAQNamesEveryCode: the page about findings leaves none out.
func TestFAQNamesEveryCode(t *testing.T) {
	page := string(parity.Unpacked(t, filepath.Join(parity.Root(t), "docs", "faq.md")))
	for _, code := range doctor.Codes() {
		if !strings.Contains(page, "`"+code+"`") {
			t.Errorf("docs/faq.md does not name %s", code)
		}
	}
}
