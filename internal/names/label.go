package names

import (
	"strconv"
	"strings"

	"swimlane/capture"
)

// AppendTaskID appends the text of a task id by the rules of its layout: t7 and
// r2t5 (spec/converter.md §2.1), always with the ring, or t12, g3t0 and p2 by
// space (spec/newest.md §4.2).
func AppendTaskID(dst []byte, ids capture.IDLayout, id uint64) []byte {
	t := ids.Split(id)
	prefix := func(c byte, v uint32) { dst = strconv.AppendUint(append(dst, c), uint64(v), 10) }
	letter := byte('t')
	switch {
	case ids == capture.Rings:
		prefix('r', t.Ring)
	case ids == capture.Spaces && t.Space == capture.SpaceSubTask:
		prefix('g', t.Parent)
	case ids == capture.Spaces && t.Space == capture.SpaceParam:
		letter = 'p'
	case ids == capture.HighLow && t.Ring&0xff != 0:
		prefix('r', t.Ring&0xff)
	}
	prefix(letter, t.Local)
	return dst
}

// ParseTaskID reads what AppendTaskID writes (t7, r2t5, g3t0, p2), alone or
// behind the name in a label, or a raw id as a decimal number. Ring 0 may be
// written or left out, whichever the layout does: users know one of the two.
func ParseTaskID(ids capture.IDLayout, text string) (uint64, bool) {
	if from := strings.LastIndexByte(text, '('); from >= 0 && strings.HasSuffix(text, ")") {
		text = text[from+1 : len(text)-1]
	}
	switch {
	case ids == capture.HighLow && strings.HasPrefix(text, "r0t"):
		text = text[len("r0"):]
	case ids == capture.Rings && strings.HasPrefix(text, "t"):
		text = "r0" + text
	}
	if id, err := strconv.ParseUint(text, 10, 64); err == nil {
		return id, true
	}
	var part [256]uint64 // by letter
	var given [256]bool
	for rest := text; rest != ""; {
		letter := rest[0]
		n := 1
		for n < len(rest) && '0' <= rest[n] && rest[n] <= '9' {
			n++
		}
		v, err := strconv.ParseUint(rest[1:n], 10, 32)
		if err != nil || given[letter] {
			return 0, false
		}
		part[letter], given[letter] = v, true
		rest = rest[n:]
	}
	id := part['t'] | part['p']
	switch {
	case given['p']:
		id |= capture.SpaceParam << 62
	case given['g']:
		id |= capture.SpaceSubTask<<62 | part['g']<<32
	default:
		id |= part['r'] << 32
	}
	// Only what is written like that is taken: no parts of other layouts, no leading zeros.
	return id, string(AppendTaskID(nil, ids, id)) == text
}

// Letters is the bijective base 26 numeral of n: 0 → a, 25 → z, 26 → aa
// (spec/converter.md §2.2). Negative numbers give "".
func Letters(n int64) string {
	var b []byte
	for n++; n > 0; n = (n - 1) / 26 {
		b = append(b, 'a'+byte((n-1)%26))
	}
	for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
	return string(b)
}

// Function is the display name of a function: its mapped name, or func_<id>_<letters>.
func (m *Map) Function(id int64) string {
	if name, ok := m.Name(id); ok {
		return name
	}
	return "func_" + strconv.FormatInt(id, 10) + "_" + Letters(id)
}

// TaskFunction is the part of a task's label in front of the id: the function's
// name, "task" where that is unknown, with _spmd for a task of several blocks
// unless the name says so itself (spec/converter.md §2.3).
func (m *Map) TaskFunction(id int64, spmd bool) string {
	name := "task"
	if id >= 0 {
		name = m.Function(id)
	}
	if !spmd {
		return name
	}
	// Everything behind a parenthesis of the name stays behind the mark.
	head, tail, cut := strings.Cut(name, "(")
	if strings.Contains(strings.ToLower(head), "spmd") {
		return name
	}
	if cut {
		return head + "_spmd(" + tail
	}
	return head + "_spmd"
}
