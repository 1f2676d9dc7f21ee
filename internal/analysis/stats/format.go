package stats

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Text writes the table in the form of spec/converter.md §9.
func (out *Table) Text(w io.Writer) error {
	var b lines
	b.add("")
	b.rule("=", 140)
	b.add("Task Statistics by Function")
	b.add("  Source chip_swimlane_level: %d (%s; recorded in chip_swimlane_records.json)", out.Level, Caption(out.Level))
	b.add("  Exec = kernel time on AICore; Latency = dispatch->finish (incl. head OH + Exec + tail OH)")
	b.add("  Head OH split (v3): Prop = NoC propagation (dispatch_ts→AICore receive); Local = dcci+ack (receive→start)")
	b.rule("=", 140)
	out.rows(&b, out.Functions)
	if span := out.spanLine(); span != "" {
		b.add("\n%s", span)
	}
	if all := out.perTask(); all != "" {
		b.add("\n--- Task execution vs Scheduler overhead ---")
		b.add("%s", all)
		b.add("  (Latency = dispatch→finish; Exec = AICore kernel time per task)")
	}
	b.rule("=", 110)
	return b.write(w)
}

// Short writes the same figures without the explanations, in about the given
// number of lines: of many functions those that ran longest in all.
func (out *Table) Short(w io.Writer, room int) error {
	var b lines
	b.add("\nTask Statistics by Function")
	room -= 8
	if len(out.Functions) > room {
		room-- // for the line that counts the others
	}
	out.rows(&b, out.longest(max(room, 5)))
	for _, s := range []string{out.spanLine(), out.perTask()} {
		if s != "" {
			b.add("%s", s)
		}
	}
	return b.write(w)
}

// TextLines is the number of lines that Text writes.
func (out *Table) TextLines() int {
	n := 12 + len(out.Functions)
	if out.spanLine() != "" {
		n += 2
	}
	if out.perTask() != "" {
		n += 4
	}
	return n
}

// lines collects text.
type lines struct{ strings.Builder }

func (b *lines) add(format string, args ...any) { fmt.Fprintf(b, format+"\n", args...) }

func (b *lines) rule(c string, n int) { b.add("%s", strings.Repeat(c, n)) }

func (b *lines) write(w io.Writer) error {
	_, err := io.WriteString(w, b.String())
	return err
}

// longest returns at most n functions, those with the most kernel time, in the
// order of their ids.
func (out *Table) longest(n int) []Function {
	if len(out.Functions) <= n {
		return out.Functions
	}
	top := slices.Clone(out.Functions)
	slices.SortStableFunc(top, func(a, b Function) int { return cmp.Compare(b.Exec, a.Exec) })
	top = top[:n]
	slices.SortFunc(top, func(a, b Function) int { return cmp.Compare(a.ID, b.ID) })
	return top
}

// rows adds the header, a row per shown function and the total.
func (out *Table) rows(b *lines, shown []Function) {
	b.add("%-8s %-12s %5s   %12s  %15s  %6s   %15s  %15s  %12s  %13s",
		"Func_ID", "Func_Name", "Count", "Avg Exec(us)", "Avg Latency(us)", "Exec%", "Avg Head OH(us)", "Avg Tail OH(us)", "Avg Prop(us)", "Avg Local(us)")
	b.rule("-", 140)
	for i := range shown {
		f := &shown[i]
		b.add("%-8d %-12s %5d   %12.2f  %15s  %6s   %15s  %15s  %12s  %13.2f", f.ID, Printable(f.Name), f.Count,
			out.AvgExec(f), cell(out.AvgLatency(f)), percent(out.ExecPercent(f)), cell(out.AvgHead(f)), cell(out.AvgTail(f)),
			cell(out.AvgProp(f)), out.AvgLocal(f))
	}
	if n := len(out.Functions) - len(shown); n > 0 {
		b.add("… and %d more functions with less kernel time: swimlane stats", n)
	}
	b.rule("-", 140)
	t := &out.Total
	b.add("%-21s %5d   %12.2f  %15s", "TOTAL", t.Count, out.Micros(float64(t.Exec)), cell(out.Micros(float64(t.Latency)), t.Timed > 0))
}

