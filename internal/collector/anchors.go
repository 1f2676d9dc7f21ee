package collector

import (
	"math/bits"
	"os"
	"strings"
	"unicode"

	"swimlane/internal/abi"
)

// AnchorProvider is where the device's side of a clock sample comes from.
type AnchorProvider uint8

// The providers (spec/collector.md §7.5).
const (
	ProviderUnavailable AnchorProvider = iota // none could be created
	ProviderACLEvent                          // event timestamps in µs of device uptime
	ProviderSimSyscnt                         // the system counter itself
)

func (p AnchorProvider) String() string {
	return nameOf(p, "unavailable", "acl_event", "sim_syscnt")
}

// RawUnit is the unit of the provider's timestamps.
func (p AnchorProvider) RawUnit() string {
	return nameOf(p, "unknown", "device_uptime_us", "syscnt_cycles")
}

// cycles turns a timestamp of the provider into cycles of the device, 0 if that
// is not possible.
func (p AnchorProvider) cycles(raw uint64, arch *abi.Arch) uint64 {
	switch p {
	case ProviderACLEvent:
		hi, lo := bits.Mul64(raw, arch.ClockHz)
		if hi >= abi.UptimeHz {
			return 0 // beyond 64 bits
		}
		cycles, _ := bits.Div64(hi, lo, abi.UptimeHz)
		return cycles
	case ProviderSimSyscnt:
		return raw
	}
	return 0
}

// AnchorStage is the step at which taking a sample failed.
type AnchorStage uint8

// The stages.
const (
	StageNone AnchorStage = iota
	StageCreateStream
	StageCreateEvent
	StageRecordEvent
	StageSynchronizeEvent
	StageGetTimestamp
)

func (s AnchorStage) String() string {
	return nameOf(s, "none", "create_stream", "create_event", "record_event", "synchronize_event", "get_timestamp")
}

// nameOf is the name of a value; values that do not exist are all unknown.
func nameOf[T ~uint8](v T, names ...string) string {
	if int(v) < len(names) {
		return names[v]
	}
	return "unknown"
}

// AnchorSample is the device's clock between two looks at the host's.
type AnchorSample struct {
	HostBeforeNs uint64 // CLOCK_MONOTONIC
	Raw          uint64 // timestamp of the provider, 0 if there is none
	HostAfterNs  uint64
	Stage        AnchorStage // where it failed, StageNone if it did not
	Code         int         // the provider's number for the failure

	cycles uint64 // of the device, from Raw
}

// valid tells whether the sample ties the clocks together.
func (s *AnchorSample) valid() bool {
	return s.Stage == StageNone && s.HostBeforeNs != 0 && s.HostAfterNs >= s.HostBeforeNs && s.cycles != 0
}

// rtt is how long the sample took.
func (s *AnchorSample) rtt() uint64 {
	if s.HostAfterNs < s.HostBeforeNs {
		return 0
	}
	return s.HostAfterNs - s.HostBeforeNs
}

// SamplesPerPosition is how often the clocks are compared at each end of a run.
const SamplesPerPosition = 3

// ClockCorrelation compares the clocks of host and device at both ends of a run.
type ClockCorrelation struct {
	provider AnchorProvider
	arch     *abi.Arch
	opening  []AnchorSample
	closing  []AnchorSample
}

// NewClockCorrelation starts a correlation, which has no samples yet.
func NewClockCorrelation(p AnchorProvider, arch *abi.Arch) *ClockCorrelation {
	return &ClockCorrelation{provider: p, arch: arch}
}

// Open takes the samples before the run. The function fills one, all but the cycles.
func (c *ClockCorrelation) Open(sample func(*AnchorSample)) { c.opening = c.take(sample) }

// Close takes the samples after the run.
func (c *ClockCorrelation) Close(sample func(*AnchorSample)) { c.closing = c.take(sample) }

func (c *ClockCorrelation) take(sample func(*AnchorSample)) []AnchorSample {
	out := make([]AnchorSample, SamplesPerPosition)
	for i := range out {
		sample(&out[i])
		out[i].cycles = c.provider.cycles(out[i].Raw, c.arch)
	}
	return out
}

// OriginNs is the smallest midpoint of the valid samples before the run, 0 if none is valid.
func (c *ClockCorrelation) OriginNs() uint64 {
	origin := uint64(0)
	for i := range c.opening {
		s := &c.opening[i]
		if !s.valid() {
			continue
		}
		if mid := s.HostBeforeNs + s.rtt()/2; origin == 0 || mid < origin {
			origin = mid
		}
	}
	return origin
}

// BootIDPath is where Linux says which boot this is.
const BootIDPath = "/proc/sys/kernel/random/boot_id"

// ReadBootID reads the identity of the host's clock, "" if there is none that
// could be written as it is (spec/collector.md §7.3).
func ReadBootID(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	id := strings.TrimRightFunc(string(text), unicode.IsSpace)
	if !plain(id, "-") {
		return ""
	}
	return id
}

// plain tells whether a text has letters and digits only, and those of more, so
// that it can stand in a file without being escaped.
func plain(text, more string) bool {
	return strings.IndexFunc(text, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && !strings.ContainsRune(more, r)
	}) < 0
}
