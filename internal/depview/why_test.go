package depview_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"swimlane/internal/depview"
	"swimlane/internal/parity"
)

// graphFile is a deps.json as encoding/json reads it.
type graphFile struct {
	Tasks []struct {
		ID   string `json:"task_id"`
		Args []struct {
			Idx  int    `json:"idx"`
			Type string `json:"type"`
		} `json:"args"`
	} `json:"tasks"`
	Tensors []struct {
		ID string `json:"tensor_id"`
	} `json:"tensors"`
	Edges []whyRow `json:"edges"`
}

type whyRow struct {
	Pred     string   `json:"pred"`
	Succ     string   `json:"succ"`
	Source   string   `json:"source"`
	Overlap  string   `json:"overlap"`
	Arg      int      `json:"arg"`
	Flags    []string `json:"flags"`
	Tensor   string   `json:"tensor_id"`
	DType    string   `json:"consumer_dtype"`
	Shape    []int    `json:"consumer_shape"`
	Strides  []int    `json:"consumer_strides"`
	Offset   string   `json:"consumer_start_offset"`
	PShape   []int    `json:"producer_shape"`
	PStrides []int    `json:"producer_strides"`
	POffset  string   `json:"producer_start_offset"`
}

// why is what is said of a row: its source, slot, tensor and slice, how the slices
// overlap, what the producer wrote, and the flags.
func (g *graphFile) why(e whyRow) string {
	list := func(n []int) string { return strings.ReplaceAll(fmt.Sprint(n), " ", ",") }
	text := e.Source
	if e.Arg >= 0 {
		text += fmt.Sprintf(" arg%d", e.Arg)
		for _, t := range g.Tasks {
			for _, a := range t.Args {
				if t.ID == e.Succ && a.Idx == e.Arg {
					text += " " + a.Type
				}
			}
		}
	}
	if e.Tensor != "" {
		for i, t := range g.Tensors {
			if t.ID == e.Tensor {
				text += fmt.Sprintf(" T%d", i)
			}
		}
		text += fmt.Sprintf(" %s %s strides %s offset %s", e.DType, list(e.Shape), list(e.Strides), e.Offset)
	}
	if e.Source == "tensormap" {
		text += fmt.Sprintf(", overlap %s, written as %s strides %s offset %s", e.Overlap, list(e.PShape), list(e.PStrides), e.POffset)
	}
	if flags := strings.Join(e.Flags, "+"); flags != "" {
		return text + ", " + flags
	}
	// What each source has always had (spec/deps.md §3.3).
	if e.Source == "tensormap" {
		return text + ", wait (not stated)"
	}
	return text + ", wait+retain (not stated)"
}

// TestField85WhyAnEdge: of every row of the graph the source, the tensor and its slice, the
// overlap and the flags are told, under the task that it comes from.
func TestField85WhyAnEdge(t *testing.T) {
	const slot = `{"idx":2,"type":"INOUT","tensor_id":"77","dtype":"FLOAT16","shape":[4,8],"start_offset":"64","strides":[16,1]}`
	graphs := map[string]string{"made": `{"tasks":[{"task_id":"1","kernel_ids":[0,-1,-1],"args":[]},{"task_id":"2","kernel_ids":[0,-1,-1],"args":[` + slot + `]}],
		"tensors":[{"tensor_id":"76","buffer_addr":"1","version":0,"dtype":"INT8","buffer_numel":"9"},{"tensor_id":"77","buffer_addr":"4096","version":1,"dtype":"FLOAT16","buffer_numel":"512"}],
		"edges":[{"pred":"1","succ":"2","arg":-1,"source":"explicit","flags":["wait"]},
		{"pred":"1","succ":"2","arg":2,"source":"tensormap","flags":["wait"],"overlap":"other","tensor_id":"77","consumer_dtype":"FLOAT16",
		"consumer_shape":[4,8],"consumer_start_offset":"64","consumer_strides":[16,1],"producer_shape":[32],"producer_start_offset":"18446744073709551615","producer_strides":[1]}]}`}
	captures := filepath.Join(parity.Shared(t), "captures")
	for _, name := range []string{"a2a3sim_tmr_paged_attention_l4_deps", "a2a3sim_hbg_predicated_dispatch_l4_deps__TestPredicatedDispatch_PredicateFalseSkips", "a2a3sim_hbg_paged_attention_l4_deps", "gs_a2a3_tmr_drain_l4"} {
		graphs[name] = string(parity.Unpacked(t, filepath.Join(captures, name, "deps.json")))
	}
	sources := map[string]bool{}
	for name, text := range graphs {
		var g graphFile
		if err := json.Unmarshal([]byte(text), &g); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		view := parse(t, text).View(depview.Full, nil)
		want := map[string][]string{} // by successor and predecessor
		succs := map[string]bool{}
		for _, e := range g.Edges {
			sources[e.Source+e.Overlap] = true
			succs[e.Succ] = true
			want[e.Succ+" "+e.Pred] = append(want[e.Succ+" "+e.Pred], g.why(e))
		}
		got := map[string][]string{}
		for succ := range succs {
			n, err := view.Parse(succ)
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			if err := view.Near(n, 1, 0).WriteText(&out); err != nil {
				t.Fatal(err)
			}
			_, needs, _ := strings.Cut(out.String(), "\nNEEDS ")
			needs, _, _ = strings.Cut(needs, "\nNEEDED BY ")
			pred, direct := "", false
			for line := range strings.Lines(needs) {
				line = strings.TrimRight(line, "\n")
				if id, ok := strings.CutPrefix(line, "  <- "); ok {
					// "(2, 3) UP" or "3 UP"
					id = id[:max(strings.Index(id, ")"), strings.Index(id, " ")-1)+1]
					p, err := view.Parse(id)
					if err != nil {
						t.Fatalf("%s: %q: %v", name, line, err)
					}
					pred, direct = fmt.Sprint(view.ID(p)), true
				} else if strings.HasPrefix(line, "     -> ") {
					direct = false // an edge among those that the task needs
				} else if why, ok := strings.CutPrefix(line, "     "); ok && direct && !strings.HasPrefix(why, " ") {
					got[succ+" "+pred] = append(got[succ+" "+pred], why)
				}
			}
		}
		for pair, lines := range want {
			if slices.Sort(lines); !slices.Equal(lines, sorted(got[pair])) {
				t.Errorf("%s: edge %s:\n%s\nwant\n%s", name, pair, strings.Join(got[pair], "\n"), strings.Join(lines, "\n"))
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: %d edges are explained, want %d", name, len(got), len(want))
		}
	}
	for _, s := range []string{"explicit", "creator", "tensormapcovered", "tensormapother"} {
		if !sources[s] {
			t.Errorf("no graph has an edge of %s", s)
		}
	}
}

func sorted(lines []string) []string { return slices.Sorted(slices.Values(lines)) }
