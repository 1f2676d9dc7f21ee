package timeline_test

import (
	"errors"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"swimlane/timeline"
)

func replace(t *testing.T, s, old, new string) string {
	t.Helper()
	if strings.Count(s, old) != 1 {
		t.Fatalf("%q stands %d times in the text", old, strings.Count(s, old))
	}
	return strings.Replace(s, old, new, 1)
}

// full is a capture with every source of times, all of them at 1000 or later,
// and those that did not happen at 0.
func full(change func(object)) object {
	life := object{"aicpu_thread_id": 0}
	for _, f := range lifecycleFields {
		life[f+"_cycles"] = 0
	}
	phase := func(kind string, start, end int) object {
		return object{"kind": kind, "start_cycles": start, "end_cycles": end, "loop_iter": 0, "tasks_processed": 0, "task_id": nil}
	}
	doc := object{
		"chip_swimlane_level": 4, "metadata": object{"clock_freq_hz": 1},
		"aicore_tasks":              list{list{0, 1, 1, 2000, 3000, 500}},
		"scheduler_tasks":           object{"schema_version": 1, "producer": "aicpu", "records": list{list{0, 1, 1400, 3100}, list{1, 9, 1300, 1310}}},
		"scheduler_records":         object{"schema_version": 1, "streams": list{object{"records": list{phase("dispatch", 1200, 1400), phase("scan", 1100, 1100)}}}},
		"aicpu_orchestrator_phases": list{list{object{"submit_idx": 0, "task_id": 1, "start_cycles": 1050, "end_cycles": 1060}}},
		"aicpu_lifecycle_records":   list{life},
	}
	if change != nil {
		change(doc)
	}
	return doc
}

// lifecycleFields are the fourteen fields of spec/records.md §2.8.
var lifecycleFields = []string{
	"handshake_start", "handshake_complete", "config_start", "topology_complete", "context_publish_start", "context_publish_complete",
	"bootstrap_wait_start", "bootstrap_complete", "register_release_start", "register_release_end", "exit_signal_start", "exit_signal_end",
	"exit_wait_start", "exit_wait_end",
}

// TestBaseSources: each source that spec/records.md §4.2 lists can define time zero.
func TestBaseSources(t *testing.T) {
	row := func(key string, n, col int, value any) func(object) {
		return func(doc object) {
			rows := doc[key]
			if o, ok := rows.(object); ok {
				rows = o["records"]
			}
			rows.(list)[n].(list)[col] = value
		}
	}
	record := func(n int, key string, value any) func(object) {
		return func(doc object) {
			doc["scheduler_records"].(object)["streams"].(list)[0].(object)["records"].(list)[n].(object)[key] = value
		}
	}
	submit := func(key string, value any) func(object) {
		return func(doc object) { doc["aicpu_orchestrator_phases"].(list)[0].(list)[0].(object)[key] = value }
	}
	cases := map[string]struct {
		change func(object)
		base   uint64
	}{
		"as it stands":                      {nil, 1050},
		"receive of a kernel row":           {row("aicore_tasks", 0, 5, 1300), 700},
		"dispatch of a row":                 {row("scheduler_tasks", 0, 2, 900), 900},
		"dispatch of an unmatched row":      {row("scheduler_tasks", 1, 2, 800), 800},
		"start of a phase":                  {record(0, "start_cycles", 600), 600},
		"start of a phase that's not drawn": {record(1, "start_cycles", 550), 550},
		"start of a submit":                 {submit("start_cycles", 500), 500},
		"end of a submit":                   {submit("end_cycles", 400), 400},
		"a kernel start alone":              {row("aicore_tasks", 0, 5, 0), 1050},
		"zero fields":                       {submit("start_cycles", 0), 1060},
	}
	for _, f := range lifecycleFields {
		cases["lifecycle "+f] = struct {
			change func(object)
			base   uint64
		}{func(doc object) { doc["aicpu_lifecycle_records"].(list)[0].(object)[f+"_cycles"] = 300 }, 300}
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			equal(t, "base", build(t, text(t, full(c.change)), "").Clock.Base, c.base)
		})
	}
}

