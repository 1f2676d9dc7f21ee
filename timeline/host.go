package timeline

import (
	"fmt"

	"swimlane/capture"
)

// Host is what a host-orchestrated capture adds (spec/records.md §4.7).
type Host struct {
	Mode     bool   // false: uploads without host orchestration
	Origin   uint64 // host ns at time zero
	Seam     int64  // ns at which the device part begins
	Complete bool   // every submit record is there
	Missing  bool   // there is none
	// Errors lists the contradictions between host_capture and the file.
	Errors   []string
	Recorded int // submit records in the file
}

// Ns is the time of a host timestamp.
func (h *Host) Ns(host uint64) int64 { return int64(host - h.Origin) }

func newHost(rec *capture.Records) (*Host, error) {
	h := &Host{Mode: rec.HostMode(), Origin: rec.HostOrigin(), Recorded: rec.HostSubmits()}
	h.Missing = h.Recorded == 0
	last := h.Origin
	for i := range rec.HostOrc {
		lane := &rec.HostOrc[i]
		for j := range lane.Start {
			last = max(last, lane.Start[j], lane.End[j])
		}
	}
	seam := last - h.Origin
	for i := range rec.Uploads {
		last = max(last, rec.Uploads[i].End)
		if rec.Dialect.SeamCountsUploads {
			seam = last - h.Origin
		}
	}
	if last-h.Origin > MaxSpan/2 {
		return nil, fmt.Errorf("%w: the host times of %s reach from %d to %d ns, expected them within %d ns; one of them is corrupt",
			ErrSpan, rec.Source, h.Origin, last, int64(MaxSpan/2))
	}
	h.Seam = int64(seam)
	h.Complete = h.validate(rec.Meta.HostCapture)
	return h, nil
}

// validate holds host_capture against the records that are there.
func (h *Host) validate(c *capture.HostCapture) bool {
	if c == nil {
		return false
	}
	actual := int64(h.Recorded)
	if c.Recorded.Set && c.Recorded.V != actual {
		h.Errors = append(h.Errors, "recorded_record_count_mismatch")
	}
	switch {
	case !c.Expected.Set:
		h.Errors = append(h.Errors, "expected_record_count_missing")
	case c.Expected.V != actual:
		h.Errors = append(h.Errors, "expected_record_count_mismatch")
	}
	return c.Status == "complete" && c.Dropped.Set && c.Dropped.V == 0 && len(h.Errors) == 0
}

// Uploads without host mode still need an origin, so Host exists for them; it
// then carries no metadata of its own.
func (t *Timeline) HostMode() bool { return t.Host != nil && t.Host.Mode }

// Whole reports whether nothing is known to be missing of a capture: what the host
// recorded is all there, and the collector says so (spec/l3.md §10.9, spec/newest.md §5.6).
func (t *Timeline) Whole() bool { return whole(t.Rec, t.Host) }

// Whole is Timeline.Whole of a capture that is not joined.
func Whole(rec *capture.Records) bool {
	if !rec.HostMode() {
		return whole(rec, nil)
	}
	h, err := newHost(rec)
	return err == nil && whole(rec, h)
}

func whole(rec *capture.Records, h *Host) bool {
	c := rec.Meta.Collection
	return (h == nil || !h.Mode || h.Complete) && (c == nil || c.Whole())
}
