package check

import (
	"math"
	"strconv"
)

// A number is a JSON number, taken apart but not yet rounded to anything.
type number struct {
	raw     []byte
	mant    uint64 // all digits before the exponent, unless long
	frac    int    // how many of them stand behind the point
	neg     bool
	integer bool // neither point nor exponent
	exp     bool // has an exponent
	long    bool // the digits do not fit into mant
}

// parseNumber accepts exactly the numbers of JSON's grammar.
func parseNumber(raw []byte) (number, bool) {
	n := number{raw: raw, integer: true}
	i := 0
	if i < len(raw) && raw[i] == '-' {
		n.neg = true
		i++
	}
	first := i
	i = n.digits(i)
	if i == first || raw[first] == '0' && i > first+1 {
		return n, false
	}
	if i < len(raw) && raw[i] == '.' {
		n.integer = false
		dot := i
		i = n.digits(i + 1)
		n.frac = i - dot - 1
		if n.frac == 0 {
			return n, false
		}
	}
	if i < len(raw) && raw[i]|0x20 == 'e' {
		n.integer, n.exp = false, true
		i++
		if i < len(raw) && (raw[i] == '+' || raw[i] == '-') {
			i++
		}
		first = i
		for i < len(raw) && '0' <= raw[i] && raw[i] <= '9' {
			i++
		}
		if i == first {
			return n, false
		}
	}
	return n, i == len(raw)
}

func (n *number) digits(i int) int {
	for ; i < len(n.raw); i++ {
		d := n.raw[i] - '0'
		if d > 9 {
			break
		}
		if n.mant > (math.MaxUint64-9)/10 {
			n.long = true
			continue
		}
		n.mant = n.mant*10 + uint64(d)
	}
	return i
}

// int64 returns the value of an integer that fits.
func (n *number) int64() (int64, bool) {
	switch {
	case !n.integer || n.long:
		return 0, false
	case n.mant <= math.MaxInt64 && n.neg:
		return -int64(n.mant), true
	case n.mant <= math.MaxInt64:
		return int64(n.mant), true
	}
	return math.MinInt64, n.neg && n.mant == 1<<63
}

// float is what the importer keeps of the number.
func (n *number) float() float64 {
	f, err := strconv.ParseFloat(string(n.raw), 64)
	if err != nil {
		return math.Inf(1) // out of range; the grammar is known to be good
	}
	return f
}

var pow10 = [...]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9,
	1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19}

// nanoseconds converts a number of microseconds as the importer does: an
// integer times 1000, anything else llround(x*1000) through a float64
// (perfetto-facts §1 Time). lost says that the result may not be what is
// written; ok is false if it has no room in 63 bits.
func (n *number) nanoseconds() (ns int64, lost, ok bool) {
	if n.integer {
		v, fits := n.int64()
		if !fits || v > math.MaxInt64/1000 || v < math.MinInt64/1000 {
			return 0, false, false
		}
		return v * 1000, false, true
	}
	plain := !n.exp && !n.long
	// Up to here float64 is known to be exact to far below a nanosecond, so
	// nearly all times are done without it.
	if plain && n.frac <= 3 && n.mant < 1<<40 {
		ns = int64(n.mant * pow10[3-n.frac])
		if n.neg {
			ns = -ns
		}
		return ns, false, true
	}
	f := n.float()
	p := math.Round(f * 1000)
	if math.Abs(p) >= 1<<63 || math.IsNaN(p) {
		return 0, false, false
	}
	ns = int64(p)
	return ns, math.Abs(f) > 1<<43 || plain && !n.near(ns), true
}

// near reports whether ns is the written number of microseconds, rounded up
// or down to a nanosecond.
func (n *number) near(ns int64) bool {
	if n.neg {
		ns = -ns
	}
	low, rest := n.mant, uint64(0)
	switch {
	case n.frac < 3:
		if low > math.MaxInt64/1000 {
			return false
		}
		low *= pow10[3-n.frac]
	case n.frac-3 < len(pow10):
		low, rest = n.mant/pow10[n.frac-3], n.mant%pow10[n.frac-3]
	default:
		low, rest = 0, n.mant
	}
	d := ns - int64(low)
	return d == 0 || d == 1 && rest > 0
}
