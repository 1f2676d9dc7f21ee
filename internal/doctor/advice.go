package doctor

import (
	"maps"
	"slices"
	"strings"
)

// advice is what is said of a code beside what was found. In it {dir} is what
// was examined, as commands are given it, and {file} the file of the finding.
type advice struct {
	severity Severity
	why, do  string
}

// Codes are all codes, sorted.
func Codes() []string { return slices.Sorted(maps.Keys(known)) }

// Explain gives the severity, the cause and the remedy of a code. A capture may make
// them more exact.
func Explain(code string) (severity Severity, why, do string, ok bool) {
	a, ok := known[code]
	return a.severity, a.why, a.do, ok
}

// known has an entry for every code: those of this package, those of warnings of
// converting, and those of what a reader refuses.
var known = merged(ofFiles, ofRules, ofLosses, ofPictures, ofGraphs, ofNames, ofLogs, ofRanks)

func merged(tables ...map[string]advice) map[string]advice {
	out := map[string]advice{}
	for _, t := range tables {
		maps.Copy(out, t)
	}
	return out
}

// fill puts paths into the text of an advice.
func fill(text, dir, file string) string {
	return strings.NewReplacer("{dir}", dir, "{file}", file).Replace(text)
}

const again = "capture again with a current runtime"

// ofFiles concern which files there are.
var ofFiles = map[string]advice{
	"no-records": {Error,
		"a run writes its records at the end, and only with --enable-chip-swimlane at level 1 to 4, for a single round (--rounds above 1 switches every diagnostic off), and if anything was recorded",
		"run again with --enable-chip-swimlane and without --rounds; if that was so, look in the run's output for \"not produced\", \"No performance data to export\" or an error of writing"},
	"graph-only": {Note,
		"the run recorded the task graph (--enable-dep-gen) and not times, as it should where figures about overhead are wanted",
		"run the same program once more with --enable-chip-swimlane and join the two: swimlane convert RECORDS --deps-json {dir}/deps.json"},
	"rounds-only": {Note,
		"--rounds above 1 switches every diagnostic off: times of many runs come from the host's log",
		"swimlane strace {dir} --rounds-table; for a capture run again without --rounds"},
	"records-unreadable": {Error,
		"the system refuses to read the file, or what is packed in it is damaged",
		"mend the permissions, or copy the file again from where it was written"},
	"file-changes": {Error,
		"the file is still being written, or is being copied",
		"wait for the run to end and look again"},
	"json-broken": {Error,
		"what stands at that place is no JSON: the file was changed by hand or by another tool",
		"if only that place is wrong mend it with an editor and look again, else capture again; a damaged file is not drawn, because nobody could tell what is missing"},
	"json-cut": {Error,
		"the text ends too early: the writer was killed or its disk was full, or the file was copied while it was written",
		"copy the file again, or capture again; a file that is cut is not drawn, because nobody could tell what is missing"},
	"not-a-capture": {Error,
		"the file is of another kind",
		"name the records file of the run"},
	"former-name": {Warning,
		"records files had other names once, and only the present one is looked for in a directory",
		"name the file itself, as swimlane convert {file}"},
	"unfinished-file": {Warning,
		"files are written beside their place and renamed when they are complete: this writer was interrupted",
		"capture again, or remove the file if the run that left it is of no interest"},
	"no-trace": {Note,
		"nobody has converted this capture yet, or the output lies elsewhere (-o)",
		"swimlane convert {dir}"},
	"trace-stale": {Note,
		"the trace was drawn before that file was written or put there",
		"swimlane convert {dir}"},
	"other-tools": {Note,
		"a trace shows which task ran when; the inside of a kernel, counters of cores, arguments and rings are recorded by other diagnostics and shown by their tools",
		"inside of a kernel: core_swimlane (vendor's simulator and Insight); args_dump: dump_viewer; scope_stats: scope_stats_plot; pmu.csv: any table"},
	"irregular-file": {Error,
		"pipes, sockets and devices may be waited for without end, so nothing in the directory was read",
		"remove them, or copy the files of the run to a directory of their own"},
	"too-many-directories": {Warning,
		"looking through a tree ends after so many directories",
		"name a directory further down"},
}