// spanLine says how long the whole capture took, "" without rows.
func (out *Table) spanLine() string {
	switch {
	case !out.HasSpan:
		return ""
	case out.Timed:
		return fmt.Sprintf("Total Test Time: %.2f us (from earliest dispatch to latest finish)", out.Micros(float64(out.Span)))
	default:
		return fmt.Sprintf("AICore Observed Span: %.2f us (from earliest AICore receive to latest AICore end)", out.Micros(float64(out.Span)))
	}
}

// perTask is the mean over all rows, "" without scheduler times.
func (out *Table) perTask() string {
	if !out.Timed || out.Total.Latency == 0 {
		return ""
	}
	share, _ := out.ExecPercent(&out.Total)
	latency, _ := out.AvgLatency(&out.Total)
	words, exec, more := "all", out.AvgExec(&out.Total), ""
	if out.ValidOnly {
		// Later generations count valid rows only, and add a line (spec/newest.md §6.6).
		words = "valid scheduler timing"
		exec, _ = out.mean(&out.Total, float64(out.Total.TimedExec))
		more = fmt.Sprintf("\n  Dispatch→kernel start (Host-computed): Total = %.2f us, Max = %.2f us",
			out.Micros(float64(out.Total.Head)), out.Micros(float64(out.Total.HeadMax)))
	}
	return fmt.Sprintf("  Per-task (%s):  Avg Exec = %.2f us,  Avg Latency (dispatch->finish) = %.2f us,  Exec/Latency = %.2f%%%s",
		words, exec, latency, share, more)
}

func cell(v float64, ok bool) string {
	if !ok {
		return "-"
	}
	return fmt.Sprintf("%.2f", v)
}