// TestBaseOfArchivedRecords: those have no rule about intervals; an end can be the least time of all.
func TestBaseOfArchivedRecords(t *testing.T) {
	tl := build(t, `{"chip_swimlane_level":3,"metadata":{"clock_freq_hz":1},"aicpu_tasks":[],
"aicpu_scheduler_phases":[[],[{"kind":"poll","start_cycles":70,"end_cycles":60},{"kind":"complete"}]]}`, "")
	equal(t, "base", tl.Clock.Base, 60)
	equal(t, "Ns of a missing time", tl.Clock.Ns(tl.Rec.Streams[1].Phases.Start[1]), 0)
}

func TestNoTimes(t *testing.T) {
	tl := build(t, `{"chip_swimlane_level":4,"metadata":{"clock_freq_hz":50000000}}`, "")
	equal(t, "base", tl.Clock.Base, 0)
	equal(t, "rows", tl.Rows.Len(), 0)
	equal(t, "threads", tl.Threads, 0)
}

// exact is (cycles · 10⁹ / hz), rounded half up, by arithmetic without bounds.
func exact(cycles, hz uint64) int64 {
	n := new(big.Int).Mul(new(big.Int).SetUint64(cycles), big.NewInt(2_000_000_000))
	n.Add(n, new(big.Int).SetUint64(hz))
	return n.Div(n, new(big.Int).Mul(big.NewInt(2), new(big.Int).SetUint64(hz))).Int64()
}

// TestClockIsExact: one rounding, no float in between, at every frequency.
func TestClockIsExact(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, hz := range []uint64{1, 7, 32_768, 1_000_000, 19_200_000, 24_000_000, 30_000_000, 50_000_000, 333_333_333, 1_000_000_000, 2_000_000_000, 3_700_000_000} {
		longest := new(big.Int).Div(new(big.Int).Mul(big.NewInt(timeline.MaxSpan), new(big.Int).SetUint64(hz)), big.NewInt(1_000_000_000)).Uint64()
		for range 2000 {
			base := 1 + rnd.Uint64()>>(1+rnd.IntN(62))
			span := rnd.Uint64() >> rnd.IntN(64)
			if span > longest || base+span < base {
				continue
			}
			c := timeline.NewClock(base, hz, 0)
			if got, want := c.Ns(base+span), exact(span, hz); got != want {
				t.Fatalf("%d cycles after %d at %d Hz: %d ns, want %d", span, base, hz, got, want)
			}
			if got, want := c.Span(span), exact(span, hz); got != want {
				t.Fatalf("%d cycles at %d Hz last %d ns, want %d", span, hz, got, want)
			}
		}
	}
}

// TestTouchingBars: what touches in cycles touches in ns, what is apart stays in
// order. At 30 MHz no cycle is a whole number of ns.
func TestTouchingBars(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	c := timeline.NewClock(88_932_781_237_285_536, 30_000_000, 0)
	at := c.Base
	var end int64
	for range 10_000 {
		start := at
		at += uint64(1 + rnd.IntN(500))
		if got := c.Ns(start); got != end {
			t.Fatalf("a bar starts at %d ns, the one before it ended at %d", got, end)
		}
		if end = c.Ns(at); end <= c.Ns(start) {
			t.Fatalf("a bar of %d cycles ends at %d ns and starts at %d", at-start, end, c.Ns(start))
		}
	}
}