// ofRules concern files that the reader refuses, by the step of its checks.
var ofRules = map[string]advice{
	"level": {Error,
		"the level says what was recorded: 1 kernel times, 2 and dispatch and finish, 3 and scheduler phases, 4 and submits. A file of another level is of another version, or no capture",
		"capture again with --enable-chip-swimlane LEVEL, 1 to 4"},
	"clock": {Error,
		"without the rate of the device's clock cycles cannot be turned into time, and guessing it would scale every figure",
		again},
	"scheduler-shape": {Error,
		"the section of dispatch and finish times is not of a version that is known, or rows of it were changed",
		again + "; a file of a newer version needs a newer swimlane"},
	"lifecycle": {Error, "the life cycle records are not of a version that is known", again},
	"streams": {Error,
		"phase records of a scheduler are not of a version that is known, or contradict themselves: a record cannot end before it starts, and a metric belongs to a record",
		again + "; if it comes back, the device writes records that it has not finished"},
	"orchestrators": {Error,
		"records of the device's orchestrator and of the host's have different clocks, and nothing says which is meant",
		"capture again: a run has one orchestrator"},
	"runtime": {Error,
		"a task id does not say how it is built, so it cannot be taken apart without the name of a runtime that is known",
		again + ", which writes metadata.runtime; a runtime of another name needs a newer swimlane"},
	"kernel-rows": {Error,
		"these kernel rows cannot be: a row has a core, an id, a token, and a start that is not 0 and not behind its end; no two rows of a run have one core and token",
		"capture again; if it comes back, the core's record was read before it was written (a slot of zeros), or two runs went into one file"},
	"scheduler-rows": {Error,
		"these rows are half filled or contradict themselves: dispatch or finish is missing (0), or finish lies before dispatch, or two rows claim one dispatch",
		"capture again; if it comes back, the scheduler's record was flushed before the task had finished"},
	"partners": {Error,
		"from level 2 on every kernel row needs the scheduler's row of the same core and token, and the file declares no loss that would excuse a missing one: its sections are not of one run, or one was cut",
		"capture again; of a capture that lost records the accounting would say so, and it would be drawn"},
	"host-records": {Error,
		"host records lie before the origin of the host's clock that the file states, or end before they start",
		"capture again"},
	"axis": {Error,
		"times of one capture lie further apart than a clock can run: one of them is corrupt",
		"capture again"},
}

// ofLosses concern records that are missing.
var ofLosses = map[string]advice{
	"records-dropped": {Warning,
		"the device had no free buffer: its host brought full ones back too slowly",
		"raise the number of buffers of that pool, not their size"},
	"records-host-lost": {Warning,
		"the device handed these records over, and the host could not keep them: a copy failed three times, or an entry named no buffer",
		"look for errors of the collector in the run's output; buffers do not help"},
	"records-unflushed": {Warning,
		"a buffer was still in the device's hands when it was stopped: the device did not flush it, failed, or was killed",
		"look for the device's error or time-out in the run's output and capture again; the records that are missing are the last ones of their core or thread"},
	"accounting-sum": {Warning,
		"every record that was made must be collected, dropped, lost by the host or unflushed: the sum is not what was made",
		"trust no count of this capture; report it to those who write the file"},
	"accounting-unreadable": {Warning, "the collector's account of records has a form that is not known", "take it that records may be missing; " + again},
	"ended-early":           {Warning, "the run failed or was interrupted, and what had been recorded was kept", "what stands there is right; for the rest run again"},
	"phases-dropped": {Warning,
		"a scheduler had no room for more phase records. One on an AICore keeps 1,024 idle records and counts the rest; its work records are whole",
		"on AICPUs raise SCHED_BUFFERS_PER_THREAD (6); on AICores nothing can be raised: capture a shorter run"},
	"submits-lost": {Warning,
		"the host's pool of phase records overflowed, or fewer submits were recorded than made",
		"capture a shorter run; the device's records are not affected"},
	"submit-gaps": {Warning, "submits are numbered, and numbers are missing", "raise ORCH_BUFFERS_PER_THREAD (8) and capture again"},
	"token-gaps": {Note,
		"dispatches of a core are numbered, and the capture is known to lack rows: the gaps show where",
		"the lanes NAME (lost) of the trace mark the places"},
	"unmatched-scheduler-rows": {Warning,
		"of these tasks the scheduler's times are there and the kernel's are not: the core had no free buffer when its own was full",
		"raise AICORE_BUFFERS_PER_CORE (4; in the runtime PLATFORM_AICORE_BUFFERS_PER_CORE)"},
	"kernel-rows-without-scheduler": {Warning,
		"half of the timing of these rows is missing: the kernel's times are there, dispatch and finish are not, because the scheduler's records were lost",
		"raise PROF_BUFFERS_PER_CORE (8; in the runtime PLATFORM_PROF_BUFFERS_PER_CORE); latency and overhead of these rows are unknown"},
	"level-1-rows-left-out": {Warning,
		"at level 1 rows have no scheduler times; some of this file have, and those without are left out beside them",
		"capture again at level 2 or more"},
	"tasks-missing": {Note,
		"these tasks did not run, as one whose predicate is false (the runtime host_build_graph leaves no record of it), or the graph was recorded with other inputs",
		"nothing, if the program skips tasks; else record the graph with the inputs of this run"},
	"collection": {Warning,
		"a run that was kept in memory and written in the background could not keep all of it",
		"what is there is right; wait for Worker.flush_diagnostics() before reading, and keep fewer runs"},
	"device-stalled": {Note,
		"the device waited for its host to bring buffers back (policy block): no records are lost, but the run took longer",
		"raise the number of buffers if the waits disturb what is measured"},
}

