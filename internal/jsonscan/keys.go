package jsonscan

import (
	"encoding/binary"
	"math/bits"
)

// Objects of a capture come by the million and repeat the same dozen keys in
// the same order. A keyTable remembers the keys that were seen at one depth, so
// that the next key is found by one comparison with the expected text, and
// "twice in one object" is one bit. What does not fit falls back to a set.
type keyTable struct {
	names [][]byte // plain keys, roughly in the order in which they come
	used  uint64   // bit i: names[i] stood in the open object already
	next  int      // index of the key that is expected next
	start int      // index of the first key of the last object
	rest  keySet   // keys of the open object that are not in names
}

const (
	maxNames   = 64 // the bits of used
	maxNameLen = 40
	lookAhead  = 4 // optional keys that may be left out before the guess is given up
)

// open forgets the keys of the last object.
func (t *keyTable) open() {
	t.used, t.next = 0, t.start
	if !t.rest.empty() {
		t.rest.reset()
	}
}

// match returns the index of the name that b starts with, followed by a quote, if
// it is among the next ones; otherwise −1. It only knows plain names, so a match
// is a well-formed key.
func (t *keyTable) match(b []byte) int {
	end := min(t.next+lookAhead, len(t.names))
	for i := t.next; i < end; i++ {
		name := t.names[i]
		if n := len(name); n < len(b) && b[n] == '"' && string(b[:n]) == string(name) {
			return i
		}
	}
	return -1
}

// use marks name i as seen and reports whether it had been before.
func (t *keyTable) use(i int) (again bool) {
	if t.used == 0 {
		t.start = i
	}
	bit := uint64(1) << i
	again = t.used&bit != 0
	t.used |= bit
	t.next = i + 1
	return again
}

// add notes a key that match did not find and reports whether the open object
// had it before. Plain keys are learned, so that match finds them next time.
func (t *keyTable) add(key []byte, plain bool) (again bool) {
	for i, name := range t.names {
		if string(name) == string(key) {
			return t.use(i)
		}
	}
	if !plain || len(t.names) >= maxNames || len(key) > maxNameLen {
		return t.rest.seen(key)
	}
	if !t.rest.empty() && t.rest.has(key) {
		return true
	}
	t.learn(append([]byte(nil), key...))
	return false
}

// learn puts a name where it was found: behind the key that came before it.
func (t *keyTable) learn(name []byte) {
	at := t.next
	if t.used == 0 || at > len(t.names) {
		at = len(t.names) // the first key of another kind of object
	}
	t.names = append(t.names, nil)
	copy(t.names[at+1:], t.names[at:])
	t.names[at] = name
	below := uint64(1)<<at - 1
	t.used = t.used&below | t.used&^below<<1
	if t.start > at || t.start == at && t.used != 0 {
		t.start++
	}
	t.use(at)
}

// keySet is a set of keys of any number and form. Small ones are a list with a
// 64-bit filter in front; a large one gets a map, so that a hostile file cannot
// make the search quadratic.
type keySet struct {
	filter uint64
	hashes []uint64
	large  map[uint64]struct{}
}

const largeObject = 64

func (k *keySet) empty() bool { return k.filter == 0 }

func (k *keySet) reset() {
	k.filter = 0
	k.hashes = k.hashes[:0]
	k.large = nil
}

// seen adds key and reports whether it was there already.
func (k *keySet) seen(key []byte) bool {
	h := hash(key)
	if k.hasHash(h) {
		return true
	}
	k.filter |= 1 << (h >> 58)
	if k.large != nil {
		k.large[h] = struct{}{}
		return false
	}
	k.hashes = append(k.hashes, h)
	if len(k.hashes) > largeObject {
		k.large = make(map[uint64]struct{}, 2*largeObject)
		for _, x := range k.hashes {
			k.large[x] = struct{}{}
		}
	}
	return false
}

func (k *keySet) has(key []byte) bool { return k.hasHash(hash(key)) }

func (k *keySet) hasHash(h uint64) bool {
	if k.filter&(1<<(h>>58)) == 0 {
		return false
	}
	if k.large != nil {
		_, dup := k.large[h]
		return dup
	}
	for _, x := range k.hashes {
		if x == h {
			return true
		}
	}
	return false
}

// hash mixes eight bytes at a time. A collision makes two different keys look
// equal, which refuses a file; with 64 bits that takes a file made for it.
func hash(key []byte) uint64 {
	const mul = 0x9e3779b97f4a7c15
	h := uint64(len(key)) * mul
	for len(key) >= 8 {
		h = mix(h ^ binary.LittleEndian.Uint64(key))
		key = key[8:]
	}
	var tail uint64
	for i, c := range key {
		tail |= uint64(c) << (8 * i)
	}
	return mix(h ^ tail)
}

func mix(x uint64) uint64 {
	hi, lo := bits.Mul64(x^0xa0761d6478bd642f, 0xe7037ed1a0b428db)
	return hi ^ lo
}