// TestStartNear9e16 is field report 5: counters beyond 2⁵³ lose nothing.
func TestStartNear9e16(t *testing.T) {
	const start = 88932781237285536
	var rows list
	for i := range uint64(100) {
		rows = append(rows, list{0, i, i, start + 258*i, start + 258*(i+1), 0})
	}
	tl := build(t, text(t, object{"chip_swimlane_level": 1, "metadata": object{"clock_freq_hz": 50_000_000}, "aicore_tasks": rows}), "")
	for row := range tl.Rows.Len() {
		equal(t, "start", tl.Clock.Ns(tl.Rows.Start[row]), int64(row)*5160)
		equal(t, "end", tl.Clock.Ns(tl.Rows.End[row]), int64(row+1)*5160)
		micros(t, "end", tl, tl.Rows.End[row], float64(row+1)*5.16)
	}
}

// TestLongestSpan: an axis longer than 2⁶² ns is refused, one cycle less is not.
func TestLongestSpan(t *testing.T) {
	for _, c := range []struct {
		hz, base, longest uint64
	}{
		{1_000_000_000, 5, 1 << 62},
		{50_000_000, 9, 230_584_300_921_369_395}, // ⌊2⁶²/20⌋
		{30_000_000, 1, 138_350_580_552_821_637}, // ⌊2⁶²·3/100⌋
		{1, 1, 4_611_686_018},
		{3_000_000_000, 1, 13_835_058_055_282_163_712}, // 2⁶²·3
	} {
		records := func(span uint64) string {
			return fmt.Sprintf(`{"chip_swimlane_level":1,"metadata":{"clock_freq_hz":%d},"aicore_tasks":[[0,1,1,%d,%d,0]]}`, c.hz, c.base, c.base+span)
		}
		tl := build(t, records(c.longest), "")
		if got := tl.Clock.Ns(tl.Rows.End[0]); got < timeline.MaxSpan-2_000_000_000 || got > timeline.MaxSpan {
			t.Errorf("%d Hz: the longest axis ends at %d ns", c.hz, got)
		}
		over := c.longest + max(1, c.hz/1_000_000_000) // at least 1 ns more
		_, err := tryBuild(t, records(over), "")
		if !errors.Is(err, timeline.ErrSpan) {
			t.Errorf("%d Hz, %d cycles: error %v, want ErrSpan", c.hz, over, err)
			continue
		}
		for _, part := range []string{"records.json", fmt.Sprint(c.base), fmt.Sprint(c.base + over)} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("error %q does not name %s", err, part)
			}
		}
	}
	_, err := tryBuild(t, `{"chip_swimlane_level":1,"metadata":{"clock_freq_hz":50000000},"aicore_tasks":[[0,1,1,1,18446744073709551615,0]]}`, "")
	if !errors.Is(err, timeline.ErrSpan) {
		t.Errorf("error %v, want ErrSpan", err)
	}
}

// hostCapture is R9 with other host times.
func hostCapture(t *testing.T, start, end uint64, change func(meta object)) (*timeline.Timeline, error) {
	t.Helper()
	meta := object{"clock_freq_hz": 1_000_000, "orchestrator_source": "host"}
	if change != nil {
		change(meta)
	}
	return tryBuild(t, text(t, object{
		"chip_swimlane_level": 4, "metadata": meta, "aicore_tasks": list{list{0, 7, 1, 100, 110, 0}}, "aicpu_tasks": list{list{0, 1, 90, 120}},
		"host_orchestrator_phases": list{list{}, list{object{"submit_idx": 0, "task_id": 7, "start_host_ns": start, "end_host_ns": end}}},
	}), "")
}

