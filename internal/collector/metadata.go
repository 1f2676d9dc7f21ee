package collector

import (
	"strconv"

	"swimlane/internal/abi"
)

// writeMetadata writes the keys of spec/collector.md §7.3, in its order.
func (c *Capture) writeMetadata(o *output) {
	o.text(",\n  \"metadata\": {")
	o.text("\n    \"clock_freq_hz\": ")
	o.uint(c.Arch.ClockHz)
	o.key("num_cores")
	o.uint(uint64(c.Cores))
	c.writeCoreTypes(o)
	if c.Host != nil {
		c.writeHost(o)
	}
	if c.BootID != "" && plain(c.BootID, "-") && (c.Host != nil || c.Clock != nil) {
		o.key("host_clock_domain_id")
		o.text(`"linux-boot-id:` + c.BootID + `"`)
	}
	if c.Clock != nil {
		if origin := c.Clock.OriginNs(); origin != 0 {
			o.key("host_timeline_origin_ns")
			o.uint(origin)
		}
		c.Clock.write(o)
	}
	if len(c.CoreToThread) > 0 {
		o.key("core_to_thread")
		o.text("[")
		first := true
		for _, thread := range c.CoreToThread {
			o.separate(&first)
			o.buf = strconv.AppendInt(o.buf, int64(thread), 10)
		}
		o.text("]")
	}
	if !c.Strict {
		c.Accounting.write(o)
		c.writeCoCaptured(o)
	}
	o.text("\n  }")
}

// key begins a further key of the metadata.
func (o *output) key(name string) {
	o.text(",\n    \"")
	o.text(name)
	o.text("\": ")
}

// separate separates the entries of a list that stands on one line.
func (o *output) separate(first *bool) {
	if !*first {
		o.text(", ")
	}
	*first = false
}

func (c *Capture) writeCoreTypes(o *output) {
	o.key("core_types")
	o.text("[")
	first := true
	for core := range c.Cores {
		kind := abi.AIV
		if core < len(c.CoreTypes) {
			kind = c.CoreTypes[core]
		}
		o.separate(&first)
		o.text(`"` + kind.String() + `"`)
	}
	o.text("]")
}

// writeHost writes what only a run has that the host orchestrated.
func (c *Capture) writeHost(o *output) {
	h := c.Host
	o.key("orchestrator_source")
	o.text(`"host"`)
	o.key("orchestrator_clock_domain")
	o.text(`"host_monotonic_ns"`)
	o.key("device_clock_domain")
	o.text(`"device_syscnt_cycles"`)
	o.key("host_timestamp_resolution_ns")
	o.text("1")
	o.key("host_timestamp_quantization_ns")
	o.text("0")
	o.key("host_orchestration_origin_ns")
	o.uint(h.origin())
	o.key("timeline_relation")
	o.text(`"host_orchestration_precedes_device"`)
	status, failure := h.outcome()
	o.key("host_capture")
	o.text(`{"status": "` + status + `", "expected_records": `)
	o.uint(h.Expected)
	o.text(`, "recorded_records": `)
	o.uint(uint64(len(h.Submits)))
	o.text(`, "pool_records": `)
	o.uint(h.Pool)
	o.text(`, "dropped_records": `)
	o.uint(h.Dropped)
	if failure == "" {
		o.text(`, "error": null}`)
	} else {
		o.text(`, "error": "` + failure + `"}`)
	}
}

// write writes the anchors (spec/collector.md §7.5).
func (c *ClockCorrelation) write(o *output) {
	o.key("clock_anchors")
	o.text("{\n      \"provider\": \"" + c.provider.String() + "\",\n      \"device_timestamp_unit\": \"syscnt_cycles\",\n" +
		"      \"raw_device_timestamp_unit\": \"" + c.provider.RawUnit() + "\",\n      \"samples_per_position\": ")
	o.uint(SamplesPerPosition)
	o.text(",\n      \"samples\": [")
	first := true
	for _, position := range []struct {
		name    string
		samples []AnchorSample
	}{{"pre_host_orchestration", c.opening}, {"post_device_execution", c.closing}} {
		for i := range position.samples {
			o.comma(&first)
			position.samples[i].write(o, position.name, i)
		}
	}
	o.text("\n      ]\n    }")
}

func (s *AnchorSample) write(o *output, position string, index int) {
	o.text("\n        {\"position\": \"" + position + "\", \"sample_idx\": ")
	o.uint(uint64(index))
	o.text(`, "host_before_ns": `)
	o.uint(s.HostBeforeNs)
	o.text(`, "raw_device_timestamp": `)
	o.uintOrNull(s.Raw)
	o.text(`, "device_cycles": `)
	o.uintOrNull(s.cycles)
	o.text(`, "host_after_ns": `)
	o.uint(s.HostAfterNs)
	o.text(`, "rtt_ns": `)
	o.uint(s.rtt())
	o.text(`, "uncertainty_ns": `)
	o.uint(s.rtt()/2 + s.rtt()%2)
	if s.Stage == StageNone {
		o.text(`, "error": null}`)
		return
	}
	o.text(`, "error": {"stage": "` + s.Stage.String() + `", "code": `)
	o.buf = strconv.AppendInt(o.buf, int64(s.Code), 10)
	o.text("}}")
}

func (o *output) uintOrNull(v uint64) {
	if v == 0 {
		o.text("null")
		return
	}
	o.uint(v)
}

// accountNames are the kinds as capture_accounting names them.
var accountNames = [abi.Kinds]string{
	abi.KindAicpuTask: "AICPU_TASK", abi.KindSchedPhase: "SCHED_PHASE", abi.KindOrchPhase: "ORCH_PHASE", abi.KindAicoreTask: "AICORE_TASK",
}

func (a *Accounting) write(o *output) {
	o.key("capture_accounting")
	o.text(`{"policy": "` + a.Policy.String() + `", "kinds": {`)
	first := true
	for kind, v := range a.Kinds {
		o.separate(&first)
		o.text(`"` + accountNames[kind] + `": {"total": `)
		o.uint(v.Total)
		o.text(`, "collected": `)
		o.uint(v.Collected)
		o.text(`, "dropped": `)
		o.uint(v.Dropped)
		o.text(`, "host_lost": `)
		o.uint(v.HostLost)
		o.text(`, "unflushed": `)
		o.uint(v.Unflushed)
		o.text("}")
	}
	o.text(`}, "stalls": {"count": `)
	o.uint(a.Stalls.Count)
	o.text(`, "real_ns": `)
	o.uint(a.Stalls.RealNs)
	o.text("}")
	if a.EndedEarly {
		o.text(`, "ended_early": true`)
	}
	o.text("}")
}

func (c *Capture) writeCoCaptured(o *output) {
	if len(c.CoCaptured) == 0 {
		return
	}
	o.key("co_captured")
	o.text("[")
	first := true
	for _, name := range c.CoCaptured {
		o.separate(&first)
		o.text(`"` + name + `"`)
	}
	o.text("]")
}
