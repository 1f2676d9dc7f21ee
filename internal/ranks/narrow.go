package ranks

import (
	"fmt"
	"slices"
	"strconv"
)

// clues are the windows that a capture can be of by what it and its sidecar say.
type clues struct {
	windows []int    // nil: nothing is known
	keys    []string // what was used to find them
	sure    bool     // a single window is the one
	lost    bool     // the log has no run that the sidecar can mean
}

// narrow keeps for each capture the windows that it can be of, and settles those
// that are left with one (spec/l3.md §8.2).
func (p *pairing) narrow() error {
	of := map[int]int{} // captures that have only this window
	found := make([]clues, len(p.subjects))
	for i := range p.subjects {
		s, c := &p.subjects[i], &found[i]
		if p.out[i].Window != nil {
			continue
		}
		var err error
		if *c, err = p.clues(s); err != nil {
			return err
		}
		if p.out[i].Lost = c.lost; c.windows == nil {
			continue
		}
		free := slices.DeleteFunc(c.windows, func(w int) bool { return p.taken[w] })
		if len(free) == 0 {
			what := "sidecar"
			if s.HostPID == 0 && s.Dispatch == nil {
				what = "run_epoch"
			}
			return fmt.Errorf("capture %d's %s names a Host invocation that a pinned pairing already claims; the pin and the capture disagree about which invocation ran it", s.Rank, what)
		}
		if p.wanted[i] = free; len(free) == 1 && c.sure {
			of[free[0]]++
		}
	}
	for i, free := range p.wanted {
		if len(free) != 1 || !found[i].sure {
			continue
		}
		if of[free[0]] > 1 {
			p.wanted[i] = nil
			continue
		}
		p.take(i, free[0], bySidecar)
		p.out[i].Keys = found[i].keys
	}
	return nil
}

// clues finds the windows that a capture can be of. What is looked at, the
// strongest first (spec/newest.md §10.3):
//
//  1. the process and the dispatch of the sidecar;
//  2. the process and the run_epoch of the records: a counter of the process, so it
//     says nothing of others, but a run of another epoch is never the one;
//  3. the process and the records on the host's clock, which lie inside chip.run.
//
// A run that was submitted directly has no identity in the log: any of the process
// can be the one of the sidecar. For captures that do not name their runtime only the
// sidecar counts, and what it does not find is left to the fit (spec/l3.md §8.2).
func (p *pairing) clues(s *Subject) (clues, error) {
	var c clues
	of := p.those(func(w *Window) bool { return s.HostPID == 0 || int64(w.PID) == s.HostPID })
	unnamed := of // can be meant although the log does not name them as the sidecar does
	if s.HostPID != 0 {
		c.keys = append(c.keys, "host_pid")
		c.windows, c.sure = of, true
	}
	if s.Dispatch != nil {
		unnamed = p.among(of, func(w *Window) bool { return w.Dispatch == nil })
		same := p.among(of, func(w *Window) bool { return w.Dispatch != nil && *w.Dispatch == *s.Dispatch })
		switch c.windows = same; {
		case len(same) > 0:
			c.keys, c.sure = append(c.keys, "dispatch"), true
		case s.HostPID != 0 && s.Runtime != "":
			c.windows = p.among(unnamed, func(w *Window) bool { return w.Direct })
		}
		c.lost = len(c.windows) == 0
	} else {
		c.lost = s.HostPID != 0 && len(of) == 0
	}
	if err := p.byEpoch(s, &c, of, unnamed); err != nil {
		return c, err
	}
	p.byHost(s, &c, unnamed)
	if len(c.windows) == 0 {
		c.windows = nil
	}
	return c, nil
}

