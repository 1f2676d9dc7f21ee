package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"swimlane/capture"
	"swimlane/internal/console"
	"swimlane/internal/convert"
	"swimlane/internal/draw"
	"swimlane/timeline"
)

// formOptions say in which form read writes a capture.
type formOptions struct {
	as, runtime *console.Choice
	wanted      bool // a records file, not the model
}

const asModel = "model"

func (o *formOptions) flags(cmd *cobra.Command) {
	o.as = console.Choose(cmd, "as", "what to print: the model, or the capture in one of two forms of records file",
		append([]string{asModel}, capture.FormNames...)...)
	o.runtime = console.Option(cmd, "runtime", "NAME", "with --as newest: "+console.OrList([]string{capture.RuntimeHBG, capture.RuntimeTMR})+", if the capture does not say which",
		capture.RuntimeHBG, capture.RuntimeTMR)
}

// check refuses options that make no sense together.
func (o *formOptions) check(cmd *cobra.Command) error {
	o.wanted = o.as.Value != asModel
	if cmd.Flags().Changed("runtime") && !o.wanted {
		return console.Usagef("--runtime goes with --as: say which form the capture is to have")
	}
	return nil
}

// convert prepares the capture to be written in the form, if that loses nothing.
func (o *formOptions) convert(e *console.Env, c *convert.Capture) (*capture.Conversion, error) {
	form, _ := capture.ParseForm(o.as.Value)
	runtime := o.runtime.Value
	if runtime == "" && capture.OwnRuntime(c.Original) == "" {
		runtime = c.Runtime
	}
	conv, err := capture.Convert(c.Original, form, runtime)
	if errors.Is(err, capture.ErrNoRuntime) {
		name := strings.Join(o.runtime.Of, " or --runtime ")
		if shown, why := capture.ShownRuntime(c.Original); shown != "" {
			name = fmt.Sprintf("%s (it has %s)", shown, why)
		}
		return nil, console.Usagef("%s does not name its runtime, which --as %s writes, because it says how task ids are built: name it with --runtime %s",
			c.Records, form, name)
	}
	if err != nil {
		return nil, err
	}
	lost := conv.Lost()
	elsewhere, err := moved(c, conv)
	if err != nil {
		return nil, err
	}
	if lost = append(lost, elsewhere...); len(lost) > 0 {
		return nil, fmt.Errorf("%s cannot be written as %s, which would lose:\n  - %s", c.Records, form, strings.Join(lost, "\n  - "))
	}
	for _, n := range conv.Notes() {
		fmt.Fprintln(e.Stderr, "Note: "+n)
	}
	return conv, nil
}

// moved says what the rules of another form would put elsewhere in the picture,
// and what the graph would no longer mean.
func moved(c *convert.Capture, conv *capture.Conversion) (out []string, err error) {
	then, err := timeline.Join(conv.Records())
	if err != nil {
		return nil, err
	}
	now := c.Timeline
	names := draw.ThreadNames(now)
	for n := range now.Streams {
		a, b := &now.Streams[n], &then.Streams[n]
		switch {
		case a.HasNested() && !b.HasNested():
			out = append(out, fmt.Sprintf("the lane of resolve records of %s: they lie inside others, which only %s has; the runtime may be another one", names[n], capture.RuntimeTMR))
		case !slices.Equal(a.Nested, b.Nested):
			out = append(out, fmt.Sprintf("the lane of resolve records of %s: by the rules of the form they lie inside others", names[n]))
		}
		if a.Resolver != b.Resolver {
			out = append(out, fmt.Sprintf("the role of %s, which decides where the ready queues are sampled", names[n]))
		}
	}
	if c.Graph == nil {
		return out, nil
	}
	renamed := 0
	for n := range int32(c.Graph.Nodes()) {
		if id := c.Graph.ID(n); conv.Renames(id) || !conv.Holds(id) {
			renamed++
		}
	}
	if renamed > 0 {
		them := "them"
		if renamed == 1 {
			them = "it"
		}
		out = append(out, fmt.Sprintf("%s of the graph: %s numbers %s as the capture does now, and a graph cannot be written in another form (without it: swimlane read - --as … < %s)",
			console.Count(int64(renamed), "task"), c.Deps, them, c.Records))
	}
	return out, nil
}

// noteCompanions says which files lie beside the capture that would be looked
// for beside its copy.
func noteCompanions(w io.Writer, c *convert.Capture, place string) {
	here := filepath.Dir(c.Records)
	if there := filepath.Dir(place); place == console.Standard || c.FromStdin() || there == here {
		return
	}
	var beside []string
	for _, pattern := range []string{capture.DepsFileName, capture.DepsFileName + ".gz", "name_map*.json"} {
		found, _ := filepath.Glob(filepath.Join(here, pattern)) // a directory that is a bad pattern has no note
		for _, path := range found {
			beside = append(beside, filepath.Base(path))
		}
	}
	if len(beside) > 0 {
		fmt.Fprintf(w, "Note: %s lie beside the capture; copy them beside %s to have arrows and names there too\n", strings.Join(beside, ", "), place)
	}
}
