package capture_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"swimlane/capture"
)

// host is a host-orchestrated capture without kernels: origin 1000, one submit, one upload.
func host() doc {
	return doc{
		"chip_swimlane_level": 4,
		"metadata":            raw(`{"clock_freq_hz": 1000000, "orchestrator_source": "host", "host_orchestration_origin_ns": 1000}`),
		"host_orchestrator_phases": raw(
			`[[{"submit_idx": 0, "task_id": 7, "start_host_ns": 1000, "end_host_ns": 3000}]]`),
		"host_device_uploads": raw(`[{"phase": "graph_upload", "start_host_ns": 3000, "end_host_ns": 4500, "detail": 4096}]`),
	}
}

func submits(times string) rawText { return raw(`[[{"submit_idx": 0, "task_id": 7, ` + times + `}]]`) }

func TestHostSections(t *testing.T) {
	d := host().with("host_orchestrator_phases", raw(`[[], [
		{"submit_idx": 4, "task_id": 18446744073709551615, "start_host_ns": 1000, "end_host_ns": 1000, "later": {"a": []}},
		{"task_id": null, "end_host_ns": 18446744073709551615, "start_host_ns": 2000},
		{"submit_idx": null, "task_id": -1, "start_host_ns": "3000", "end_host_ns": "3001"}], []]`),
		"host_device_uploads", raw(`[
		{"phase": "sm_h2d", "start_host_ns": 1000, "end_host_ns": 1000, "detail": 5},
		{"start_host_ns": 1001, "end_host_ns": 18446744073709551615, "phase": null, "later": 1}]`))
	rec := accept(t, d.String())
	// Lanes without records are dropped (§4.7).
	equal(t, rec.HostOrc, []capture.Submits{{
		Index: []int64{4, 0, 0}, Task: []uint64{math.MaxUint64, 0, math.MaxUint64}, Has: []bool{true, false, false},
		Start: []uint64{1000, 2000, 3000}, End: []uint64{1000, math.MaxUint64, 3001},
	}})
	equal(t, rec.Uploads, []capture.Upload{
		{Phase: "sm_h2d", Start: 1000, End: 1000, Bytes: 5}, {Phase: "upload", Start: 1001, End: math.MaxUint64},
	})
	if rec.HostSubmits() != 3 || !rec.HostMode() || len(rec.DeviceOrc) != 0 {
		t.Errorf("%d submits, host mode %v, %d device lanes", rec.HostSubmits(), rec.HostMode(), len(rec.DeviceOrc))
	}
}

// The run of a submit is an unsigned number of 64 bits, like that of every other record.
func TestRunOfSubmits(t *testing.T) {
	file := func(run string) string {
		return level1("[]").with("metadata", raw(`{"clock_freq_hz": 1, "runtime": "host_build_graph"}`),
			"aicpu_orchestrator_phases", raw(`[[{"submit_idx": 0, "run_epoch": `+run+`}]]`)).String()
	}
	equal(t, accept(t, file("18446744073709551615")).Runs, []capture.Run{{Epoch: math.MaxUint64, Known: true}})
	equal(t, accept(t, file("null")).Runs, []capture.Run{{}})
	e := refuse(t, file("-1"), "cannot read "+fileName)
	if e != nil && !strings.Contains(e.Error(), "found -1, expected an integer that is not negative (aicpu_orchestrator_phases[0][0])") {
		t.Error(e)
	}
}

func TestDeviceOrchestrator(t *testing.T) {
	d := level3("[]").with("chip_swimlane_level", 4, "aicpu_orchestrator_phases", raw(`[[], [
		{"submit_idx": 1, "task_id": 4294967296, "start_cycles": 5, "end_cycles": 4}, {"start_cycles": null}]]`))
	rec := accept(t, d.String())
	equal(t, rec.DeviceOrc, []capture.Submits{{}, {
		Index: []int64{1, 0}, Task: []uint64{1 << 32, 0}, Has: []bool{true, false}, Start: []uint64{5, 0}, End: []uint64{4, 0},
	}})
	if rec.HostMode() || rec.HostSubmits() != 0 {
		t.Error("a device-orchestrated capture is in host mode")
	}
}