// ofPictures concern what a capture shows.
var ofPictures = map[string]advice{
	"capture-empty": {Warning,
		"no task was recorded: none ran on a core, the run failed first, or records were lost",
		"look into the run's output; a graph or a program of dummies alone has no kernel rows"},
	"phases-empty": {Warning,
		"a capture of level 3 or 4 has phases of the schedulers, and this one has none: the phase pools were not set up or not flushed",
		"capture again at level 3; look for \"No phase profiling data found\" and un-flushed buffers in the run's output"},
	"phases-of-thread": {Warning,
		"tasks were retired by scheduler threads of which there is no phase record; writers leave out empty streams, so their records were lost",
		"raise SCHED_BUFFERS_PER_THREAD (6) and capture again; arrows from and to these threads are left out"},
	"submits-empty": {Warning,
		"a capture of level 4 has the orchestrator's submits, and this one has none",
		"capture again at level 4; the submits of a host that builds the graph need its phase pool, those of a device their buffers (ORCH_BUFFERS_PER_THREAD)"},
	"receive-absent": {Note,
		"rows of five columns have no time of receive, and those of six have 0 from a writer that does not take it; it counts as the kernel's start: Local is 0, and Prop has both parts",
		again},
	"co-captured": {Warning,
		"another diagnostic ran in the same launch and took time of its own: dep_gen in every submit; pmu also switches off the pending slot, early dispatch and multi-issue",
		"good enough to look at; for figures about overhead capture times alone, and the graph in another run (--deps-json joins them)"},
	"several-runs": {Note, "the runs share one axis and the lanes of their cores; the gaps between them are time of the device", "figures are of all of them together"},
	"skewed-clocks": {Warning,
		"times of two counters contradict each other by more than 100 ns: those of cores and of the scheduler are not in step",
		"trust times of one kind among each other, and no differences between kinds (Prop, Head OH, Tail OH)"},
	"runs-half-named":    {Warning, "records of several builds are mixed in one file", again},
	"launches-over-runs": {Warning, "the file tells runs apart in two ways", "nothing: the kernel launches count"},
	"core-types":         {Warning, "the table of cores is shorter than the cores that ran, so some count as vector cores", again + "; names of tasks on these cores may be those of vector kernels"},
	"no-vote":            {Warning, "nothing says which scheduler serves which core", again + ", which writes core_to_thread"},
	"clock-alignment":    {Warning, "the alignment of host and device that the file saves is not valid", "nothing: the host's part is drawn in front of the device's instead"},
	"unknown-keys":       {Warning, "the file is of a newer version, or another tool wrote into it", "see whether a newer swimlane knows them; nothing else is affected"},
	"unknown-kinds":      {Warning, "the scheduler is of a newer version", "see whether a newer swimlane knows them; they are drawn under their own names"},
	"dummy-without-record": {Warning,
		"the orchestrator submitted dummies and the schedulers have no record of them: below level 3 there is none, or it was lost",
		"capture at level 3 or more; raise SCHED_BUFFERS_PER_THREAD (6) if phases were dropped"},
}

