package sim_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/sim"
)

func TestEveryCostHasASource(t *testing.T) {
	names := map[string]bool{}
	for _, a := range []*abi.Arch{abi.A2A3, abi.A5} {
		for k, row := range sim.DefaultCosts(a) {
			name := sim.Cost(k).String()
			names[name] = true
			if name == "" || row.Source == "" || row.Ns <= 0 {
				t.Errorf("%s: cost %d (%q) is %d ns for the reason %q", a.Name, k, name, row.Ns, row.Source)
			}
			if sim.Cost(k).Observer() != strings.HasPrefix(name, "profile.") {
				t.Errorf("%s: is a cost of profiling: %v", name, sim.Cost(k).Observer())
			}
		}
	}
	if n := len(sim.DefaultCosts(abi.A5)); len(names) != n {
		t.Errorf("%d names for %d costs", len(names), n)
	}
}

func TestReadCosts(t *testing.T) {
	base := sim.DefaultCosts(abi.A2A3)
	got, names, err := base.ReadCosts(strings.NewReader(`{"sched.poll": {"ns": 55, "source": "board 7"}, "core.receive": 0, "sched.loop": {"ns": 7}}`))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(names, []string{"core.receive", "sched.loop", "sched.poll"}) {
		t.Errorf("%v were replaced", names)
	}
	want := base
	want[sim.SchedPoll] = sim.Row{Ns: 55, Source: "board 7"}
	want[sim.CoreReceive] = sim.Row{Source: "given without a source"}
	want[sim.SchedLoop] = sim.Row{Ns: 7, Source: "given without a source"}
	if got != want {
		t.Errorf("the costs are %v, want %v", got, want)
	}
	var text bytes.Buffer
	if err := got.WriteCosts(&text); err != nil {
		t.Fatal(err)
	}
	if again, _, err := sim.DefaultCosts(abi.A5).ReadCosts(&text); err != nil || again != got {
		t.Errorf("what was written reads as %v (%v), want %v", again, err, got)
	}
}

func TestCostsRefused(t *testing.T) {
	base := sim.DefaultCosts(abi.A2A3)
	for text, want := range map[string]string{
		``:   "expected an object",
		`[]`: "expected an object",
		`{"sched.pol": {"ns": 1, "source": "x"}}`:           `"sched.pol" is no cost: expected one of core.receive, `,
		`{"sched.poll": {"ns": -1, "source": "x"}}`:         "sched.poll takes -1 ns",
		`{"sched.poll": {"ns": 1e3, "source": "x"}}`:        "costs: ",
		`{"sched.poll": {"ns": 1000000001, "source": "x"}}`: "expected 0 to 1000000000",
		`{"sched.poll": {"source": "x"}}`:                   `sched.poll is {"source": "x"}: expected a whole number of ns`,
		`{"sched.poll": null}`:                              "sched.poll is null",
		`{"sched.poll": "5"}`:                               `sched.poll is "5"`,
		`{"sched.poll": 5.5}`:                               "sched.poll is 5.5",
		`{"sched.poll": -5}`:                                "sched.poll takes -5 ns",
		`{"sched.poll": {"us": 1, "source": "x"}}`:          "us",
		`{} {}`: "more behind the object",
	} {
		got, _, err := base.ReadCosts(strings.NewReader(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
		if got != base {
			t.Errorf("%s: the costs changed", text)
		}
	}
}

func TestFree(t *testing.T) {
	base := sim.DefaultCosts(abi.A5)
	for k, row := range base.Free() {
		want := base[k].Ns
		if strings.HasPrefix(sim.Cost(k).String(), "profile.") {
			want = 0
		}
		if row.Ns != want {
			t.Errorf("%v takes %d ns without the costs of profiling, want %d", sim.Cost(k), row.Ns, want)
		}
	}
}