// spec/records.md §4.7: what selects host mode.
func TestHostMode(t *testing.T) {
	base := doc{"chip_swimlane_level": 4, "metadata": clock}
	tests := []struct {
		d    doc
		want bool
	}{
		{base, false},
		{base.with("metadata", raw(`{"clock_freq_hz": 1, "orchestrator_source": "host"}`)), true},
		{base.with("metadata", raw(`{"clock_freq_hz": 1, "orchestrator_source": "aicpu"}`)), false},
		{base.with("metadata", raw(`{"clock_freq_hz": 1, "orchestrator_source": 7}`)), false},
		{base.with("metadata", raw(`{"clock_freq_hz": 1, "host_capture": {}}`)), true},
		{base.with("metadata", raw(`{"clock_freq_hz": 1, "host_capture": []}`)), false},
		{base.with("metadata", raw(`{"clock_freq_hz": 1, "host_capture": null}`)), false},
		{base.with("metadata", raw(`{"clock_freq_hz": 1, "host_orchestration_origin_ns": 5}`)), false},
		{base.with("host_orchestrator_phases", submits(`"start_host_ns": 1, "end_host_ns": 2`)), true},
		{base.with("host_orchestrator_phases", raw(`[[]]`)), true}, // not empty, though without records
		{base.with("host_orchestrator_phases", raw(`[]`)), false},
		{base.with("host_orchestrator_phases", nil), false},
		{base.with("host_device_uploads", raw(`[{"start_host_ns": 1, "end_host_ns": 2}]`)), false},
	}
	for _, tt := range tests {
		if got := accept(t, tt.d.String()).HostMode(); got != tt.want {
			t.Errorf("%s: got %v", tt.d, got)
		}
		both := tt.d.with("aicpu_orchestrator_phases", raw(`[[]]`))
		const ambiguous = "both AICPU and host orchestrator phases are present; clock-domain source is ambiguous"
		if tt.want {
			refuse(t, both.String(), ambiguous)
			refuse(t, both.text(reversed(sections)), ambiguous)
		} else {
			accept(t, both.String())
		}
		accept(t, tt.d.with("aicpu_orchestrator_phases", raw(`[]`)).String())
	}
}

// spec/records.md §4.7: where the host's time begins.
func TestHostOrigin(t *testing.T) {
	late := submits(`"start_host_ns": 700, "end_host_ns": 800`)
	tests := []struct {
		meta    string
		submits rawText
		want    uint64
	}{
		{`"host_orchestration_origin_ns": 500, "host_timeline_origin_ns": 600`, late, 500},
		{`"host_timeline_origin_ns": 600`, late, 600},
		{`"host_orchestration_origin_ns": 0, "host_timeline_origin_ns": 600`, late, 600},
		{`"host_orchestration_origin_ns": null, "host_timeline_origin_ns": 0`, late, 700},
		{`"orchestrator_source": "host"`, late, 700},
		{`"orchestrator_source": "host"`, raw(`[[{"start_host_ns": 900, "end_host_ns": 950}], [{"start_host_ns": 650, "end_host_ns": 999}]]`), 650},
		{`"orchestrator_source": "host"`, raw(`[]`), 0},
		{`"host_orchestration_origin_ns": "500"`, late, 500},
		{`"host_orchestration_origin_ns": 18446744073709551615`, raw("[]"), math.MaxUint64},
	}
	for _, tt := range tests {
		d := doc{"chip_swimlane_level": 4, "metadata": raw(`{"clock_freq_hz": 1, ` + tt.meta + `}`), "host_orchestrator_phases": tt.submits}
		if got := accept(t, d.String()).HostOrigin(); got != tt.want {
			t.Errorf("%s %s: got %d, want %d", tt.meta, tt.submits, got, tt.want)
		}
	}
	// The end may be the smallest of all, and then its record is refused.
	d := doc{"chip_swimlane_level": 4, "metadata": clock, "host_orchestrator_phases": submits(`"start_host_ns": 9, "end_host_ns": 4`)}
	refuse(t, d.String(), "invalid host orchestrator phase: origin=4, start=9, end=4")
}

