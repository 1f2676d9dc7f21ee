package hostlog_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"swimlane/internal/hostlog"
)

// bigLog is the log of many runs of a chip, as one process writes it.
func bigLog(b *testing.B, size int) []byte {
	b.Helper()
	var out bytes.Buffer
	options, clock := simulated(&out)
	options.Threshold = hostlog.Info
	l := hostlog.New(options)
	interval := func(start, length int64) hostlog.Interval {
		return hostlog.Interval{Start: clock.mono + start, End: clock.mono + start + length}
	}
	ptr := func(i hostlog.Interval) *hostlog.Interval { return &i }
	for out.Len() < size {
		clock.mono += 1_000_000
		inv := l.NextInv()
		err := l.ChipRun(&hostlog.ChipRun{
			Inv: inv, HID: "667d0aaeb420cade", Interval: interval(0, 900_000),
			Identity: &hostlog.Identity{RunID: inv / 4, DispatchID: inv, Generation: inv, RunEpoch: inv},
			Bind:     ptr(interval(1000, 50_000)), BindSteps: []hostlog.BindStep{{Name: "args", Interval: interval(1100, 900)}, {Name: "prebuilt", Interval: interval(2100, 40_000)}},
			RunnerRun: ptr(interval(60_000, 800_000)), Validate: ptr(interval(870_000, 1000)),
			Device: &hostlog.DeviceRun{Wall: 700_000, Phases: []hostlog.DevicePhase{
				{Phase: hostlog.Preamble, Interval: hostlog.Interval{Start: 0, End: 900}}, {Phase: hostlog.ArenaWire, Interval: hostlog.Interval{Start: 1000, End: 1900}},
				{Phase: hostlog.PostOrch, Interval: hostlog.Interval{Start: 600_000, End: 600_900}},
				{Phase: hostlog.Orch, Interval: hostlog.Interval{Start: 2000, End: 100_000}}, {Phase: hostlog.Sched, Interval: hostlog.Interval{Start: 2100, End: 500_000}},
			}},
		})
		if err != nil {
			b.Fatal(err)
		}
		l.Message(hostlog.Info, "load_callable", "registered kernel 3: size=4096")
	}
	return out.Bytes()
}

func BenchmarkRead(b *testing.B) {
	log := bigLog(b, 8<<20)
	noise := bytes.Repeat([]byte("[mono_ns=3600000030000][T0x7f2801fa5000][INFO] load_callable: registered kernel 3: size=4096\n"), 8<<20/93)
	for _, c := range []struct {
		name string
		log  []byte
	}{{"spans", log}, {"lines", noise}, {"zeros", make([]byte, 8<<20)}} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.log)))
			b.ReportAllocs()
			for b.Loop() {
				var r hostlog.Reader
				if err := r.Read(c.name, bytes.NewReader(c.log)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("into memory and groups", func(b *testing.B) {
		b.SetBytes(int64(len(log)))
		b.ReportAllocs()
		for b.Loop() {
			r, err := hostlog.ReadAll(bytes.NewReader(log), "-")
			if err != nil {
				b.Fatal(err)
			}
			hostlog.Buckets(hostlog.Invocations(r.Spans))
		}
	})
}

func BenchmarkSpan(b *testing.B) {
	options, _ := simulated(io.Discard)
	l := hostlog.New(options)
	attrs := []hostlog.Attr{{Key: "run_id", Value: "7"}, {Key: "reason", Value: strings.Repeat("x ", 10)}}
	b.ReportAllocs()
	for b.Loop() {
		l.Span(hostlog.Entry{Inv: 7, HID: "667d0aaeb420cade", Depth: 1, Name: "chip.run.runner_run", TS: 3600000108080, Dur: 523859, Attrs: attrs})
	}
}
