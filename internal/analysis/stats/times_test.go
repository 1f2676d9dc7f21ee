package stats_test

import (
	"testing"

	"swimlane/internal/analysis/stats"
)

func upTo(n int) *stats.Times {
	t := &stats.Times{}
	for i := range n {
		t.Sorted = append(t.Sorted, uint64(i+1)) // the k-th time is k
	}
	return t
}

// TestInterval: with p(k) = Σ_{i<k} C(n,i) / 2ⁿ, k is the largest with p(k) ≤ 2.5 %.
// By hand: n=5: 1/32 is too much; n=6: 1/64; n=8: 9/256 is too much for k=2; n=9: 10/512;
// n=11: 12/2048 = 0.6 % and 67/2048 = 3.3 %; n=12: 79/4096 = 1.9 %. Tables of the sign test give
// k=6 for 20, k=10 for 30, k=18 for 50 and k=40 for 100.
func TestInterval(t *testing.T) {
	for n, k := range map[int]uint64{0: 0, 1: 0, 5: 0, 6: 1, 8: 1, 9: 2, 11: 2, 12: 3, 20: 6, 30: 10, 50: 18, 100: 40} {
		lo, hi, sure := upTo(n).Interval()
		switch {
		case n == 0:
			if lo != 0 || hi != 0 || sure {
				t.Errorf("nothing lies in %d … %d", lo, hi)
			}
		case k == 0:
			if lo != 1 || hi != uint64(n) || sure {
				t.Errorf("%d times: %d … %d, sure %v; want all of them, not sure", n, lo, hi, sure)
			}
		case lo != k || hi != uint64(n)+1-k || !sure:
			t.Errorf("%d times: %d … %d, sure %v; want %d … %d", n, lo, hi, sure, k, uint64(n)+1-k)
		}
	}
	// Of very many the interval is 1.96 standard deviations, √n/2, to each side.
	lo, hi, _ := upTo(1_000_000).Interval()
	if lo < 499_018 || lo > 499_022 || hi < 500_979 || hi > 500_983 {
		t.Errorf("a million times: %d … %d", lo, hi)
	}
}

func TestMedian(t *testing.T) {
	for n, want := range map[int]float64{0: 0, 1: 1, 2: 1.5, 3: 2, 4: 2.5, 7: 4} {
		if got := upTo(n).Median(); got != want {
			t.Errorf("median of 1 … %d is %g, want %g", n, got, want)
		}
	}
}
