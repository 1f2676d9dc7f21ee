package capture_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"swimlane/capture"
)

// BenchmarkBytesPerTask is report 77 of ../shared/design/field-reports.md: what a
// task row costs in memory once it is read, and while it is read.
func BenchmarkBytesPerTask(b *testing.B) {
	const rows = 200_000
	var text strings.Builder
	text.WriteString(`{"chip_swimlane_level":1,"metadata":{"clock_freq_hz":1},"aicore_tasks":[`)
	for i := range rows {
		if i > 0 {
			text.WriteByte(',')
		}
		fmt.Fprintf(&text, "[%d,%d,%d,%d,%d,7]", i%72, 1<<33+i, i, 84118822850+i, 84118877895+i)
	}
	text.WriteString("]}")
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	var before, after runtime.MemStats
	var held, made uint64
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		rec, err := capture.ReadFrom(strings.NewReader(text.String()), fileName, capture.Options{})
		if err != nil {
			b.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		made = after.TotalAlloc - before.TotalAlloc
		runtime.GC()
		runtime.ReadMemStats(&after)
		held = after.HeapAlloc - min(before.HeapAlloc, after.HeapAlloc)
		runtime.KeepAlive(rec)
	}
	b.ReportMetric(float64(held)/rows, "held-B/task")
	b.ReportMetric(float64(made)/rows, "allocated-B/task")
}
