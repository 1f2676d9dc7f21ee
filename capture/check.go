package capture

import (
	"cmp"
	"fmt"
	"slices"

	"swimlane/internal/jsonscan"
)

// flatten lays out the columns.
func (d *reader) flatten() {
	out := d.out
	out.Kinds = d.kinds.all()
	out.Tasks = d.taskCols.flat()
	out.Sched = d.schedCols.flat()
	out.Sched.Present = d.keys["scheduler_tasks"] || d.keys["aicpu_tasks"]
	out.Sched.Producer = d.schedSect.producer
	if d.keys["aicpu_tasks"] {
		out.Sched.Producer = ProducerAICPU
	}
	out.Tasks.Run = d.runs.column(d.taskCols.epoch.flat())
	out.Sched.Run = d.runs.column(d.schedCols.epoch.flat())
	d.placeStreams()
	d.runs.settle(out)
}

// finish runs the checks that need the whole file, in their order, and completes the result.
func (d *reader) finish() error {
	out := d.out
	d.flatten()
	d.widen(d.errs[stepTasks], d.schedShape, d.legacyShape)
	d.checkLevelAndClock()
	d.checkSchedShape()
	d.checkStreams()
	d.checkOrchestrator()
	d.checkRuntime()
	d.settleLaunches()
	// The join of rows makes no sense in a file whose ids or runs are unknown.
	if e := d.errs[stepRuntime]; e != nil {
		return d.firstError()
	}
	d.checkRows()
	d.checkHostRecords()
	if err := d.firstError(); err != nil {
		return err
	}
	d.sumLoss()
	d.warnHalfNamed()
	d.warnCores()
	d.settleAlignment()
	d.warnCollection()
	d.warnUnknown()
	slices.SortFunc(out.Further, func(a, b Field) int { return cmp.Compare(a.Key, b.Key) })
	return nil
}

// checkLevelAndClock is steps 1 and 2 (spec/records.md §4.1).
func (d *reader) checkLevelAndClock() {
	level, fits := d.level.Int64()
	hz, ok := d.clock.Uint64()
	noClock := !ok || hz == 0
	other := otherHint(otherKind(func(key string) bool { return d.keys[key] }))
	switch {
	case !d.hasLevel && d.keys["tasks"] && noClock:
		// A file of joined µs from the time before levels: what it lacks is the clock (§3).
	case !d.hasLevel:
		d.bad(stepLevel, "", -1, "no such key, expected 1, 2, 3, or 4", "missing chip_swimlane_level")
		d.errs[stepLevel].Hint = other
	case !fits || level < 1 || level > 4:
		d.bad(stepLevel, "chip_swimlane_level", -1, "", "Unsupported chip_swimlane_level: %s (expected 1, 2, 3, or 4)", d.level)
	}
	d.out.Level = int(level)
	if noClock && (!d.opt.Clockless || !d.hasLevel) {
		d.bad(stepClock, "metadata", -1, "", "metadata missing/zero clock_freq_hz: %s", d.clock)
		d.errs[stepClock].Hint = "the file states no clock, so its cycles cannot be turned into time; files of already joined µs are not readable"
		if !d.hasLevel && other != "" {
			d.errs[stepClock].Hint = other
		}
	}
	if d.out.Meta.ClockHz = hz; noClock {
		d.out.Meta.ClockHz = 0
	}
}

// badVersion tells whether a section breaks the rule of schema_version: exactly
// 1, or missing where the file shows a later generation (spec/newest.md §2 no. 6).
func (d *reader) badVersion(v versioned) bool {
	if !v.hasSchema && (d.identity != "" || d.hasRuntime) {
		return false
	}
	return v.schema != jsonscan.Int{Mag: 1}
}

// checkSchedShape is step 3 (spec/records.md §2.4, §2.5).
func (d *reader) checkSchedShape() {
	const section = "scheduler_tasks"
	v := d.schedSect
	switch {
	case d.keys["scheduler_tasks"] && d.keys["aicpu_tasks"]:
		d.bad(stepSchedShape, section, -1, "both keys", "both scheduler_tasks and legacy aicpu_tasks are present")
		d.errs[stepSchedShape].Hint = "keep one of them: the sections describe the same records"
	case d.keys["aicpu_tasks"]:
		d.errs[stepSchedShape] = d.legacyShape
	case !d.keys["scheduler_tasks"]:
	case v.notObject != "":
		d.bad(stepSchedShape, section, -1, v.notObject, "scheduler_tasks must be an object")
	case d.badVersion(v):
		d.bad(stepSchedShape, section, -1, "", "Unsupported scheduler_tasks schema_version: %s", v.schema)
	case v.producer != ProducerAICPU && v.producer != ProducerAICore:
		d.bad(stepSchedShape, section, -1, fmt.Sprintf("%.40q", v.producer), "scheduler_tasks.producer must be 'aicpu' or 'aicore'")
	case !v.list:
		d.bad(stepSchedShape, section, -1, "no array of records", badSchedShape)
	default:
		d.errs[stepSchedShape] = d.schedShape
	}
}