// spec/records.md §4.7: uploads, then submits.
func TestHostRecordRules(t *testing.T) {
	upload := func(times string) rawText { return raw(`[{"phase": "arena_h2d", ` + times + `}]`) }
	good := `"start_host_ns": 3000, "end_host_ns": 4500`
	tests := []struct {
		d    doc
		want string
	}{
		{host().with("host_device_uploads", upload(`"start_host_ns": 999, "end_host_ns": 4500`)), "invalid host device upload: origin=1000, start=999, end=4500"},
		{host().with("host_device_uploads", upload(`"start_host_ns": 3000, "end_host_ns": 2999`)), "invalid host device upload: origin=1000, start=3000, end=2999"},
		{host().with("host_device_uploads", upload(`"end_host_ns": 2999`)), "invalid host device upload: origin=1000, start=0, end=2999"},
		{host().with("host_device_uploads", upload(`"start_host_ns": null, "end_host_ns": 2999`)), "invalid host device upload: origin=1000, start=0, end=2999"},
		{host().with("host_device_uploads", upload(`"start_host_ns": 3000`)), "invalid host device upload: origin=1000, start=3000, end=0"},
		{host().with("host_orchestrator_phases", submits(`"start_host_ns": 999, "end_host_ns": 4500`)), "invalid host orchestrator phase: origin=1000, start=999, end=4500"},
		{host().with("host_orchestrator_phases", submits(`"start_host_ns": 3000, "end_host_ns": 2999`)), "invalid host orchestrator phase: origin=1000, start=3000, end=2999"},
		{host().with("host_orchestrator_phases", submits(`"end_host_ns": 2999`)), "invalid host orchestrator phase: origin=1000, start=0, end=2999"},
		{host().with("host_orchestrator_phases", raw(`[[], [{`+good+`}], [{`+good+`}, {"start_host_ns": 5, "end_host_ns": 6}]]`)), "invalid host orchestrator phase: origin=1000, start=5, end=6"},
		{
			host().with("host_device_uploads", upload(`"start_host_ns": 9, "end_host_ns": 4`), "host_orchestrator_phases", submits(`"start_host_ns": 9, "end_host_ns": 4`)),
			"invalid host device upload: origin=1000, start=9, end=4",
		},
		// Outside host mode too, also against the origin 0.
		{
			level1("[]").with("host_device_uploads", upload(`"start_host_ns": 9, "end_host_ns": 4`)),
			"invalid host device upload: origin=0, start=9, end=4",
		},
	}
	for _, tt := range tests {
		refuse(t, tt.d.String(), tt.want)
		refuse(t, tt.d.text(reversed(sections)), tt.want)
	}
	accept(t, host().String())
	accept(t, level1("[]").with("host_device_uploads", upload(`"start_host_ns": 4, "end_host_ns": 4`)).String())
}

// Sections of another shape are refused with their place.
func TestHostShapes(t *testing.T) {
	for _, key := range []string{"aicpu_orchestrator_phases", "host_orchestrator_phases", "host_device_uploads"} {
		for _, v := range []string{`{}`, `5`, `[5]`, `[null]`, `[[5]]`, `[[null]]`} {
			if key == "host_device_uploads" && strings.HasPrefix(v, "[[") {
				continue
			}
			e := refuse(t, host().with(key, raw(v)).String(), "cannot read "+fileName+": line ")
			if e != nil && (!strings.Contains(e.Error(), key) || !errors.Is(e, capture.ErrSyntax)) {
				t.Errorf("%s %s: %v", key, v, e)
			}
		}
	}
}

// spec/records.md §2.8.
func TestLifecycle(t *testing.T) {
	const want = "aicpu_lifecycle_records must be an array of objects"
	for _, v := range []string{`{}`, `5`, `"x"`, `[5]`, `[null]`, `[{}, []]`} {
		e := refuse(t, level1("[]").with("aicpu_lifecycle_records", raw(v)).String(), want)
		if e != nil && !errors.Is(e, capture.ErrInvalid) {
			t.Errorf("%s: class %v", v, e.Class)
		}
	}
	fields := []string{
		"handshake_start", "handshake_complete", "config_start", "topology_complete", "context_publish_start", "context_publish_complete",
		"bootstrap_wait_start", "bootstrap_complete", "register_release_start", "register_release_end", "exit_signal_start", "exit_signal_end",
		"exit_wait_start", "exit_wait_end",
	}
	var b strings.Builder
	b.WriteString(`[{"aicpu_thread_id": 1`)
	for i, f := range fields {
		b.WriteString(`, "` + f + `_cycles": ` + itoa(100+i))
	}
	b.WriteString(`, "handshake_start": 5, "later_cycles": 6}, {"register_release_start_cycles": 90, "register_release_end_cycles": 91, "exit_wait_end_cycles": null, "aicpu_thread_id": "0"}, {}]`)
	rec := accept(t, level1("[]").with("aicpu_lifecycle_records", raw(b.String())).String())
	if len(rec.Lifecycle) != 3 {
		t.Fatalf("got %d records", len(rec.Lifecycle))
	}
	for i := range fields {
		if got := rec.Lifecycle[0].Span[i/2][i%2]; got != uint64(100+i) {
			t.Errorf("%s: got %d, want %d", fields[i], got, 100+i)
		}
		if from, to := capture.LifecycleFields(i / 2); from != fields[i/2*2] || to != fields[i/2*2+1] {
			t.Errorf("interval %d: %s, %s", i/2, from, to)
		}
	}
	equal(t, rec.Lifecycle[0].Thread, some(1))
	equal(t, rec.Lifecycle[1], capture.Lifecycle{Thread: some(0), Span: [7][2]uint64{4: {90, 91}}})
	equal(t, rec.Lifecycle[2], capture.Lifecycle{})
}

