package draw_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"swimlane/capture"
)

// inForm writes a records file in a form; lost is what that would lose.
func inForm(t *testing.T, records string, form capture.Form, runtime string) (text string, lost []string) {
	t.Helper()
	rec, err := capture.ReadFrom(strings.NewReader(records), "records.json", capture.Options{Extras: true})
	if err != nil {
		t.Fatal(err)
	}
	conv, err := capture.Convert(rec, form, runtime)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := conv.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.String(), conv.Lost()
}

// runtimeOf is the runtime that made a capture, by its name.
func (c *pair) runtimeOf() string {
	if strings.Contains(c.name, "hbg") {
		return capture.RuntimeHBG
	}
	return capture.RuntimeTMR
}

// mixed reports whether a made-up capture has records of both runtimes, which
// none writes.
func (c *pair) mixed(t *testing.T) bool {
	text := jsonText(t, c.records)
	other := func(mark string) bool { return strings.Contains(text, mark) }
	return c.runtimeOf() == capture.RuntimeTMR && slices.ContainsFunc([]string{`"producer":"aicore"`, `"kind":"graph_prepare"`, `"kind":"resolve_standalone"`}, other)
}

// namesNodes reports whether the graph names the nodes of graph tasks, which
// have other numbers in another form.
func (c *pair) namesNodes() bool { return strings.Contains(c.name, "graph_nodes") }

// TestForms: a capture that is written in another form gives the same picture,
// but for what the forms write differently, and written back the same to the byte.
func TestForms(t *testing.T) {
	captures(t, func(t *testing.T, c *pair) {
		if c.namesNodes() {
			c.choices.deps = ""
		}
		if c.mixed(t) {
			return
		}
		here := jsonText(t, c.records)
		newest, lost := inForm(t, here, capture.FormNewest, c.runtimeOf())
		older, lost2 := inForm(t, here, capture.FormSeed, c.runtimeOf())
		if lost = slices.Concat(lost, lost2); len(lost) > 0 {
			t.Fatalf("would be lost: %q", lost)
		}
		a, b := convert(t, here, c.choices), convert(t, newest, c.choices)
		if diff := difference(formless(b), formless(a)); diff != "" {
			t.Errorf("the newest form draws another picture:\n%s", diff)
		}
		b.sameTasks(a)
		if text := convert(t, older, c.choices).text; string(text) != string(a.text) {
			t.Errorf("the older form draws another picture: %s", firstDifference(text, a.text))
		}
		there, lost := inForm(t, newest, capture.FormSeed, "")
		if len(lost) > 0 {
			t.Fatalf("on the way back would be lost: %q", lost)
		}
		if text := convert(t, there, c.choices).text; string(text) != string(a.text) {
			t.Errorf("there and back draws another picture: %s", firstDifference(text, a.text))
		}
		again, lost := inForm(t, there, capture.FormNewest, "")
		if again != newest || len(lost) > 0 {
			t.Errorf("newest, older, newest is another file: %s, lost %q", firstDifference([]byte(again), []byte(newest)), lost)
		}
	})
}

// The forms differ in how they write task ids, in the runs that they name, in
// the words for expanded graphs and in the names of AICore schedulers' lanes.
var (
	idText   = regexp.MustCompile(`\b(?:r\d+|g\d+)?t\d+\b`)
	idNumber = regexp.MustCompile(`"(taskId|task_id|outer_task_id)":\d+`)
	runField = regexp.MustCompile(`,?"run_epoch":\d+`)
	formWord = strings.NewReplacer("in-graph tasks", "sub-tasks", "visible_in_graph_task_count", "visible_sub_task_count",
		"visible_in_graph_local_id", "visible_sub_task_local_id", `ring1:(outer_task_id \u003c\u003c 10) | in_graph_local_id`,
		`space1:(outer_task_id \u003c\u003c 32) | sub_task_local_id`)
	schedulerLane = regexp.MustCompile(`Scheduler_\d+`)
)

// formless lists what is drawn without what the forms write differently.
func formless(d *drawn) []string {
	out := d.normal(0)
	for i, line := range out {
		line = idNumber.ReplaceAllString(idText.ReplaceAllString(line, "#"), `"$1":#`)
		line = schedulerLane.ReplaceAllString(formWord.Replace(runField.ReplaceAllString(line, "")), "Scheduler_#")
		words := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune("{,}", r) })
		slices.Sort(words) // of args, whose keys are in another order
		out[i] = strings.Join(words, ",")
	}
	slices.Sort(out)
	return out
}

// sameTasks: whatever the numbers of the tasks are, bars of one task stay bars of
// one task, and those of two stay apart.
func (d *drawn) sameTasks(other *drawn) {
	d.t.Helper()
	byBar := func(x *drawn) map[string]string {
		out := map[string]string{}
		for _, e := range x.slices(func(e *event) bool { return e.args["taskId"] != nil }) {
			key := fmt.Sprint(e.lane, e.ts, e.dur)
			if _, twice := out[key]; twice {
				out[key] = "" // cannot be told apart
				continue
			}
			out[key] = fmt.Sprint(e.args["taskId"])
		}
		return out
	}
	ours, theirs := byBar(d), byBar(other)
	there, back := map[string]string{}, map[string]string{}
	for key, a := range ours {
		b := theirs[key]
		if a == "" || b == "" {
			continue
		}
		if old, ok := there[a]; ok && old != b {
			d.t.Errorf("task %s is task %s and %s in the other picture", a, old, b)
		}
		if old, ok := back[b]; ok && old != a {
			d.t.Errorf("task %s and %s are task %s in the other picture", a, old, b)
		}
		there[a], back[b] = b, a
	}
}
