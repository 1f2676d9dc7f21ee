package scenes_test

import (
	"testing"

	"swimlane/capture"
	"swimlane/scene"
	"swimlane/scenes"
)

// sizes are the tasks and submits of each case; those of paged attention are the
// ones of real captures of it.
var sizes = map[string][2]int{
	"TestVectorExample::basic":   {5, 5},
	"TestPagedAttention::basic":  {12, 13},
	"TestPagedAttention::medium": {8192, 8208},
	"TestPagedAttention::large":  {102400, 102500},
}

// TestScenes runs every case on every simulator with everything recorded.
func TestScenes(t *testing.T) {
	mode := scene.Include
	if testing.Short() {
		mode = scene.Exclude
	}
	for _, platform := range []string{scene.A2A3Sim, scene.A5Sim} {
		cases, err := scene.Select(scenes.All(), scene.Selection{Platform: platform, Manual: mode})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			t.Run(platform+"/"+c.Label(), func(t *testing.T) {
				r, err := c.Run(platform, scene.CallConfig{EnableChipSwimlane: 4, EnableDepGen: true, OutputPrefix: t.TempDir()})
				if err != nil {
					t.Fatal(err)
				}
				if r.Golden != nil {
					t.Error(r.Golden)
				}
				if want := sizes[c.Label()]; r.Tasks != want[0] || r.Submits != want[1] {
					t.Errorf("%d tasks in %d submits, want %d in %d", r.Tasks, r.Submits, want[0], want[1])
				}
				records, err := capture.Read(r.Records, capture.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if records.Tasks.Len() != r.Tasks || len(records.Warnings) > 0 {
					t.Errorf("%d rows, want %d; warnings %v", records.Tasks.Len(), r.Tasks, records.Warnings)
				}
				t.Logf("makespan %v of the model, %v here", r.Makespan, r.Wall)
			})
		}
	}
}