// byEpoch keeps the windows of the run_epoch of the records. Logs that name none
// say nothing.
func (p *pairing) byEpoch(s *Subject, c *clues, of, unnamed []int) error {
	from := c.windows
	if len(from) == 0 {
		from = unnamed
	}
	var epochs []uint64
	for _, w := range of {
		if e := p.windows[w].Epoch; e != nil {
			epochs = append(epochs, *e)
		}
	}
	if s.Epoch == 0 || len(epochs) == 0 {
		return nil
	}
	kept := p.among(from, func(w *Window) bool { return w.Epoch != nil && *w.Epoch == s.Epoch })
	if len(kept) == 0 {
		return p.otherEpoch(s, c, of, epochs)
	}
	if len(kept) < len(from) || c.lost {
		c.keys = append(c.keys, "run_epoch")
	}
	c.windows = kept
	return nil
}

// otherEpoch says that the records are of no run in the log, or of another one than
// their sidecar.
func (p *pairing) otherEpoch(s *Subject, c *clues, of []int, epochs []uint64) error {
	const advice = "one of the two files is of another run. Pin the pairing with --rank-pid RANK=PID:INV if you know which."
	var runs []string
	if slices.Contains(c.keys, "dispatch") {
		for _, w := range c.windows {
			said := "no run_epoch"
			if e := p.windows[w].Epoch; e != nil {
				said = fmt.Sprintf("run_epoch %d", *e)
			}
			runs = append(runs, fmt.Sprintf("pid %d inv %d of %s", p.windows[w].PID, p.windows[w].Inv, said))
		}
		return fmt.Errorf("rank%d: the records are of run_epoch %d, but the run that the sidecar names is %s; %s", s.Rank, s.Epoch, some(runs), advice)
	}
	for _, w := range p.among(of, func(w *Window) bool { return w.Dispatch != nil && w.Epoch != nil && *w.Epoch == s.Epoch }) {
		runs = append(runs, fmt.Sprintf("pid %d inv %d of %v", p.windows[w].PID, p.windows[w].Inv, p.windows[w].Dispatch))
	}
	if len(runs) > 0 {
		return fmt.Errorf("rank%d: the records are of run_epoch %d, which is %s, but the sidecar names %v; %s", s.Rank, s.Epoch, some(runs), s.Dispatch, advice)
	}
	where := "of the Host logs"
	if s.HostPID != 0 {
		where = fmt.Sprintf("of pid %d", s.HostPID)
	}
	return fmt.Errorf("rank%d: the records are of run_epoch %d, and no run %s can be that one: they are of run_epoch %s. "+
		"Name the log of that run with --host-log, or pin the pairing with --rank-pid RANK=PID:INV.", s.Rank, s.Epoch, where, someEpochs(epochs))
}

// someEpochs lists epochs as far as one cares to read.
func someEpochs(epochs []uint64) string {
	slices.Sort(epochs)
	var said []string
	for _, e := range slices.Compact(epochs) {
		said = append(said, strconv.FormatUint(e, 10))
	}
	return some(said)
}

// maxSaid is how many of many things a message lists.
const maxSaid = 8

// byHost keeps what is left open of the runs that the records on the host's clock lie
// in. If that is one, it is the one.
func (p *pairing) byHost(s *Subject, c *clues, unnamed []int) {
	if s.HostPID == 0 || s.Runtime == "" || s.Host.Last == 0 || len(c.windows) == 1 {
		return
	}
	from := c.windows
	if len(from) == 0 {
		from = unnamed
	}
	in := p.among(from, func(w *Window) bool {
		return w.Run != nil && uint64(w.Run.Start) <= s.Host.First && s.Host.Last <= uint64(w.Run.Start+w.Run.Dur)
	})
	if len(in) == 0 {
		return
	}
	c.windows, c.keys = in, append(c.keys, "host_records")
}

// those are the windows that a rule is true of.
func (p *pairing) those(rule func(*Window) bool) (out []int) {
	for w := range p.windows {
		if rule(&p.windows[w]) {
			out = append(out, w)
		}
	}
	return out
}

// among are those of some windows that a rule is true of.
func (p *pairing) among(some []int, rule func(*Window) bool) (out []int) {
	for _, w := range some {
		if rule(&p.windows[w]) {
			out = append(out, w)
		}
	}
	return out
}
