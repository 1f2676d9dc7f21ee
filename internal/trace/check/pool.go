package check

import "hash/maphash"

// A pool keeps every distinct string once and numbers them. Number 0 is the
// empty string. It is a plain open hash table over one byte array, because a
// trace can hold millions of distinct names and a Go map would cost several
// times their length.
type pool struct {
	seed  maphash.Seed
	bytes []byte
	ends  []int    // string i is bytes[ends[i-1]:ends[i]]
	table []uint32 // string numbers; 0 is a free slot
}

func newPool() *pool {
	return &pool{seed: maphash.MakeSeed(), ends: []int{0}, table: make([]uint32, 1<<10)}
}

func (p *pool) get(i uint32) []byte {
	if i == 0 {
		return nil
	}
	return p.bytes[p.ends[i-1]:p.ends[i]]
}

// put returns the number of b, which it copies if it is new.
func (p *pool) put(b []byte) uint32 {
	if len(b) == 0 {
		return 0
	}
	slot := p.find(b)
	if i := p.table[slot]; i != 0 {
		return i
	}
	p.bytes = append(p.bytes, b...)
	p.ends = append(p.ends, len(p.bytes))
	i := uint32(len(p.ends) - 1)
	p.table[slot] = i
	if len(p.ends) > len(p.table)/4*3 {
		p.grow()
	}
	return i
}

// find returns the slot that holds b, or the free one where it belongs.
func (p *pool) find(b []byte) uint64 {
	mask := uint64(len(p.table) - 1)
	slot := maphash.Bytes(p.seed, b) & mask
	for {
		i := p.table[slot]
		if i == 0 || string(p.get(i)) == string(b) {
			return slot
		}
		slot = (slot + 1) & mask
	}
}

func (p *pool) grow() {
	p.table = make([]uint32, 2*len(p.table))
	for i := 1; i < len(p.ends); i++ {
		p.table[p.find(p.get(uint32(i)))] = uint32(i)
	}
}
