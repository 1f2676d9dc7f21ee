package compare

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"swimlane/internal/analysis/stats"
	"swimlane/internal/names"
)

// Text writes the comparison. top is how many rows the tables of functions and
// tasks have at most.
func (r *Result) Text(w io.Writer, top int) error {
	var b text
	b.add("A: %s", stats.Printable(r.A.about()))
	b.add("B: %s", stats.Printable(r.B.about()))
	b.add("Graphs: %s", r.graphs())
	b.add("Tasks:  %s", r.Match.text())
	for _, n := range r.Notes {
		b.add("Note:   %s", stats.Printable(n))
	}
	b.add("")
	b.add("%-34s %14s %14s %14s %9s", "", "A", "B", "B - A", "%")
	b.figure(Figure{Name: "makespan", Unit: "us", Change: r.Makespan})
	if r.Span != nil {
		b.figure(Figure{Name: "dispatch to finish", Unit: "us", Change: *r.Span})
	}
	b.section("critical path", r.Critical)
	b.section("scheduler overhead", r.Overhead)
	r.functionTable(&b, top)
	r.taskTable(&b, top)
	_, err := io.WriteString(w, b.String())
	return err
}

type text struct{ strings.Builder }

func (b *text) add(format string, args ...any) { fmt.Fprintf(b, format+"\n", args...) }

// count is a number of things, in words.
func count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

func (s *Side) about() string {
	rec := s.Timeline.Rec
	what := fmt.Sprintf("level %d, %s in %s on %s", rec.Level, count(s.Timeline.Tasks.Len(), "task"), count(s.Timeline.Rows.Len(), "row"), count(len(s.Timeline.Cores), "core"))
	if rec.Meta.Runtime != "" {
		what += ", " + rec.Meta.Runtime
	}
	return s.Name + " (" + what + ")"
}

func (r *Result) graphs() string {
	g := &r.Graphs
	for _, s := range []*Side{r.A, r.B} {
		if s.BorrowedGraph {
			return fmt.Sprintf("that of %s, for both: %s, %s", side(s == r.B), count(g.NodesA, "task"), count(g.EdgesA, "edge"))
		}
	}
	switch {
	case !g.A && !g.B:
		return "none"
	case !g.A || !g.B:
		return "only " + side(g.A) + " has one"
	case g.Equal():
		return fmt.Sprintf("equal: %s, %s", count(g.NodesA, "task"), count(g.EdgesA, "edge"))
	}
	return fmt.Sprintf("different: %s and %s in A, %d and %d in B; %s and %s only in A, %d and %d only in B, %s with other kernels",
		count(g.NodesA, "task"), count(g.EdgesA, "edge"), g.NodesB, g.EdgesB,
		count(g.OnlyA, "task"), count(g.MoreA, "edge"), g.OnlyB, g.MoreB, count(g.Kernels, "task"))
}

func (m *Match) text() string {
	var how []string
	add := func(n int, what string) {
		if n > 0 {
			how = append(how, fmt.Sprintf("%d by %s", n, what))
		}
	}
	add(m.ByID, "task id")
	add(m.ByBefore, "what they run and depend on")
	add(m.ByOrder, "what they run, in order")
	s := fmt.Sprintf("%d matched", len(m.Pairs))
	if len(how) > 0 {
		s += " (" + strings.Join(how, ", ") + ")"
	}
	s += fmt.Sprintf(", %d only in A, %d only in B", m.OnlyA, m.OnlyB)
	if m.Unproven && len(m.Pairs) > 0 {
		s += "; no graph proves that equal ids are equal tasks"
	}
	return s
}

func (b *text) section(title string, figures []Figure) {
	if len(figures) == 0 {
		return
	}
	b.add("%s", title)
	for _, f := range figures {
		if f.Part {
			f.Name = "  " + f.Name
		}
		f.Name = "  " + f.Name
		b.figure(f)
	}
}

func (b *text) figure(f Figure) {
	name, digits := f.Name, 2
	if f.Unit != "" {
		name += " (" + f.Unit + ")"
	} else {
		digits = 0
	}
	grew := ""
	if f.Unit != "%" { // points of percent are no percentage
		grew = percent(f.Change)
	}
	line := fmt.Sprintf("%-34s %14.*f %14.*f %14s %9s", name, digits, f.A, digits, f.B, signed(f.Diff(), digits), grew)
	b.add("%s", strings.TrimRight(line, " "))
}

