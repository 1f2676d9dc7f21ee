package ranks

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"swimlane/capture"
)

// TestOrderOfRefusals is the order of spec/l3.md §3, rows 5 to 8: captures that
// cannot be placed are told of behind all that concerns logs and pins.
func TestOrderOfRefusals(t *testing.T) {
	for what, spoil := range map[string]func(*capture.Records){
		"capture holds no device-clock records to place: ": func(r *capture.Records) { r.Sched = capture.SchedRows{} },
		"capture metadata has no usable clock_freq_hz: ":   func(r *capture.Records) { r.Meta.ClockHz = 0 },
	} {
		c, good := planned(t, [2]string{"a", "a"}, 0)
		domain, runtime := "a", ""
		read := func(path string) (*capture.Records, error) {
			rec, err := good(path)
			if strings.Contains(path, "rank1") {
				spoil(rec)
				rec.Meta.ClockDomain, rec.Meta.Runtime = domain, runtime
			}
			return rec, err
		}
		want := func(opt Options, begin string) {
			t.Helper()
			if _, err := c.Plan(opt, read); err == nil || !strings.HasPrefix(err.Error(), begin) {
				t.Errorf("%v, want %s", err, begin)
			}
		}
		want(Options{Pins: []string{"7=9"}}, what+c.Captures[1].Records) // row 8, the capture's window before the pairing
		want(Options{Pins: []string{"x"}}, "--rank-pid must be RANK=PID")
		empty := filepath.Join(t.TempDir(), "host.1.log")
		put(t, empty, "")
		want(Options{HostLogs: []string{empty}}, "the Host logs hold no chip.run.runner_run ") // row 8, that of the host first
		want(Options{HostLogs: []string{empty}, Pins: []string{"x"}}, "--rank-pid must be RANK=PID")
		want(Options{HostLogs: []string{"none"}, Pins: []string{"x"}}, "--host-log names a file that does not exist: none")
		runtime = "host_build_graph"
		want(Options{HostLogs: []string{"none"}}, "Ranks of this run name different runtimes (host_build_graph, none); ")
		domain = "b"
		want(Options{HostLogs: []string{"none"}}, "Rank inputs come from different Host clocks ")
	}
}

// TestRuntimes is spec/newest.md §10.2: one merged trace has task ids of one layout.
func TestRuntimes(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"", "", ""},
		{capture.RuntimeHBG, capture.RuntimeHBG, ""},
		{capture.RuntimeTMR, capture.RuntimeHBG, "Ranks of this run name different runtimes (host_build_graph, tensormap_and_ringbuffer); " +
			"one merged trace carries one TaskId layout, so these captures cannot be spliced together."},
		{capture.RuntimeTMR, "", "Ranks of this run name different runtimes (none, tensormap_and_ringbuffer); " +
			"one merged trace carries one TaskId layout, so these captures cannot be spliced together."},
	} {
		choice, good := planned(t, [2]string{"a", "a"}, 0)
		p, err := choice.Plan(Options{}, func(path string) (*capture.Records, error) {
			rec, err := good(path)
			if rec.Meta.Runtime = c.a; strings.Contains(path, "rank1") {
				rec.Meta.Runtime = c.b
			}
			return rec, err
		})
		if c.want != "" {
			if err == nil || err.Error() != c.want {
				t.Errorf("%q and %q: %v, want %s", c.a, c.b, err, c.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q and %q: %v", c.a, c.b, err)
			continue
		}
		said := ""
		for _, f := range p.Metadata() {
			if f.Key == "runtime" {
				said = strings.Trim(string(f.JSON), `"`)
			}
		}
		if said != c.a {
			t.Errorf("metadata.runtime is %q, want %q", said, c.a)
		}
	}
}

// TestEpochsOfCaptures: what a capture says of its run, and what a merge makes of
// several (spec/newest.md §10.3).
func TestEpochsOfCaptures(t *testing.T) {
	known := func(epochs ...uint64) (out []capture.Run) {
		for _, e := range epochs {
			out = append(out, capture.Run{Epoch: e, Known: true})
		}
		return out
	}
	kept := func(epoch int64, set bool) *capture.Collection {
		return &capture.Collection{RunEpoch: capture.OptInt{V: epoch, Set: set}}
	}
	for _, c := range []struct {
		rec  capture.Records
		want []uint64
	}{
		{capture.Records{Runs: []capture.Run{{}}}, nil},
		{capture.Records{Runs: known(11)}, []uint64{11}},
		{capture.Records{Runs: known(11, 12)}, []uint64{11, 12}},
		{capture.Records{Runs: []capture.Run{{}}, Meta: capture.Metadata{Collection: kept(12, true)}}, []uint64{12}},
		{capture.Records{Runs: known(12), Meta: capture.Metadata{Collection: kept(12, true)}}, []uint64{12}},
		{capture.Records{Runs: known(11), Meta: capture.Metadata{Collection: kept(12, true)}}, []uint64{11, 12}},
		{capture.Records{Runs: known(11), Meta: capture.Metadata{Collection: kept(0, false)}}, []uint64{11}},
		{capture.Records{Runs: known(11), Meta: capture.Metadata{Collection: kept(-3, true)}}, []uint64{11}},
		{capture.Records{Runs: known(1), Meta: capture.Metadata{Origin: &capture.Origin{Assumed: true}}}, nil}, // read --as newest wrote it
		{capture.Records{Runs: known(4, 5), Launches: []capture.Launch{{}, {}}}, nil},                          // launches of kernels are no runs of the process
	} {
		if got := epochsOf(&c.rec); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v, want %v", c.rec, got, c.want)
		}
	}
	m := Member{Capture: Capture{Rank: 1, Records: "r.json"}, epochs: []uint64{4, 9}}
	want := "the capture is of 2 runs (run_epoch 4, 9), and a merge places one run of each rank; capture the runs one by one: r.json"
	if _, err := m.subject(); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	for range 20 {
		m.epochs = append(m.epochs, uint64(100+len(m.epochs)))
	}
	if _, err := m.subject(); err == nil || !strings.Contains(err.Error(), "of 22 runs (run_epoch 4, 9, 102, 103, 104, 105, 106, 107 and 14 more)") {
		t.Error(err)
	}
}

