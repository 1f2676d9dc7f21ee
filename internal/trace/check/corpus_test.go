package check_test

import (
	"strings"
	"testing"

	"swimlane/internal/parity"
	"swimlane/internal/trace/check"
)

// What must be said of each trace of the corpus: why the viewer refuses it, or
// every finding in it.
func TestCorpus(t *testing.T) {
	type verdict struct{ refused, findings string }
	parity.Corpus(t, "FuzzJSON", map[string]verdict{
		"text_behind_the_trace":                       {refused: "byte 202: not JSON: ']' after the end of the trace"},
		"nan_as_length":                               {refused: "byte 197: NaN is no JSON number: the viewer refuses the whole file"},
		"half_a_surrogate_pair_in_a_name":             {refused: "byte 164: a surrogate pair as escapes in an event: the viewer refuses the whole file"},
		"zero_character_in_a_name":                    {findings: "string-nul:1"},
		"trace_cut_inside_an_event_of_the_array_form": {findings: "event-cut:1"},
		"exponent_as_pid":                             {findings: "lane-unnamed:1 pid-range:1 process-unnamed:1"},
		"times_at_and_beyond_63_bits":                 {findings: "ts-range:1 zero-length:1"},
		"slices_cross_by_a_nanosecond":                {findings: "slice-overlap:1"},
		"flow_id_of_2_to_the_63":                      {findings: "flow-id-invalid:1"},
		"arrow_that_ends_before_it_starts":            {findings: "flow-end-without-start:1 flow-unfinished:1"},
		"events_that_are_no_objects":                  {findings: "event-not-object:4 ph-missing:1"},
	}, func(t *testing.T, args []string, want verdict) {
		rep, err := check.JSON(strings.NewReader(args[0]))
		switch {
		case want.refused != "":
			if err == nil || !strings.HasPrefix(err.Error(), want.refused) {
				t.Errorf("got %v, want %s", err, want.refused)
			}
		case err != nil:
			t.Errorf("got %v, want %s", err, want.findings)
		case found(rep) != want.findings:
			t.Errorf("found %q, want %q", found(rep), want.findings)
		}
	})
}
