package collector_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/collector"
)

// samples returns a sampling function that gives these samples in turn.
func samples(list ...collector.AnchorSample) func(*collector.AnchorSample) {
	return func(s *collector.AnchorSample) {
		*s = list[0]
		list = list[1:]
	}
}

// metadata is the metadata of a capture that has nothing but a correlation.
func metadata(t *testing.T, clock *collector.ClockCorrelation, bootID string) map[string]json.RawMessage {
	t.Helper()
	c := collector.NewCapture(abi.A2A3, abi.TaskTiming, 1, nil, nil)
	c.Clock, c.BootID = clock, bootID
	return members(t, string(members(t, text(t, c))["metadata"]))
}

func TestClockAnchors(t *testing.T) {
	clock := collector.NewClockCorrelation(collector.ProviderACLEvent, abi.A2A3)
	clock.Open(samples(
		collector.AnchorSample{HostBeforeNs: 1000, Raw: 20, HostAfterNs: 1005},
		collector.AnchorSample{HostBeforeNs: 990, Raw: 21, HostAfterNs: 980},                                        // backwards
		collector.AnchorSample{HostBeforeNs: 1, HostAfterNs: 3, Stage: collector.StageSynchronizeEvent, Code: -507}, // failed
	))
	clock.Close(samples(
		collector.AnchorSample{HostBeforeNs: 5000, Raw: 30, HostAfterNs: 5002},
		collector.AnchorSample{HostBeforeNs: 5003, Raw: math.MaxUint64, HostAfterNs: 5003}, // beyond 64 bits in cycles
		collector.AnchorSample{Raw: 1, HostAfterNs: math.MaxUint64},
	))
	got := metadata(t, clock, "")
	same(t, "origin", string(got["host_timeline_origin_ns"]), "1002")
	equalText(t, "anchors", string(got["clock_anchors"]), `{
      "provider": "acl_event",
      "device_timestamp_unit": "syscnt_cycles",
      "raw_device_timestamp_unit": "device_uptime_us",
      "samples_per_position": 3,
      "samples": [
        {"position": "pre_host_orchestration", "sample_idx": 0, "host_before_ns": 1000, "raw_device_timestamp": 20, "device_cycles": 1000, "host_after_ns": 1005, "rtt_ns": 5, "uncertainty_ns": 3, "error": null},
        {"position": "pre_host_orchestration", "sample_idx": 1, "host_before_ns": 990, "raw_device_timestamp": 21, "device_cycles": 1050, "host_after_ns": 980, "rtt_ns": 0, "uncertainty_ns": 0, "error": null},
        {"position": "pre_host_orchestration", "sample_idx": 2, "host_before_ns": 1, "raw_device_timestamp": null, "device_cycles": null, "host_after_ns": 3, "rtt_ns": 2, "uncertainty_ns": 1, "error": {"stage": "synchronize_event", "code": -507}},
        {"position": "post_device_execution", "sample_idx": 0, "host_before_ns": 5000, "raw_device_timestamp": 30, "device_cycles": 1500, "host_after_ns": 5002, "rtt_ns": 2, "uncertainty_ns": 1, "error": null},
        {"position": "post_device_execution", "sample_idx": 1, "host_before_ns": 5003, "raw_device_timestamp": 18446744073709551615, "device_cycles": null, "host_after_ns": 5003, "rtt_ns": 0, "uncertainty_ns": 0, "error": null},
        {"position": "post_device_execution", "sample_idx": 2, "host_before_ns": 0, "raw_device_timestamp": 1, "device_cycles": 50, "host_after_ns": 18446744073709551615, "rtt_ns": 18446744073709551615, "uncertainty_ns": 9223372036854775808, "error": null}
      ]
    }`)
}

