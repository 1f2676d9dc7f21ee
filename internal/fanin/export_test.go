package fanin

import "swimlane/internal/abi"

// Bucket is the number of the bucket of an address.
func (m *Map) Bucket(addr uint64) int {
	head := m.bucket(addr)
	for i := range m.buckets {
		if &m.buckets[i] == head {
			return i
		}
	}
	return -1
}

// Tensor is a slice as the argument that it was.
func (s *Slice) Tensor() abi.Tensor {
	return abi.Tensor{BufferAddr: s.BufferAddr, StartOffset: s.StartOffset, Version: s.Version, DType: s.DType,
		NDims: uint32(s.NDims), Shapes: s.Shapes, Strides: s.Strides}
}
