package names_test

import (
	"testing"

	"swimlane/capture"
	"swimlane/internal/names"
)

func TestParseTaskID(t *testing.T) {
	for _, tt := range []struct {
		ids  capture.IDLayout
		text string
		id   uint64
		ok   bool
	}{
		{capture.HighLow, "t7", 7, true},
		{capture.HighLow, "r2t5", 8589934597, true},
		{capture.HighLow, "8589934597", 8589934597, true},
		{capture.HighLow, "r0t7", 7, true}, // written t7 there, but meant all the same
		{capture.HighLow, "r00t7", 0, false},
		{capture.HighLow, "QK(r2t5)", 8589934597, true}, // a whole label
		{capture.Spaces, "func_0_a(g3t0)", 4611686031312289792, true},
		{capture.HighLow, "a(b)(t7)", 7, true},
		{capture.HighLow, "QK(t7", 0, false},
		{capture.HighLow, "QK()", 0, false},
		{capture.Rings, "r0t7", 7, true},
		{capture.Rings, "t7", 7, true}, // written r0t7 there
		{capture.Rings, "t07", 0, false},
		{capture.Rings, "QK(t7)", 7, true},
		{capture.Spaces, "t12", 12, true},
		{capture.Spaces, "g3t0", 4611686031312289792, true},
		{capture.Spaces, "p2", 9223372036854775810, true},
		{capture.Spaces, "r1t3", 0, false},
		{capture.HighLow, "", 0, false},
		{capture.HighLow, "t", 0, false},
		{capture.HighLow, "t7t7", 0, false},
		{capture.HighLow, "t07", 0, false},
		{capture.HighLow, "x7", 0, false},
		{capture.HighLow, "t4294967296", 0, false},
	} {
		if id, ok := names.ParseTaskID(tt.ids, tt.text); ok != tt.ok || ok && id != tt.id {
			t.Errorf("%q: %d, %v; want %d, %v", tt.text, id, ok, tt.id, tt.ok)
		}
	}
}