// TestHostBounds: what places a capture inside chip.run.
func TestHostBounds(t *testing.T) {
	rec := &capture.Records{
		HostOrc: []capture.Submits{{Start: []uint64{0, 50}, End: []uint64{60, 70}}, {Start: []uint64{40}, End: []uint64{45}}},
		Uploads: []capture.Upload{{Start: 90, End: 95}},
	}
	if got := hostBounds(rec); got != (Bounds{40, 95}) {
		t.Errorf("%v", got)
	}
	if got := hostBounds(&capture.Records{}); got != (Bounds{}) {
		t.Errorf("%v", got)
	}
}

// TestRetainedRanks: runs that were written in the background are captures of their
// dN, with the sidecar beside them or above (spec/newest.md §9).
func TestRetainedRanks(t *testing.T) {
	root := t.TempDir()
	const d0, d1 = "rank0/d0", "rank1/d0"
	put(t, filepath.Join(root, d0, "swimlane-0/records_e5.json"), "{}")
	put(t, filepath.Join(root, d1, "swimlane-3/records_e5.json.gz"), "{}")
	c, err := Choose(root, "d0", "")
	if err != nil || len(c.Captures) != 2 || c.Captures[0].Records != filepath.Join(root, d0, "swimlane-0/records_e5.json") ||
		c.Captures[1].Records != filepath.Join(root, d1, "swimlane-3/records_e5.json.gz") || c.Captures[0].Identity != nil {
		t.Fatalf("%+v, %v", c, err)
	}
	put(t, filepath.Join(root, d0, IdentityFile), sidecarText(0, 0, [3]int{17, 5, 0}, 2))
	put(t, filepath.Join(root, d1, "swimlane-3", IdentityFile), sidecarText(1, 0, [3]int{17, 5, 1}, 2))
	for _, option := range [][2]string{{"d0", ""}, {"", "17:5"}, {"", ""}} {
		if c, err := Choose(root, option[0], option[1]); err != nil || len(c.Captures) != 2 || c.Captures[1].Identity == nil || c.Captures[1].Identity.GroupIndex != 1 {
			t.Errorf("%v: %+v, %v", option, c, err)
		}
	}
	put(t, filepath.Join(root, d1, "swimlane-3", IdentityFile), sidecarText(0, 0, [3]int{17, 5, 1}, 2))
	if _, err := Choose(root, "d0", ""); err == nil || !strings.HasPrefix(err.Error(), "dispatch identity disagrees with its rankN/dN path: ") {
		t.Error(err)
	}
	// Which of several is meant nobody can tell: but for the usual name, which is the one.
	put(t, filepath.Join(root, d0, "swimlane-1/records_e6.json"), "{}")
	want := filepath.Join(root, d0) + " holds 2 retained runs (swimlane-0/records_e5.json, swimlane-1/records_e6.json), and a merge takes one capture of each rank; " +
		"leave only one of them there, or convert each alone"
	for _, option := range [][2]string{{"d0", ""}, {"", "17:5"}} {
		if _, err := Choose(root, option[0], option[1]); err == nil || err.Error() != want {
			t.Errorf("%v: %v, want %s", option, err, want)
		}
	}
	put(t, filepath.Join(root, d0, "chip_swimlane_records.json"), "{}")
	if err := os.Remove(filepath.Join(root, d1, "swimlane-3", IdentityFile)); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(root, d1, IdentityFile), sidecarText(1, 0, [3]int{17, 5, 1}, 2))
	if c, err := Choose(root, "d0", ""); err != nil || c.Captures[0].Records != filepath.Join(root, d0, "chip_swimlane_records.json") {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestOwnerlessRuns: a retained run beside the ranks is of none of them.
func TestOwnerlessRuns(t *testing.T) {
	root := t.TempDir()
	put(t, filepath.Join(root, "rank0/d0", IdentityFile), sidecarText(0, 0, [3]int{17, 5, 0}, 2))
	kept := filepath.Join(root, "swimlane-0/records_e5.json")
	put(t, kept, "{}")
	end := "; of what rank the retained runs in " + root + " itself are nothing says (" + kept + "): move each below rankN/dN, or convert it alone"
	for dispatch, want := range map[string]string{
		"d0": "rank0 is missing d0/chip_swimlane_records.json" + end,
		"":   errWhich.Error() + "; found no rankN/dN/chip_swimlane_records.json below " + root + end,
	} {
		if _, err := Choose(root, dispatch, ""); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", dispatch, err, want)
		}
	}
}

