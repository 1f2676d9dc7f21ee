package collector

import "swimlane/internal/abi"

// What the tests in package collector_test use of the inside.

type Store = store

func (s *store) Add(kind abi.Kind, index int, seq uint32, records []byte) (kept int) {
	return s.add(kind, index, seq, records)
}

func (s *store) Replace(index int, seq uint32, records []byte) { s.replace(index, seq, records) }

func (s *store) Rotate() *Store { return s.rotate() }

// Allocated is the memory that the records take, with what keeps them in order.
func (s *store) Allocated() int { return s.allocated + 40*cap(s.runs) + 12*cap(s.deliveries) }

var NewCapture = newCapture
