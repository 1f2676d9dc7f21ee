package scenes_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"swimlane/scene"
)

// TestGoldenOnEverySchedule: values do not depend on when and where tasks run. Costs,
// the size of the chip and the number of its threads are random.
func TestGoldenOnEverySchedule(t *testing.T) {
	seeds := 12
	if testing.Short() {
		seeds = 1
	}
	for _, platform := range []string{scene.A2A3Sim, scene.A5Sim} {
		cases, err := scene.Select(forOneChip(), scene.Selection{Platform: platform, Manual: scene.Exclude})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			if sizes[c.Label()].rows > small {
				continue
			}
			for seed := range seeds {
				t.Run(fmt.Sprintf("%s/%s/%d", platform, c.Label(), seed), func(t *testing.T) {
					rng := rand.New(rand.NewPCG(uint64(seed), 9))
					changed := *c.Case
					changed.Config.AicpuThreads = 2 + rng.IntN(3)
					if !strings.HasPrefix(c.Scene.Class, "TestSyncStart") && !strings.HasPrefix(c.Scene.Class, "TestSpmdSyncStart") { // their tasks need many cores at once
						changed.Config.Clusters = 1 + rng.IntN(24)
					}
					r, err := scene.Selected{Scene: c.Scene, Case: &changed}.RunWith(scene.Setup{Platform: platform, Costs: randomCosts(t, platform, rng), LogLevel: "null"})
					if err != nil {
						t.Fatal(err)
					}
					if r.Golden != nil || len(r.Compared) == 0 || r.Hazards > 0 {
						t.Errorf("%d clusters, %d threads: %v; %d hazards %q", changed.Config.Clusters, changed.Config.AicpuThreads, r.Golden, r.Hazards, r.Notes)
					}
				})
			}
		}
	}
}

// randomCosts are costs of nothing to eight times those of the platform.
func randomCosts(t *testing.T, platform string, rng *rand.Rand) *scene.Costs {
	t.Helper()
	costs, err := scene.DefaultCosts(platform)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := costs.Write(&text); err != nil {
		t.Fatal(err)
	}
	var rows map[string]map[string]any
	if err := json.Unmarshal(text.Bytes(), &rows); err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		rows[name]["ns"] = int64(rows[name]["ns"].(float64) * float64(rng.IntN(9)) * rng.Float64())
		rows[name]["source"] = "random"
	}
	changed, err := json.Marshal(rows)
	if err != nil {
		t.Fatal(err)
	}
	if err := costs.Read(bytes.NewReader(changed)); err != nil {
		t.Fatal(err)
	}
	return costs
}
