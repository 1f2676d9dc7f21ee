package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"swimlane/internal/console"
	"swimlane/internal/parity"
)

// done runs a command that must succeed.
func done(t *testing.T, args ...string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := run(context.Background(), console.New(strings.NewReader(""), &stdout, &stderr), args); code != 0 {
		t.Fatalf("%v: exit %d\n%s", args, code, stderr.String())
	}
}

// TestPartsOfTrees: no viewer objects to a part of a merged picture, nor to the
// pictures of the logs beside it.
func TestPartsOfTrees(t *testing.T) {
	parts, logs := 0, 0
	forTrees(t, func(t *testing.T, dir string, want *treeExpectation) {
		for i, v := range want.Invocations {
			if v.Exit != 0 {
				continue
			}
			parts++
			last := fmt.Sprint(v.Ranks[len(v.Ranks)-1]["rank"])
			out := fmt.Sprintf("part%d.json", i)
			done(t, append(v.command(dir), "--rank", last, "--overhead", "--idle", "-o", out)...)
			mustBeClean(t, out)
		}
		if found, _ := filepath.Glob("host.*.log"); len(found) > 0 {
			logs++
			done(t, "strace", ".", "--trace-out", "runs.json", "--swimlane", "hosts.json")
			mustBeClean(t, "runs.json")
			mustBeClean(t, "hosts.json")
		}
	})
	// A tree of captures of the graph alone has logs, too, and one is nothing but logs.
	for _, name := range []string{"a2a3sim_tmr_l3_group_scene_deps", "a2a3sim_tmr_l3_group_strace_rounds10"} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(copyTree(t, filepath.Join(parity.Shared(t), "captures", name)))
			logs++
			done(t, "strace", ".", "--trace-out", "runs.json", "--swimlane", "hosts.json")
			mustBeClean(t, "runs.json")
			mustBeClean(t, "hosts.json")
		})
	}
	if parts < 20 || logs < 12 {
		t.Errorf("looked at %d merges and the logs of %d trees", parts, logs)
	}
}

// TestTruth: where a rank is drawn, plus 0 … slack, covers where it really was; records
// that the log's phases say nothing about (joined by device_wall alone) may lie half
// of their residual beside that (spec/l3.md §12 D8). The truth is what the tree says
// of it, and on the trees of simulators, whose counter is the host's clock, that of
// every kernel row.
func TestTruth(t *testing.T) {
	simulated, made := 0, 0
	forTrees(t, func(t *testing.T, dir string, want *treeExpectation) {
		real := strings.Contains(dir, "simulator_trees")
		for i, v := range want.Invocations {
			if v.Exit != 0 || want.Truth == nil {
				continue
			}
			out := fmt.Sprintf("truth%d.json", i)
			done(t, append(v.command(dir), "-o", out)...)
			var got mergedTrace
			data, err := os.ReadFile(out)
			if err == nil {
				err = json.Unmarshal(data, &got)
			}
			if err != nil {
				t.Fatal(err)
			}
			list, _ := got.Metadata["ranks"].([]any)
			for _, x := range list {
				p := placedAt(t, &got, x)
				p.name = fmt.Sprintf("%v: rank %d", v.Args, p.rank)
				truth, ok := want.Truth[filepath.Dir(p.input)]
				if !ok {
					t.Fatalf("%s: the tree says nothing about %s", p.name, p.input)
				}
				p.covers(t, "the first receive", p.received[0], truth.First)
				if truth.Zero > 0 {
					made++
					zero := p
					zero.half = 0 // the phases are the log's own: no record is held against them
					zero.covers(t, "the device's zero", p.zero, truth.Zero)
				}
				if real {
					simulated++
					p.coversRows(t)
				}
			}
		}
	})
	if simulated < 38 || made < 20 {
		t.Errorf("looked at %d ranks of simulators and %d made ones", simulated, made)
	}
}

// place is where a rank was drawn, in ns of the host.
type place struct {
	name            string
	rank            int
	input           string
	slack, half     int64 // half of the residual, where only the wall bounds records
	zero            int64
	received, ended []int64 // of kernel bars, ascending
}

