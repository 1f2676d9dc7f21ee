package ranks

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"swimlane/capture"
)

// planned is a tree of two ranks that fit their windows in one way only, and what
// reads their captures: of domains, and with an early host record of rank 0 if that is not 0.
func planned(t *testing.T, domains [2]string, early uint64) (*Choice, func(string) (*capture.Records, error)) {
	t.Helper()
	root := grow(t, member{0, 0, [3]int{}}, member{1, 0, [3]int{}})
	for r := range 2 {
		put(t, filepath.Join(root, fmt.Sprintf("host.%d.log", 10+r)), fmt.Sprintf(
			"[STRACE] v=1 pid=%d tid=1 inv=1 hid=0 depth=1 name=chip.run.runner_run ts=%d dur=8000\n"+
				"[STRACE] v=1 pid=%[1]d tid=1 inv=1 hid=0 depth=2 name=chip.run.runner_run.device_wall ts=0 dur=%[3]d clk=dev\n[STRACE] v=1 pid=torn\n",
			10+r, 1000+10000*r, 2000+4000*r))
	}
	c, err := Choose(root, "d0", "")
	if err != nil {
		t.Fatal(err)
	}
	return c, func(path string) (*capture.Records, error) {
		rank := int(filepath.Base(filepath.Dir(filepath.Dir(path)))[4] - '0')
		rec := &capture.Records{Meta: capture.Metadata{ClockHz: gigahertz, ClockDomain: domains[rank]},
			Sched: capture.SchedRows{Dispatch: []uint64{100}, Finish: []uint64{2000 + 4000*uint64(rank)}}}
		if rank == 0 && early > 0 {
			rec.HostOrc = []capture.Submits{{Start: []uint64{early}, End: []uint64{early + 5}}}
		}
		return rec, nil
	}
}

// TestDomains is spec/l3.md §5.
func TestDomains(t *testing.T) {
	c, read := planned(t, [2]string{"boot-a", "boot-b"}, 0)
	want := "Rank inputs come from different Host clocks (['boot-a', 'boot-b']), so their windows are not comparable. "
	if _, err := c.Plan(Options{}, read); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	c, read = planned(t, [2]string{"", "boot-b"}, 0)
	p, err := c.Plan(Options{}, read)
	if err != nil || p.domain != "boot-b" || len(p.Warnings) != 2 ||
		p.Warnings[0] != "rank0 predates metadata.host_clock_domain_id ("+c.Captures[0].Records+"); the merge assumes every Rank ran against one Host clock" ||
		!strings.HasPrefix(p.Warnings[1], "2 of 6 [STRACE] records are incomplete") {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestOrigin: the picture begins with the first thing that is drawn, and the
// captures lie behind it as their windows do.
func TestOrigin(t *testing.T) {
	for early, origin := range map[uint64]int64{0: 1000, 5000: 1000, 400: 400} {
		c, read := planned(t, [2]string{"a", "a"}, early)
		p, err := c.Plan(Options{}, read)
		if err != nil || p.Origin != origin {
			t.Errorf("an early record at %d: origin %+v, want %d: %v", early, p, origin, err)
			continue
		}
		for i, m := range p.Members {
			rec, _ := read(m.Records)
			at, err := p.Axis(m, rec)
			// The records are as long as the wall but for 100 cycles, and in its middle.
			if want := int64(1000+10000*i) + 50 - origin; err != nil || at.Cycles != 100 || at.Ns != want || at.Origin != uint64(origin) {
				t.Errorf("rank %d: %+v, %v, want %d", i, at, err, want)
			}
			rec.Sched.Finish[0]++
			if _, err := p.Axis(m, rec); err == nil || !strings.Contains(err.Error(), "changed between two readings") {
				t.Errorf("another capture: %v", err)
			}
		}
	}
}

// TestOnly: what is left out changes nothing else.
func TestOnly(t *testing.T) {
	c, read := planned(t, [2]string{"a", "a"}, 0)
	p, err := c.Plan(Options{}, read)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Only("0,3-5"); err == nil || err.Error() != "--rank 0,3-5: none of the ranks 3 to 5 is in the merge, which has ranks 0, 1" {
		t.Error(err)
	}
	if err := p.Only("1"); err != nil || len(p.Members) != 1 || p.Members[0].Rank != 1 || p.Origin != 1000 || p.layout != layoutOf(0, 1) {
		t.Errorf("%+v, %v", p, err)
	}
	var keys []string
	for _, f := range p.Metadata() {
		keys = append(keys, f.Key)
		// Of a window of 8000 the one rank fills 2000 and the other 6000.
		want, ok := map[string]string{"rank_count": "2", "cross_rank_uncertainty_ns": "8000", "trace_status": `"complete"`, "selection": `{"ranks":[1]}`}[f.Key]
		if ok && string(f.JSON) != want {
			t.Errorf("%s is %s, want %s", f.Key, f.JSON, want)
		}
	}
	want := []string{"layout", "dispatch", "dispatch_id", "host_clock_domain_id", "host_logs", "global_origin_ns", "dispatcher_pids", "rank_count",
		"dispatch_pairing", "trace_status", "ranks", "cross_rank_uncertainty_ns", "selection"}
	if !slices.Equal(keys, want) {
		t.Errorf("metadata %v, want %v", keys, want)
	}
}

// TestWarningsOfFailure: what was noticed before a merge failed comes with the error.
func TestWarningsOfFailure(t *testing.T) {
	c, read := planned(t, [2]string{"", "boot-b"}, 0)
	p, err := c.Plan(Options{Pins: []string{"0=999"}}, read)
	if err == nil || p == nil || len(p.Warnings) < 2 || !strings.HasPrefix(p.Warnings[0], "rank0 predates metadata.host_clock_domain_id ") {
		t.Errorf("%+v, %v", p, err)
	}
}
