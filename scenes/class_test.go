package scenes_test

import (
	"testing"

	"swimlane/scene/scenetest"
	"swimlane/scenes"
)

// The tests of single classes take flags: go test ./scenes -count=1 -run
// TestPagedAttention -platform a5sim -enable-chip-swimlane=3.

func TestVectorExample(t *testing.T)  { scenetest.Run(t, scenes.VectorExample()) }
func TestPagedAttention(t *testing.T) { scenetest.Run(t, scenes.PagedAttention()) }
