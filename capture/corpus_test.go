package capture_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"swimlane/capture"
	"swimlane/internal/parity"
)

// A verdict is what must happen with a file of the corpus: it is refused with
// these words, or it is read and these facts hold.
type verdict struct {
	class error  // nil: it is read
	text  string // the message begins with it
	found string // and says this
	facts []string
}

// invalid: the words are those of the specs' tables, or docs/formats/records.md's where they have none.
func invalid(text, found string) verdict {
	return verdict{class: capture.ErrInvalid, text: text, found: found}
}

func unsupported(text, found string) verdict {
	return verdict{class: capture.ErrUnsupported, text: text, found: found}
}

// syntax: text says what was found, place in which section and row; "" is outside of them all.
func syntax(found, place string) verdict {
	if place != "" {
		found += " (" + place + ")"
	}
	return verdict{class: capture.ErrSyntax, text: "", found: found}
}

func reads(facts ...string) verdict { return verdict{facts: facts} }

const (
	cutOff     = "; the file is incomplete"
	captureNow = "; the writer was interrupted or the file is still being written; capture again"
	exactly    = " must contain exactly ['end_cycles', 'kind', 'loop_iter', 'start_cycles', 'task_id', 'tasks_processed']"
	noRuntime  = fileName + ": metadata.runtime is missing; this capture predates the runtime name and its TaskId layout cannot be determined."
	ambiguous  = "both AICPU and host orchestrator phases are present; clock-domain source is ambiguous"
	launchPair = "metadata.run_boundaries must contain [epoch, start_cycles] integer pairs"
	launchRise = "metadata.run_boundaries epochs and positive start_cycles must strictly increase"
	launchLate = "device record precedes metadata.run_boundaries"
	badAlign   = "warning clock-alignment: ignoring saved clock alignment: "
)