// TestHostOffset: all device times follow the host part (spec/records.md §4.7).
func TestHostOffset(t *testing.T) {
	for name, c := range map[string]struct {
		start, end uint64
		change     func(object)
		origin     uint64
		seam       int64
	}{
		"origin of the submits": {5000, 7500, nil, 5000, 2500},
		"stated origin":         {5000, 7500, func(m object) { m["host_orchestration_origin_ns"] = 4000 }, 4000, 3500},
		"fallback origin":       {5000, 7500, func(m object) { m["host_timeline_origin_ns"] = 3000 }, 3000, 4500},
		"the first of the two": {5000, 7500, func(m object) {
			maps.Copy(m, object{"host_orchestration_origin_ns": 4000, "host_timeline_origin_ns": 3000})
		}, 4000, 3500},
		"0 falls through": {5000, 7500, func(m object) {
			maps.Copy(m, object{"host_orchestration_origin_ns": 0, "host_timeline_origin_ns": 3000})
		}, 3000, 4500},
		"odd ns":                      {5000, 7501, nil, 5000, 2501},
		"host clock of a long uptime": {9_007_199_254_740_993, 9_007_199_254_743_000, nil, 9_007_199_254_740_993, 2007},
	} {
		t.Run(name, func(t *testing.T) {
			tl, err := hostCapture(t, c.start, c.end, c.change)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "origin", tl.Host.Origin, c.origin)
			equal(t, "seam", tl.Host.Seam, c.seam)
			equal(t, "dispatch, the base", tl.Clock.Ns(tl.Rows.Dispatch[0]), c.seam)
			equal(t, "kernel start", tl.Clock.Ns(tl.Rows.Start[0]), c.seam+10_000)
			equal(t, "submit", tl.Host.Ns(c.start), int64(c.start-c.origin))
			equal(t, "host lanes, empty ones left out", len(tl.Rec.HostOrc), 1)
		})
	}
}

// TestHostTimesTooFarApart: the host part must leave room for the device's.
func TestHostTimesTooFarApart(t *testing.T) {
	if _, err := hostCapture(t, 1, 1+timeline.MaxSpan/2, nil); err != nil {
		t.Errorf("half of the axis: %v", err)
	}
	for _, end := range []uint64{2 + timeline.MaxSpan/2, 1<<64 - 1} {
		if _, err := hostCapture(t, 1, end, nil); !errors.Is(err, timeline.ErrSpan) {
			t.Errorf("host times up to %d: error %v, want ErrSpan", end, err)
		}
	}
	// The two parts together must fit.
	records := func(end uint64) string {
		return fmt.Sprintf(`{"chip_swimlane_level":4,"metadata":{"clock_freq_hz":1000000000},"aicore_tasks":[],"aicpu_tasks":[[0,1,1,%d]],
"host_orchestrator_phases":[[{"start_host_ns":1,"end_host_ns":%d}]]}`, end, uint64(1+1<<61))
	}
	if _, err := tryBuild(t, records(1+1<<61), ""); err != nil {
		t.Errorf("both halves: %v", err)
	}
	if _, err := tryBuild(t, records(2+1<<61), ""); !errors.Is(err, timeline.ErrSpan) {
		t.Errorf("a cycle more: error %v, want ErrSpan", err)
	}
}

// TestUploadsAlone: uploads without host orchestration have an origin, and do not shift the device.
func TestUploadsAlone(t *testing.T) {
	tl := build(t, `{"chip_swimlane_level":2,"metadata":{"clock_freq_hz":1000000000,"host_timeline_origin_ns":1000},"aicore_tasks":[[0,1,1,50,60,0]],"aicpu_tasks":[[0,1,40,70]],
"host_device_uploads":[{"phase":"sm_h2d","start_host_ns":3000,"end_host_ns":4500,"detail":64}]}`, "")
	equal(t, "host mode", tl.HostMode(), false)
	equal(t, "upload", tl.Host.Ns(tl.Rec.Uploads[0].Start), 2000)
	equal(t, "dispatch", tl.Clock.Ns(tl.Rows.Dispatch[0]), 0)
}

// TestUploadsDoNotMoveTheSeam (spec/records.md §9 no. 9).
func TestUploadsDoNotMoveTheSeam(t *testing.T) {
	tl := build(t, replace(t, r9, `"host_orchestrator_phases"`,
		`"host_device_uploads":[{"phase":"graph_upload","start_host_ns":3000,"end_host_ns":4500,"detail":4096}],"host_orchestrator_phases"`), "")
	equal(t, "seam", tl.Host.Seam, 2000)
}
