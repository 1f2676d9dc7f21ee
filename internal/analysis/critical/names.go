package critical

import (
	"strconv"
	"strings"

	"swimlane/internal/names"
)

// Unknown is the name of tasks of which the graph names no kernel.
const Unknown = "unknown"

// Kernel is the name that a task goes by: that of the first kernel that the graph
// names, cid<id> if the map has none for it (spec/sched-overhead.md §10.2).
func (r *Result) Kernel(task int32, m *names.Map) string {
	if r.T.Graph == nil || r.T.Tasks.Node[task] < 0 {
		return Unknown
	}
	ids, ok := r.T.Graph.Kernel(r.T.Tasks.Node[task])
	if !ok {
		return Unknown
	}
	for _, id := range ids {
		if id < 0 {
			continue
		}
		if name, ok := m.Name(int64(id)); ok {
			return name
		}
		return "cid" + strconv.FormatInt(int64(id), 10)
	}
	return Unknown
}

// Family is the name of a kernel without the one number and the core type that
// generated kernels end in: gate_0_aic is of the family gate.
func Family(kernel string) string {
	s := kernel
	for _, core := range []string{"_aic", "_aiv"} {
		if t, ok := strings.CutSuffix(s, core); ok {
			s = t
			break
		}
	}
	if t := strings.TrimRight(s, "0123456789"); t != s && strings.HasSuffix(t, "_") {
		s = t[:len(t)-1]
	}
	if s == "" {
		return kernel
	}
	return s
}

// Share is what tasks of one name have of the observed path. Times are cycles.
type Share struct {
	Name    string
	Tasks   int
	Compute uint64
	Stall   uint64
	ByKind  [kinds]uint64
}

// Shares sums the observed path up by a name of its tasks, those with the most
// compute first; those that are equal stand as they come on the path.
func (r *Result) Shares(name func(task int32) string) []Share {
	var out []Share
	at := map[string]int{}
	for i := range r.Observed {
		s := &r.Observed[i]
		n := name(s.Task)
		k, ok := at[n]
		if !ok {
			k = len(out)
			at[n] = k
			out = append(out, Share{Name: n})
		}
		out[k].Tasks++
		out[k].Compute += s.Compute
		out[k].Stall += s.Stall
		out[k].ByKind[s.Kind] += s.Stall
	}
	sortByCompute(out)
	return out
}
