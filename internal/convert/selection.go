package convert

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"swimlane/capture"
	"swimlane/internal/console"
	"swimlane/internal/draw"
	"swimlane/internal/names"
	"swimlane/trace"
)

// selectOptions choose a part of the picture.
type selectOptions struct {
	from, to   float64 // µs
	windowed   bool
	lanes, fns []string
	noFlows    bool
	tasks      []string
	neighbours int
	chain      bool
	given      func(flag string) bool // nil: there are no flags
}

func (o *selectOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	o.given = f.Changed
	f.Float64Var(&o.from, "from", 0, "draw only from this time on, in µs of the picture's axis")
	f.Float64Var(&o.to, "to", 0, "draw only before this time, in µs (default: the end)")
	f.StringArrayVar(&o.lanes, "lane", nil, "draw only lanes that match, as AIC_*, 'Worker View' or 'Worker View/AI?_1*'; may be repeated")
	f.StringArrayVar(&o.fns, "func", nil, "draw only tasks of functions whose name matches, and what belongs to no task; may be repeated")
	f.BoolVar(&o.noFlows, "no-flows", false, "draw no arrows")
	f.StringSliceVar(&o.tasks, "task", nil, "draw only these tasks, and what belongs to no task: ids as labels show them (r2t5), or numbers")
	f.IntVar(&o.neighbours, "neighbours", 0, "with --task: also the tasks within N edges of the graph, in both directions")
	f.BoolVar(&o.chain, "chain", false, "with --task: also all that they depend on, and all that depends on them")
	for name, word := range map[string]string{
		"from": "MICROS", "to": "MICROS", "lane": "GLOB", "func": "GLOB", "task": "ID[,ID]", "neighbours": "N",
	} {
		console.Word(cmd, name, word)
	}
}

// check refuses options that make no sense together.
func (o *selectOptions) check() error {
	if o.given == nil {
		return nil
	}
	from, to := o.given("from"), o.given("to")
	o.windowed = from || to
	if !to {
		o.to = math.Inf(1)
	}
	const most = 1 << 52 // ns beyond are no longer exact in a float
	bad := func(v float64) bool { return math.IsNaN(v) || v < 0 || v > most/1000 && !math.IsInf(v, 1) }
	switch {
	case bad(o.from) || math.IsInf(o.from, 1):
		return console.Usagef("invalid --from %g: expected µs that are not negative", o.from)
	case bad(o.to):
		return console.Usagef("invalid --to %g: expected µs that are not negative", o.to)
	case o.windowed && !math.IsInf(o.to, 1) && math.Round(o.from*1000) >= math.Round(o.to*1000):
		return console.Usagef("--from %g is not before --to %g", o.from, o.to)
	case o.neighbours < 0:
		return console.Usagef("invalid --neighbours %d: expected a number that is not negative", o.neighbours)
	case o.neighbours > 0 && len(o.tasks) == 0:
		return console.Usagef("--neighbours goes with --task: name the tasks it is about")
	case o.chain && len(o.tasks) == 0:
		return console.Usagef("--chain goes with --task: name the tasks it is about")
	}
	for flag, globs := range map[string][]string{"lane": o.lanes, "func": o.fns} {
		for _, glob := range globs {
			if _, err := path.Match(glob, ""); err != nil {
				return console.Usagef("invalid --%s %q: %w", flag, glob, err)
			}
			if glob == "" {
				return console.Usagef("--%s is empty: expected --%s GLOB", flag, flag)
			}
		}
	}
	if o.given("task") && len(o.tasks) == 0 {
		return console.Usagef("--task is empty: expected --task ID[,ID]")
	}
	return nil
}

// only finds the tasks that are drawn.
func (o *selectOptions) only(c *Capture) (draw.Only, error) {
	only := draw.Only{Funcs: o.fns}
	o.warnFunctions(c)
	if len(o.tasks) == 0 {
		return only, nil
	}
	ids := c.Timeline.Rec.Dialect.IDs
	only.Tasks = map[uint64]bool{}
	var nodes []int32
	for _, text := range o.tasks {
		id, ok := names.ParseTaskID(ids, strings.TrimSpace(text))
		if !ok {
			return only, console.Usagef("invalid --task %q: expected an id as labels show it, such as %s, or a number", text, names.AppendTaskID(nil, ids, 1<<33|5))
		}
		only.Tasks[id] = true
		if !c.mentions(id) {
			c.warn("nothing-selected", 1, "--task %s: neither the records nor the graph know this task; the capture has %s", strings.TrimSpace(text), c.someTasks())
		}
		if c.Graph != nil {
			if n, ok := c.Graph.Node(id); ok {
				nodes = append(nodes, n)
			}
		}
	}
	flag := "--neighbours"
	if o.chain {
		flag = "--chain"
	}
	if (o.neighbours > 0 || o.chain) && c.Graph == nil {
		return only, errors.New(flag + " needs the task graph, and there is no usable deps.json; name one with --deps-json")
	}
	if o.neighbours > 0 {
		for _, n := range c.Graph.Around(nodes, o.neighbours) {
			only.Tasks[c.Graph.ID(n)] = true
		}
	}
	if o.chain {
		for _, n := range c.Graph.Chain(nodes) {
			only.Tasks[c.Graph.ID(n)] = true
		}
	}
	return only, nil
}

// someTasks names the first tasks that ran.
func (c *Capture) someTasks() string {
	var found []string
	for _, id := range c.Timeline.Tasks.ID {
		found = append(found, string(names.AppendTaskID(nil, c.Timeline.Rec.Dialect.IDs, id)))
	}
	return someOf(found)
}

