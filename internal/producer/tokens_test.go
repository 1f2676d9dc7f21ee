package producer_test

import (
	"testing"

	"swimlane/internal/producer"
)

func TestTokens(t *testing.T) {
	var tokens producer.Tokens
	for want := range uint32(5) {
		if got := tokens.Next(); got != want+1 {
			t.Errorf("token %d, want %d", got, want+1)
		}
	}
	// The range from 0x7FFFFFF0 on is reserved; even and odd alternate across it.
	tokens = 0x7FFFFFED
	for _, want := range []uint32{0x7FFFFFEE, 0x7FFFFFEF, 0, 1, 2} {
		if got := tokens.Next(); got != want {
			t.Errorf("token %#x, want %#x", got, want)
		}
	}
	// The second wrap, where the sequence itself wraps.
	tokens = 0xFFFFFFED
	for _, want := range []uint32{0x7FFFFFEE, 0x7FFFFFEF, 0, 1, 2} {
		if got := tokens.Next(); got != want {
			t.Errorf("second wrap: token %#x, want %#x", got, want)
		}
	}
}
