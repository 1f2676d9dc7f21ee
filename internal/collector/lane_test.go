package collector

import (
	"sync"
	"testing"
)

// A lane gives out first what came back last, and holds no more than its room.
func TestLane(t *testing.T) {
	a, b, c := &buffer{addr: 1}, &buffer{addr: 2}, &buffer{addr: 3}
	l := &lane{room: 2}
	if l.take() != nil {
		t.Error("an empty lane has a buffer")
	}
	if !l.put(a) || !l.put(b) || l.put(c) {
		t.Error("a lane with room for two does not take exactly two")
	}
	if l.len() != 2 {
		t.Errorf("the lane holds %d buffers, want 2", l.len())
	}
	if first, second := l.take(), l.take(); first != b || second != a {
		t.Errorf("the lane gave out %d and %d, want 2 and 1", first.addr, second.addr)
	}
	if !l.put(c) || l.take() != c || l.take() != nil {
		t.Error("the lane does not go on after it was empty")
	}
}

// A drain goroutine and the replenish goroutine take from one lane: no buffer
// goes to both, and none is left behind.
func TestLaneTwoTakers(t *testing.T) {
	const n = 10_000
	l := &lane{room: n}
	taken := make([][]*buffer, 2)
	var all sync.WaitGroup
	all.Go(func() {
		for i := range n {
			l.put(&buffer{addr: uint64(i)})
		}
	})
	for i := range taken {
		all.Go(func() {
			for range n {
				if b := l.take(); b != nil {
					taken[i] = append(taken[i], b)
				}
			}
		})
	}
	all.Wait()
	seen := map[uint64]bool{}
	for _, list := range append(taken, l.free) {
		for _, b := range list {
			if seen[b.addr] {
				t.Fatalf("buffer %d was given out twice", b.addr)
			}
			seen[b.addr] = true
		}
	}
	if len(seen) != n {
		t.Errorf("%d buffers are known, want %d", len(seen), n)
	}
}