// ofGraphs concern deps.json.
var ofGraphs = map[string]advice{
	"no-deps": {Warning,
		"which function a task ran and whom it waited for stands in the task graph only: without it tasks are anonymous, task(…), and there are no arrows",
		"record the graph once, in a run of the same program with --enable-dep-gen, and put its deps.json beside the records or name it with --deps-json; the capture needs not be repeated"},
	"deps-unreadable": {Warning, "the graph is cut, damaged or no graph, and is not used", "record the graph again (--enable-dep-gen)"},
	"deps-without-edges": {Warning, "the graph's list of edges is not there or no list, so there are no arrows",
		"record the graph again (--enable-dep-gen)"},
	"deps-edges-skipped": {Warning, "edges need two ids of tasks", "record the graph again (--enable-dep-gen)"},
	"graph-mismatch": {Warning, "ids of tasks begin anew in every program, so a graph of another one fits by chance only: its names and arrows are wrong",
		"put the deps.json of a run of the same program there, or name it with --deps-json"},
	"graph-of-another-runtime": {Warning, "the two runtimes build ids of tasks differently", "record the graph with the runtime of the capture"},
	"self-edges":               {Warning, "a task cannot wait for itself: the graph is damaged or of another tool", "record the graph again (--enable-dep-gen)"},
	"graph-cycle":              {Warning, "a task cannot wait for itself through others: the graph is damaged or of another version; overhead refuses it, and edges are not reduced", "record the graph again (--enable-dep-gen)"},
	"tasks-anonymous": {Warning,
		"the graph does not list these tasks, or lists no kernel for the kind of core that they ran on, so they are called task(…)",
		"record the graph of this very program (--enable-dep-gen), with the same inputs"},
	"tasks-of-graphs": {Note,
		"these tasks were expanded from graph tasks while the program ran; deps.json lists what was submitted, so they are called task(…)",
		"nothing: that is how the runtime writes it"},
	"edges-undrawn": {Note,
		"an arrow needs a bar at each end: tasks that ran on no core have one at level 3 and more only, and some not at all",
		"capture at level 3 or 4 for bars of dummies, skipped tasks and allocations"},
}

// ofNames concern names of functions.
var ofNames = map[string]advice{
	"functions-unnamed": {Note,
		"the functions are known by number only, so they are called func_<id>_<letters>: no name map has a name for them",
		"put the name_map_*.json of the case beside the records, or use --func-names FILE or -k kernel_config.py"},
	"names-several": {Warning, "nothing says which of the maps is meant, so none is used", "remove all but one, or use --func-names FILE"},
	"names-level": {Warning,
		"maps of a node (level 3) number callables, maps of a chip (level 2) kernels: names of one would be wrong names for the other",
		"put the map of the chip's program there, the one with \"level\": 2, or use --func-names FILE"},
	"names-unlisted":   {Warning, "a map that may be there cannot be found", "mend the permissions of the directory, or use --func-names FILE"},
	"names-unreadable": {Error, "a name map that lies beside the records must be readable, or names would be missing without a word", "repair or remove the map, or use --func-names FILE"},
	"names-unused":     {Warning, "the map is of another program: none of its numbers is a function that ran", "put the map of this program there, or use --func-names FILE"},
}

// ofLogs concern the host's files.
var ofLogs = map[string]advice{
	"log-unreadable":       {Warning, "the system refuses to read it, or it is being written", "mend the permissions, or wait for the run to end"},
	"log-spans-incomplete": {Warning, "records were torn: several writers shared a pipe, or the file was cut", "run again with a log file for each process"},
	"log-records-dropped": {Warning, "the process wrote records faster than its log could take them, and counts those that it dropped",
		"log less (--log-level), or to a faster disk; times of runs whose spans were dropped are missing"},
	"log-anchor-repeated":     {Note, "a process writes one clock anchor; several processes had the same number one after another", "nothing: the last one counts"},
	"log-anchor-missing":      {Note, "a process writes its anchor before its first record, so the beginning of its log is missing", "see that the log is complete; only times of day are missing"},
	"log-version-unknown":     {Warning, "the log is of a newer version", "see whether a newer swimlane knows it"},
	"log-changed":             {Warning, "the log is still being written", "wait for the run to end and look again"},
	"host-phases-bad":         {Warning, "the host's phase records are cut or damaged", "capture again; only strace reads them"},
	"log-without-invocations": {Note, "the log has no span of a run: its threshold was above TIMING", "run again with --log-level timing or finer if times of the host are wanted"},
}
