package ranks

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"
)

// Subject is a capture that a window is wanted for.
type Subject struct {
	Rank     int
	Extent   Extent
	HostPID  int64     // 0 if it is not stated
	Dispatch *Dispatch // nil if there is no sidecar
	Epoch    uint64    // run_epoch of its records, 0 if they name none
	Host     Bounds    // of what it has on the host's clock, in ns
	Runtime  string    // "" if it names none
}

// How a window was found.
const (
	byPin     = "pinned"
	bySidecar = "capture_sidecar"
	byFit     = "device_window_fit"
)

// Pair is what was found for a capture.
type Pair struct {
	Window *Window
	Source string
	Keys   []string // what settled it beside pins and fit
	Excess float64  // ns of the window that the capture does not fill; only by fit
	Margin float64  // ns by which the next best assignment is worse, +Inf if there is none
	Lost   bool     // the sidecar names a run that is not in the log
}

// How says how the window was found.
func (p *Pair) How() string {
	if p.Source == bySidecar {
		return p.Source + ": " + strings.Join(p.Keys, ", ")
	}
	return p.Source
}

// pairing is the state of Match.
type pairing struct {
	windows  []Window
	subjects []Subject
	out      []Pair
	taken    []bool  // windows that are pinned or settled
	wanted   [][]int // windows that the capture can be of, nil if all are possible
}

// maxAssignments is how many ways of matching are scored.
const maxAssignments = 200000

