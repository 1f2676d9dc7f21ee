package depview

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"swimlane/capture"
	"swimlane/internal/names"
)

// Parse finds the task that a user means: an id as any of our texts writes it, as in
// (0, 42), 0:42, r0t42, t42, g3t0 or p2, alone or behind a name as in QK(r0t42), or the
// raw id as a decimal or 0x number.
func (m *Model) Parse(text string) (int32, error) {
	id, ok := m.parseID(strings.TrimSpace(text))
	if !ok {
		return 0, fmt.Errorf("%q is no task id: expected one as %s", text, m.idForms())
	}
	if n, ok := m.Node(id); ok {
		return n, nil
	}
	return 0, fmt.Errorf("no task %s (raw id %d) in %s%s", text, id, m.Source, m.meant(id))
}

// idForms are examples of ids of this graph.
func (m *Model) idForms() string {
	example := uint64(7)
	if len(m.id) > 0 {
		example = m.id[len(m.id)-1]
	}
	forms := []string{string(names.AppendTaskID(nil, m.IDs, example)), strconv.FormatUint(example, 10) + " (the raw number)"}
	if m.IDs != capture.Spaces {
		forms = append([]string{fmt.Sprintf("(%d, %d)", example>>32&0xff, example&0xffffffff)}, forms...)
	}
	return strings.Join(forms, ", or ")
}

func (m *Model) parseID(text string) (uint64, bool) {
	text = strings.TrimSpace(strings.TrimPrefix(text, "TASK "))
	if id, ok := m.pair(text); ok {
		return id, true
	}
	if hex, ok := strings.CutPrefix(strings.ToLower(text), "0x"); ok {
		id, err := strconv.ParseUint(hex, 16, 64)
		return id, err == nil
	}
	return names.ParseTaskID(m.IDs, text)
}

// pair reads (high, local) and high:local.
func (m *Model) pair(text string) (uint64, bool) {
	if strings.HasPrefix(text, "(") && strings.HasSuffix(text, ")") {
		text = text[1 : len(text)-1]
	}
	high, local, ok := strings.Cut(text, ",")
	if !ok {
		high, local, ok = strings.Cut(text, ":")
	}
	h, err := strconv.ParseUint(strings.TrimSpace(high), 10, 8)
	l, err2 := strconv.ParseUint(strings.TrimSpace(local), 10, 32)
	if !ok || err != nil || err2 != nil || m.IDs == capture.Spaces && h != 0 {
		return 0, false
	}
	return h<<32 | l, true
}

// meant lists tasks with the same local number, which may have been meant.
func (m *Model) meant(id uint64) string {
	var near []string
	const most = 5
	for n, other := range m.id {
		if uint32(other) == uint32(id) && len(near) < most {
			near = append(near, m.Text(int32(n)))
		}
	}
	if len(near) > 0 {
		return "; did you mean " + strings.Join(near, " or ") + "?"
	}
	if len(m.id) == 0 {
		return ", which has no tasks"
	}
	return fmt.Sprintf("; its ids go from %s to %s", m.Text(0), m.Text(int32(len(m.id)-1)))
}

// SplitPair splits the two tasks of a --chain: "A -> B", "A..B", "A to B", or
// "A B" as one argument, of ids without blanks of their own.
func SplitPair(text string) (from, to string, ok bool) {
	for _, sep := range []string{"->", "..", " to "} {
		if from, to, ok = strings.Cut(text, sep); ok {
			from, to = strings.TrimSpace(from), strings.TrimSpace(to)
			return from, to, from != "" && to != ""
		}
	}
	if f := strings.Fields(text); len(f) == 2 && !strings.ContainsAny(text, "(,") {
		return f[0], f[1], true
	}
	return "", "", false
}

// JoinPair makes of the arguments "--chain A B" the one that SplitPair takes apart.
func JoinPair(args []string) []string {
	for i, a := range args {
		switch {
		case a == "--":
			return args
		case a != "--chain" || i+2 >= len(args):
			continue
		}
		if _, _, ok := SplitPair(args[i+1]); ok || strings.HasPrefix(args[i+1], "-") || strings.HasPrefix(args[i+2], "-") {
			continue
		}
		return slices.Concat(args[:i], []string{"--chain=" + args[i+1] + " -> " + args[i+2]}, args[i+3:])
	}
	return args
}