// fields describes the selection in the trace, whose reader may not know that it
// is a part; nil if everything was wanted.
func (o *selectOptions) fields() []trace.Field {
	var b []byte
	add := func(key string, value any) {
		text, err := json.Marshal(value)
		if err != nil {
			return // no value of a flag is like that
		}
		b = append(append(append(append(b, ','), strconv.Quote(key)...), ':'), text...)
	}
	if o.windowed {
		add("from_us", o.from)
		if !math.IsInf(o.to, 1) {
			add("to_us", o.to)
		}
	}
	for _, x := range []struct {
		key  string
		list []string
	}{{"lanes", o.lanes}, {"functions", o.fns}, {"tasks", o.tasks}} {
		if len(x.list) > 0 {
			add(x.key, x.list)
		}
	}
	if o.neighbours > 0 {
		add("neighbours", o.neighbours)
	}
	if o.chain {
		add("chain", true)
	}
	if o.noFlows {
		add("no_flows", true)
	}
	if b == nil {
		return nil
	}
	b[0] = '{'
	return []trace.Field{{Key: "selection", JSON: append(b, '}')}}
}

// warnFunctions says that no task ran what --func asks for.
func (o *selectOptions) warnFunctions(c *Capture) {
	if len(o.fns) == 0 {
		return
	}
	ran := map[string]bool{}
	last := int32(math.MinInt32)
	for _, f := range c.Timeline.Rows.Func {
		if f == last {
			continue
		}
		last = f
		ran[c.Names.Map.TaskFunction(int64(f), false)] = true
	}
	found := slices.Sorted(maps.Keys(ran))
	for _, glob := range o.fns {
		if !anyMatch(glob, found) {
			c.warn("nothing-selected", 1, "--func %q fits no function that ran; the capture has %s", glob, someOf(found))
		}
	}
}

// warnEmpty says which of the other options left no bar. all is the whole
// picture, shown what is left of its bars.
func (o *selectOptions) warnEmpty(c *Capture, all *trace.Picture, left *trace.Left, shown int64) {
	if left == nil || shown > 0 || len(all.Lanes) == 0 {
		return
	}
	switch {
	case left.Lanes == len(all.Lanes):
		var found []string
		for _, lane := range all.Lanes {
			found = append(found, lane.Name)
		}
		c.warn("nothing-selected", 1, "--lane %q fits no lane; the picture has %s", strings.Join(o.lanes, " "), someOf(slices.Compact(found)))
	case o.windowed && left.Slices.Load() > 0:
		first, last, _ := kernelSpan(c.Timeline)
		c.warn("nothing-selected", 1, "--from and --to: no bar lies in this window; the kernels run from %s to %s us", micros(first), micros(last))
	}
}

func anyMatch(glob string, texts []string) bool {
	return slices.ContainsFunc(texts, func(text string) bool {
		return draw.NameFits(glob, text)
	})
}

// someOf lists the first few of many names.
func someOf(found []string) string {
	const most = 8
	switch n := len(found); {
	case n == 0:
		return "none"
	case n > most:
		return fmt.Sprintf("%s and %s more", strings.Join(found[:most], ", "), console.Thousands(int64(n-most)))
	}
	return strings.Join(found, ", ")
}

// mentions reports whether anything in the capture or its graph is about a task.
func (c *Capture) mentions(id uint64) bool {
	if c.Graph != nil {
		if _, ok := c.Graph.Node(id); ok {
			return true
		}
	}
	if slices.Contains(c.Timeline.Tasks.ID, id) {
		return true
	}
	rec := c.Timeline.Rec
	for i := range rec.Streams {
		p := &rec.Streams[i].Phases
		for j, task := range p.Task {
			if task == id && p.Flags[j]&capture.HasTask != 0 {
				return true
			}
		}
	}
	for _, lanes := range [][]capture.Submits{rec.DeviceOrc, rec.HostOrc} {
		for _, lane := range lanes {
			for j, task := range lane.Task {
				if task == id && lane.Has[j] {
					return true
				}
			}
		}
	}
	return false
}

// selection is the part of the picture that does not depend on tasks.
func (o *selectOptions) selection() trace.Selection {
	s := trace.Selection{Lanes: o.lanes, NoFlows: o.noFlows, Window: o.windowed, To: math.MaxInt64}
	if o.windowed {
		s.From = int64(math.Round(o.from * 1000))
		if !math.IsInf(o.to, 1) {
			s.To = int64(math.Round(o.to * 1000))
		}
	}
	return s
}

// leftOut says what a selection left out, "" if nothing was selected.
func (s *summary) leftOut() string {
	var parts []string
	add := func(n int64, thing string) {
		if n > 0 {
			parts = append(parts, console.Count(n, thing))
		}
	}
	if n := int64(s.pic.Report.HiddenRows); n > 0 {
		them := "them"
		if n == 1 {
			them = "it"
		}
		parts = append(parts, console.Count(n, "task row")+" and what belongs to "+them)
	}
	clipped := int64(0)
	if s.left != nil {
		add(int64(s.left.Lanes), "lane")
		add(s.left.Slices.Load(), "bar")
		add(s.left.Flows.Load(), "arrow")
		add(s.left.Counters.Load(), "counter sample")
		clipped = s.left.Clipped.Load()
	}
	text := strings.Join(parts, ", ")
	if clipped > 0 {
		if text != "" {
			text += "; "
		}
		text += console.Count(clipped, "bar") + " clipped"
	}
	return text
}
