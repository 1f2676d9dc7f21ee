package convert

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"swimlane/internal/ranks"
	"swimlane/timeline"
)

// rankFigures are what a merge says about a rank beside its picture. Times are ns
// on the axis of the picture.
type rankFigures struct {
	rank        int
	hidden      bool  // it is not drawn; only its last task and what bounds that is known
	start       int64 // the earliest at which the device can have begun
	device      int64 // how long it took
	slack       int64
	residual    int64
	tasks       bool  // it ran any
	first, last int64 // the first receive and the last end of a task
	busy        map[string]float64
}

// compared are the figures of all ranks, in their order.
func (m *merge) compared() []rankFigures {
	var out []rankFigures
	drawn := m.figures
	for _, r := range m.All {
		if len(drawn) > 0 && drawn[0].rank == r.Rank {
			out, drawn = append(out, drawn[0]), drawn[1:]
			continue
		}
		f := rankFigures{rank: r.Rank, hidden: true, slack: r.Placement.Slack(), residual: r.Placement.Residual()}
		f.last, f.tasks = m.LastEnd(r)
		out = append(out, f)
	}
	return out
}

// figuresOf finds the figures of a rank.
func figuresOf(p *ranks.Plan, m *ranks.Member, t *timeline.Timeline) rankFigures {
	f := rankFigures{rank: m.Rank, start: m.Placement.Low() - p.Origin, device: m.Placement.Length(), slack: m.Placement.Slack(), residual: m.Placement.Residual()}
	rows := &t.Rows
	work, cores := map[string]int64{}, map[string]int64{}
	for _, c := range t.Cores {
		cores[c.Type]++
	}
	for row := range rows.Core {
		received, ended := t.Clock.Ns(rows.Receive[row]), t.Clock.Ns(rows.End[row])
		if !f.tasks || received < f.first {
			f.first = received
		}
		if !f.tasks || ended > f.last {
			f.last = ended
		}
		f.tasks = true
		work[t.CoreOf(row).Type] += ended - t.Clock.Ns(rows.Start[row])
	}
	if f.last > f.first {
		f.busy = map[string]float64{}
		for kind, ns := range work {
			f.busy[kind] = float64(ns) / float64(cores[kind]*(f.last-f.first))
		}
	}
	return f
}

// rankScreen is how many ranks the console lists; -v lists all.
const rankScreen = 24

// rankTable says how the ranks compare, in µs. A rank waits from its last task to
// the last one of all; what could as well be the other way round, because the two
// ranks may lie that much closer together or farther apart, is undecided.
func rankTable(all []rankFigures, every bool) string {
	var latest *rankFigures
	for i := range all {
		if f := &all[i]; f.tasks && (latest == nil || f.last > latest.last) {
			latest = f
		}
	}
	shown := slices.DeleteFunc(slices.Clone(all), func(f rankFigures) bool { return f.hidden })
	kinds := map[string]bool{}
	for _, f := range shown {
		for kind := range f.busy {
			kinds[kind] = true
		}
	}
	columns := slices.Sorted(maps.Keys(kinds))
	var b strings.Builder
	fmt.Fprintf(&b, "\n  %-6s %12s %12s %12s %12s %12s %12s", "Rank", "Start(us)", "Device(us)", "Slack(us)", "Residual(us)", "First task", "Last task")
	for _, kind := range columns {
		fmt.Fprintf(&b, " %8s", strings.ToUpper(kind)+" busy")
	}
	fmt.Fprintf(&b, "  %s\n", "Wait(us)")
	us := func(ns int64) float64 { return float64(ns) / 1000 }
	more := 0
	if !every {
		more = max(0, len(shown)-rankScreen)
	}
	shown = shown[:len(shown)-more]
	for i := range shown {
		f := &shown[i]
		fmt.Fprintf(&b, "  %-6d %12.1f %12.1f %12.1f %12.1f", f.rank, us(f.start), us(f.device), us(f.slack), us(f.residual))
		if !f.tasks {
			fmt.Fprintf(&b, " %12s %12s\n", "-", "-")
			continue
		}
		fmt.Fprintf(&b, " %12.1f %12.1f", us(f.first), us(f.last))
		for _, kind := range columns {
			text := "-"
			if share, ok := f.busy[kind]; ok {
				text = fmt.Sprintf("%.1f%%", 100*share)
			}
			fmt.Fprintf(&b, " %8s", text)
		}
		wait, doubt := latest.last-f.last, ""
		if f.rank != latest.rank && wait < f.slack+latest.slack+(f.residual+latest.residual)/2 {
			doubt = " undecided"
		}
		fmt.Fprintf(&b, "  %.1f%s\n", us(wait), doubt)
	}
	if more > 0 {
		fmt.Fprintf(&b, "  … and %d more; -v lists all\n", more)
	}
	if latest != nil && latest.hidden {
		fmt.Fprintf(&b, "  Waits end with the last task of rank %d, which is not drawn: %.1f us\n", latest.rank, us(latest.last))
	}
	return b.String()
}
