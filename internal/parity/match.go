package parity

import (
	"cmp"
	"maps"
	"slices"
)

// matcher compares two multisets whose members are equal within a tolerance.
type matcher[T any] struct {
	key  func(T) string         // equal members have equal keys
	time func(T) float64        // where to look for an equal member first
	same func(ref, ours T) bool // decides
}

// match pairs as many members as possible and returns the others, by time.
// Pairing greedily would not do: of two events closer than the tolerance, the
// wrong one may be taken, and the rest of them don't fit any more.
func (m matcher[T]) match(ref, ours []T) (missing, extra []T) {
	buckets := map[string]*[2][]T{}
	for i, list := range [2][]T{ref, ours} {
		for _, v := range list {
			k := m.key(v)
			if buckets[k] == nil {
				buckets[k] = &[2][]T{}
			}
			buckets[k][i] = append(buckets[k][i], v)
		}
	}
	byTime := func(a, b T) int { return cmp.Compare(m.time(a), m.time(b)) }
	for _, k := range slices.Sorted(maps.Keys(buckets)) {
		b := buckets[k]
		slices.SortStableFunc(b[0], byTime)
		slices.SortStableFunc(b[1], byTime)
		ms, ex := m.matchBucket(b[0], b[1])
		missing, extra = append(missing, ms...), append(extra, ex...)
	}
	slices.SortStableFunc(missing, byTime)
	slices.SortStableFunc(extra, byTime)
	return missing, extra
}

// matchBucket finds a maximum matching: a walk through both lists in order of
// time settles nearly all members, augmenting paths the rest.
func (m matcher[T]) matchBucket(ref, ours []T) (missing, extra []T) {
	refOf := make([]int, len(ours)) // index into ref, -1 while free
	for i := range refOf {
		refOf[i] = -1
	}
	var left []int
	o := 0
	for r := range ref {
		for o < len(ours) && !m.same(ref[r], ours[o]) && m.time(ours[o]) < m.time(ref[r]) {
			o++
		}
		if o < len(ours) && m.same(ref[r], ours[o]) {
			refOf[o] = r
			o++
		} else {
			left = append(left, r)
		}
	}
	for _, r := range left {
		if !m.augment(r, ref, ours, refOf, make([]bool, len(ours))) {
			missing = append(missing, ref[r])
		}
	}
	for i, r := range refOf {
		if r < 0 {
			extra = append(extra, ours[i])
		}
	}
	return missing, extra
}

// augment finds a partner for ref[r], giving others a new partner where needed.
func (m matcher[T]) augment(r int, ref, ours []T, refOf []int, visited []bool) bool {
	for o := range ours {
		if visited[o] || !m.same(ref[r], ours[o]) {
			continue
		}
		visited[o] = true
		if refOf[o] < 0 || m.augment(refOf[o], ref, ours, refOf, visited) {
			refOf[o] = r
			return true
		}
	}
	return false
}

// pairUp joins unmatched members of both sides that are probably meant to be
// the same, to show what differs instead of both in full.
func pairUp[T any](missing, extra []T, group func(T) string) (pairs [][2]T, m, e []T) {
	waiting := map[string][]T{}
	for _, v := range extra {
		k := group(v)
		waiting[k] = append(waiting[k], v)
	}
	for _, v := range missing {
		k := group(v)
		if w := waiting[k]; len(w) > 0 {
			pairs = append(pairs, [2]T{v, w[0]})
			waiting[k] = w[1:]
		} else {
			m = append(m, v)
		}
	}
	for _, v := range extra {
		// What is still waiting of a group are its last members.
		k := group(v)
		if n := len(waiting[k]); n > 0 {
			e = append(e, waiting[k][0])
			waiting[k] = waiting[k][1:]
		}
	}
	return pairs, m, e
}
