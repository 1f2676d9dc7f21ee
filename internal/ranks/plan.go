package ranks

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"swimlane/capture"
	"swimlane/internal/hostlog"
	"swimlane/timeline"
	"swimlane/trace"
)

// Options steer a merge beside the choice of captures.
type Options struct {
	HostLogs []string // read instead of those of the tree
	Pins     []string // RANK=PID[:INV]
	// Reading, if it is set, is called whenever logs are read, which happens several
	// times with large ones. What it returns, unless it is nil, is told how many
	// bytes have been read.
	Reading func(logs []string) (progress func(bytes int64))

	most int64 // see logReader; 0: mostHeld
}

// Member is a capture that is merged, with all that was found out about it.
type Member struct {
	Capture
	Extent    Extent
	Pair      Pair
	Placement *Placement

	runtime  string          // that made its task ids, "" if the capture does not say
	whole    bool            // nothing is missing of the capture
	lastEnd  uint64          // of its tasks, in cycles, 0 if it has none
	domain   string          // of the host's clock, "" if the capture does not say
	epochs   []uint64        // run_epoch of its records, as far as they name one
	host     Bounds          // of what the capture itself has on the host's clock, in ns
	noExtent error           // why it has no extent: told only when one is needed
	spans    []*hostlog.Span // host spans of its run
	view     []trace.Field   // of its own picture's metadata
}

// Plan is a merge whose captures are paired and placed.
type Plan struct {
	*Choice
	All      []*Member // by ascending rank
	Members  []*Member // those that are drawn: all of them unless Only has left out some
	Logs     []string
	Warnings []string
	// Origin is the host time that the picture starts at, in ns.
	Origin int64

	layout      layout
	dispatchers []dispatcher
	domain      string
	runtime     string
	slices      int64 // numbers that are in use
	flows       int64
}

// Plan pairs and places the captures. It reads all of them, one after another, and
// keeps none. With an error it returns what it has so far: the warnings often say
// why.
func (c *Choice) Plan(opt Options, read func(records string) (*capture.Records, error)) (*Plan, error) {
	p := &Plan{Choice: c}
	for _, x := range c.Captures {
		m, err := measure(x, read)
		if err != nil {
			return p, err
		}
		p.All = append(p.All, m)
	}
	p.Members = p.All
	if err := p.checkDomains(); err != nil {
		return p, err
	}
	if err := p.checkRuntimes(); err != nil {
		return p, err
	}
	var err error
	if p.Logs, err = p.findLogs(opt.HostLogs); err != nil {
		return p, err
	}
	logs := logReader{paths: p.Logs, most: cmp.Or(opt.most, mostHeld), begin: opt.Reading}
	if err := logs.read(); err != nil {
		return p, err
	}
	for _, w := range logs.Warnings() {
		if w.Code == "spans-incomplete" || w.Code == "records-dropped" || w.Code == "log-changed" { // spec/l3.md §12 D13
			p.Warnings = append(p.Warnings, w.Text)
		}
	}
	pins, err := parsePins(opt.Pins)
	if err != nil {
		return p, err
	}
	windows, err := logs.windows()
	if err != nil {
		return p, err
	}
	if err := p.place(windows, pins); err != nil {
		return p, err
	}
	spans, err := logs.around(p.Members)
	if err != nil {
		return p, err
	}
	return p, p.setAxis(spans)
}

// measure reads a capture for what pairing and placement ask of it.
func measure(c Capture, read func(string) (*capture.Records, error)) (*Member, error) {
	rec, err := read(c.Records)
	if err != nil {
		return nil, err
	}
	m := &Member{Capture: c, runtime: rec.Meta.Runtime, whole: timeline.Whole(rec), domain: rec.Meta.ClockDomain, host: hostBounds(rec), epochs: epochsOf(rec)}
	if len(rec.Tasks.End) > 0 {
		m.lastEnd = slices.Max(rec.Tasks.End)
	}
	m.Extent, m.noExtent = ExtentOf(rec)
	return m, nil
}

// hostBounds are the bounds of what a capture has on the host's clock, in ns.
func hostBounds(rec *capture.Records) (b Bounds) {
	for i := range rec.HostOrc {
		for j := range rec.HostOrc[i].Start {
			b.add(rec.HostOrc[i].Start[j])
			b.add(rec.HostOrc[i].End[j])
		}
	}
	for i := range rec.Uploads {
		b.add(rec.Uploads[i].Start)
		b.add(rec.Uploads[i].End)
	}
	return b
}

