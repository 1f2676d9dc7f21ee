package depview

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// All stands for any number of levels.
const All = -1

// Near is a task with what it needs and what needs it.
type Near struct {
	*View
	Task     int32
	Up, Down Side
}

// Side are the tasks on one side of a task, by distance.
type Side struct {
	Levels [][]int32 // nodes that are 1, 2, … edges away, by id; as many levels as are wanted
	Direct int       // nodes one edge away
	Total  int       // nodes any number of edges away
	Depth  int       // edges to the farthest of them, on the shortest way
	member map[int32]bool
}

// Near looks for what a task needs up to some levels away, and what needs it. All is
// any number of levels.
func (v *View) Near(task int32, up, down int) *Near {
	return &Near{
		View: v, Task: task,
		Up:   v.side(task, up, func(n int32, visit func(int32)) { v.intoNode(n, func(_, p int32) { visit(p) }) }),
		Down: v.side(task, down, func(n int32, visit func(int32)) { v.out(n, func(_, s int32) { visit(s) }) }),
	}
}

func (v *View) side(task int32, levels int, next func(n int32, visit func(int32))) Side {
	s := Side{member: map[int32]bool{task: true}}
	seen := make([]bool, v.Nodes())
	seen[task] = true
	for level := []int32{task}; ; s.Depth++ {
		var more []int32
		for _, n := range level {
			next(n, func(m int32) {
				if !seen[m] {
					seen[m] = true
					more = append(more, m)
				}
			})
		}
		if len(more) == 0 {
			return s
		}
		slices.Sort(more)
		if s.Depth == 0 {
			s.Direct = len(more)
		}
		s.Total += len(more)
		if levels == All || s.Depth < levels {
			s.Levels = append(s.Levels, more)
			for _, n := range more {
				s.member[n] = true
			}
		}
		level = more
	}
}

// edgesOf calls visit for the edges that lead from a node of a side towards the task:
// first the one to the task itself, then those to others of the side.
func (x *Near) edgesOf(side *Side, n int32, visit func(e, other int32)) {
	each := x.intoNode
	if side == &x.Up {
		each = x.out
	}
	each(n, func(e, other int32) {
		if other == x.Task {
			visit(e, other)
		}
	})
	each(n, func(e, other int32) {
		if other != x.Task && side.member[other] {
			visit(e, other)
		}
	})
}

// WriteText writes the task, what it needs and what needs it, and why.
func (x *Near) WriteText(w io.Writer) error {
	out := bufio.NewWriter(w)
	in, fanout := x.fan(x.Task)
	b := x.appendHead([]byte("TASK "), x.Task)
	b = strconv.AppendInt(append(b, " fanin="...), int64(in), 10)
	b = strconv.AppendInt(append(b, " fanout="...), int64(fanout), 10)
	b = append(b, '\n')
	b = x.appendFacts(b)
	out.Write(b)
	x.writeSide(out, &x.Up, "NEEDS", "<-", "->", "--up")
	x.writeSide(out, &x.Down, "NEEDED BY", "->", "<-", "--down")
	return out.Flush()
}

func (x *Near) appendFacts(b []byte) []byte {
	n := x.Task
	fact := func(key, value string) { b = append(append(append(append(b, "  "...), key...), value...), '\n') }
	fact("raw id     ", strconv.FormatUint(x.ID(n), 10))
	if name := x.Name(n); name != "" {
		fact("function   ", printable(name))
	}
	if core := x.CoreType(n); core != AnyCore {
		fact("core type  ", core)
	}
	if x.Early(n) {
		fact("submit     ", "early_dispatch")
	}
	if x.Manual(n) {
		fact("scope      ", "manual")
	}
	if t := x.Timing(n); t != nil && t.Rows > 0 {
		text := fmt.Sprintf("core %d, %s µs from %s µs on", t.Core, micros(t.Duration()), micros(t.Start))
		if t.Rows > 1 {
			text += fmt.Sprintf("; %d rows, from %s to %s µs", t.Rows, micros(t.First), micros(t.Last))
		}
		fact("ran        ", text)
	}
	args := x.Args(n)
	for i := range args {
		b = append(x.appendArg(append(b, "  "...), &args[i]), '\n')
	}
	return b
}

// writeSide writes the tasks of a side: each with its edges towards the task, and why
// they are there.
func (x *Near) writeSide(out *bufio.Writer, s *Side, title, mark, back, flag string) {
	all := ""
	if s.Total > s.Direct {
		all = fmt.Sprintf(", %d in all, up to %d away", s.Total, s.Depth)
	}
	fmt.Fprintf(out, "\n%s %d%s\n", title, s.Direct, all)
	var b []byte
	listed := 0
	for i, level := range s.Levels {
		listed += len(level)
		for _, n := range level {
			b = append(append(append(b[:0], "  "...), mark...), ' ')
			b = x.appendCalled(x.AppendText(b, n), n)
			if i > 0 {
				b = strconv.AppendInt(append(b, ", "...), int64(i+1), 10)
				b = append(b, " away"...)
			}
			b = append(b, '\n')
			x.edgesOf(s, n, func(e, other int32) {
				far := ""
				if other != x.Task {
					b = append(append(append(b, "     "...), back...), ' ')
					b = append(x.AppendText(b, other), '\n')
					far = "  "
				}
				for _, row := range x.Rows(e) {
					b = append(append(b, "     "...), far...)
					b = append(x.appendWhy(b, row), '\n')
				}
			})
			out.Write(b)
		}
	}
	if rest := s.Total - listed; rest > 0 {
		fmt.Fprintf(out, "  … %d more, farther away: %s %d shows the next level\n", rest, flag, len(s.Levels)+1)
	}
}

// micros is a time of ns in µs.
func micros(ns int64) string { return string(appendMicros(nil, ns)) }

func appendMicros(b []byte, ns int64) []byte {
	u := uint64(ns)
	if ns < 0 {
		b, u = append(b, '-'), -u
	}
	b = strconv.AppendUint(b, u/1000, 10)
	return append(b, '.', byte('0'+u/100%10), byte('0'+u/10%10), byte('0'+u%10))
}