// R10, and the text that the picture's metadata repeats.
func TestHostCapture(t *testing.T) {
	meta := func(h string) rawText { return raw(`{"clock_freq_hz": 1, "host_capture": ` + h + `}`) }
	rec := accept(t, host().with("metadata", meta(`{"status": "complete", "expected_records": 2, "recorded_records": 2, "pool_records": 339, "dropped_records": 0, "error": null}`)).String())
	h := rec.Meta.HostCapture
	if h == nil {
		t.Fatal("no host_capture")
	}
	equal(t, *h, capture.HostCapture{
		Status: "complete", Expected: some(2), Recorded: some(2), Dropped: some(0),
		Raw: []byte(`{"status":"complete","expected_records":2,"recorded_records":2,"pool_records":339,"dropped_records":0,"error":null}`),
	})
	rec = accept(t, host().with("metadata", meta(`{ "expected_records" : "2", "recorded_records": null, "sta\u0074us": "c\u006fmplete", "x": { "y": [1.50, "\/"] } }`)).String())
	equal(t, *rec.Meta.HostCapture, capture.HostCapture{
		Status: "complete", Expected: some(2),
		Raw: []byte(`{"expected_records":"2","recorded_records":null,"status":"complete","x":{"y":[1.50,"/"]}}`),
	})
	rec = accept(t, host().with("metadata", meta(`{"status": 5, "expected_records": true, "recorded_records": "x", "dropped_records": -1}`)).String())
	equal(t, *rec.Meta.HostCapture, capture.HostCapture{
		Raw:     []byte(`{"status":5,"expected_records":true,"recorded_records":"x","dropped_records":-1}`),
		Dropped: some(-1),
	})
	refuse(t, host().with("metadata", meta(`{"dropped_records": 18446744073709551615}`)).String(), "cannot read ")
	refuse(t, host().with("metadata", meta(`{"expected_records": 2.0}`)).String(), "cannot read ")
	accept(t, host().with("metadata", meta(`{}`)).String())
}