// TestAnchorConversion: cycles = µs × rate / 10⁶, with a product beyond 64 bits.
func TestAnchorConversion(t *testing.T) {
	for _, test := range []struct {
		provider   collector.AnchorProvider
		arch       *abi.Arch
		raw        uint64
		cycles     string
		name, unit string
	}{
		{collector.ProviderACLEvent, abi.A2A3, 1 << 58, "14411518807585587200", "acl_event", "device_uptime_us"}, // 2⁵⁸ × 50
		{collector.ProviderACLEvent, abi.A5, 18446744073709551, "18446744073709551000", "acl_event", "device_uptime_us"},
		{collector.ProviderACLEvent, abi.A5, 18446744073709552, "null", "acl_event", "device_uptime_us"}, // 2⁶⁴ and a bit
		{collector.ProviderSimSyscnt, abi.A5, math.MaxUint64, "18446744073709551615", "sim_syscnt", "syscnt_cycles"},
		{collector.ProviderUnavailable, abi.A5, 5, "null", "unavailable", "unknown"},
	} {
		clock := collector.NewClockCorrelation(test.provider, test.arch)
		clock.Open(func(s *collector.AnchorSample) {
			*s = collector.AnchorSample{HostBeforeNs: 1, Raw: test.raw, HostAfterNs: 1}
		})
		got := metadata(t, clock, "")
		var anchors struct {
			Provider string            `json:"provider"`
			Unit     string            `json:"raw_device_timestamp_unit"`
			Samples  []json.RawMessage `json:"samples"`
		}
		if err := json.Unmarshal(got["clock_anchors"], &anchors); err != nil {
			t.Fatal(err)
		}
		same(t, "provider", anchors.Provider, test.name)
		same(t, "unit", anchors.Unit, test.unit)
		same(t, "samples", len(anchors.Samples), 3)
		same(t, "cycles", string(members(t, string(anchors.Samples[1]))["device_cycles"]), test.cycles)
		if _, ok := got["host_timeline_origin_ns"]; ok != (test.cycles != "null") {
			t.Errorf("%s %d: an origin: %v", test.name, test.raw, ok)
		}
	}
}

// TestTimelineOrigin: the smallest midpoint of the valid samples before the run.
func TestTimelineOrigin(t *testing.T) {
	good := func(before, after uint64) collector.AnchorSample {
		return collector.AnchorSample{HostBeforeNs: before, Raw: 9, HostAfterNs: after}
	}
	for what, test := range map[string]struct {
		list []collector.AnchorSample
		want uint64
	}{
		"smallest":       {[]collector.AnchorSample{good(50, 60), good(40, 61), good(52, 53)}, 50},
		"no error":       {[]collector.AnchorSample{good(50, 60), {HostBeforeNs: 1, Raw: 9, HostAfterNs: 2, Stage: collector.StageGetTimestamp}, good(70, 70)}, 55},
		"no start":       {[]collector.AnchorSample{good(0, 4), good(80, 90), good(80, 91)}, 85},
		"no cycles":      {[]collector.AnchorSample{{HostBeforeNs: 1, HostAfterNs: 2}, good(80, 90), good(7, 5)}, 85},
		"none":           {[]collector.AnchorSample{good(0, 4), good(9, 8), {HostBeforeNs: 1, HostAfterNs: 2}}, 0},
		"large":          {[]collector.AnchorSample{good(math.MaxUint64-4, math.MaxUint64), good(0, 0), good(0, 0)}, math.MaxUint64 - 2},
		"not of closing": {nil, 0},
	} {
		clock := collector.NewClockCorrelation(collector.ProviderSimSyscnt, abi.A5)
		if test.list != nil {
			clock.Open(samples(test.list...))
		}
		clock.Close(samples(good(10, 20), good(10, 20), good(10, 20)))
		same(t, what, clock.OriginNs(), test.want)
	}
}

func TestAnchorStages(t *testing.T) {
	for stage, name := range []string{"none", "create_stream", "create_event", "record_event", "synchronize_event", "get_timestamp"} {
		same(t, "stage", collector.AnchorStage(stage).String(), name)
	}
}

func TestBootID(t *testing.T) {
	for text, want := range map[string]string{
		"7d1c2a64-0c0e-4a2f-9d5b-3f6f2a8f11aa\n": "7d1c2a64-0c0e-4a2f-9d5b-3f6f2a8f11aa",
		"AZaz09- \t\r\n":                         "AZaz09-",
		" 7d1c":                                  "",
		"7d 1c":                                  "",
		"7d_1c":                                  "",
		"7d\"":                                   "",
		"7d\xff":                                 "",
		"é":                                      "",
		"7d\x00":                                 "",
		"\n":                                     "",
		"":                                       "",
	} {
		path := filepath.Join(t.TempDir(), "boot_id")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		same(t, text, collector.ReadBootID(path), want)
	}
	same(t, "no file", collector.ReadBootID(filepath.Join(t.TempDir(), "none")), "")
	same(t, "a directory", collector.ReadBootID(t.TempDir()), "")
}

