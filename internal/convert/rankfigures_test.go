package convert

import (
	"strings"
	"testing"

	"swimlane/internal/ranks"
)

// TestRankTable: what two ranks may be off together decides whether one waits; half of each residual counts.
func TestRankTable(t *testing.T) {
	all := []rankFigures{
		{rank: 0, start: 3000, device: 2000, slack: 6000, residual: 50, tasks: true, first: 3925, last: 4000, busy: map[string]float64{"aic": 0.5}},
		{rank: 1, start: 13000, device: 2000, slack: 6000, tasks: true, first: 13925, last: 16024, busy: map[string]float64{"aiv": 1}},
		{rank: 5, start: 13000, device: 2000, slack: 6000, tasks: true, first: 13925, last: 16025, busy: map[string]float64{"aiv": 0.25}},
		{rank: 6, start: 3000, device: 2000, slack: 6000, residual: 52, tasks: true, first: 3925, last: 4000, busy: map[string]float64{"aic": 0.5}},
		{rank: 7, start: 1000, device: 10, slack: 1},
	}
	want := `
  Rank      Start(us)   Device(us)    Slack(us) Residual(us)   First task    Last task AIC busy AIV busy  Wait(us)
  0               3.0          2.0          6.0          0.1          3.9          4.0    50.0%        -  12.0
  1              13.0          2.0          6.0          0.0         13.9         16.0        -   100.0%  0.0 undecided
  5              13.0          2.0          6.0          0.0         13.9         16.0        -    25.0%  0.0
  6               3.0          2.0          6.0          0.1          3.9          4.0    50.0%        -  12.0 undecided
  7               1.0          0.0          0.0          0.0            -            -
`
	if got := rankTable(all, false); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	many := make([]rankFigures, 40)
	if got := rankTable(many, false); !strings.HasSuffix(got, "  … and 16 more; -v lists all\n") || strings.Count(got, "\n") != 27 {
		t.Errorf("got\n%s", got)
	}
	if got := rankTable(many, true); strings.Count(got, "\n") != 42 {
		t.Errorf("got\n%s", got)
	}
}

// TestBound: half of each residual comes on top of the slacks, where that can be seen.
func TestBound(t *testing.T) {
	member := func(runner, wall int64, ran uint64) *ranks.Member {
		// Nothing but the wall says where the records lie in it: the residual is what they leave of it.
		at, err := ranks.Place(&ranks.Window{Start: 1000, Dur: runner, Wall: wall}, &ranks.Extent{Rate: 1e9, All: ranks.Bounds{First: 5, Last: 5 + ran}})
		if err != nil {
			t.Fatal(err)
		}
		return &ranks.Member{Placement: at}
	}
	const window = " us of its chip.run.runner_run window"
	for _, c := range []struct {
		all  []*ranks.Member
		want string
	}{
		{[]*ranks.Member{member(8000, 2000, 2000)}, "each Rank placed within 6.0" + window},
		{[]*ranks.Member{member(8000, 2000, 1950), member(8000, 2000, 1950)}, "each Rank placed within 6.0" + window + "; a cross-Rank gap under 12.0 us is undecided"},
		{[]*ranks.Member{member(8000, 2000, 1000)}, "each Rank placed within 6.0" + window + "; records lie up to 0.5 us (half of the residual) beside that"},
		{[]*ranks.Member{member(8000, 2000, 1000), member(10000, 4000, 1000), member(2100, 2000, 2000)},
			"each Rank placed within 0.1–6.0" + window + "; a cross-Rank gap under 12.0 us is undecided; " +
				"of records, which lie up to 0.0–1.5 us (half of the residual) beside that, one under 14.0 us"},
	} {
		if got := bound(c.all); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}