// checkStreams is step 5 (spec/records.md §2.6, §2.7). Where both generations of
// the section are present, the archived one is ignored.
func (d *reader) checkStreams() {
	const section = "scheduler_records"
	v := d.streamSect
	switch {
	case !d.keys["scheduler_records"]:
		d.errs[stepStreams] = d.legacyErr
	case v.notObject != "":
		d.bad(stepStreams, section, -1, v.notObject, "scheduler_records must be an object")
	case d.badVersion(v):
		d.bad(stepStreams, section, -1, "", "Unsupported scheduler_records schema_version: %s", v.schema)
	case !v.list:
		d.bad(stepStreams, section, -1, "no array of streams", "scheduler_records.streams must be an array")
	default:
		d.errs[stepStreams] = d.streamErr
	}
}

// checkOrchestrator is step 6 (spec/records.md §4.1).
func (d *reader) checkOrchestrator() {
	if len(d.out.DeviceOrc) > 0 && d.out.HostMode() {
		d.bad(stepOrchestrator, "aicpu_orchestrator_phases", -1, "aicpu_orchestrator_phases beside "+d.out.hostSign(),
			"both AICPU and host orchestrator phases are present; clock-domain source is ambiguous")
	}
}

// checkRuntime finds out which rules the file follows (spec/newest.md §2, §5.2).
func (d *reader) checkRuntime() {
	runtime := d.out.Meta.Runtime
	source := d.file + ": metadata.runtime"
	for i := range d.streams {
		if r := d.streams[i].Runtime; d.hasRuntime && r != "" && r != runtime {
			d.bad(stepRuntime, "metadata", -1, "", "metadata.runtime is '%s' but scheduler stream %d says '%s'", printable(runtime), i, printable(r))
			return
		}
	}
	named := d.hasRuntime
	if !named && d.identity != "" {
		runtime = commonRuntime(d.streams)
		if named = runtime != ""; !named {
			d.bad(stepRuntime, "metadata", -1, d.identity+" and no metadata.runtime",
				"%s is missing; this capture predates the runtime name and its TaskId layout cannot be determined. "+
					"Re-capture with a current build, which writes '%s' or '%s'.", source, RuntimeHBG, RuntimeTMR)
			d.errs[stepRuntime].Class = ErrUnsupported
			return
		}
	}
	switch {
	case runtime == RuntimeTMR || runtime == RuntimeHBG:
		d.out.Dialect = runtimeDialect(runtime)
		d.out.Dialect.Label = "of a named runtime"
		if d.identity != "" {
			d.out.Dialect.Label = "of today's runtimes"
		}
	case !named:
		d.out.Dialect = seedDialect
		d.out.Dialect.Label = "seed-era"
		if d.keys["aicpu_tasks"] || d.keys["aicpu_scheduler_phases"] {
			d.out.Dialect.Label = "archived"
		}
	default:
		d.bad(stepRuntime, "metadata", -1, "", "%s is '%s', which this module does not decode; expected '%s' or '%s'. "+
			"A task id has no self-describing layout, so an unrecognised runtime cannot be decoded by guessing.", source, printable(runtime), RuntimeHBG, RuntimeTMR)
	}
	d.out.Meta.Runtime = runtime
	if o := d.out.Meta.Origin; o != nil && o.HasSeam {
		d.out.Dialect.SeamCountsUploads = o.Seam
	}
	if e := d.errs[stepRuntime]; e != nil {
		e.Class = ErrUnsupported
	}
}

// firstError is the failure of the earliest step, nil if there is none.
func (d *reader) firstError() error {
	for _, e := range d.errs {
		if e != nil {
			return e
		}
	}
	return nil
}

// commonRuntime is the runtime that all streams name, if they agree (spec/newest.md §2).
func commonRuntime(streams []Stream) string {
	for i := range streams {
		if streams[i].Runtime != streams[0].Runtime {
			return ""
		}
	}
	if len(streams) == 0 {
		return ""
	}
	return streams[0].Runtime
}