// Match finds the window of each capture, by ascending rank (spec/l3.md §8).
func Match(windows []Window, subjects []Subject, pins map[int]Pin) ([]Pair, error) {
	if len(windows) < len(subjects) {
		return nil, fmt.Errorf("%d captures but only %d Host invocations to place them in", len(subjects), len(windows))
	}
	p := &pairing{windows: windows, subjects: subjects, out: make([]Pair, len(subjects)),
		taken: make([]bool, len(windows)), wanted: make([][]int, len(subjects))}
	for _, step := range []func() error{
		func() error { return p.pin(pins) }, p.narrow, p.fit,
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return p.out, nil
}

// pin gives captures the windows that the user named (spec/l3.md §8.1).
func (p *pairing) pin(pins map[int]Pin) error {
	at := map[int]int{}
	for i := range p.subjects {
		at[p.subjects[i].Rank] = i
	}
	var strangers []int
	for _, rank := range slices.Sorted(maps.Keys(pins)) {
		if _, ok := at[rank]; !ok {
			strangers = append(strangers, rank)
		}
	}
	if len(strangers) > 0 {
		return fmt.Errorf("pinned pairing names a capture that is not being merged: %s", list(strangers))
	}
	for _, rank := range slices.Sorted(maps.Keys(pins)) {
		w, err := p.pinned(rank, pins[rank])
		if err != nil {
			return err
		}
		if p.taken[w] {
			return errors.New("pinned pairing sends two captures to one Host invocation")
		}
		p.take(at[rank], w, byPin)
	}
	return nil
}

func (p *pairing) pinned(rank int, pin Pin) (int, error) {
	var of []int
	var invs []string
	for i := range p.windows {
		if p.windows[i].PID != pin.PID {
			continue
		}
		if pin.HasInv && p.windows[i].Inv == pin.Inv {
			return i, nil
		}
		of = append(of, i)
		invs = append(invs, fmt.Sprint(p.windows[i].Inv))
	}
	switch {
	case pin.HasInv:
		return 0, fmt.Errorf("pinned pairing %d=%d:%d names an invocation with no placeable chip.run.runner_run window in the Host logs", rank, pin.PID, pin.Inv)
	case len(of) == 1:
		return of[0], nil
	case len(of) == 0:
		invs = []string{"none"}
	}
	return 0, fmt.Errorf("pinned pairing %d=%d names a pid with %d placeable invocations (inv %s); name the invocation too, as %d=%d:INV",
		rank, pin.PID, len(of), strings.Join(invs, ", "), rank, pin.PID)
}

func (p *pairing) take(subject, window int, source string) {
	p.taken[window] = true
	p.out[subject] = Pair{Window: &p.windows[window], Source: source, Margin: math.Inf(1)}
}

// misfit is how many ns of a window a capture does not fill, +Inf if it does not
// fit at all (spec/l3.md §8.3).
func misfit(w *Window, e *Extent) float64 {
	sum, matched := 0.0, false
	for _, name := range streams {
		b := e.stream(name)
		phase, ok := w.Phases[name]
		if !ok || b.Last == 0 {
			continue
		}
		matched = true
		d := float64(phase.Dur) - e.length(b)
		if d < 0 {
			return math.Inf(1)
		}
		sum += d
	}
	if matched {
		return sum
	}
	if d := float64(w.Wall) - e.length(e.All); d >= 0 {
		return d
	}
	return math.Inf(1)
}

// fit assigns the rest as a whole, where the windows are filled best.
func (p *pairing) fit() error {
	var open []int // captures without a window
	inUse := make([]bool, len(p.windows))
	for i := range p.out {
		if p.out[i].Window != nil {
			continue
		}
		open = append(open, i)
		for w := range p.windows {
			inUse[w] = inUse[w] || !p.taken[w] && (p.wanted[i] == nil || slices.Contains(p.wanted[i], w))
		}
	}
	if len(open) == 0 {
		return nil
	}
	var free []int
	for w, in := range inUse {
		if in {
			free = append(free, w)
		}
	}
	if ways := permutations(len(free), len(open)); ways.Cmp(big.NewInt(maxAssignments)) > 0 {
		return openError(fmt.Sprintf("%d capture(s) carry no dispatch_identity.json and the Host logs hold %d candidate chip.run.runner_run windows, which is %d ways of matching them — too many to score. "+
			"Re-run so the captures carry the sidecar, narrow the logs with --host-log, or pin the pairing with --rank-pid RANK=PID:INV.",
			len(open), len(free), ways))
	}
	costs, widths := p.costs(open, free)
	s := newSearch(costs, len(free))
	s.from(0, 0)
	switch {
	case math.IsInf(s.best, 1):
		return p.misfits(open, free, widths)
	case s.next <= max(4*s.best, s.best):
		return p.ambiguous(s)
	}
	for k, i := range open {
		lost := p.out[i].Lost
		p.take(i, free[s.chosen[k]], byFit)
		p.out[i].Excess, p.out[i].Lost = costs[k][s.chosen[k]], lost
	}
	for i := range p.out {
		p.out[i].Margin = s.next - s.best
	}
	return nil
}

// named reports whether the captures name their runtime, as today's do.
func (p *pairing) named() bool {
	return slices.ContainsFunc(p.subjects, func(s Subject) bool { return s.Runtime != "" })
}

// costs are those of giving each capture each of the free windows: by the width of
// what the window has room for, and for captures that name their runtime in the first
// result infinite where the capture could not be placed (spec/newest.md §10.1). Older
// captures that fit a window nowhere still count as its rivals (spec/l3.md §8.3).
func (p *pairing) costs(open, free []int) (costs, widths [][]float64) {
	for _, i := range open {
		cost, width := make([]float64, len(free)), make([]float64, len(free))
		for n, w := range free {
			width[n] = math.Inf(1)
			if p.wanted[i] == nil || slices.Contains(p.wanted[i], w) {
				width[n] = misfit(&p.windows[w], &p.subjects[i].Extent)
			}
			if cost[n] = width[n]; p.named() && !math.IsInf(cost[n], 1) {
				if _, err := Place(&p.windows[w], &p.subjects[i].Extent); err != nil {
					cost[n] = math.Inf(1)
				}
			}
		}
		costs, widths = append(costs, cost), append(widths, width)
	}
	return costs, widths
}

// misfits says why no assignment is possible. Where the widths of the windows leave
// one choice, the reason is what is wrong with the places in it.
func (p *pairing) misfits(open, free []int, widths [][]float64) error {
	s := newSearch(widths, len(free))
	s.from(0, 0)
	if !math.IsInf(s.best, 1) && s.next > max(4*s.best, s.best) {
		for k, i := range open {
			if _, err := Place(&p.windows[free[s.chosen[k]]], &p.subjects[i].Extent); err != nil {
				return err
			}
		}
	}
	return errors.New("no way of matching these captures to the Host log's invocations puts every capture inside a window wide enough to hold it; " +
		"the log and the captures are probably from different runs")
}

// ambiguous says that two assignments are equally good, in the words of the
// captures' time (spec/l3.md §8.3, spec/newest.md §10.1).
func (p *pairing) ambiguous(s *search) error {
	why := "Ranks running the same shape leave nothing in the timing that names the other, so re-run"
	if p.named() {
		why = "Repeated runs or Ranks with the same shape leave nothing in the timing that names the other. Re-run"
	}
	return openError(fmt.Sprintf("the captures pair ambiguously with the Host log's invocations: the best match is off by %.1f us of window and the next by %.1f us, which is too close to tell apart. "+
		"%s so the captures carry dispatch_identity.json with its host_pid, or pin the pairing explicitly (--rank-pid RANK=PID:INV).", s.best/1000, s.next/1000, why))
}

// openError says that the user has to choose the runs.
type openError string

func (e openError) Error() string { return string(e) }

// runsOf lists the runs that can be chosen, by process. Windows are in that order.
func runsOf(windows []Window) string {
	var out []string
	for len(windows) > 0 {
		pid := windows[0].PID
		var invs []uint64
		for len(windows) > 0 && windows[0].PID == pid {
			invs, windows = append(invs, windows[0].Inv), windows[1:]
		}
		out = append(out, fmt.Sprintf("pid %d (inv %s)", pid, some(pieces(invs))))
	}
	return some(out)
}

// finite reports whether there is such a margin.
func finite(margin float64) bool { return !math.IsInf(margin, 1) }

// permutations is in how many ways k things can be given one of n places each.
func permutations(n, k int) *big.Int {
	if k > n {
		return new(big.Int)
	}
	return new(big.Int).MulRange(int64(n-k+1), int64(n))
}

// search walks all assignments and keeps the costs of the two cheapest.
type search struct {
	cost       [][]float64 // of capture and window
	used       []bool
	now        []int
	chosen     []int
	best, next float64
}

// newSearch searches the windows for the captures of a cost.
func newSearch(cost [][]float64, windows int) *search {
	return &search{cost: cost, used: make([]bool, windows), now: make([]int, len(cost)), best: math.Inf(1), next: math.Inf(1)}
}

func (s *search) from(k int, sum float64) {
	if sum >= s.next { // costs are not negative
		return
	}
	if k == len(s.cost) {
		if sum < s.best {
			s.best, s.next = sum, s.best
			s.chosen = slices.Clone(s.now)
		} else {
			s.next = sum
		}
		return
	}
	for w, c := range s.cost[k] {
		if s.used[w] || math.IsInf(c, 1) {
			continue
		}
		s.used[w], s.now[k] = true, w
		s.from(k+1, sum+c)
		s.used[w] = false
	}
}
