package ranks

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// of is a run of the shape of spec/l3.md §8.5 in the newest form: its run_epoch, where chip.run lies, and its
// identity in the log, of zeros if it was submitted directly.
func of(pid int, inv, epoch uint64, id Dispatch) Window {
	w := fitting(pid, inv, 100)
	w.Start = 1000 + 10000*int64(inv)
	w.Run = &Phase{w.Start - 500, 8000}
	if epoch != 0 {
		w.Epoch = &epoch
	}
	if w.Direct = id == (Dispatch{}); !w.Direct {
		w.Dispatch = &id
	}
	return w
}

// recorded is a capture with a sidecar, a run_epoch and records on the host's clock within the n-th run.
func recorded(rank int, pid int64, d Dispatch, epoch, n uint64) Subject {
	s := knows(running(rank, 50), pid, &d)
	s.Runtime = "host_build_graph"
	if s.Epoch = epoch; n > 0 {
		s.Host = Bounds{600 + 10000*n, 900 + 10000*n}
	}
	return s
}

// TestNewestClues are the join keys of spec/newest.md §10.3 and its examples N7 and N9.
func TestNewestClues(t *testing.T) {
	direct, node := Dispatch{}, func(id int64) Dispatch { return Dispatch{17, id, 0, 1} }
	var repeated, alone []Window
	for _, pid := range []int{1000, 1001} {
		for inv := uint64(1); inv <= 4; inv++ {
			repeated = append(repeated, of(pid, inv, inv, node(int64(inv))))
			alone = append(alone, of(pid, inv, 10+inv, direct))
		}
	}
	blind := []Window{of(1000, 1, 0, direct), of(1000, 2, 0, direct), of(1001, 1, 0, direct), of(1001, 2, 0, direct)}
	for _, c := range []struct {
		name     string
		windows  []Window
		subjects []Subject
		want     string
	}{
		{"N9", repeated, []Subject{recorded(0, 1000, node(3), 3, 0), recorded(1, 1001, node(3), 3, 0)},
			"1000:3 [host_pid dispatch], 1001:3 [host_pid dispatch]"},
		{"direct runs by their epochs", alone, []Subject{recorded(0, 1000, node(3), 13, 0), recorded(1, 1001, node(3), 11, 0)},
			"1000:3 [host_pid run_epoch], 1001:1 [host_pid run_epoch]"},
		{"direct runs by their host records", alone, []Subject{recorded(0, 1000, node(3), 0, 2), recorded(1, 1001, node(3), 0, 4)},
			"1000:2 [host_pid host_records], 1001:4 [host_pid host_records]"},
		{"a log that names no epoch", blind, []Subject{recorded(0, 1000, node(3), 13, 2)}, "1000:2 [host_pid host_records]"},
		{"nothing tells them apart", blind, []Subject{recorded(0, 1000, node(3), 13, 0)}, "ambiguous"},
		{"host records in no run", blind, []Subject{recorded(0, 1000, node(3), 0, 9)}, "ambiguous"},
		{"an epoch that no run has", alone, []Subject{recorded(0, 1000, node(3), 15, 0)},
			"rank0: the records are of run_epoch 15, and no run of pid 1000 can be that one: they are of run_epoch 11, 12, 13, 14. Name the log"},
		{"an epoch of another process", []Window{of(1000, 1, 11, direct), of(1001, 1, 12, direct)}, []Subject{recorded(0, 1000, node(3), 12, 0)},
			"rank0: the records are of run_epoch 12, and no run of pid 1000 can be that one: they are of run_epoch 11. Name the log"},
		{"a sidecar of another run", repeated, []Subject{recorded(0, 1000, node(3), 4, 0)},
			"rank0: the records are of run_epoch 4, but the run that the sidecar names is pid 1000 inv 3 of run_epoch 3; one of the two files is of another run. Pin"},
		{"a sidecar that names a run of another identity", repeated, []Subject{recorded(0, 1000, node(9), 4, 0)},
			"rank0: the records are of run_epoch 4, which is pid 1000 inv 4 of run 17 dispatch 4 slot 0 generation 1, but the sidecar names run 17 dispatch 9 slot 0 generation 1; one of"},
		{"the same dispatch twice, of two epochs", []Window{of(1000, 1, 5, node(1)), of(1000, 2, 6, node(1))}, []Subject{recorded(0, 1000, node(1), 6, 0)},
			"1000:2 [host_pid dispatch run_epoch]"},
		{"no sidecar, an epoch of one run", alone[:4], []Subject{{Rank: 0, Extent: running(0, 50).Extent, Epoch: 12}}, "1000:2 fit"},
		{"no sidecar, an epoch of two processes", alone, []Subject{{Rank: 0, Extent: running(0, 50).Extent, Epoch: 12}}, "ambiguous"},
		{"no sidecar, an epoch of none", alone, []Subject{{Rank: 0, Extent: running(0, 50).Extent, Epoch: 99}},
			"rank0: the records are of run_epoch 99, and no run of the Host logs can be that one: "},
	} {
		pairs, err := Match(c.windows, c.subjects, nil)
		got := said(pairs)
		if err != nil {
			got = err.Error()
			if strings.HasPrefix(got, "the captures pair ambiguously ") {
				got = "ambiguous"
			}
		}
		if got != c.want && (err == nil || !strings.HasPrefix(got, c.want)) {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestHostRecordsOfSeveral: of runs that overlap in time, as those of two pipeline
// slots do, the records on the host's clock still rule out all others.
func TestHostRecordsOfSeveral(t *testing.T) {
	inside, too, outside := of(1000, 1, 0, Dispatch{}), of(1000, 2, 0, Dispatch{}), of(1000, 3, 0, Dispatch{})
	too.Run = &Phase{inside.Run.Start - 10, inside.Run.Dur}
	inside.Phases = map[string]Phase{"sched": {700, 51}}
	outside.Phases = map[string]Phase{"sched": {700, 50}} // as if made for the capture
	pairs, err := Match([]Window{inside, too, outside}, []Subject{recorded(0, 1000, Dispatch{17, 3, 0, 1}, 0, 1)}, nil)
	if err != nil || said(pairs) != "1000:1 fit" || pairs[0].Lost {
		t.Errorf("%s, %v", said(pairs), err)
	}
}

// TestUnnamedRuns: where the log names no dispatch, epoch and host records find the
// run, and then nothing is missing.
func TestUnnamedRuns(t *testing.T) {
	windows := []Window{of(1000, 1, 7, Dispatch{}), of(1000, 2, 8, Dispatch{})}
	for i := range windows {
		windows[i].Direct = false // no attributes, or not all
	}
	for want, s := range map[string]Subject{
		"1000:2 [host_pid run_epoch]":    recorded(0, 1000, Dispatch{17, 3, 0, 1}, 8, 0),
		"1000:1 [host_pid host_records]": recorded(0, 1000, Dispatch{17, 3, 0, 1}, 0, 1),
	} {
		pairs, err := Match(windows, []Subject{s}, nil)
		if err != nil || said(pairs) != want || pairs[0].Lost {
			t.Errorf("%s, %v; want %s", said(pairs), err, want)
		}
	}
	pairs, err := Match(windows[1:], []Subject{recorded(0, 1000, Dispatch{17, 3, 0, 1}, 8, 0)}, nil)
	if err != nil || said(pairs) != "1000:2 [host_pid run_epoch]" {
		t.Errorf("the only one: %s, %v", said(pairs), err)
	}
	// With neither the run is unknown, and that is said.
	pairs, err = Match(windows[:1], []Subject{recorded(0, 1000, Dispatch{17, 3, 0, 1}, 0, 0)}, nil)
	if err != nil || said(pairs) != "1000:1 fit" || !pairs[0].Lost {
		t.Errorf("%s, %v", said(pairs), err)
	}
}

// TestCluesOfBefore: captures that name no runtime go by spec/l3.md §8.2 alone.
func TestCluesOfBefore(t *testing.T) {
	s := recorded(0, 1000, Dispatch{17, 3, 0, 1}, 0, 2)
	s.Runtime = ""
	windows := []Window{of(1000, 1, 0, Dispatch{}), of(1000, 2, 0, Dispatch{})}
	if _, err := Match(windows, []Subject{s}, nil); err == nil || !strings.HasPrefix(err.Error(), "the captures pair ambiguously ") {
		t.Error(err)
	}
	pairs, err := Match(windows[:1], []Subject{s}, nil)
	if err != nil || said(pairs) != "1000:1 fit" || !pairs[0].Lost {
		t.Errorf("%s, %v", said(pairs), err)
	}
}

// said writes pairs as pid:inv and what settled them.
func said(pairs []Pair) string {
	var out []string
	for _, p := range pairs {
		text := p.Source
		switch p.Source {
		case bySidecar:
			text = "[" + strings.Join(p.Keys, " ") + "]"
		case byFit:
			text = "fit"
		}
		out = append(out, fmt.Sprintf("%d:%d %s", p.Window.PID, p.Window.Inv, text))
	}
	return strings.Join(out, ", ")
}

// TestCluesNaive holds pairing by what is known of a capture against trying every
// run: it is settled exactly where one run only agrees with all that is known.
func TestCluesNaive(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	settled := 0
	for range 5000 {
		var windows []Window
		for _, pid := range []int{10, 11} {
			for inv := range 1 + random.Uint64N(4) {
				id := Dispatch{}
				if random.IntN(2) == 0 {
					id = Dispatch{17, 1 + random.Int64N(3), 0, 1}
				}
				w := of(pid, inv+1, inv+1, id)
				w.Run.Dur += random.Int64N(2) * 90000 // may hold the records of later runs, too
				windows = append(windows, w)
			}
		}
		truth := windows[random.IntN(len(windows))]
		s := recorded(0, int64(truth.PID), Dispatch{17, 9, 0, 1}, 0, 0)
		if truth.Dispatch != nil {
			s.Dispatch = truth.Dispatch
		}
		if random.IntN(2) == 0 {
			s.Epoch = *truth.Epoch
		}
		if random.IntN(2) == 0 {
			s.Host = Bounds{uint64(truth.Run.Start), uint64(truth.Run.Start + 300)}
		}
		var can []Key
		for _, w := range windows {
			if int64(w.PID) == s.HostPID && (w.Dispatch == nil) == (truth.Dispatch == nil) && (w.Dispatch == nil || *w.Dispatch == *s.Dispatch) &&
				(s.Epoch == 0 || *w.Epoch == s.Epoch) &&
				(s.Host.Last == 0 || uint64(w.Run.Start) <= s.Host.First && s.Host.Last <= uint64(w.Run.Start+w.Run.Dur)) {
				can = append(can, w.Key)
			}
		}
		pairs, err := Match(windows, []Subject{s}, nil)
		if len(can) == 1 {
			settled++
			if err != nil || pairs[0].Window.Key != truth.Key || pairs[0].Source != bySidecar {
				t.Fatalf("%+v of %+v: %v, %v", s, windows, said(pairs), err)
			}
			continue
		}
		if !slices.Contains(can, truth.Key) || err == nil {
			t.Fatalf("%+v agrees with %v of %+v and is paired with %s", s, can, windows, said(pairs))
		}
	}
	if settled < 1000 || settled > 4500 {
		t.Errorf("%d of 5000 were settled", settled)
	}
}

// TestInfeasiblePlaces: a window in which the capture has no legal place is none of
// its windows, however well its width fits (spec/newest.md §10.1).
func TestInfeasiblePlaces(t *testing.T) {
	capture := running(0, 50)
	capture.Runtime = "host_build_graph"
	tight, wide := fitting(10, 1, 60), fitting(10, 2, 200)
	tight.Launch = &Launch{At: tight.Start + 4000}
	pairs, err := Match([]Window{tight, wide}, []Subject{capture}, nil)
	if err != nil || said(pairs) != "10:2 fit" || pairs[0].Excess != 150 || finite(pairs[0].Margin) {
		t.Errorf("%s, %v; want the wide window and no other", said(pairs), err)
	}
	// If no window is left, the reason is what is wrong with the one that fits best …
	_, err = Match([]Window{tight}, []Subject{capture}, nil)
	if err == nil || !strings.HasPrefix(err.Error(), "pid 10 inv 1 has no legal placement: ") {
		t.Error(err)
	}
	// … as long as there is such a one.
	other := tight
	other.Inv = 2
	_, err = Match([]Window{tight, other}, []Subject{capture}, nil)
	if err == nil || !strings.HasPrefix(err.Error(), "no way of matching these captures to the Host log's invocations ") {
		t.Error(err)
	}
	// A marker that cannot be does not matter in a window of another run.
	tight.Launch = &Launch{Device: true}
	if pairs, err = Match([]Window{tight, wide}, []Subject{capture}, nil); err != nil || said(pairs) != "10:2 fit" {
		t.Errorf("%s, %v", said(pairs), err)
	}
	// Captures of before go by the width alone (spec/l3.md §8.3).
	capture.Runtime = ""
	if pairs, err = Match([]Window{tight, wide}, []Subject{capture}, nil); err != nil || said(pairs) != "10:1 fit" || pairs[0].Margin != 140 {
		t.Errorf("%s, %v", said(pairs), err)
	}
}

// TestAmbiguousWords: captures that name their runtime are told of in today's words.
func TestAmbiguousWords(t *testing.T) {
	windows := []Window{fitting(10, 1, 100), fitting(11, 1, 100)}
	subjects := []Subject{running(0, 50), running(1, 50)}
	for runtime, want := range map[string]string{
		"": "which is too close to tell apart. Ranks running the same shape leave nothing in the timing that names the other, so re-run so the captures carry dispatch_identity.json with its host_pid, " +
			"or pin the pairing explicitly (--rank-pid RANK=PID:INV).",
		"host_build_graph": "which is too close to tell apart. Repeated runs or Ranks with the same shape leave nothing in the timing that names the other. " +
			"Re-run so the captures carry dispatch_identity.json with its host_pid, or pin the pairing explicitly (--rank-pid RANK=PID:INV).",
	} {
		for i := range subjects {
			subjects[i].Runtime = runtime
		}
		if _, err := Match(windows, subjects, nil); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%q: %v", runtime, err)
		}
	}
}
