package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"swimlane/internal/console"
	"swimlane/internal/parity"
	"swimlane/internal/trace/check"
)

// treeExpectation is the expect.json of a tree.
type treeExpectation struct {
	Invocations []treeInvocation     `json:"invocations"`
	Truth       map[string]treeTruth `json:"generated_truth"` // by capture, as rank0/d0
}

// treeTruth is where a capture really was, in ns of the host.
type treeTruth struct {
	Zero  int64 `json:"true_device_phase_zero_host_ns"` // 0: not known
	First int64 `json:"first_task_receive_true_host_ns"`
}

type treeInvocation struct {
	Args     []string         `json:"args"`
	Exit     int              `json:"exit"`
	Stderr   []string         `json:"stderr_contains"`
	Stdout   []string         `json:"stdout_contains"`
	Metadata map[string]any   `json:"metadata"`
	Ranks    []map[string]any `json:"ranks"`
	Equals   string           `json:"output_equals"`
}

// TestTrees merges every tree of several ranks as its expect.json asks.
func TestTrees(t *testing.T) {
	merged := 0
	forTrees(t, func(t *testing.T, dir string, want *treeExpectation) {
		for i, v := range want.Invocations {
			t.Run(fmt.Sprint(i), func(t *testing.T) { v.run(t, dir) })
			if v.Exit == 0 {
				merged++
			}
		}
	})
	if merged == 0 {
		t.Error("nothing was merged")
	}
}

// forTrees does something in a copy of every tree that has an expect.json, which lies in dir.
func forTrees(t *testing.T, do func(t *testing.T, dir string, want *treeExpectation)) {
	captures := filepath.Join(parity.Shared(t), "captures")
	found := 0
	err := filepath.WalkDir(filepath.Join(captures, "l3"), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.Name() != "expect.json" {
			return err
		}
		found++
		dir := filepath.Dir(path)
		tree := dir
		if strings.Contains(dir, "simulator_trees") {
			tree = filepath.Join(captures, filepath.Base(dir))
		}
		var want treeExpectation
		data, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(data, &want)
		}
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(filepath.Join(captures, "l3"), dir)
		t.Run(name, func(t *testing.T) {
			// The files of the trees are given relative to their root.
			t.Chdir(copyTree(t, tree))
			do(t, dir, &want)
		})
		return nil
	})
	if err != nil || found == 0 {
		t.Errorf("%d trees, %v", found, err)
	}
}

// copyTree copies a tree but for its references, unpacked.
func copyTree(t *testing.T, from string) string {
	t.Helper()
	to := t.TempDir()
	err := filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(from, path)
		switch {
		case err != nil:
			return err
		case e.IsDir() && e.Name() == "reference":
			return fs.SkipDir
		case e.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		return copyPlain(path, filepath.Join(to, filepath.Dir(rel)))
	})
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// treesByOrder are the trees whose references place the single scheduler stream by
// order of appearance, which we do only when told to.
var treesByOrder = []string{"node_and_network_logs"}

// command is the command line.
func (v *treeInvocation) command(dir string) []string {
	args := []string{"convert"}
	if slices.Contains(treesByOrder, filepath.Base(dir)) {
		args = append(args, byOrder...)
	}
	for _, a := range v.Args {
		args = append(args, strings.ReplaceAll(a, "<root>", "."))
	}
	return args
}

func (v *treeInvocation) run(t *testing.T, dir string) {
	const output = "l3_swimlane.json"
	if err := os.RemoveAll(output); err != nil {
		t.Fatal(err)
	}
	args := v.command(dir)
	var stdout, stderr bytes.Buffer
	if code := run(context.Background(), console.New(strings.NewReader(""), &stdout, &stderr), args); code != v.Exit {
		t.Fatalf("%v: exit %d, want %d\n%s", args, code, v.Exit, stderr.String())
	}
	for _, text := range v.Stderr {
		if !strings.Contains(stderr.String(), text) {
			t.Errorf("%v: no %q in\n%s", args, text, stderr.String())
		}
	}
	for _, text := range v.Stdout {
		if !strings.Contains(stdout.String(), text) {
			t.Errorf("%v: no %q in\n%s", args, text, stdout.String())
		}
	}
	_, err := os.Stat(output)
	if v.Exit != 0 {
		if err == nil || stdout.Len() > 0 {
			t.Errorf("%v: failed and left an output, or said: %s", args, stdout.String())
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	v.compare(t, output)
	ref, err := parity.ReadFile(filepath.Join(dir, v.Equals))
	if err != nil {
		t.Fatal(err)
	}
	ours, err := parity.ReadFile(output)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range parity.Compare(ref, ours, parity.Options{Tolerance: 0.001}) {
		t.Error(d)
	}
	mustBeClean(t, output)
}

// mustBeClean asks whether a viewer shows a trace as it is meant.
func mustBeClean(t *testing.T, path string) {
	t.Helper()
	report, err := check.File(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Findings {
		if f.Severity != check.Note {
			t.Errorf("the viewer would object to %s: %v, %v times: %v", path, f.Rule, f.Count, f.Examples)
		}
	}
}

// mergedTrace is what compare asks of a trace.
type mergedTrace struct {
	Events []struct {
		Name, Ph string
		PID, TID int
		TS, Dur  float64
		Args     map[string]any
	} `json:"traceEvents"`
	Metadata map[string]any
}

// compare holds the numbers of expect.json against the output.
func (v *treeInvocation) compare(t *testing.T, output string) {
	data, err := os.ReadFile(output)
	if err != nil {
		t.Fatal(err)
	}
	var got mergedTrace
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	for key, want := range v.Metadata {
		if have := got.Metadata[key]; !reflect.DeepEqual(have, want) {
			t.Errorf("metadata.%s: %v, want %v", key, have, want)
		}
	}
	members, _ := got.Metadata["ranks"].([]any)
	if len(members) != len(v.Ranks) {
		t.Fatalf("%d ranks, want %d", len(members), len(v.Ranks))
	}
	for i, want := range v.Ranks {
		have, _ := members[i].(map[string]any)
		for _, key := range []string{"rank", "input", "trace_status", "host_pairing", "placement"} {
			if !reflect.DeepEqual(have[key], want[key]) {
				t.Errorf("rank %v: %s %v, want %v", want["rank"], key, have[key], want[key])
			}
		}
		rank, _ := want["rank"].(float64)
		first, last := math.Inf(1), math.Inf(-1)
		for _, e := range got.Events {
			if _, task := e.Args["taskId"]; task && e.Ph == "X" && e.PID == 104+100*int(rank) {
				first, last = min(first, e.TS), max(last, e.TS+e.Dur)
				if e.Args["slack_ns"] != want["slack_ns"] || e.Args["rank"] != rank {
					t.Errorf("rank %v: %q has the args %v", rank, e.Name, e.Args)
				}
			}
		}
		for key, us := range map[string]float64{"first_task_bar_ts_us": first, "last_task_end_ts_us": last} {
			if w, _ := want[key].(float64); math.Abs(w-us) > 0.001 {
				t.Errorf("rank %v: %s %v, want %v", rank, key, us, w)
			}
		}
	}
}