// signed is a difference with its sign, 0 without.
func signed(v float64, digits int) string {
	s := fmt.Sprintf("%+.*f", digits, v)
	if strings.Trim(s, "+-0.") == "" {
		return s[1:]
	}
	return s
}

func percent(c Change) string {
	if p := c.Percent(); !math.IsInf(p, 0) {
		return signed(p, 1) + "%"
	}
	return "new"
}

func (r *Result) functionTable(b *text, top int) {
	shown := r.Functions[:min(top, len(r.Functions))]
	b.add("\nKernel times by function, in us%s", first(len(shown), len(r.Functions), "that changed most in all"))
	wide := len("Function")
	for _, f := range shown {
		wide = max(wide, len([]rune(stats.Printable(f.Name))))
	}
	b.add("%-*s %8s %8s %11s %11s %9s %23s  %-9s %14s %14s", wide, "Function", "Count A", "Count B", "Median A", "Median B", "%", "B - A lies in", "", "Sum A", "Sum B")
	for i := range shown {
		f := &shown[i]
		noise, grew := "-", "-"
		if f.CountA > 0 && f.CountB > 0 {
			noise = fmt.Sprintf("%s … %s", signed(f.NoiseLo, 2), signed(f.NoiseHi, 2))
			grew = percent(f.Median)
		}
		b.add("%-*s %8d %8d %11s %11s %9s %23s  %-9s %14.2f %14.2f", wide, stats.Printable(f.Name), f.CountA, f.CountB,
			dash(f.Median.A, f.CountA), dash(f.Median.B, f.CountB), grew, noise, f.Verdict(), f.Total.A, f.Total.B)
	}
}

func dash(v float64, n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", v)
}

func first(shown, of int, which string) string {
	if shown == of {
		return ""
	}
	return fmt.Sprintf(" — %d of %d %s", shown, of, which)
}

func (r *Result) taskTable(b *text, top int) {
	if len(r.Tasks) == 0 {
		return
	}
	table := func(what string, tasks []Task, of func(*Task) Change) {
		b.add("%-32s %-32s %14s %14s %14s", "A", "B", what+" A", what+" B", "B - A")
		for i := range tasks {
			c := of(&tasks[i])
			b.add("%-32s %-32s %14.2f %14.2f %14s", r.A.label(tasks[i].A), r.B.label(tasks[i].B), c.A, c.B, signed(c.Diff(), 2))
		}
	}
	start, time := func(t *Task) Change { return t.Start }, func(t *Task) Change { return t.Duration }
	if moved := changed(r.Tasks, start); len(moved) == 0 {
		b.add("\nNo task's start moved.")
	} else {
		shown := moved[:min(top, len(moved))]
		b.add("\nTasks whose start moved most, in us from the first kernel start%s", first(len(shown), len(moved), "that moved"))
		table("start", shown, start)
	}
	longer := changed(r.Tasks, time)
	if len(longer) == 0 {
		b.add("\nNo task's time changed.")
		return
	}
	slices.SortStableFunc(longer, func(x, y Task) int {
		return cmp.Or(cmp.Compare(math.Abs(y.Duration.Diff()), math.Abs(x.Duration.Diff())), cmp.Compare(x.A, y.A))
	})
	shown := longer[:min(top, len(longer))]
	b.add("\nTasks whose time changed most, from their first kernel start to their last end, in us%s", first(len(shown), len(longer), "that changed"))
	table("time", shown, time)
}

// changed are the tasks of which a figure is not what it was.
func changed(tasks []Task, of func(*Task) Change) []Task {
	var out []Task
	for i := range tasks {
		if of(&tasks[i]).Diff() != 0 {
			out = append(out, tasks[i])
		}
	}
	return out
}

// label is what pictures call a task.
func (s *Side) label(task int32) string {
	t := s.Timeline
	f := t.Rows.Func[t.Tasks.Off[task]]
	b := append([]byte(s.Names.TaskFunction(int64(f), t.Tasks.SPMD[task])), '(')
	b = append(names.AppendTaskID(b, t.Rec.Dialect.IDs, t.Tasks.ID[task]), ')')
	return stats.Printable(string(b))
}