var recordsCorpus = map[string]verdict{
	// Cut off.
	"cut_inside_a_key":                    syntax("found the end of the file inside a string"+cutOff, ""),
	"cut_inside_a_number_of_a_kernel_row": syntax("found the end of the file, expected ',' or ']'"+cutOff, "aicore_tasks[1]"),
	"cut_between_two_kernel_rows":         syntax("found the end of the file, expected a value or ']'"+cutOff, "aicore_tasks[0]"),
	"cut_inside_the_word_null":            syntax(`found "nu", expected null`+cutOff, "scheduler_records.streams[0].records[1]"),
	"cut_behind_the_streams":              syntax("found the end of the file, expected ',' or '}'"+cutOff, "scheduler_records"),
	"cut_between_two_orchestrator_lanes":  syntax("found the end of the file, expected a value or ']'"+cutOff, "aicpu_orchestrator_phases"),
	"cut_between_two_sections":            syntax("found the end of the file, expected a key in double quotes"+cutOff, ""),

	// JSON that is none, or none that is read (spec/records.md §9 no. 15).
	"zero_bytes_behind_the_document":    syntax("found a zero byte", ""),
	"unknown_key_nested_65_deep":        syntax("found nesting deeper than 64", "x"),
	"half_a_surrogate_pair_in_metadata": syntax(`found "\\ud83d", expected an escape sequence of JSON`, "metadata"),
	"nan_as_clock":                      syntax(`found "NaN", expected a value; NaN and Infinity are not JSON`, "metadata"),
	"exponent_as_core_id":               syntax("found 1e0, expected an integer without fraction or exponent", "aicore_tasks[1]"),
	"key_of_a_kernel_table_spelt_twice": syntax(`found the key "aicore_tasks" twice in one object`, ""),
	"task_id_of_2_to_the_64":            syntax("found 18446744073709551616, expected an integer of at most 64 bits", "aicore_tasks[0]"),

	// Values of another type.
	"level_is_true":                                  syntax("found true, expected an integer", "chip_swimlane_level"),
	"metadata_is_an_array":                           syntax("found an array, expected metadata to be an object", "metadata"),
	"kernel_rows_are_an_object":                      invalid("aicore_tasks must be an array of rows", "found an object"),
	"scheduler_tasks_is_an_array":                    invalid("scheduler_tasks must be an object", "found an array"),
	"scheduler_records_is_an_array":                  invalid("scheduler_records must be an object", "found an array"),
	"metrics_are_an_object":                          invalid("scheduler stream 0 records/metrics must be arrays", "found metrics that are no array"),
	"phase_kind_is_a_list":                           syntax("found an array, expected a string", "scheduler_records.streams[0].records[0]"),
	"archived_phases_hold_a_number_among_the_lists":  invalid("aicpu_scheduler_phases must be an array of arrays of objects", "found a number for aicpu_scheduler_phases[1], byte 119"),
	"lifecycle_record_is_a_list":                     invalid("aicpu_lifecycle_records must be an array of objects", "found an array in row 1"),
	"orchestrator_lane_is_an_object":                 syntax("aicpu_orchestrator_phases[1]: found an object, expected an array of records", "aicpu_orchestrator_phases[1]"),
	"uploads_are_one_object":                         syntax("found an object, expected host_device_uploads to be an array of objects", "host_device_uploads"),
	"narrow_row_without_times_behind_one_with_a_run": invalid("aicore_tasks[1] must contain five, six or seven columns", "found 5 columns where row 0 has 7"),
	"core_tables_of_other_types":                     syntax("found a string, expected metadata.core_types to be an array", "metadata"),
	"runtime_is_a_number":                            unsupported(fileName+": metadata.runtime is '5', which this module does not decode; expected 'host_build_graph' or 'tensormap_and_ringbuffer'", ""),
	"host_lanes_without_records":                     invalid(ambiguous, "found aicpu_orchestrator_phases beside host_orchestrator_phases"),
	"queue_depth_beyond_32_bits":                     syntax("found the queue depth 4294967296, expected at least 0 and at most 2147483647", "scheduler_records.streams[0].metrics[0]"),
	"two_queue_depths_beyond_32_bits":                syntax("found the queue depth 4294967296, expected at least 0 and at most 2147483647", "scheduler_records.streams[0].metrics[0]"),

	// Sections against each other, and against the level.
	"both_sections_of_scheduler_tasks":                    invalid("both scheduler_tasks and legacy aicpu_tasks are present", "keep one of them"),
	"both_sections_of_phases_and_the_archived_one_broken": reads("1 streams", "1 phase records", "0 warnings"),
	"three_level_keys_that_disagree":                      reads("level 2"),
	"level_that_wraps_to_1":                               invalid("Unsupported chip_swimlane_level: -18446744073709551615 (expected 1, 2, 3, or 4)", ""),
	"level_1_with_the_records_of_level_4":                 reads("level 1", "1 kernel rows", "1 phase records", "1 device submits"),
	"level_2_without_the_scheduler_row_of_a_kernel": invalid("level 2 requires Scheduler task timing for every AICore task; missing 1 join key(s): (3, 7)",
		"found 1 of 2 rows without a partner"),
	"clock_is_negative":             invalid("metadata missing/zero clock_freq_hz: -50000000", ""),
	"trace_instead_of_a_capture":    invalid("missing chip_swimlane_level", "this is a trace (traceEvents), not a capture"),
	"host_and_device_orchestrators": invalid(ambiguous, "found aicpu_orchestrator_phases beside metadata.host_capture"),

	// Rows.
	"two_kernel_rows_of_one_key":                       invalid("duplicate aicore_tasks join key: (0, 9)", "found rows 0 (task 1) and 2 (task 3)"),
	"two_scheduler_rows_of_one_key":                    invalid("scheduler_tasks contains duplicate (core_id, reg_task_id) join keys", "found rows 0 and 1 with (0, 1)"),
	"tokens_that_a_float_would_make_one":               reads("2 kernel rows"),
	"kernel_ends_before_it_starts":                     invalid("aicore_tasks[1] "+taskTiming, "found start_cycles 9, end_cycles 5, byte 87"),
	"receive_larger_than_start":                        invalid("aicore_tasks[0] "+taskReceive, "found receive_to_start_cycles 5, start_cycles 5, byte 75"),
	"task_id_is_negative":                              invalid("aicore_tasks[0] has a negative id", "found task_token_raw -1"),
	"core_id_beyond_31_bits":                           invalid("aicore_tasks[1] has an invalid core_id", "found core_id 4294967296"),
	"kernel_row_of_eight_columns":                      invalid("aicore_tasks[0] must contain five, six or seven columns", "found 8 columns"),
	"scheduler_finishes_before_it_dispatches":          invalid("scheduler_tasks.records[1] "+schedTiming, "found dispatch_cycles 10, finish_cycles 4"),
	"archived_scheduler_finishes_before_it_dispatches": invalid("scheduler_tasks.records[1] "+schedTiming, "found row 1 of aicpu_tasks with dispatch_cycles 10, finish_cycles 4"),
	"archived_scheduler_row_of_three_columns":          invalid(fourColumns, "found aicpu_tasks[1] with 3 columns"),
	"every_column_at_its_largest":                      reads("1 kernel rows", "kernel 0 of core 2147483647: task 18446744073709551615, receive 1, end 18446744073709551615"),
	"losses_that_overflow_a_sum":                       reads("warning kernel-rows-without-scheduler: 1 kernel row(s)", "9223372036854775807 records lost"),
	"seven_column_rows_beside_mixed_scheduler_rows":    invalid("scheduler_tasks.records mixes row widths [4, 5]", "found scheduler_tasks.records[1] with 5 columns"),

	// Phase records, metrics, streams.
	"phase_record_without_loop_iter":                invalid("scheduler stream 0 record 1"+exactly, `found no key "loop_iter"`),
	"phase_record_with_a_further_key":               invalid("scheduler stream 0 record 0"+exactly, `found the key "core_id"`),
	"phase_ends_before_it_starts":                   invalid("scheduler stream 1 record 1 has a negative interval", "found start_cycles 1, end_cycles 0"),
	"metric_that_overwrites_a_time":                 invalid("scheduler stream 0 metric overwrites fixed record fields: ['start_cycles']", "found the metric of record 0"),
	"second_metric_is_out_of_range_third_malformed": invalid("scheduler stream 0 metric record_index 7 is out of range", "found 1 records in the stream"),
	"metrics_bring_depths_in_halves":                reads("1 phase records", "1 with depths"),
	"two_streams_of_one_scheduler":                  reads("2 streams", "0 gaps", "2 phase records"),
	"scheduler_ids_negative_and_huge":               reads("2 streams", "0 gaps"),
	"scheduler_255_alone":                           reads("256 streams", "255 gaps", "1 phase records"),
	"core_to_thread_of_thread_1024":                 syntax("metadata.core_to_thread[2]: found 1024, expected a scheduler thread index below 1024", "metadata"),
	"stream_that_dropped_2_to_the_63_records":       syntax("found 9223372036854775808, expected an integer of 64 bits with sign", "scheduler_records.streams[0]"),

	// Runs, runtimes and ids (spec/newest.md §2, §4.1, §5).
	"run_epoch_in_tasks_but_not_in_scheduler_rows": invalid("aicore_tasks carry run_epoch but scheduler_tasks do not (or the reverse); the sections come from different runtimes",
		"found run_epoch in aicore_tasks only, in "+fileName+")"),
	"run_epoch_in_the_first_kernel_row_only": invalid("aicore_tasks[1] must contain five, six or seven columns", "found 6 columns where row 0 has 7"),
	"run_epoch_in_the_first_phase_record_only": invalid("scheduler stream 0 record 1 must contain exactly ['end_cycles', 'kind', 'loop_iter', 'run_epoch', 'start_cycles', 'task_id', 'tasks_processed']",
		`found no key "run_epoch"`),
	"run_epoch_of_a_kernel_is_negative":            invalid("aicore_tasks[0] has a negative id", "found run_epoch -4"),
	"run_epoch_of_a_scheduler_row_is_negative":     invalid("scheduler_tasks.records[0] has a negative id", "found run_epoch -4"),
	"run_epoch_of_a_submit_is_negative":            syntax("found -1, expected an integer that is not negative", "aicpu_orchestrator_phases[0][0]"),
	"one_key_in_two_runs":                          reads("2 kernel rows", "2 runs"),
	"run_epoch_without_a_runtime":                  unsupported(noRuntime, "found rows of seven columns and no metadata.runtime"),
	"runtime_of_metadata_against_that_of_a_stream": invalid("metadata.runtime is 'tensormap_and_ringbuffer' but scheduler stream 1 says 'host_build_graph'", ""),
	"unknown_runtime_with_an_escape_sequence":      unsupported(fileName+": metadata.runtime is '\ufffd[31mring\ufffd\ufffd', which this module does not decode", ""),
	"ring_beyond_8_bits": invalid("task_id 0x0000010000000000 has ring 256 (bits 63:32), which exceeds the 8-bit field a mint can fill -- "+
		"either the invalid sentinel or a corrupt record -- carried by an aicore_tasks row with core_id=3, run_epoch=null", "found aicore_tasks[1]"),
	"id_space_that_does_not_exist": invalid("task_id 0xffffffffffffffff has id space 3 (top two bits), which no real space takes; expected one of [0, 1, 2] -- "+
		"either the invalid sentinel or a corrupt record -- carried by an aicore_tasks row with core_id=3, run_epoch=0", "found aicore_tasks[0]"),
	"invalid_task_id_without_a_runtime": reads("1 kernel rows", "0 warnings"),

	// Several launches in one file (spec/newest.md §8).
	"launches_that_go_back":             invalid(launchRise, "found [6, 1500] after [5, 2000] for run_boundaries[2]"),
	"launch_of_three_numbers":           invalid(launchPair, "found another value for run_boundaries[1]"),
	"launches_were_dropped":             invalid("dropped_run_boundaries is nonzero; capture fewer launches per profiling window", "found 3"),
	"kernel_before_the_first_launch":    invalid(launchLate, "found aicore_tasks[1] at 999, the first launch at 1000"),
	"phase_before_the_first_launch":     invalid(launchLate, "found record 0 of scheduler 2 at 1, the first launch at 1000"),
	"launches_over_rows_with_run_epoch": reads("2 kernel rows", "2 runs", "2 launches"),

	// The saved alignment, and what a retained run says (spec/newest.md §7.2, §9).
	"alignment_anchor_is_a_fraction":                reads(badAlign + "clock_alignment anchors and bounds must be integers"),
	"alignment_anchor_outside_its_bounds":           reads(badAlign + "invalid clock_alignment bounds"),
	"collection_is_partial_and_its_verdict_no_word": reads("warning collection: " + fileName + ": collection verdict partial\ufffd[2J (not_received_buffers=-2)"),
	"collection_incomplete_without_a_verdict":       reads("warning collection: " + fileName + ": collection verdict not stated (not_received_buffers=2, metadata_complete=false)"),

	// The host's records.
	"upload_before_the_origin":          invalid("invalid host device upload: origin=1000, start=999, end=1000", "found host_device_uploads[1]"),
	"submit_that_ends_before_it_starts": invalid("invalid host orchestrator phase: origin=8, start=9, end=8", "found host_orchestrator_phases[1][0]"),
	"host_counts_that_disagree":         reads("1 host submits", "host expects 5, recorded 3", "0 records lost"),
}

