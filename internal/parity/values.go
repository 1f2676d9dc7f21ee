package parity

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// timeArgs are the args that hold microseconds and share the tolerance of the
// times; every other number is exact.
var timeArgs = []string{
	"duration-us", "kernel-duration-us", "local_setup_us",
	"dispatch-time-us", "finish-time-us", "scheduler-duration-us",
	"prepare_duration_us", "execution_start_us", "execution_duration_us",
}

// timeMetadata are the top-level metadata keys of the same kind.
var timeMetadata = []string{"logical_seam_us"}

// canonical writes a decoded JSON value so that equal values have equal text.
func canonical(v any) string {
	var b strings.Builder
	writeCanonical(&b, v)
	return b.String()
}

func writeCanonical(b *strings.Builder, v any) {
	switch v := v.(type) {
	case map[string]any:
		b.WriteByte('{')
		for i, k := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(strconv.Quote(k))
			b.WriteString(": ")
			writeCanonical(b, v[k])
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				b.WriteString(", ")
			}
			writeCanonical(b, e)
		}
		b.WriteByte(']')
	case json.Number:
		b.WriteString(canonicalNumber(v.String()))
	case string:
		b.WriteString(strconv.Quote(v))
	default: // bool, nil
		fmt.Fprint(b, v)
	}
}

// canonicalNumber writes a number literal so that equal values have equal text
// (2.0 and 2), without passing through a float64: ids need all of 64 bits.
func canonicalNumber(lit string) string {
	if !strings.ContainsAny(lit, ".eE") {
		if lit == "-0" {
			return "0"
		}
		return lit
	}
	// An exponent of this size is no time and no id; expanding it is a waste.
	if _, exp, ok := strings.Cut(strings.ToLower(lit), "e"); ok && len(exp) > 4 {
		return lit
	}
	r, ok := new(big.Rat).SetString(lit)
	if !ok {
		return lit
	}
	if digits, exact := r.FloatPrec(); exact {
		return r.FloatString(digits)
	}
	return lit
}

// intArg returns an integer arg.
func intArg(args map[string]any, key string) (int64, bool) {
	n, ok := args[key].(json.Number)
	if !ok {
		return 0, false
	}
	i, err := strconv.ParseInt(n.String(), 10, 64)
	return i, err == nil
}

// floatArg returns a number arg as a time.
func floatArg(args map[string]any, key string) (float64, bool) {
	n, ok := args[key].(json.Number)
	if !ok {
		return 0, false
	}
	f, err := parseFloat(n.String())
	return f, err == nil
}

// parseFloat reads a time.
func parseFloat(lit string) (float64, error) { return strconv.ParseFloat(lit, 64) }