// TestNodes: a directory of nodes is not merged, but one is told which there are and
// how to choose (spec/l3.md §12 D6, spec/newest.md §15).
func TestNodes(t *testing.T) {
	const text = "NETWORK1/L4 needs a node namespace; only one same-host L3 Worker can be merged; ROOT holds "
	for _, c := range []struct {
		dirs []string
		want string
	}{
		{[]string{"node0"}, "node0, and no rankN below"},
		{[]string{"node10", "node9", "network10/node1/rankA"}, "network10, node9, node10, and no rankN below"},
		{[]string{"node0/rank0/d0"}, "that of one node: ROOT/node0 (1 rank); name one of them, as swimlane convert ROOT/node0"},
		{[]string{"node10/rank0", "node2/rank0", "node2/rank1", "network11/node1/rank4", "node3/x"},
			"those of 3 nodes: ROOT/network11/node1 (1 rank), ROOT/node2 (2 ranks), ROOT/node10 (1 rank); name one of them, as swimlane convert ROOT/network11/node1"},
	} {
		root := t.TempDir()
		for _, dir := range c.dirs {
			put(t, filepath.Join(root, dir, "x"), "")
		}
		if !IsTree(root) {
			t.Errorf("%v is no tree", c.dirs)
		}
		for _, option := range []string{"d0", ""} {
			_, err := Choose(root, option, "")
			if got := strings.ReplaceAll(fmt.Sprint(err), root, "ROOT"); got != text+c.want {
				t.Errorf("%v:\n got %s\nwant %s", c.dirs, got, text+c.want)
			}
		}
	}
	var dirs []string
	root := t.TempDir()
	for i := range 12 {
		dirs = append(dirs, fmt.Sprintf("node%d", i))
		put(t, filepath.Join(root, dirs[i], "rank0/d0/x"), "")
	}
	if _, err := Choose(root, "d0", ""); err == nil || !strings.Contains(err.Error(), filepath.Join(root, "node7")+" (1 rank) and 4 more; name one") {
		t.Error(err)
	}
	// Links that lead in circles end.
	if err := os.Symlink(root, filepath.Join(root, "node0", "node1")); err != nil {
		t.Fatal(err)
	}
	if _, err := Choose(root, "d0", ""); err == nil {
		t.Error("no error")
	}
}