// epochsOf are the runs that a capture says it is of: a retained one for itself,
// others by their records. Launches of kernels are no runs.
func epochsOf(rec *capture.Records) (out []uint64) {
	if kept := rec.Meta.Collection; kept != nil && kept.RunEpoch.Set && kept.RunEpoch.V >= 0 {
		out = append(out, uint64(kept.RunEpoch.V))
	}
	origin := rec.Meta.Origin
	if rec.Launches == nil && (origin == nil || !origin.Assumed) {
		for _, r := range rec.Runs {
			if r.Known {
				out = append(out, r.Epoch)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// checkDomains refuses captures of different hosts (spec/l3.md §5).
func (p *Plan) checkDomains() error {
	var domains []string
	for _, m := range p.Members {
		if m.domain == "" {
			p.Warnings = append(p.Warnings, fmt.Sprintf("rank%d predates metadata.host_clock_domain_id (%s); the merge assumes every Rank ran against one Host clock", m.Rank, m.Records))
			continue
		}
		domains = append(domains, m.domain)
	}
	slices.Sort(domains)
	if domains = slices.Compact(domains); len(domains) > 1 {
		return fmt.Errorf("Rank inputs come from different Host clocks (%s), so their windows are not comparable. Placing them on one axis needs the window of the level that dispatched to both — the cross-host splice is not implemented.", //lint:ignore ST1005 the words of spec/l3.md §5
			quoted(domains))
	}
	if len(domains) == 1 {
		p.domain = domains[0]
	}
	return nil
}

// checkRuntimes refuses captures whose task ids do not mean the same (spec/newest.md §10.2).
func (p *Plan) checkRuntimes() error {
	var names []string
	for _, m := range p.Members {
		name := m.runtime
		if name == "" {
			name = "none"
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if len(names) > 1 {
		return fmt.Errorf("Ranks of this run name different runtimes (%s); one merged trace carries one TaskId layout, so these captures cannot be spliced together.", //lint:ignore ST1005 the words of spec/newest.md §10.2
			strings.Join(names, ", "))
	}
	p.runtime = p.Members[0].runtime
	return nil
}

// subject is what pairing asks of a member.
func (m *Member) subject() (Subject, error) {
	s := Subject{Rank: m.Rank, Extent: m.Extent, Host: m.host, Runtime: m.runtime}
	if m.noExtent != nil {
		return s, fmt.Errorf("%w: %s", m.noExtent, m.Records)
	}
	if id := m.Identity; id != nil {
		s.HostPID, s.Dispatch = id.HostPID, &id.Dispatch
	}
	switch n := len(m.epochs); {
	case n > 1:
		return s, fmt.Errorf("the capture is of %d runs (run_epoch %s), and a merge places one run of each rank; capture the runs one by one: %s", n, someEpochs(m.epochs), m.Records)
	case n == 1:
		s.Epoch = m.epochs[0] // real runs count from 1: 0 names none
	}
	return s, nil
}

// place pairs the captures with windows and finds their places in them.
func (p *Plan) place(windows []Window, pins map[int]Pin) error {
	subjects := make([]Subject, len(p.Members))
	for i, m := range p.Members {
		var err error
		if subjects[i], err = m.subject(); err != nil {
			return err
		}
	}
	pairs, err := Match(windows, subjects, pins)
	var open openError
	switch {
	case errors.As(err, &open):
		return fmt.Errorf("%w The runs in the Host logs: %s.", err, runsOf(windows)) //lint:ignore ST1005 goes on behind the words of spec/l3.md §8.3
	case err != nil:
		return err
	}
	for i, m := range p.Members {
		m.Pair = pairs[i]
		if m.Pair.Lost {
			p.Warnings = append(p.Warnings, fmt.Sprintf("rank%d: sidecar identity matches no logged invocation; falling back to window fit", m.Rank))
		}
		if m.Placement, err = Place(m.Pair.Window, &m.Extent); err != nil {
			return err
		}
	}
	p.warnResidual()
	return nil
}

// loose: half of a residual is worth a warning above this part of the slack.
const loose = 10

// warnResidual says where the slack is not nearly the whole bound of records, as it is
// not where the log has no phases to hold them against (spec/l3.md §12 D8).
func (p *Plan) warnResidual() {
	var of []int
	var most int64
	for _, m := range p.All {
		if half := (m.Placement.Residual() + 1) / 2; half > m.Placement.Slack()/loose {
			of, most = append(of, m.Rank), max(most, half)
		}
	}
	what := "rank"
	if len(of) > 1 {
		what = "ranks "
	}
	if most > 0 {
		p.Warnings = append(p.Warnings, fmt.Sprintf("%s%s: the slack is not the whole bound: records may lie up to %.1f us (half of residual_ns) before or behind it; "+
			"the log has little to hold them against", what, ranges(of), float64(most)/1000))
	}
}

// Axis is where the capture of a member lies on the axis of the picture. rec is the
// capture, read again: it must be what it was.
func (p *Plan) Axis(m *Member, rec *capture.Records) (*timeline.Placement, error) {
	now, err := ExtentOf(rec)
	if err != nil || now != m.Extent {
		return nil, fmt.Errorf("%s changed between two readings; it is still being written: convert when it is complete", m.Records)
	}
	return p.axis(m), nil
}

func (p *Plan) axis(m *Member) *timeline.Placement {
	first := m.Extent.All.First
	return &timeline.Placement{Cycles: first, Ns: m.Placement.Device(first) - p.Origin, Origin: uint64(p.Origin)}
}

// LastEnd is when the last task of a rank ended, in ns on the axis of the picture,
// drawn or not. There is no such time if it ran none.
func (p *Plan) LastEnd(m *Member) (ns int64, ok bool) {
	return m.Extent.Rate.At(p.axis(m), m.lastEnd), m.lastEnd > 0
}

// Only leaves out all ranks but those of a list as 0,3-5. Places, times and what is
// said of the merge as a whole stay as they are in the whole picture.
func (p *Plan) Only(text string) error {
	if err := p.HasRanks(text); err != nil {
		return err
	}
	want, err := parseRanks(text)
	if err != nil {
		return err
	}
	p.Members = slices.DeleteFunc(slices.Clone(p.All), func(m *Member) bool {
		return !slices.ContainsFunc(want, func(r [2]int) bool { return r[0] <= m.Rank && m.Rank <= r[1] })
	})
	return nil
}

// HasRanks refuses a list for Only that names a rank which is not merged.
func (c *Choice) HasRanks(text string) error {
	want, err := parseRanks(text)
	if err != nil {
		return err
	}
	var all []int
	for _, x := range c.Captures {
		all = append(all, x.Rank)
	}
	for _, r := range want {
		if slices.ContainsFunc(all, func(rank int) bool { return r[0] <= rank && rank <= r[1] }) {
			continue
		}
		what := fmt.Sprintf("rank %d is not", r[0])
		if r[0] != r[1] {
			what = fmt.Sprintf("none of the ranks %d to %d is", r[0], r[1])
		}
		has := "which has ranks "
		if len(all) == 1 {
			has = "which has rank "
		}
		return fmt.Errorf("--rank %s: %s in the merge, %s%s", text, what, has, ranges(all))
	}
	return nil
}

// ranges writes ascending numbers as 0, 1, 4-9.
func ranges(all []int) string { return strings.Join(pieces(all), ", ") }

// pieces are the numbers and ranges of ascending numbers.
func pieces[T int | uint64](all []T) (out []string) {
	for i := 0; i < len(all); {
		n := 1
		for i+n < len(all) && all[i+n] == all[i]+T(n) {
			n++
		}
		if n < 3 {
			n = 1
			out = append(out, fmt.Sprint(all[i]))
		} else {
			out = append(out, fmt.Sprintf("%d-%d", all[i], all[i+n-1]))
		}
		i += n
	}
	return out
}

// CheckList refuses a list of ranks that Only cannot read.
func CheckList(text string) error {
	_, err := parseRanks(text)
	return err
}

var errRankList = errors.New("expected numbers and ranges of ranks, as 0,3-5")

// parseRanks reads 0,3-5.
func parseRanks(text string) (out [][2]int, err error) {
	for item := range strings.SplitSeq(text, ",") {
		from, to, ok := strings.Cut(item, "-")
		if !ok {
			to = from
		}
		a, okFrom := decimal(from)
		b, okTo := decimal(to)
		if !okFrom || !okTo || a > b || b > maxRank {
			return nil, fmt.Errorf("invalid --rank %q: %w", text, errRankList)
		}
		out = append(out, [2]int{int(a), int(b)})
	}
	return out, nil
}