func TestMetadata(t *testing.T) {
	rec := accept(t, doc{"chip_swimlane_level": 1, "metadata": raw(`{
		"clock_freq_hz": 50000000, "num_cores": 3, "core_types": ["aic", "aiv", "aic"], "core_to_thread": [0, -1, 2, -7, 1023],
		"orchestrator_source": "host", "orchestrator_clock_domain": "host_monotonic_ns", "device_clock_domain": "device_syscnt_cycles",
		"host_timestamp_resolution_ns": 1, "host_timestamp_quantization_ns": 0, "host_orchestration_origin_ns": 11,
		"host_timeline_origin_ns": 12, "timeline_relation": "rel", "host_clock_domain_id": "id", "clock_anchors": {"samples": [1.5e3]},
		"co_captured": ["dep_gen", 5]}`)}.String())
	equal(t, rec.Meta, capture.Metadata{
		ClockHz: 50_000_000, CoreTypes: []string{"aic", "aiv", "aic"}, CoreToThread: []int32{0, -1, 2, -7, 1023},
		OrchestratorSource: "host", TimelineRelation: "rel", HostOriginNs: 11, TimelineOriginNs: 12, ClockDomain: "id",
		CoCaptured: []string{"dep_gen", ""},
	})
	if len(rec.Warnings) != 0 {
		t.Errorf("warnings %v", rec.Warnings)
	}
	for core, want := range map[int32]int32{0: 0, 1: -1, 2: 2, 3: -1, 4: 1023, 5: -1, math.MaxInt32: -1} {
		if got := rec.Meta.Thread(core); got != want {
			t.Errorf("core %d: thread %d, want %d", core, got, want)
		}
	}
	// An empty list counts as absent (spec/records.md §2.2). Of another type every
	// core would quietly be an aiv.
	for v, found := range map[string]string{`{}`: "an object", `5`: "a number", `"aic"`: "a string"} {
		for _, key := range []string{"core_types", "core_to_thread"} {
			e := refuse(t, doc{"chip_swimlane_level": 1, "metadata": raw(`{"clock_freq_hz": 1, "` + key + `": ` + v + `}`)}.String(), "cannot read ")
			if e != nil && !strings.Contains(e.Error(), "found "+found+", expected metadata."+key+" to be an array") {
				t.Error(e)
			}
		}
	}
	for _, v := range []string{`[]`, `null`} {
		rec := accept(t, doc{"chip_swimlane_level": 1, "metadata": raw(`{"clock_freq_hz": 1, "core_to_thread": ` + v + `, "core_types": ` + v + `}`)}.String())
		if rec.Meta.CoreToThread != nil || rec.Meta.CoreTypes != nil || rec.Meta.CoreType(0) != "aiv" {
			t.Errorf("%s: got %+v", v, rec.Meta)
		}
	}
	// A thread index becomes a lane, so it is bounded.
	for _, v := range []string{`1024`, `2147483647`, `2147483648`, `1.5`, `null`} {
		refuse(t, doc{"chip_swimlane_level": 1, "metadata": raw(`{"clock_freq_hz": 1, "core_to_thread": [` + v + `]}`)}.String(), "cannot read ")
	}
	refuse(t, doc{"chip_swimlane_level": 1, "metadata": raw(`[]`)}.String(), "cannot read ")
}

// Further keys are kept only if that is asked for.
func TestFurtherKeys(t *testing.T) {
	d := host().with("aicpu_lifecycle_records", raw(`[{"aicpu_thread_id": 3, "later": 1}, {"aicpu_thread_id": "x"}, {}]`),
		"host_orchestrator_phases", raw(`[[{"start_host_ns": 1000, "end_host_ns": 1000, "kind": "k", "tid": [1, 2]}, {"start_host_ns": 1000, "end_host_ns": 1000}]]`),
		"host_device_uploads", raw(`[{"start_host_ns": 3000, "end_host_ns": 4500, "detail": "4096", "later": {}}, {"start_host_ns": 3000, "end_host_ns": 4500}]`),
		"scheduler_records", raw(`{"schema_version": 1, "streams": [{"scheduler_id": 1, "capture": {"dropped": 0}, "records": [`+phase+`],
			"metrics": [{"record_index": 0, "shared_at_start": [1]}]}]}`))
	rec := accept(t, d.String())
	if rec.HostOrc[0].Extra != nil || rec.Uploads[0].Fields != nil || rec.Uploads[1].Fields != nil || rec.Lifecycle[0].Extra != nil ||
		rec.Lifecycle[1].Extra != nil || rec.Streams[1].Raw != nil || rec.Streams[1].Phases.Extra != nil || rec.Streams[1].Phases.Depth != nil {
		t.Errorf("something is kept: %+v", rec)
	}
	rec, err := read(d.String(), capture.Options{Extras: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		got  []byte
		want string
	}{
		{rec.HostOrc[0].Extra[0], `"kind":"k","tid":[1,2]`},
		{rec.HostOrc[0].Extra[1], ``},
		{rec.Uploads[0].Fields, `"detail":"4096","later":{}`},
		{rec.Uploads[1].Fields, ``},
		{rec.Lifecycle[0].Extra, `"later":1`},
		{rec.Lifecycle[1].Extra, `"aicpu_thread_id":"x"`},
		{rec.Lifecycle[2].Extra, ``},
		{rec.Streams[0].Raw, ``},
		{rec.Streams[1].Raw, `{"platform":null,"runtime":null,"producer":null,"scheduler_id":1,"worker_id":null,"core_type":null,"physical_core_id":null,"capture":{"dropped":0}}`},
		{rec.Streams[1].Phases.Extra[0], `"shared_at_start":[1]`},
	} {
		equal(t, string(tt.got), tt.want)
	}
	if rec.Uploads[1].Fields == nil || rec.Uploads[0].Bytes != 4096 || rec.Lifecycle[0].Thread != some(3) {
		t.Errorf("got %+v, %+v", rec.Uploads, rec.Lifecycle)
	}
}
