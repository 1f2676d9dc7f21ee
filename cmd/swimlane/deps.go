package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"swimlane/internal/console"
	"swimlane/internal/depview"
	"swimlane/internal/depview/page"
	"swimlane/internal/names"
)

// depsOptions are the options of swimlane deps.
type depsOptions struct {
	output, funcNames string
	format, mode      *console.Choice
	engine, direction *console.Choice
	tensors           bool
	task, chain       string
	up, down          levels
}

// levels is the value of --up and --down: a number of levels, or all.
type levels int

func (l *levels) String() string {
	if *l == depview.All {
		return "all"
	}
	return strconv.Itoa(int(*l))
}

func (l *levels) Set(v string) error {
	if v == "all" {
		*l = depview.All
		return nil
	}
	n, err := strconv.ParseUint(v, 10, 31)
	if err != nil {
		return errors.New("no number of levels")
	}
	*l = levels(n)
	return nil
}

func (l *levels) Type() string { return "N" }

func newDeps(e *console.Env) *cobra.Command {
	o := &depsOptions{up: 1, down: 1}
	cmd := &cobra.Command{
		Use:   "deps [DEPS]",
		Short: "Show the task graph: who needs whom, and why",
		Long: `deps turns a task graph (deps.json) into text for grep and diff: an index of all tasks,
and for each the tasks it needs and those that need it.

  --task shows one task, what it needs and what needs it, and why: where each edge
         comes from (declared, the creator of storage, or an overlap found by the
         tensor map), the argument, the tensor, its slice, and what the edge does
         (wait, retain). --up and --down say how many levels are shown.
  --chain shows how one task leads to another: the shortest path, and why its edges
         exist, how many paths there are, and the tasks on all of them.

A task is named as any output writes it: (0, 42), 0:42, r0t42, t42, or its raw number.

Edges that a longer path makes redundant can be left out (--edge-mode reduced) or shown
alone (omitted). Edges from the creator of storage stay, as they keep it alive; the
modes with _dataflow drop them too where other tasks provably hold the same bytes.

With --format html the output is one page for a browser, which needs nothing else: the
graph laid out, to move about in and to search, what a task needs and what needs it lit
up, and kernel times as colours. A graph that cannot be laid out in 10 seconds opens on
the neighbourhood of a task.

DEPS is a deps.json, a chip_swimlane_records.json beside one, or a directory that holds
one; - is the standard input. Without it the newest deps.json anywhere below outputs/ is
taken. Names come from the newest name_map*.json beside it, times from the records.
The output lies beside the input, as deps_viewer.txt; with another edge mode it is called
deps_viewer_MODE.txt. Answers of --task and --chain go to the standard output.`,
		Example: `  swimlane deps
  swimlane deps outputs/TestPA_basic_20260416_151301 --task r0t42 --up 3
  swimlane deps deps.json --chain r0t1 r0t42
  swimlane deps deps.json --edge-mode reduced --format json -o - | jq .summary
  swimlane deps deps.json --format html --direction TB`,
		Args: console.AtMostOne("DEPS", "leave it out to take the newest deps.json below outputs/"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"json", "gz"}, cobra.ShellCompDirectiveFilterFileExt
		},
	}
	f := cmd.Flags()
	f.VarP(console.File(&o.output), "output", "o", "output FILE, - for standard output (default: deps_viewer.txt or .json beside the input)")
	o.format = console.Choose(cmd, "format", "form of the output", "text", "json", "html")
	o.mode = console.Choose(cmd, "edge-mode", "which edges are shown: all, or those that are left or found by a transitive reduction", depview.Modes...)
	o.engine = console.Choose(cmd, "engine", "layout of the page, with --format html", page.Engines...)
	o.direction = console.Choose(cmd, "direction", "direction of the layout, with --format html", page.Directions...)
	f.BoolVar(&o.tensors, "show-tensor-info", false, "show arguments and tensors, with --format html")
	f.Var(console.File(&o.funcNames), "func-names", "name map FILE (default: the newest name_map*.json beside the input)")
	f.StringVar(&o.task, "task", "", "show what the task ID needs and what needs it, and why")
	f.Var(&o.up, "up", "with --task: levels of what it needs, or all")
	f.Var(&o.down, "down", "with --task: levels of what needs it, or all")
	f.StringVar(&o.chain, "chain", "", "show how task A leads to task B: --chain A B")
	console.Word(cmd, "task", "ID")
	console.Word(cmd, "chain", "A B")
	cmd.MarkFlagFilename("output", "txt", "json", "html", "gz")
	cmd.MarkFlagFilename("func-names", "json")
	cmd.RunE = console.RunE(func(cmd *cobra.Command, args []string) error {
		if err := o.check(cmd); err != nil {
			return err
		}
		return o.run(e, console.First(args))
	})
	return cmd
}

