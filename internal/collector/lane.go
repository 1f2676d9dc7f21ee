package collector

import (
	"sync"
	"sync/atomic"
)

// lane holds the free buffers of a kind that a shard's drain goroutine may take
// (spec/collector.md §3.3). The one that came back last goes out first: so a run
// writes to as few buffers as it can, and those are in the caches and page tables
// of both sides.
type lane struct {
	room int

	mu   sync.Mutex
	free []*buffer
	n    atomic.Int32 // len(free)
}

// put adds a buffer. False: the lane is full.
func (l *lane) put(b *buffer) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.free) >= l.room {
		return false
	}
	l.free = append(l.free, b)
	l.n.Store(int32(len(l.free)))
	return true
}

// take takes a buffer out, nil if there is none.
func (l *lane) take() *buffer {
	if l.len() == 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.free) == 0 { // another goroutine was faster
		return nil
	}
	b := l.free[len(l.free)-1]
	l.free = l.free[:len(l.free)-1]
	l.n.Store(int32(len(l.free)))
	return b
}

func (l *lane) len() int { return int(l.n.Load()) }