func percent(v float64, ok bool) string {
	if !ok {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", v)
}

// Printable shows control characters of a name as escapes, so that they cannot disturb a terminal.
func Printable(s string) string {
	if !strings.ContainsFunc(s, unicode.IsControl) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if unicode.IsControl(r) {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// fewThreads is up to how many threads the idle times are shown at length.
const fewThreads = 6

// IdleTimes says how long every scheduler thread was idle, one text for each;
// with many threads the texts are shorter. Threads that recorded neither work
// nor idle time are left out.
func (out *Table) IdleTimes() []string {
	var threads []Thread
	for _, t := range out.Threads {
		if t.Busy+t.Idle > 0 {
			threads = append(threads, t)
		}
	}
	var texts []string
	for i := range threads {
		t := &threads[i]
		if len(threads) > fewThreads {
			texts = append(texts, fmt.Sprintf("%s %.1f%%", Printable(t.Name), t.share()))
		} else {
			texts = append(texts, fmt.Sprintf("%s %.2f us (%.1f%%)", Printable(t.Name), float64(t.Idle)/1000, t.share()))
		}
	}
	return texts
}

// share is the idle part of a thread's time in percent.
func (t *Thread) share() float64 { return 100 * float64(t.Idle) / float64(t.Busy+t.Idle) }

// functionDoc is a function as scripts get it. Absent values are null.
type functionDoc struct {
	ID          int32    `json:"func_id"`
	Name        string   `json:"func_name"`
	Count       int      `json:"count"`
	Timed       int      `json:"timed_count"`
	AvgExec     float64  `json:"avg_exec_us"`
	AvgLatency  *float64 `json:"avg_latency_us"`
	ExecPercent *float64 `json:"exec_percent"`
	AvgHead     *float64 `json:"avg_head_overhead_us"`
	AvgTail     *float64 `json:"avg_tail_overhead_us"`
	AvgProp     *float64 `json:"avg_propagation_us"`
	AvgLocal    float64  `json:"avg_local_setup_us"`
}

func (out *Table) functionDoc(f *Function) functionDoc {
	return functionDoc{
		ID: f.ID, Name: f.Name, Count: f.Count, Timed: f.Timed, AvgExec: out.AvgExec(f), AvgLatency: opt(out.AvgLatency(f)),
		ExecPercent: opt(out.ExecPercent(f)), AvgHead: opt(out.AvgHead(f)), AvgTail: opt(out.AvgTail(f)), AvgProp: opt(out.AvgProp(f)),
		AvgLocal: out.AvgLocal(f),
	}
}

func opt[T any](v T, ok bool) *T {
	if !ok {
		return nil
	}
	return &v
}

// CSV writes one line per function; absent values are empty.
func (out *Table) CSV(w io.Writer) error {
	c := csv.NewWriter(w)
	number := func(v *float64) string {
		if v == nil {
			return ""
		}
		return strconv.FormatFloat(*v, 'f', -1, 64)
	}
	c.Write([]string{"func_id", "func_name", "count", "timed_count", "avg_exec_us", "avg_latency_us", "exec_percent",
		"avg_head_overhead_us", "avg_tail_overhead_us", "avg_propagation_us", "avg_local_setup_us"})
	for i := range out.Functions {
		d := out.functionDoc(&out.Functions[i])
		c.Write([]string{strconv.Itoa(int(d.ID)), d.Name, strconv.Itoa(d.Count), strconv.Itoa(d.Timed), number(&d.AvgExec), number(d.AvgLatency),
			number(d.ExecPercent), number(d.AvgHead), number(d.AvgTail), number(d.AvgProp), number(&d.AvgLocal)})
	}
	c.Flush()
	return c.Error()
}

// JSON writes the whole table as one object.
func (out *Table) JSON(w io.Writer) error {
	type threadDoc struct {
		Name   string  `json:"name"`
		Busy   float64 `json:"busy_us"`
		Idle   float64 `json:"idle_us"`
		Stated bool    `json:"idle_recorded"`
	}
	doc := struct {
		Source       string        `json:"source"`
		Level        int           `json:"chip_swimlane_level"`
		Caption      string        `json:"level_caption"`
		Producer     *string       `json:"producer"`
		Tasks        int           `json:"tasks"`
		Rows         int           `json:"rows"`
		Cores        int           `json:"cores"`
		SpanKind     *string       `json:"span_kind"`
		Span         *float64      `json:"span_us"`
		TotalExec    float64       `json:"total_exec_us"`
		TotalLatency *float64      `json:"total_latency_us"`
		Functions    []functionDoc `json:"functions"`
		Threads      []threadDoc   `json:"scheduler_threads"`
	}{
		Source: out.Source, Level: out.Level, Caption: Caption(out.Level), Producer: opt(out.Producer, out.Producer != ""),
		Tasks: out.Tasks, Rows: out.Total.Count, Cores: out.Cores, Span: opt(out.Micros(float64(out.Span)), out.HasSpan),
		TotalExec: out.Micros(float64(out.Total.Exec)), TotalLatency: opt(out.Micros(float64(out.Total.Latency)), out.Total.Timed > 0),
		Functions: []functionDoc{}, Threads: []threadDoc{},
	}
	switch {
	case !out.HasSpan:
	case out.Timed:
		doc.SpanKind = opt("dispatch_to_finish", true)
	default:
		doc.SpanKind = opt("receive_to_end", true)
	}
	for i := range out.Functions {
		doc.Functions = append(doc.Functions, out.functionDoc(&out.Functions[i]))
	}
	for _, t := range out.Threads {
		doc.Threads = append(doc.Threads, threadDoc{t.Name, float64(t.Busy) / 1000, float64(t.Idle) / 1000, t.Stated})
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(doc)
}
