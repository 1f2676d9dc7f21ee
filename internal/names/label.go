package names

import (
	"strconv"
	"strings"

	"swimlane/capture"
)

// AppendTaskID appends the text of a task id: t7, or r2t5 when the high part
// is not 0 (spec/converter.md §2.1).
func AppendTaskID(dst []byte, ids capture.IDLayout, id uint64) []byte {
	high, local := ids.Split(id)
	if ring := high & 0xff; ring != 0 {
		dst = append(dst, 'r')
		dst = strconv.AppendUint(dst, uint64(ring), 10)
	}
	dst = append(dst, 't')
	return strconv.AppendUint(dst, uint64(local), 10)
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
