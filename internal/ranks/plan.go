package ranks

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
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
}

// Member is a capture that is merged, with all that was found out about it.
type Member struct {
	Capture
	Extent    Extent
	Pair      Pair
	Placement *Placement

	whole     bool            // nothing is missing of the capture
	lastEnd   uint64          // of its tasks, in cycles, 0 if it has none
	domain    string          // of the host's clock, "" if the capture does not say
	firstHost int64           // earliest host time of the capture itself, 0 if it has none
	spans     []*hostlog.Span // host spans of its run
	view      []trace.Field   // of its own picture's metadata
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
	var err error
	if p.Logs, err = findLogs(c.Root, opt.HostLogs); err != nil {
		return p, err
	}
	rec, err := hostlog.ReadAll(nil, p.Logs...)
	if err != nil {
		return p, err
	}
	for _, w := range rec.Warnings() {
		if w.Code == "spans-incomplete" || w.Code == "records-dropped" || w.Code == "log-changed" { // spec/l3.md §12 D13
			p.Warnings = append(p.Warnings, w.Text)
		}
	}
	pins, err := parsePins(opt.Pins)
	if err != nil {
		return p, err
	}
	windows, err := Windows(rec.Spans)
	if err != nil {
		return p, err
	}
	if err := p.place(windows, pins); err != nil {
		return p, err
	}
	return p, p.setAxis(rec.Spans)
}

// measure reads a capture for what placement asks of it.
func measure(c Capture, read func(string) (*capture.Records, error)) (*Member, error) {
	rec, err := read(c.Records)
	if err != nil {
		return nil, err
	}
	m := &Member{Capture: c, domain: rec.Meta.ClockDomain, firstHost: firstHost(rec), whole: timeline.Whole(rec)}
	if len(rec.Tasks.End) > 0 {
		m.lastEnd = slices.Max(rec.Tasks.End)
	}
	if m.Extent, err = ExtentOf(rec); err != nil {
		return nil, fmt.Errorf("%w: %s", err, c.Records)
	}
	return m, nil
}

// firstHost is the earliest time of what a capture has on the host's clock, 0 if it has none.
func firstHost(rec *capture.Records) int64 {
	var first uint64
	at := func(ns uint64) {
		if ns > 0 && (first == 0 || ns < first) {
			first = ns
		}
	}
	for i := range rec.HostOrc {
		for _, ns := range rec.HostOrc[i].Start {
			at(ns)
		}
	}
	for i := range rec.Uploads {
		at(rec.Uploads[i].Start)
	}
	return int64(first)
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

// place pairs the captures with windows and finds their places in them.
func (p *Plan) place(windows []Window, pins map[int]Pin) error {
	subjects := make([]Subject, len(p.Members))
	for i, m := range p.Members {
		subjects[i] = Subject{Rank: m.Rank, Extent: m.Extent}
		if id := m.Identity; id != nil {
			subjects[i].HostPID, subjects[i].Dispatch = id.HostPID, &id.Dispatch
		}
	}
	pairs, err := Match(windows, subjects, pins)
	if err != nil {
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
	return nil
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
func ranges(all []int) string {
	var out []string
	for i := 0; i < len(all); {
		n := 1
		for i+n < len(all) && all[i+n] == all[i]+n {
			n++
		}
		if n < 3 {
			n = 1
			out = append(out, strconv.Itoa(all[i]))
		} else {
			out = append(out, fmt.Sprintf("%d-%d", all[i], all[i+n-1]))
		}
		i += n
	}
	return strings.Join(out, ", ")
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
