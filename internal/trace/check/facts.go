package check

import "math/bits"

// factKeys are the args that writers put on every event of a trace alike, flow points
// included: they say which rank or launch it is of, and how far its place may be off.
var factKeys = [...]string{"rank", "slack_ns", "launch_epoch"}

// facts are the values of these args where they are integers.
type facts struct {
	value [len(factKeys)]int64
	there uint8 // a bit for each
}

// factOf is the index of a key, −1 if it is none of them.
func factOf(key []byte) int {
	for i, k := range factKeys {
		if string(key) == k {
			return i
		}
	}
	return -1
}

// note takes down a value of the key with this index.
func (f *facts) note(i int, v value) {
	if i < 0 || v.kind != kindNumber {
		return
	}
	if n, ok := v.num.int64(); ok {
		f.value[i] = n
		f.there |= 1 << i
	}
}

func (f *facts) len() int { return bits.OnesCount8(f.there) }

// in reports whether others have the same values.
func (f *facts) in(other *facts) bool {
	for i := range factKeys {
		if f.there>>i&1 != 0 && (other.there>>i&1 == 0 || f.value[i] != other.value[i]) {
			return false
		}
	}
	return true
}

// factSets numbers facts from 1 on: a trace has few different ones.
type factSets struct {
	of  map[facts]uint32
	all []facts
}

// number is that of the facts, 0 if there are none.
func (s *factSets) number(f facts) uint32 {
	if f.there == 0 {
		return 0
	}
	n, ok := s.of[f]
	if !ok {
		if s.of == nil {
			s.of = map[facts]uint32{}
		}
		s.all = append(s.all, f)
		n = uint32(len(s.all))
		s.of[f] = n
	}
	return n
}

// repeats holds the facts of a flow point against those of the slice it binds to. The
// importer drops the former: if the slice has them nothing is lost.
func (t *trace) repeats(i, slice uint32) {
	n := t.events.at(i).facts
	if n == 0 {
		return
	}
	own, has := &t.facts.all[n-1], facts{}
	if m := t.events.at(slice).facts; m > 0 {
		has = t.facts.all[m-1]
	}
	if own.in(&has) {
		t.hitEvent(ruleFlowArgsRepeated, i, "%d args, which slice %s has too", own.len(), t.at(slice))
		return
	}
	t.hitEvent(ruleFlowArgs, i, "%d args, which slice %s does not have all", own.len(), t.at(slice))
}

// unbound says that the facts of a flow point without a slice are lost.
func (t *trace) unbound(i uint32) {
	if n := t.events.at(i).facts; n > 0 {
		t.hitEvent(ruleFlowArgs, i, "%d args", t.facts.all[n-1].len())
	}
}
