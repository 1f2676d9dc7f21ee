package console

import "testing"

func TestCountText(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := Thousands(n); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for n, want := range map[int64]string{999: "999 bytes", 1500: "1.5 kB", 2_500_000: "2.5 MB", 3_570_123_594: "3.6 GB"} {
		if got := Size(n); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
