package parity

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tree is a trace as decoded JSON, to be changed event by event.
type tree struct {
	Events   []map[string]any `json:"traceEvents"`
	Metadata map[string]any   `json:"metadata,omitempty"`
}

// load decodes a reference trace.
func load(t *testing.T, path string) *tree {
	t.Helper()
	return decode(t, Unpacked(t, path))
}

func decode(t *testing.T, data []byte) *tree {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var tr tree
	if err := dec.Decode(&tr); err != nil {
		t.Fatal(err)
	}
	return &tr
}

func (tr *tree) encode(t *testing.T) []byte {
	t.Helper()
	data, err := json.Marshal(tr)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func (tr *tree) trace(t *testing.T) *Trace {
	t.Helper()
	out, err := Read(bytes.NewReader(tr.encode(t)))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// find returns the index of the n-th event that fits.
func (tr *tree) find(t *testing.T, n int, fits func(e map[string]any) bool) int {
	t.Helper()
	for i, e := range tr.Events {
		if fits(e) {
			if n == 0 {
				return i
			}
			n--
		}
	}
	t.Fatal("no such event")
	return -1
}

func (tr *tree) remove(i int) { tr.Events = slices.Delete(tr.Events, i, i+1) }

func num(v any) float64 {
	f, err := v.(json.Number).Float64()
	if err != nil {
		panic(err)
	}
	return f
}

func integerOf(v any) int64 {
	i, err := v.(json.Number).Int64()
	if err != nil {
		panic(err)
	}
	return i
}

// argsOf returns the args of an event, nil without any.
func argsOf(e map[string]any) map[string]any {
	args, _ := e["args"].(map[string]any)
	return args
}

func jsonInt(i int64) json.Number { return json.Number(fmt.Sprint(i)) }

func jsonFloat(f float64) json.Number { return json.Number(fmt.Sprintf("%.6f", f)) }

func isPhase(ph string) func(map[string]any) bool {
	return func(e map[string]any) bool { return e["ph"] == ph }
}

// references returns all stored reference traces.
func references(t *testing.T) []string {
	t.Helper()
	captures := filepath.Join(Shared(t), "captures")
	var out []string
	for _, pattern := range []string{"*/reference/trace*.json.gz", "edge/*/reference/trace*.json.gz"} {
		found, err := filepath.Glob(filepath.Join(captures, pattern))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, found...)
	}
	if len(out) < 50 {
		t.Fatalf("only %d reference traces found", len(out))
	}
	return out
}

// label names a reference by its capture and file.
func label(path string) string {
	return filepath.Base(filepath.Dir(filepath.Dir(path))) + "/" + filepath.Base(path)
}

// TestReferenceEqualsItself also checks that each reference passes in the
// form that ours has.
func TestReferenceEqualsItself(t *testing.T) {
	for _, path := range references(t) {
		t.Run(label(path), func(t *testing.T) {
			t.Parallel()
			if info, err := os.Stat(path); err != nil || testing.Short() && info.Size() > 1<<18 {
				t.Skip("-short: a big trace")
			}
			ref, err := ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range Compare(ref, ref, Options{SkipOurOwnForm: true}) {
				t.Error(d)
			}
			ours := ownForm(t, load(t, path)).trace(t)
			for _, d := range Compare(ref, ours, Options{}) {
				t.Error("in our form: " + d)
			}
		})
	}
}

// TestReferenceIsNotOurForm: the form of the reference isn't accepted as ours.
func TestReferenceIsNotOurForm(t *testing.T) {
	path := filepath.Join(Shared(t), "captures/gs_a2a3_hbg_graph_l4/reference/trace.json.gz")
	ref, err := ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(Compare(ref, ref, Options{}), "\n")
	for _, want := range []string{"thread_sort_index of pid 2", "pid 5 has process_sort_index 1"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// change is a mutation of a trace and what must be reported about it.
type change struct {
	name string
	want string
	do   func(t *testing.T, tr *tree)
}

// named, arg fit events by their name and by an arg that they have.
func named(name string) func(map[string]any) bool {
	return func(e map[string]any) bool { return e["name"] == name }
}

func arg(key string) func(map[string]any) bool {
	return func(e map[string]any) bool { return argsOf(e)[key] != nil }
}

// add adds to a number.
func add(m map[string]any, key string, by float64) { m[key] = jsonFloat(num(m[key]) + by) }

// changes returns the mutations that every trace with slices, arrows,
// counters and lanes must be told from.
func changes() []change {
	return slices.Concat(sliceChanges(), laneAndCounterChanges(), arrowChanges())
}

func sliceChanges() []change {
	return []change{
		{"drop a slice", "slice missing", func(t *testing.T, tr *tree) {
			tr.remove(tr.find(t, 0, func(e map[string]any) bool { return e["cat"] == "scheduler" }))
		}},
		{"add a slice", "slice unexpected", func(t *testing.T, tr *tree) {
			tr.Events = append(tr.Events, tr.Events[tr.find(t, 0, func(e map[string]any) bool {
				return e["cat"] == "scheduler"
			})])
		}},
		{"move a slice", "slice differs", func(t *testing.T, tr *tree) {
			add(tr.Events[tr.find(t, 2, isPhase("X"))], "ts", 1)
		}},
		{"lengthen a slice", "slice differs", func(t *testing.T, tr *tree) {
			add(tr.Events[tr.find(t, 2, isPhase("X"))], "dur", 0.001)
		}},
		{"an arg", "args.loop_iter", func(t *testing.T, tr *tree) {
			args := argsOf(tr.Events[tr.find(t, 0, arg("loop_iter"))])
			args["loop_iter"] = jsonInt(integerOf(args["loop_iter"]) + 1)
		}},
		{"a task id in its last bit", "args.taskId", func(t *testing.T, tr *tree) {
			args := argsOf(tr.Events[tr.find(t, 0, arg("taskId"))])
			args["taskId"] = jsonInt(integerOf(args["taskId"]) ^ 1)
		}},
		{"a time in an arg", "args.kernel-duration-us", func(t *testing.T, tr *tree) {
			add(argsOf(tr.Events[tr.find(t, 0, arg("kernel-duration-us"))]), "kernel-duration-us", 0.001)
		}},
		{"an arg less", "args.phase reference", func(t *testing.T, tr *tree) {
			delete(argsOf(tr.Events[tr.find(t, 0, arg("phase"))]), "phase")
		}},
		{"cname", "cname", func(t *testing.T, tr *tree) {
			tr.Events[tr.find(t, 0, func(e map[string]any) bool { return e["cname"] != nil })]["cname"] = "grey2"
		}},
		{"cat", "cat", func(t *testing.T, tr *tree) {
			tr.Events[tr.find(t, 0, isPhase("X"))]["cat"] = "other"
		}},
		{"no id", "has an id", func(t *testing.T, tr *tree) {
			delete(tr.Events[tr.find(t, 0, func(e map[string]any) bool {
				return e["ph"] == "X" && e["id"] != nil
			})], "id")
		}},
		{"name of a slice", "slice missing", func(t *testing.T, tr *tree) {
			tr.Events[tr.find(t, 0, isPhase("X"))]["name"] = "other"
		}},
	}
}

func laneAndCounterChanges() []change {
	return []change{
		{"rename a lane", " AIC_99", func(t *testing.T, tr *tree) {
			tr.Events[tr.find(t, 0, named("thread_name"))]["args"] = map[string]any{"name": "AIC_99"}
		}},
		{"rename a process", "process name", func(t *testing.T, tr *tree) {
			tr.Events[tr.find(t, 0, named("process_name"))]["args"] = map[string]any{"name": "Worker"}
		}},
		{"drop an empty lane", "lane missing", func(t *testing.T, tr *tree) {
			tr.remove(tr.find(t, 0, func(e map[string]any) bool {
				return e["name"] == "thread_name" && argsOf(e)["name"] == "shared_ready_queue (global)"
			}))
		}},
		{"drop a counter", "counter missing", func(t *testing.T, tr *tree) { tr.remove(tr.find(t, 0, isPhase("C"))) }},
		{"a counter value", "counter unexpected", func(t *testing.T, tr *tree) {
			argsOf(tr.Events[tr.find(t, 0, isPhase("C"))])["AIC"] = jsonInt(77)
		}},
		{"move a counter", "counter missing", func(t *testing.T, tr *tree) {
			add(tr.Events[tr.find(t, 0, isPhase("C"))], "ts", 0.001)
		}},
		{"another metadata event", "unexpected metadata", func(t *testing.T, tr *tree) {
			tr.Events[tr.find(t, 0, named("process_name"))]["name"] = "process_labels"
		}},
	}
}

func arrowChanges() []change {
	return []change{
		{"drop an arrow", "arrow missing", func(t *testing.T, tr *tree) {
			i := tr.find(t, 0, isPhase("s"))
			id := tr.Events[i]["id"]
			tr.Events = slices.DeleteFunc(tr.Events, func(e map[string]any) bool {
				return (e["ph"] == "s" || e["ph"] == "f") && e["id"] == id
			})
		}},
		{"drop half an arrow", "only one half", func(t *testing.T, tr *tree) { tr.remove(tr.find(t, 0, isPhase("f"))) }},
		{"retarget an arrow", "arrow", func(t *testing.T, tr *tree) {
			i := tr.find(t, 0, named("dependency"))
			e := tr.Events[i]
			other := tr.Events[tr.find(t, 0, func(o map[string]any) bool {
				return o["ph"] == e["ph"] && o["name"] == "dependency" && o["bind_id"] != e["bind_id"]
			})]
			for _, k := range []string{"pid", "tid", "ts", "bind_id"} {
				e[k] = other[k]
			}
		}},
		{"rename an arrow", "arrow", func(t *testing.T, tr *tree) {
			i := tr.find(t, 0, named("dependency"))
			id := tr.Events[i]["id"]
			for _, e := range tr.Events {
				if (e["ph"] == "s" || e["ph"] == "f") && e["id"] == id {
					e["name"] = "hb_violation"
				}
			}
		}},
		{"move an arrow", "arrow", func(t *testing.T, tr *tree) {
			add(tr.Events[tr.find(t, 0, named("dependency"))], "ts", 0.002)
		}},
		{"a count", "counts in/out", func(t *testing.T, tr *tree) {
			e := tr.Events[tr.find(t, 1, named("dependency"))]
			e["input_task_count"] = jsonInt(integerOf(e["input_task_count"]) + 1)
		}},
		{"an unbound arrow", "arrow", func(t *testing.T, tr *tree) {
			delete(tr.Events[tr.find(t, 0, named("dependency"))], "bind_id")
		}},
		{"no bp", "bp", func(t *testing.T, tr *tree) { delete(tr.Events[tr.find(t, 0, isPhase("f"))], "bp") }},
	}
}

// TestChangesAreReported changes traces in both forms.
func TestChangesAreReported(t *testing.T) {
	for _, capture := range []string{"a2a3sim_tmr_paged_attention_unroll_l4_deps", "gs_a2a3_tmr_mix_spmd_l4"} {
		path := filepath.Join(Shared(t), "captures", capture, "reference/trace.json.gz")
		ref, err := ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range []struct {
			name    string
			data    []byte
			options Options
		}{
			{"reference", load(t, path).encode(t), Options{SkipOurOwnForm: true}},
			{"ours", ownForm(t, load(t, path)).encode(t), Options{}},
		} {
			for _, ch := range changes() {
				t.Run(capture+"/"+form.name+"/"+ch.name, func(t *testing.T) {
					t.Parallel()
					tr := decode(t, form.data)
					ch.do(t, tr)
					got := strings.Join(Compare(ref, tr.trace(t), form.options), "\n")
					if !strings.Contains(got, ch.want) {
						t.Errorf("no %q in:\n%s", ch.want, got)
					}
				})
			}
		}
	}
}

// TestMetadataChangesAreReported changes the top-level metadata.
func TestMetadataChangesAreReported(t *testing.T) {
	path := filepath.Join(Shared(t), "captures/gs_a2a3_hbg_graph_l4/reference/trace.json.gz")
	ref, err := ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for want, do := range map[string]func(m map[string]any){
		"metadata.layout":                func(m map[string]any) { m["layout"] = "other" },
		"metadata.host_capture.status":   func(m map[string]any) { delete(m["host_capture"].(map[string]any), "status") },
		"metadata.timeline_origin_ns":    func(m map[string]any) { m["timeline_origin_ns"] = jsonInt(1418121886291) },
		"metadata.logical_seam_us":       func(m map[string]any) { m["logical_seam_us"] = jsonFloat(221.194) },
		"metadata.new":                   func(m map[string]any) { m["new"] = true },
		"metadata.host_records_complete": func(m map[string]any) { m["host_records_complete"] = jsonInt(1) },
	} {
		tr := load(t, path)
		do(tr.Metadata)
		got := Compare(ref, tr.trace(t), Options{SkipOurOwnForm: true})
		if len(got) != 1 || !strings.HasPrefix(got[0], want+":") {
			t.Errorf("want one difference of %s, got %q", want, got)
		}
	}
	tr := load(t, path)
	tr.Metadata["logical_seam_us"] = jsonFloat(221.1935)
	if got := Compare(ref, tr.trace(t), Options{SkipOurOwnForm: true}); len(got) > 0 {
		t.Errorf("a seam within the tolerance is reported: %q", got)
	}
	tr.Metadata = nil
	if got := Compare(ref, tr.trace(t), Options{SkipOurOwnForm: true}); len(got) != 1 {
		t.Errorf("missing metadata: %q", got)
	}
}