// check refuses options that do not go together, before any input is looked for.
func (o *depsOptions) check(cmd *cobra.Command) error {
	changed := cmd.Flags().Changed
	if o.format.Value != "html" {
		for _, name := range []string{"engine", "direction", "show-tensor-info"} {
			if changed(name) {
				return console.Usagef("--%s is only valid with --format html", name)
			}
		}
	}
	switch {
	case o.task != "" && o.chain != "":
		return console.Usagef("--task and --chain are both there: expected one of them")
	case o.format.Value == "html" && (o.task != "" || o.chain != ""):
		return console.Usagef("--task and --chain answer as text or json: leave --format html out")
	case o.task == "" && (changed("up") || changed("down")):
		return console.Usagef("--up and --down go with --task: expected --task ID")
	}
	if _, _, ok := depview.SplitPair(o.chain); o.chain != "" && !ok {
		return console.Usagef("--chain %q names no two tasks: expected --chain A B", o.chain)
	}
	return nil
}

func (o *depsOptions) run(e *console.Env, arg string) error {
	place, err := depview.Locate(arg)
	if err != nil {
		return err
	}
	inputs := append(names.Beside(place.Graph), place.Graph)
	for _, path := range []string{place.Records, o.funcNames} {
		if path != "" {
			inputs = append(inputs, path)
		}
	}
	name := o.output
	if name == "" {
		if name, err = o.defaultPlace(place, depview.Mode(o.mode.Value)); err != nil {
			return err
		}
	}
	out, err := e.Create(name, inputs)
	if err != nil {
		return err
	}
	defer func() { out.Discard() }() // which may be another one by then
	var words io.Writer = e.Stdout
	if out.ToStdout() {
		words = e.Stderr
	}
	view, err := o.load(e, place)
	if err != nil {
		return err
	}
	if view.Cyclic {
		fmt.Fprintf(e.Stderr, "warning: dependency graph has a cycle; transitive reduction skipped, emitting full graph (--edge-mode %s ignored)\n", o.mode.Value)
		if plain, err := o.defaultPlace(place, depview.Full); o.output == "" && err == nil && plain != name {
			out.Discard()
			if out, err = e.Create(plain, inputs); err != nil {
				return err
			}
		}
	}
	if o.task != "" || o.chain != "" {
		return out.Close(o.answer(out, view))
	}
	if err := view.WriteReduction(words); err != nil && words == e.Stderr {
		return err
	}
	switch o.format.Value {
	case "html":
		return o.page(e, view, out, words)
	case "json":
		err = view.WriteJSON(out)
	default:
		err = view.WriteText(out)
	}
	if err = out.Close(err); err != nil {
		return err
	}
	fmt.Fprintf(words, "Wrote %s (%d tasks, %d unique edges, %d annotated edges, format=%s)\n", out.Name(), view.Nodes(), view.ShownEdges(), view.ShownRows(), o.format.Value)
	return nil
}

// defaultPlace is where the output lies if the user does not say it.
func (o *depsOptions) defaultPlace(place depview.Place, mode depview.Mode) (string, error) {
	if o.task != "" || o.chain != "" {
		return console.Standard, nil
	}
	if place.Graph == depview.Standard {
		return "", console.Usagef("nothing lies beside the standard input: name an output with -o")
	}
	if st, err := os.Stat(place.Graph); err == nil && !st.Mode().IsRegular() {
		return "", console.Usagef("%s is no regular file, so no output can lie beside it: name one with -o", place.Graph)
	}
	stem := "deps_viewer"
	if mode != depview.Full {
		stem += "_" + string(mode)
	}
	ending := map[string]string{"text": ".txt", "json": ".json", "html": ".html"}[o.format.Value]
	return filepath.Join(filepath.Dir(place.Graph), stem+ending), nil
}

// load reads the graph and applies the edge mode.
func (o *depsOptions) load(e *console.Env, place depview.Place) (*depview.View, error) {
	p := console.NewProgress(e.Stderr)
	defer p.Done()
	if place.Auto {
		fmt.Fprintln(e.Stderr, "Reading "+place.Graph)
	}
	p.Reading("reading", place.Graph, place.Records)
	m, err := depview.Load(place, depview.Options{
		FuncNames: o.funcNames, Stdin: e.Stdin, Progress: p.Part,
		Times: o.format.Value != "text" || o.task != "" || o.chain != "",
	})
	if err != nil {
		return nil, err
	}
	p.Stage("reducing", 1000)
	view := m.View(depview.Mode(o.mode.Value), p.Part())
	p.Done()
	for _, w := range m.Warnings {
		fmt.Fprintln(e.Stderr, "Warning: "+w)
	}
	return view, nil
}

// answer writes what --task or --chain asks.
func (o *depsOptions) answer(w io.Writer, view *depview.View) error {
	var answer interface {
		WriteText(io.Writer) error
		WriteJSON(io.Writer) error
	}
	if o.task != "" {
		task, err := view.Parse(o.task)
		if err != nil {
			return err
		}
		answer = view.Near(task, int(o.up), int(o.down))
	} else {
		a, b, _ := depview.SplitPair(o.chain)
		from, err := view.Parse(a)
		if err != nil {
			return err
		}
		to, err := view.Parse(b)
		if err != nil {
			return err
		}
		if answer, err = view.Chain(from, to); err != nil {
			return err
		}
	}
	if o.format.Value == "json" {
		return answer.WriteJSON(w)
	}
	return answer.WriteText(w)
}