func placedAt(t *testing.T, got *mergedTrace, described any) place {
	t.Helper()
	var x struct {
		Rank      int
		Input     string
		Placement struct {
			Slack int64 `json:"slack_ns"`
			Join  struct {
				Sources  []string
				Residual int64 `json:"residual_ns"`
			}
		}
	}
	text, err := json.Marshal(described)
	if err == nil {
		err = json.Unmarshal(text, &x)
	}
	if err != nil {
		t.Fatal(err)
	}
	p := place{rank: x.Rank, input: x.Input, slack: x.Placement.Slack}
	if slices.Equal(x.Placement.Join.Sources, []string{"device_wall"}) {
		p.half = (x.Placement.Join.Residual + 1) / 2
	}
	origin := int64(got.Metadata["global_origin_ns"].(float64)) // exact: below 2^53
	at := func(us float64) int64 { return origin + int64(math.Round(us*1000)) }
	for _, e := range got.Events {
		switch {
		case e.Ph != "X":
		case e.PID == 12+3*x.Rank && e.Name == "chip.run.runner_run.device_wall":
			p.zero = at(e.TS)
		case e.PID == 104+100*x.Rank && e.TID >= 10000 && e.Args["taskId"] != nil:
			p.received, p.ended = append(p.received, at(e.TS)), append(p.ended, at(e.TS+e.Dur))
			if slack, residual := e.Args["slack_ns"], e.Args["residual_ns"]; slack != float64(x.Placement.Slack) || residual != float64(x.Placement.Join.Residual) {
				t.Errorf("rank %d: %q says slack_ns %v, residual_ns %v", x.Rank, e.Name, slack, residual)
			}
		}
	}
	slices.Sort(p.received)
	slices.Sort(p.ended)
	if len(p.received) == 0 || p.zero == 0 {
		t.Fatalf("rank %d has %d kernels, and its wall is at %d", x.Rank, len(p.received), p.zero)
	}
	return p
}

// covers holds a time that is drawn against the true one. Both are rounded to ns.
func (p *place) covers(t *testing.T, what string, drawn, truth int64) {
	t.Helper()
	if late := truth - drawn; late < -p.half-1 || late > p.slack+p.half+1 {
		t.Errorf("%s: %s was %d ns behind where it is drawn, want 0 … %d, beside it at most %d", p.name, what, late, p.slack, p.half)
	}
}

// coversRows holds every kernel against its row in the records file, whose counter is
// the host's clock.
func (p *place) coversRows(t *testing.T) {
	t.Helper()
	var rec struct {
		Metadata struct {
			Hz float64 `json:"clock_freq_hz"`
		}
		Tasks [][]float64 `json:"aicore_tasks"` // core, token, reg, start, end, receive to start
	}
	data, err := os.ReadFile(p.input)
	if err == nil {
		err = json.Unmarshal(data, &rec)
	}
	if err != nil || len(rec.Tasks) != len(p.received) {
		t.Fatalf("%s: %d rows, %d are drawn, %v", p.name, len(rec.Tasks), len(p.received), err)
	}
	var received, ended []int64
	ns := func(cycles float64) int64 { return int64(math.Round(cycles * (1e9 / rec.Metadata.Hz))) }
	for _, row := range rec.Tasks {
		ahead := 0.0
		if len(row) > 5 {
			ahead = row[5]
		}
		received, ended = append(received, ns(row[3]-ahead)), append(ended, ns(row[4]))
	}
	slices.Sort(received)
	slices.Sort(ended)
	for i := range received {
		p.covers(t, "a receive", p.received[i], received[i])
		p.covers(t, "an end", p.ended[i], ended[i])
		// One rank moves as a whole.
		if first := received[0] - p.received[0]; max(received[i]-p.received[i]-first, first-received[i]+p.received[i]) > 1 {
			t.Errorf("%s: row %d is drawn %d ns off, the first one %d", p.name, i, received[i]-p.received[i], first)
		}
	}
}

// TestResidualIsTold: on a real tree whose log has no phases to hold records against,
// nobody is left with the slack alone, whatever is printed.
func TestResidualIsTold(t *testing.T) {
	t.Chdir(copyTree(t, filepath.Join(parity.Shared(t), "captures", "a2a3sim_hbg_l3_vector2x2_l4_deps")))
	args := []string{".", "--dispatch", "d0", "--rank-pid", "0=25486:1", "--rank-pid", "1=25487:1"}
	// Halves of residuals of 64,681,752 and 109,993,705 ns; with slacks of 66,780,243 and 72,950,355 ns 227,068,326.5 in all.
	const line = "  Bound:  each Rank placed within 66780.2–72950.4 us of its chip.run.runner_run window; a cross-Rank gap under 139730.6 us is undecided; " +
		"of records, which lie up to 32340.9–54996.9 us (half of the residual) beside that, one under 227068.3 us\n"
	const warning = "Warning: ranks 0, 1: the slack is not the whole bound: records may lie up to 54996.9 us (half of residual_ns) before or behind it; " +
		"the log has little to hold them against\n"
	for _, c := range []struct {
		args []string
		want string // of the output
	}{
		{append([]string{"convert", "-q"}, args...), ""},
		{append([]string{"convert"}, args...), line},
		{append([]string{"convert", "--rank", "0"}, args...), line},
		{append([]string{"swimlane_converter"}, args...), line},
	} {
		var stdout, stderr bytes.Buffer
		code := run(context.Background(), console.New(strings.NewReader(""), &stdout, &stderr), c.args)
		if code != 0 || !strings.Contains(stderr.String(), warning) || !strings.Contains(stdout.String(), c.want) || c.want == "" && stdout.Len() > 0 {
			t.Errorf("%v: exit %d\n%s\n%s", c.args, code, &stdout, &stderr)
		}
	}
}
