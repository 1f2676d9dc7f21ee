package chrome_test

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"testing"

	"swimlane/capture"
	"swimlane/internal/draw"
	"swimlane/internal/parity"
	"swimlane/internal/taskgraph"
	"swimlane/timeline"
	"swimlane/trace"
	"swimlane/trace/chrome"
)

// medium is the picture of the medium real capture: 8,192 tasks.
func medium(b *testing.B) *trace.Picture {
	b.Helper()
	dir := filepath.Join(parity.Shared(b), "captures", "a2a3sim_tmr_paged_attention_medium_l4_deps")
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
	p, err := draw.New(t, draw.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return p.Trace()
}

func BenchmarkWrite(b *testing.B) {
	p := medium(b)
	var size bytes.Buffer
	if _, err := chrome.Write(context.Background(), &size, p, chrome.Options{}); err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		workers int
	}{{"one worker", 1}, {"all processors", 0}} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(size.Len()))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := chrome.Write(context.Background(), io.Discard, p, chrome.Options{Workers: c.workers}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