var depsCorpus = map[string]verdict{
	"deps_cut_inside_a_string":      syntax("found the end of the file inside a string"+cutOff, "edges[0]"),
	"deps_cut_between_two_edges":    syntax("found the end of the file, expected a value or ']'"+cutOff, "edges[0]"),
	"edge_written_twice_in_one_key": syntax(`found the key "pred" twice in one object`, "edges[0]"),
	"zero_bytes_behind_the_graph":   syntax("found a zero byte", ""),

	"edge_from_a_task_to_itself":                  reads("edges 1>1"),
	"two_tasks_that_wait_for_each_other":          reads("edges 1>2 2>1"),
	"edge_to_a_task_that_is_not_listed":           reads("tasks 1", "edges 1>99"),
	"one_edge_in_both_forms":                      reads("edges 1>2 1>2", "1 skipped"),
	"ids_with_zeros_blanks_and_signs":             reads("edges 18446744073709551609>1", "4 skipped"),
	"id_beyond_64_bits":                           reads("edges", "2 skipped"),
	"word_of_no_kind_under_a_key_of_2100_letters": syntax(`found "falsch", expected false`, strings.Repeat("m", 60)+"…"),
	"fraction_as_id":                              reads("tasks 1", "edges 1>2", "kernels none", "blocks 1", "1 skipped"),

	"one_task_twice_with_other_kernels":   reads("tasks 1 1", "kernels [0 -1 -1] [1 -1 -1]", "blocks 1 2"),
	"kernel_ids_at_and_beyond_32_bits":    reads("tasks 1 2", "kernels [2147483647 -2147483648 0] none"),
	"block_num_of_zero_negative_and_huge": reads("tasks 1 2 3 4", "blocks 1 1 1 2147483647"),
	"sections_of_other_types":             reads("tasks", "no list of edges", `runtime ""`),
}

