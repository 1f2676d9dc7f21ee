package hbg_test

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/parity"
	"swimlane/internal/sim"
	"swimlane/internal/sim/hbg"
)

// again makes the graph of a reference capture, with kernels as long as there.
func again(b *aicoreBench, dir string) (*hbg.Graph, records, []byte) {
	b.t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "chip_swimlane_records.json"))
	if err != nil {
		b.t.Fatal(err)
	}
	var r records
	if err := json.Unmarshal(text, &r); err != nil {
		b.t.Fatal(err)
	}
	deps, err := os.ReadFile(filepath.Join(dir, "deps.json"))
	if err != nil {
		b.t.Fatal(err)
	}
	var graph struct {
		Tasks []struct {
			Kernels [3]int32 `json:"kernel_ids"`
		} `json:"tasks"`
		Edges []struct {
			Pred json.Number `json:"pred"`
			Succ json.Number `json:"succ"`
		} `json:"edges"`
	}
	if err := json.Unmarshal(deps, &graph); err != nil {
		b.t.Fatal(err)
	}
	producers := make([][]int, len(graph.Tasks))
	for _, e := range graph.Edges {
		p, err1 := e.Pred.Int64()
		c, err2 := e.Succ.Int64()
		if err := cmp.Or(err1, err2); err != nil {
			b.t.Fatal(err)
		}
		producers[c] = append(producers[c], int(p))
	}
	cycles := make([]uint64, len(graph.Tasks))
	for _, k := range r.Kernels {
		cycles[k[1]] = k[4] - k[3]
	}
	var tasks []*hbg.Task
	for i, t := range graph.Tasks {
		spec := &sim.Task{}
		for lane, id := range t.Kernels {
			if id >= 0 {
				spec.Kernels[lane] = kernel(id, abi.CoreType(min(lane, 1)), cycles[i])
			}
		}
		tasks = append(tasks, b.task(spec, producers[i]...))
	}
	return graphOf(tasks...), r, text
}

var digits = regexp.MustCompile(`-?\d+`)

// lines are the kinds of lines of a file, numbers apart. What only a host writes, and
// how often a line is there, is left out.
func lines(text []byte) []string {
	var out []string
	host := false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(digits.ReplaceAllString(line, "N"), ",\n")
		switch {
		case strings.HasPrefix(line, `  "host_`):
			host = true
		case strings.HasPrefix(line, `  "`):
			host = false
		case strings.Contains(line, `"host_`), strings.Contains(line, `"orchestrator_`), strings.Contains(line, `"device_clock_domain"`), strings.Contains(line, `"timeline_relation"`):
			continue
		}
		if !host {
			out = append(out, strings.Replace(line, `"tasks_processed": N, "task_id": null`, `"tasks_processed": N, "task_id": N`, 1))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// TestLikeReferenceCaptures: a run of the graph of a reference capture has the sections,
// keys, rows and kinds of that, and as many of each.
func TestLikeReferenceCaptures(t *testing.T) {
	for _, v := range []struct {
		name     string
		clusters int
		level    abi.Level
	}{{"tiny_l1", 2, 1}, {"tiny_l2", 2, 2}, {"tiny_l3", 2, 3}, {"tiny_l4", 2, 4}, {"medium_l3", 8, 3}} {
		t.Run(v.name, func(t *testing.T) {
			b := newAicoreBench(t, v.clusters, v.level)
			b.strict = true
			dir := filepath.Join(parity.Shared(t), "captures", "gs_a5_hbg_aicore_"+v.name)
			g, want, text := again(b, dir)
			b.run(g)
			ours, theirs := lines(b.file), lines(text)
			var missing, more []string
			for _, l := range theirs {
				if _, ok := slices.BinarySearch(ours, l); !ok {
					missing = append(missing, l)
				}
			}
			for _, l := range ours {
				if _, ok := slices.BinarySearch(theirs, l); !ok && !strings.Contains(l, `"kind": "worksteal"`) && !strings.Contains(l, `"kind": "refill"`) {
					more = append(more, l)
				}
			}
			if missing != nil || more != nil {
				t.Errorf("the file lacks\n%s\nand has\n%s", strings.Join(missing, "\n"), strings.Join(more, "\n"))
			}
			if got := b.records; len(got.Kernels) != len(want.Kernels) || (got.Timings == nil) != (want.Timings == nil) || (got.Schedulers == nil) != (want.Schedulers == nil) {
				t.Errorf("%d rows, timings %v, schedulers %v; want %d, %v, %v", len(got.Kernels), got.Timings, got.Schedulers, len(want.Kernels), want.Timings, want.Schedulers)
			}
			if b.records.Schedulers == nil {
				return
			}
			got, ref := b.records.kinds(), want.kinds()
			for _, kind := range []string{"bootstrap", "state_probe", "complete", "resolve"} {
				if got[kind] != ref[kind] {
					t.Errorf("%d records of the kind %s, want %d", got[kind], kind, ref[kind])
				}
			}
			// Most tasks are placed by the schedulers in whose inboxes they are.
			if 2*got["dispatch"] < ref["dispatch"]+ref["refill"] {
				t.Errorf("%d tasks are dispatched by their own schedulers, and %d there: %v, want them as in %v", got["dispatch"], ref["dispatch"], got, ref)
			}
			roots := func(r *records) (n uint64) {
				for _, s := range r.Schedulers.Streams {
					n += s.Records[0].Tasks
				}
				return n
			}
			if n := roots(&b.records); n != roots(&want) {
				t.Errorf("bootstraps published %d tasks, want %d", n, roots(&want))
			}
			deps, err := os.ReadFile(filepath.Join(dir, "deps.json"))
			if err != nil {
				t.Fatal(err)
			}
			b.read(string(deps))
		})
	}
}
