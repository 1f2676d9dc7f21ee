package draw_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"swimlane/capture"
	"swimlane/internal/draw"
	"swimlane/internal/parity"
	"swimlane/internal/taskgraph"
	"swimlane/internal/trace/check"
	"swimlane/timeline"
	"swimlane/trace"
	"swimlane/trace/chrome"
)

// FuzzDraw draws whatever can be read, with whatever graph: it ends in a trace
// that no viewer objects to, or in words.
func FuzzDraw(f *testing.F) {
	const graph = `{"tasks":[{"task_id":7,"kernel_ids":[0,1,-1],"block_num":2}],"edges":[{"pred":7,"succ":8},{"pred":8,"succ":9},{"pred":7,"succ":7}]}`
	records := filepath.Join("..", "..", "capture", "testdata")
	made, err := filepath.Glob(filepath.Join(records, "records", "*"))
	if err != nil || len(made) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, path := range made {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text), graph)
	}
	for _, args := range parity.CorpusEntriesIn(f, filepath.Join(records, "fuzz", "FuzzRecords")) {
		f.Add(args[0], graph)
	}
	for _, text := range []string{newestN1, hostOfTwoRuns} {
		f.Add(text, graph)
	}
	f.Fuzz(drawText)
}

func drawText(t *testing.T, text, graph string) {
	rec, err := capture.ReadFrom(strings.NewReader(text), "in.json", capture.Options{})
	if err != nil {
		return
	}
	var g *taskgraph.Graph
	if deps, err := capture.ReadDepsFrom(strings.NewReader(graph), "deps.json"); err == nil {
		g, _ = taskgraph.New(deps) // without one that is too large there are no arrows
	}
	tl, err := timeline.New(rec, g)
	if err != nil {
		return
	}
	pic, err := draw.New(tl, draw.Options{Overhead: true, Idle: true})
	if err != nil {
		return
	}
	var out bytes.Buffer
	if _, err := chrome.Write(context.Background(), &out, pic.Trace(), chrome.Options{Workers: 2}); err != nil {
		t.Fatal(err)
	}
	report, err := check.JSON(bytes.NewReader(out.Bytes()))
	if err != nil {
		t.Fatalf("%v\n%s", err, out.Bytes())
	}
	for _, finding := range report.Findings {
		switch finding.Rule {
		case "flow-to-itself": // example C14 of spec/converter.md has one
			continue
		case "time-precision": // an axis of more than 100 days, which no viewer holds to the ns
			if lastTime(pic) >= 1<<43*1000 {
				continue
			}
		}
		if finding.Severity != check.Note {
			t.Fatalf("%+v\n%s", finding, out.Bytes())
		}
	}
}

// lastTime is the end of a picture in ns.
func lastTime(pic *draw.Picture) int64 {
	var last latest
	for _, section := range pic.Sections {
		section.Walk(0, section.Len(), &last)
	}
	return int64(last)
}

// latest is a sink that keeps the latest time.
type latest int64

func (l *latest) at(t int64)               { *l = max(*l, latest(t)) }
func (l *latest) Slice(s *trace.Slice)     { l.at(s.End) }
func (l *latest) Flow(f *trace.Flow)       { l.at(max(f.From.Time, f.To.Time)) }
func (l *latest) Counter(c *trace.Counter) { l.at(c.Time) }
