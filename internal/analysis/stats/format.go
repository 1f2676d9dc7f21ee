package stats

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
)

// Text writes the table in the form of spec/converter.md §9.
func (out *Table) Text(w io.Writer) error {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	rule := func(c string, n int) { line("%s", strings.Repeat(c, n)) }
	line("")
	rule("=", 140)
	line("Task Statistics by Function")
	line("  Source chip_swimlane_level: %d (%s; recorded in chip_swimlane_records.json)", out.Level, Caption(out.Level))
	line("  Exec = kernel time on AICore; Latency = dispatch->finish (incl. head OH + Exec + tail OH)")
	line("  Head OH split (v3): Prop = NoC propagation (dispatch_ts→AICore receive); Local = dcci+ack (receive→start)")
	rule("=", 140)
	line("%-8s %-12s %5s   %12s  %15s  %6s   %15s  %15s  %12s  %13s",
		"Func_ID", "Func_Name", "Count", "Avg Exec(us)", "Avg Latency(us)", "Exec%", "Avg Head OH(us)", "Avg Tail OH(us)", "Avg Prop(us)", "Avg Local(us)")
	rule("-", 140)
	for i := range out.Functions {
		f := &out.Functions[i]
		line("%-8d %-12s %5d   %12.2f  %15s  %6s   %15s  %15s  %12s  %13.2f", f.ID, printable(f.Name), f.Count,
			out.AvgExec(f), cell(out.AvgLatency(f)), percent(out.ExecPercent(f)), cell(out.AvgHead(f)), cell(out.AvgTail(f)),
			cell(out.AvgProp(f)), out.AvgLocal(f))
	}
	rule("-", 140)
	t := &out.Total
	line("%-21s %5d   %12.2f  %15s", "TOTAL", t.Count, out.Micros(float64(t.Exec)), cell(out.Micros(float64(t.Latency)), out.Timed))
	switch {
	case !out.HasSpan:
	case out.Timed:
		line("\nTotal Test Time: %.2f us (from earliest dispatch to latest finish)", out.Micros(float64(out.Span)))
	default:
		line("\nAICore Observed Span: %.2f us (from earliest AICore receive to latest AICore end)", out.Micros(float64(out.Span)))
	}
	if out.Timed && t.Latency > 0 {
		share, _ := out.ExecPercent(t)
		latency, _ := out.AvgLatency(t)
		line("\n--- Task execution vs Scheduler overhead ---")
		line("  Per-task (all):  Avg Exec = %.2f us,  Avg Latency (dispatch->finish) = %.2f us,  Exec/Latency = %.2f%%", out.AvgExec(t), latency, share)
		line("  (Latency = dispatch→finish; Exec = AICore kernel time per task)")
	}
	rule("=", 110)
	_, err := io.WriteString(w, b.String())
	return err
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

// printable shows control characters of a name as escapes, so that they cannot disturb a terminal.
func printable(s string) string {
	if !strings.ContainsFunc(s, unicode.IsControl) {
		return s
	}
	q := strconv.Quote(s)
	return q[1 : len(q)-1]
}

// IdleLine says how long every scheduler thread was idle, "" without threads.
func (out *Table) IdleLine() string {
	var parts []string
	for _, t := range out.Threads {
		all := t.Busy + t.Idle
		if all == 0 {
			continue
		}
		parts = append(parts, fmt.Sprintf("%s %.2f us (%.1f%%)", t.Name, float64(t.Idle)/1000, 100*float64(t.Idle)/float64(all)))
	}
	return strings.Join(parts, ", ")
}

// columns are the machine-readable columns; absent values are empty, or null in JSON.
var columns = []string{"func_id", "func_name", "count", "timed_count", "avg_exec_us", "avg_latency_us", "exec_percent",
	"avg_head_overhead_us", "avg_tail_overhead_us", "avg_propagation_us", "avg_local_setup_us"}

func (out *Table) values(f *Function) []any {
	opt := func(v float64, ok bool) any {
		if !ok {
			return nil
		}
		return v
	}
	return []any{f.ID, f.Name, f.Count, f.Timed, out.AvgExec(f), opt(out.AvgLatency(f)), opt(out.ExecPercent(f)),
		opt(out.AvgHead(f)), opt(out.AvgTail(f)), opt(out.AvgProp(f)), out.AvgLocal(f)}
}

// CSV writes one line per function.
func (out *Table) CSV(w io.Writer) error {
	c := csv.NewWriter(w)
	c.Write(columns)
	for i := range out.Functions {
		var row []string
		for _, v := range out.values(&out.Functions[i]) {
			switch v := v.(type) {
			case nil:
				row = append(row, "")
			case float64:
				row = append(row, strconv.FormatFloat(v, 'f', -1, 64))
			default:
				row = append(row, fmt.Sprint(v))
			}
		}
		c.Write(row)
	}
	c.Flush()
	return c.Error()
}

// JSON writes the whole table as one object.
func (out *Table) JSON(w io.Writer) error {
	type object = map[string]any
	var functions []object
	for i := range out.Functions {
		o := object{}
		for k, v := range out.values(&out.Functions[i]) {
			o[columns[k]] = v
		}
		functions = append(functions, o)
	}
	threads := []object{}
	for _, t := range out.Threads {
		threads = append(threads, object{"name": t.Name, "busy_us": float64(t.Busy) / 1000, "idle_us": float64(t.Idle) / 1000, "idle_recorded": t.Stated})
	}
	doc := object{
		"source": out.Source, "chip_swimlane_level": out.Level, "level_caption": Caption(out.Level), "producer": out.Producer,
		"tasks": out.Tasks, "rows": out.Total.Count, "cores": out.Cores, "functions": functions, "scheduler_threads": threads,
		"total_exec_us": out.Micros(float64(out.Total.Exec)), "span_us": nil, "span_kind": nil, "total_latency_us": nil,
	}
	if out.HasSpan {
		doc["span_us"] = out.Micros(float64(out.Span))
		doc["span_kind"] = "receive_to_end"
	}
	if out.Timed {
		doc["span_kind"] = "dispatch_to_finish"
		doc["total_latency_us"] = out.Micros(float64(out.Total.Latency))
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(doc)
}
