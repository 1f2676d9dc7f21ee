package strace

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"swimlane/internal/hostlog"
)

// Overlap is the proof that every native run was prepared while the one before it
// ran (spec/host-log.md §6.7).
type Overlap struct {
	Pairs []Pair `json:"pairs"` // by pid, then in the order of the runs
}

// Pair are two runs that followed each other on one process, by their sequence
// numbers.
type Pair struct {
	PID         int    `json:"pid"`
	Predecessor uint64 `json:"predecessor"`
	Successor   uint64 `json:"successor"`
}

// identity are the attributes that name a native run.
var identity = []string{"run_id", "dispatch_id", "run_epoch", "slot_id", "generation"}

// native is a run with its identity and the spans that matter.
type native struct {
	pid                int
	seq                uint64
	bind, run, release *hostlog.Span
}

// NewOverlap looks at all neighbouring runs of each process. An error says what is
// not as it should be. Hidden asks that preparations end before the run does, too.
func NewOverlap(runs []hostlog.Invocation, hidden bool) (*Overlap, error) {
	all, err := natives(runs)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b native) int {
		return cmp.Or(cmp.Compare(a.pid, b.pid), cmp.Compare(a.run.TS, b.run.TS))
	})
	out := &Overlap{}
	for i := 1; i < len(all); i++ {
		p, s := &all[i-1], &all[i]
		if p.pid != s.pid {
			continue
		}
		switch {
		case s.seq <= p.seq:
			return nil, fmt.Errorf("launch order is not monotonic: predecessor=%d successor=%d", p.seq, s.seq)
		case s.bind.TS >= p.run.End() || s.bind.End() <= p.run.TS:
			return nil, fmt.Errorf("preparation did not overlap: sequence=%d prepare=[%d,%d] predecessor_device=[%d,%d]",
				s.seq, s.bind.TS, s.bind.End(), p.run.TS, p.run.End())
		case hidden && s.bind.End() > p.run.End():
			return nil, fmt.Errorf("preparation was not fully hidden: sequence=%d prepare_end=%d predecessor_device_end=%d", s.seq, s.bind.End(), p.run.End())
		case s.run.TS < p.release.TS:
			return nil, fmt.Errorf("device execution reordered before the claim release: sequence=%d device_start=%d predecessor_release=%d", s.seq, s.run.TS, p.release.TS)
		}
		out.Pairs = append(out.Pairs, Pair{p.pid, p.seq, s.seq})
	}
	if len(out.Pairs) == 0 {
		return nil, fmt.Errorf("need at least two complete native runs on one process lane")
	}
	return out, nil
}

// natives are the runs that have an identity.
func natives(runs []hostlog.Invocation) ([]native, error) {
	type key struct {
		pid   int
		names [5]uint64
	}
	var out []native
	seen := map[key]bool{}
	for i := range runs {
		v := &runs[i]
		if v.Root == nil {
			continue
		}
		var missing []string
		odd := false
		k := key{pid: v.PID}
		for n, name := range identity {
			value, ok := v.Root.Attr(name)
			if !ok {
				missing = append(missing, name)
				continue
			}
			whole := false
			k.names[n], whole = value.Uint()
			odd = odd || !whole
		}
		switch {
		case len(missing) == len(identity):
			continue
		case len(missing) > 0:
			return nil, fmt.Errorf("%s (pid=%d inv=%d) is missing identity field(s): %s", v.Root.Name, v.PID, v.Inv, strings.Join(missing, ", "))
		case odd:
			return nil, fmt.Errorf("%s has a non-integer identity", v.Root.Name)
		}
		seq := cmp.Or(k.names[1], k.names[2]) // the dispatch, or for a direct run the epoch
		if seq == 0 {
			continue
		}
		if seen[k] {
			return nil, fmt.Errorf("duplicate identity for pid=%d sequence=%d", v.PID, seq)
		}
		seen[k] = true
		n := native{pid: v.PID, seq: seq}
		for _, x := range []struct {
			name string
			span **hostlog.Span
		}{{"chip.run.bind", &n.bind}, {"chip.run.runner_run", &n.run}, {"chip.run.claim_release", &n.release}} {
			if *x.span = v.Named(x.name); *x.span == nil {
				missing = append(missing, x.name)
			}
		}
		if len(missing) > 0 {
			return nil, fmt.Errorf("sequence=%d is missing span(s): %s", seq, strings.Join(missing, ", "))
		}
		out = append(out, n)
	}
	return out, nil
}

// Text prints how many pairs there are.
func (o *Overlap) Text(to io.Writer) error {
	w := bufio.NewWriter(to)
	fmt.Fprintf(w, "Native overlap verified for %d adjacent dispatch pair(s).\n", len(o.Pairs))
	return w.Flush()
}