// Every file of the corpora means something.
func TestCorpus(t *testing.T) {
	parity.Corpus(t, "FuzzRecords", recordsCorpus, func(t *testing.T, args []string, want verdict) {
		rec, err := read(args[0], capture.Options{})
		if want.check(t, err, "cannot read "+fileName+": line ", fileName) {
			want.hold(t, factsOf(rec))
		}
	})
	parity.Corpus(t, "FuzzDeps", depsCorpus, func(t *testing.T, args []string, want verdict) {
		deps, err := readDeps(args[0])
		if want.check(t, err, "line ", "run/deps.json") {
			want.hold(t, depsFacts(deps))
		}
	})
}

// check compares an error with the verdict, and says whether the file was read as it must.
func (v verdict) check(t *testing.T, err error, unreadable, file string) bool {
	t.Helper()
	if err == nil || v.class == nil {
		if (err == nil) != (v.class == nil) {
			t.Errorf("got %v, want %s %s", err, v.text, v.found)
		}
		return err == nil && v.class == nil
	}
	text := v.text
	if v.class == capture.ErrSyntax {
		text = unreadable
		if strings.Contains(v.found, cutOff) && !strings.Contains(err.Error(), captureNow) {
			t.Errorf("%v does not say what to do", err)
		}
	}
	if !errors.Is(err, v.class) || !strings.HasPrefix(err.Error(), text) || !strings.Contains(err.Error(), v.found) || !strings.Contains(err.Error(), file) {
		t.Errorf("got  %v\nwant %s… and %s", err, text, v.found)
	}
	return false
}

