package draw_test

import (
	"io"
	"path/filepath"
	"testing"

	"swimlane/capture"
	"swimlane/internal/draw"
	"swimlane/internal/parity"
	"swimlane/internal/taskgraph"
	"swimlane/timeline"
	"swimlane/trace/chrome"
)

// medium joins the medium real capture.
func medium(b *testing.B) *timeline.Timeline {
	b.Helper()
	dir := filepath.Join(parity.Shared(b), "captures", mediumCapture)
	rec, err := capture.Read(filepath.Join(dir, "chip_swimlane_records.json.gz"), capture.Options{})
	if err != nil {
		b.Fatal(err)
	}
	deps, err := capture.ReadDeps(filepath.Join(dir, "deps.json.gz"), nil)
	if err != nil {
		b.Fatal(err)
	}
	graph, err := taskgraph.New(deps)
	if err != nil {
		b.Fatal(err)
	}
	t, err := timeline.New(rec, graph)
	if err != nil {
		b.Fatal(err)
	}
	return t
}

// BenchmarkDraw lays the picture of 8,192 tasks out; MB/s are those of the trace it becomes.
func BenchmarkDraw(b *testing.B) {
	t := medium(b)
	p, err := draw.New(t, draw.Options{})
	if err != nil {
		b.Fatal(err)
	}
	counts, err := chrome.Write(b.Context(), io.Discard, p.Trace(), chrome.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(counts.Bytes)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := draw.New(t, draw.Options{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(t.Rows.Len())*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}