// TestMetadataKeys: which keys there are, and in which order (spec/collector.md §7.3).
func TestMetadataKeys(t *testing.T) {
	always := []string{"clock_freq_hz", "num_cores", "core_types"}
	ofHost := []string{"orchestrator_source", "orchestrator_clock_domain", "device_clock_domain", "host_timestamp_resolution_ns",
		"host_timestamp_quantization_ns", "host_orchestration_origin_ns", "timeline_relation", "host_capture"}
	valid := func(c *collector.Capture) {
		c.Clock = collector.NewClockCorrelation(collector.ProviderSimSyscnt, c.Arch)
		c.Clock.Open(func(s *collector.AnchorSample) { *s = collector.AnchorSample{HostBeforeNs: 4, Raw: 5, HostAfterNs: 6} })
	}
	for what, test := range map[string]struct {
		fill func(c *collector.Capture)
		want [][]string
	}{
		"plain":               {func(*collector.Capture) {}, [][]string{always, {"capture_accounting"}}},
		"strict":              {func(c *collector.Capture) { c.Strict, c.CoCaptured = true, []string{"pmu"} }, [][]string{always}},
		"boot id with _":      {func(c *collector.Capture) { c.Host, c.BootID = new(collector.HostPhases), "a_1" }, [][]string{always, ofHost, {"capture_accounting"}}},
		"boot id with quote":  {func(c *collector.Capture) { c.Host, c.BootID = new(collector.HostPhases), `a"` }, [][]string{always, ofHost, {"capture_accounting"}}},
		"boot id alone":       {func(c *collector.Capture) { c.BootID = "a-1" }, [][]string{always, {"capture_accounting"}}},
		"threads":             {func(c *collector.Capture) { c.CoreToThread = []int8{-1} }, [][]string{always, {"core_to_thread", "capture_accounting"}}},
		"others":              {func(c *collector.Capture) { c.CoCaptured = []string{"pmu"} }, [][]string{always, {"capture_accounting", "co_captured"}}},
		"host":                {func(c *collector.Capture) { c.Host = new(collector.HostPhases) }, [][]string{always, ofHost, {"capture_accounting"}}},
		"host with boot id":   {func(c *collector.Capture) { c.Host, c.BootID = new(collector.HostPhases), "a-1" }, [][]string{always, ofHost, {"host_clock_domain_id", "capture_accounting"}}},
		"clock":               {valid, [][]string{always, {"host_timeline_origin_ns", "clock_anchors", "capture_accounting"}}},
		"clock without valid": {func(c *collector.Capture) { c.Clock = collector.NewClockCorrelation(0, c.Arch) }, [][]string{always, {"clock_anchors", "capture_accounting"}}},
		"all": {func(c *collector.Capture) {
			valid(c)
			c.Host, c.BootID, c.CoreToThread, c.CoCaptured = new(collector.HostPhases), "a-1", []int8{0}, []string{"dep_gen"}
		}, [][]string{always, ofHost, {"host_clock_domain_id", "host_timeline_origin_ns", "clock_anchors", "core_to_thread", "capture_accounting", "co_captured"}}},
	} {
		c := worked(abi.SchedPhases)
		c.CoreToThread = nil
		test.fill(c)
		var want []string
		for _, list := range test.want {
			want = append(want, list...)
		}
		same(t, what, keys(t, members(t, text(t, c))["metadata"]), want)
	}
}

func TestCoreTables(t *testing.T) {
	c := collector.NewCapture(abi.A5, abi.TaskTiming, 5, nil, nil)
	c.Clock = collector.NewClockCorrelation(collector.ProviderUnavailable, abi.A5)
	c.CoreTypes = []abi.CoreType{abi.AIC, abi.AIV, abi.AIC}
	c.CoreToThread = []int8{0, -1, 4}
	file := text(t, c)
	for _, want := range []string{
		`    "core_types": ["aic", "aiv", "aic", "aiv", "aiv"],`, `    "core_to_thread": [0, -1, 4],`, `    "clock_freq_hz": 1000000000,`, `    "num_cores": 5,`,
	} {
		if !strings.Contains(file, want+"\n") {
			t.Errorf("the file lacks %s", want)
		}
	}
}