func (v verdict) hold(t *testing.T, facts []string) {
	t.Helper()
	for _, want := range v.facts {
		holds := func(fact string) bool {
			return fact == want || strings.HasPrefix(want, "warning ") && strings.HasPrefix(fact, want)
		}
		if !slices.ContainsFunc(facts, holds) {
			t.Errorf("%q does not hold, but %q", want, facts)
		}
	}
}

// factsOf lists what was read.
func factsOf(rec *capture.Records) []string {
	var gaps, phases, depths, device int
	for i := range rec.Streams {
		p := &rec.Streams[i].Phases
		phases += p.Len()
		if rec.Streams[i].Gap {
			gaps++
		}
		for _, f := range p.Flags {
			if f&capture.HasDepths != 0 {
				depths++
			}
		}
	}
	for i := range rec.DeviceOrc {
		device += rec.DeviceOrc[i].Len()
	}
	facts := []string{
		fmt.Sprint("level ", rec.Level), fmt.Sprint(rec.Tasks.Len(), " kernel rows"), fmt.Sprint(len(rec.Streams), " streams"), fmt.Sprint(gaps, " gaps"),
		fmt.Sprint(phases, " phase records"), fmt.Sprint(depths, " with depths"), fmt.Sprint(device, " device submits"), fmt.Sprint(rec.HostSubmits(), " host submits"),
		fmt.Sprint(len(rec.Runs), " runs"), fmt.Sprint(len(rec.Launches), " launches"), fmt.Sprint(len(rec.Warnings), " warnings"),
		fmt.Sprint(rec.Loss.Accounting+rec.Loss.Streams+rec.Loss.Host, " records lost"),
		fmt.Sprintf("core 0 is %s of thread %d", rec.Meta.CoreType(0), rec.Meta.Thread(0)),
	}
	if k := &rec.Tasks; k.Len() > 0 {
		facts = append(facts, fmt.Sprintf("kernel 0 of core %d: task %d, receive %d, end %d", k.Core[0], k.Task[0], k.Receive[0], k.End[0]))
	}
	if h := rec.Meta.HostCapture; h != nil {
		facts = append(facts, fmt.Sprintf("host expects %d, recorded %d", h.Expected.V, h.Recorded.V))
	}
	for _, w := range rec.Warnings {
		facts = append(facts, "warning "+w.Code+": "+w.Text)
	}
	return facts
}

func depsFacts(deps *capture.Deps) []string {
	tasks, edges, kernels, blocks := "tasks", "edges", "kernels", "blocks"
	for i, id := range deps.Task {
		tasks += fmt.Sprint(" ", id)
		blocks += fmt.Sprint(" ", deps.Block[i])
		if deps.Has[i]&capture.HasKernel == 0 {
			kernels += " none"
		} else {
			kernels += fmt.Sprint(" ", deps.Kernel[i])
		}
	}
	for i, pred := range deps.Pred {
		edges += fmt.Sprintf(" %d>%d", pred, deps.Succ[i])
	}
	if deps.NoEdges {
		edges = "no list of edges"
	}
	return []string{tasks, edges, kernels, blocks, fmt.Sprint(deps.Skipped, " skipped"), fmt.Sprintf("runtime %q", deps.Runtime)}
}
