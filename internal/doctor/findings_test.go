package doctor_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"swimlane/internal/doctor"
)

// example is a capture that shows a finding, and one like it that does not.
type example struct {
	code     string
	severity doctor.Severity
	count    int64 // what the files say, by hand
	found    string
	shows    files
	without  files // nil: the small capture
}

// kernels is a section of kernel rows.
func kernels(rows string) string { return `"aicore_tasks":[` + rows + `]` }

const twoRows = "[0,0,0,1100,1200,10],[1,8589934597,0,1310,1410,5]"

// examplesOfFiles: which files there are, and what the reader refuses.
func examplesOfFiles(t *testing.T) []example {
	good := small(t)
	only := func(text string) files { return files{recordsName: text} }
	l2 := `{"chip_swimlane_level":2,"metadata":{"clock_freq_hz":50000000},`
	packed := gzipped(good[recordsName])
	l1 := records(1, kernels(twoRows))
	ended := good[recordsName]
	return []example{
		{"no-records", doctor.Error, 0, "no chip_swimlane_records.json", files{"README": "x"}, nil},
		{"no-records", doctor.Error, 0, "only the host's log", files{"host.1.log": run(1, 1, 0)}, files{"host.1.log": run(1, 1, 0) + run(1, 2, 50000)}},
		{"no-records", doctor.Error, 0, "not finished", files{"host.1.log": run(1, 1, 0), "." + recordsName + ".1a.tmp": "{"}, nil},
		{"graph-only", doctor.Note, 0, "a task graph", files{depsName: good[depsName]}, good},
		{"rounds-only", doctor.Note, 2, "2 runs of one process", files{"host.1.log": run(1, 1, 0) + run(1, 2, 50000)}, files{"host.1.log": run(1, 1, 0), "host.2.log": run(2, 1, 0)}},
		{"records-unreadable", doctor.Error, 0, "damaged", files{recordsName + ".gz": packed[:len(packed)/2]}, files{recordsName + ".gz": packed}},
		{"json-broken", doctor.Error, 0, "whole before it: level 1, metadata, aicore_tasks 2 rows", only(strings.Replace(l1, "5]]", "5],]", 1)), only(l1)},
		{"json-cut", doctor.Error, 0, "aicore_tasks 1 row (broken here); not reached: scheduler_tasks", only(l2 + `"aicore_tasks":[[0,1,0,10,20],[0,2`), only(l1)},
		{"json-cut", doctor.Error, 0, "nothing is whole", only(""), nil},
		{"not-a-capture", doctor.Error, 0, "this is a task graph", only(good[depsName]), nil},
		{"not-a-capture", doctor.Error, 0, "this is a trace", only(`{"traceEvents":[]}`), nil},
		{"not-a-capture", doctor.Error, 0, "found an array, expected the object of a chip_swimlane_records.json; no records file begins like this", only(`[1,2`), only(l1)},
		{"not-a-capture", doctor.Error, 0, "found \"hello\", expected a value", only("hello\n"), only(l1)},
		{"former-name", doctor.Warning, 0, "l2_swimlane_records.json", good.and(recordsName, "-", "l2_swimlane_records.json", good[recordsName]), nil},
		{"unfinished-file", doctor.Warning, 0, "deps.json.tmp", good.and("deps.json.tmp", "{"), nil},
		{"no-trace", doctor.Note, 0, "no merged_swimlane.json", good, good.and("merged_swimlane.json", "{}")},
		{"other-tools", doctor.Note, 3, "args_dump/, scope_stats/, pmu.csv", good.and("args_dump/", "", "scope_stats/", "", "pmu.csv", ""), nil},
		{"irregular-file", doctor.Error, 2, "deps.json, host.1.log", good.and(depsName, "pipe", "host.1.log", "pipe"), nil},
		{"irregular-file", doctor.Error, 1, "rank0/d0/dispatch_identity.json", good.in("rank0/d0").and("rank0/d0/"+sidecarName, "pipe"), nil},
		{"too-many-directories", doctor.Warning, 20000, "", files{strings.Repeat("a/", 14): ""}, files{strings.Repeat("a/", 12): ""}},

		{"level", doctor.Error, 1, "Unsupported chip_swimlane_level: 5", only(records(5, kernels(twoRows))), only(l1)},
		{"clock", doctor.Error, 1, "clock_freq_hz", only(strings.Replace(l1, "50000000", "0", 1)), only(l1)},
		{"scheduler-shape", doctor.Error, 1, "schema_version: 2", only(strings.Replace(ended, `"scheduler_tasks": {"schema_version": 1`, `"scheduler_tasks": {"schema_version": 2`, 1)), nil},
		{"scheduler-shape", doctor.Error, 2, "2 places break this rule: rows 0, 2", only(records(2, kernels(""), scheduler("[1,2,3],[0,0,1,2],[0]"))), nil},
		{"lifecycle", doctor.Error, 1, "aicpu_lifecycle_records must be", only(records(2, `"aicpu_lifecycle_records":[{},7]`)), only(records(2, `"aicpu_lifecycle_records":[{}]`))},
		{"streams", doctor.Error, 2, "negative interval", only(records(3, streams(stream(0, phase("dispatch", 9, 8, "null"), phase("dispatch", 8, 9, "null"), phase("dispatch", 9, 1, "null"))))), only(records(3, streams(stream(0, phase("dispatch", 8, 9, "null")))))},
		{"orchestrators", doctor.Error, 1, "both AICPU and host", only(records(4, `"aicpu_orchestrator_phases":[[]]`, `"host_orchestrator_phases":[[]]`)), nil},
		{"runtime", doctor.Error, 1, "which this module does not decode", only(strings.Replace(l1, `"metadata":{`, `"metadata":{"runtime":"next",`, 1)), meta(t, `"runtime": "tensormap_and_ringbuffer"`)},
		{"kernel-rows", doctor.Error, 2, "rows 0, 2", only(records(1, kernels("[0,1,0,20,10],[0,2,1,30,40],[0,3,2,0,5]"))), only(l1)},
		{"kernel-rows", doctor.Error, 1, "duplicate aicore_tasks join key", only(records(1, kernels("[0,1,0,10,20],[0,2,0,30,40]"))), nil},
		{"scheduler-rows", doctor.Error, 2, "dispatch_cycles 0", only(records(2, kernels(""), scheduler("[0,1,0,20],[0,2,30,40],[0,3,30,0]"))), nil},
		{"partners", doctor.Error, 1, "missing 1 join key(s): (1, 0)", only(records(2, kernels(twoRows), scheduler("[0,0,1050,1210]"))), nil},
		{"host-records", doctor.Error, 1, "invalid host device upload", only(records(4, `"host_device_uploads":[{"phase":"x","start_host_ns":9,"end_host_ns":8}]`)), nil},
		{"axis", doctor.Error, 0, "", only(strings.Replace(records(1, kernels("[0,1,0,1,2],[0,2,1,18446744073709551000,18446744073709551615]")), "50000000", "1", 1)), only(l1)},
	}
}

// examplesOfLosses: records that are missing.
func examplesOfLosses(t *testing.T) []example {
	whole := meta(t, accounts("AICORE_TASK", 3, 3, 0, 0, 0))
	lossy := accounts("AICPU_TASK", 3, 2, 1, 0, 0)
	cut := small(t, recordsName, "\n  [2, 0, 1302, 1412]", "", recordsName, "[1, 0, 1300, 1420],", "[1, 0, 1300, 1420]", recordsName, `"metadata": {`, `"metadata": {`+lossy+", ")
	host := func(fields string) files {
		return files{recordsName: fmt.Sprintf(`{"chip_swimlane_level":4,"metadata":{"clock_freq_hz":50000000,"orchestrator_source":"host","host_capture":%s},%s}`, fields,
			`"aicore_tasks":[[0,0,0,1100,1200,10]],`+scheduler("[0,0,1050,1210]")+`,"host_orchestrator_phases":[[{"submit_idx":0,"task_id":0,"start_host_ns":1000,"end_host_ns":2000}]]`)}
	}
	return []example{
		{"records-dropped", doctor.Warning, 12, "12 of 2,500 AICORE_TASK records (kernel times) were dropped", meta(t, accounts("AICORE_TASK", 2500, 2488, 12, 0, 0)), whole},
		{"records-host-lost", doctor.Warning, 7, "7 of 10 SCHED_PHASE records", meta(t, accounts("SCHED_PHASE", 10, 3, 0, 7, 0)), whole},
		{"records-unflushed", doctor.Warning, 4, "4 of 9 ORCH_PHASE records (submits)", meta(t, accounts("ORCH_PHASE", 9, 5, 0, 0, 4)), whole},
		{"accounting-sum", doctor.Warning, 9, "total 9, but collected 5, dropped 1, host_lost 0 and unflushed 0", meta(t, accounts("ORCH_PHASE", 9, 5, 1, 0, 0)), whole},
		{"accounting-unreadable", doctor.Warning, 1, "no object", meta(t, `"capture_accounting": {"policy": "block"}`), whole},
		{"ended-early", doctor.Warning, 1, "the run failed", meta(t, `"capture_accounting": {"kinds": {}, "ended_early": true}`), whole},
		{"device-stalled", doctor.Note, 3, "3 times, 2.500 ms", meta(t, `"capture_accounting": {"kinds": {}, "stalls": {"count": 3, "real_ns": 2500000}}`), whole},
		{"phases-dropped", doctor.Warning, 5, "AICPU scheduler 1 dropped 5 phase records", small(t, recordsName, `"committed": 2, "dropped": 0`, `"committed": 2, "dropped": 5`), nil},
		{"phases-dropped", doctor.Warning, 0, "truncated", small(t, recordsName, `"truncated": false`, `"truncated": true`), nil},
		{"submits-lost", doctor.Warning, 2, "'dropped': 1 of 3 submit records, 2 dropped", host(`{"status":"dropped","expected_records":3,"recorded_records":1,"dropped_records":2}`),
			host(`{"status":"complete","expected_records":1,"recorded_records":1,"dropped_records":0}`)},
		{"submits-lost", doctor.Warning, 4, "'incomplete'", host(`{"status":"incomplete","expected_records":5,"recorded_records":1,"dropped_records":0}`), nil},
		{"submit-gaps", doctor.Warning, 1, "1 submit record", small(t, recordsName, `{"submit_idx": 2, "task_id": 4, "start_cycles": 1021, "end_cycles": 1030},`, ""), nil},
		{"token-gaps", doctor.Note, 2, "2 rows of neither section",
			files{recordsName: records(2, kernels("[0,1,0,1100,1200],[0,2,3,1300,1400]"), scheduler("[0,0,1050,1210],[0,3,1250,1410],[0,4,1450,1510]"))},
			files{recordsName: records(2, kernels("[0,1,0,1100,1200],[0,2,3,1300,1400]"), scheduler("[0,0,1050,1210],[0,3,1250,1410]"))}},
		{"unmatched-scheduler-rows", doctor.Warning, 1, "had no matching AICore record", small(t, recordsName, "[0, 0, 1050, 1210],", "[0, 0, 1050, 1210],[0, 1, 1250, 1260],"), nil},
		{"kernel-rows-without-scheduler", doctor.Warning, 1, "1 kernel row(s)", cut, whole},
		{"level-1-rows-left-out", doctor.Warning, 1, "1 kernel row(s)", files{recordsName: records(1, kernels(twoRows), scheduler("[0,0,1050,1210]"))}, files{recordsName: records(1, kernels(twoRows))}},
		{"tasks-missing", doctor.Note, 1, "1 of the 3 tasks", small(t, depsName, `"kernel_ids": [-1, -1, -1]`, `"kernel_ids": [-1, 1, -1]`, recordsName, `"kind": "dummy_task", "tasks_processed": 1, "task_id": 4`, `"kind": "dispatch", "tasks_processed": 1, "task_id": 4`), nil},
		{"tasks-missing", doctor.Warning, 1, "1 of the 3 tasks", meta(t, accounts("AICORE_TASK", 4, 3, 1, 0, 0)).and(depsName, strings.Replace(small(t)[depsName], `{"task_id": "4", "kernel_ids": [-1, -1, -1]`, `{"task_id": "7", "kernel_ids": [-1, 1, -1]`, 1)), nil},
		{"collection", doctor.Warning, 1, "collection verdict partial_safe", meta(t, `"collection": {"run_epoch": 3, "verdict": "partial_safe", "processing_complete": true, "metadata_complete": true, "not_received_buffers": 2}`),
			meta(t, `"collection": {"run_epoch": 3, "verdict": "published", "processing_complete": true, "metadata_complete": true, "not_received_buffers": 0}`)},
	}
}

// examplesOfPictures: what a capture shows and does not.
func examplesOfPictures(t *testing.T) []example {
	full := records(3, kernels(twoRows), scheduler("[0,0,1050,1210],[1,0,1300,1420]"), streams(stream(0, phase("dispatch", 1040, 1052, "null"))))
	skewed := func(dispatch int) files {
		return files{recordsName: records(2, kernels("[0,1,0,1100,1200]"), scheduler(fmt.Sprintf("[0,0,%d,1210]", dispatch)))}
	}
	epochs := func(second string) files {
		return files{recordsName: `{"chip_swimlane_level":1,"metadata":{"clock_freq_hz":50000000,"runtime":"tensormap_and_ringbuffer"},"aicore_tasks":[[0,1,0,100,200,0,1],[0,1,0,300,400,0,` + second + `]]}`}
	}
	launches := `"run_boundaries":[[1,50],[2,250]]`
	var many []string
	for i := range 1100 {
		many = append(many, stream(i, phase("dispatch", 1040, 1052, "null")))
	}
	return []example{
		{"capture-empty", doctor.Warning, 0, "no task row and nothing else", files{recordsName: records(2, kernels(""))}, nil},
		{"phases-empty", doctor.Warning, 0, "level 3 and no phase record, beside 2 task rows", files{recordsName: records(3, kernels(twoRows), scheduler("[0,0,1050,1210],[1,0,1300,1420]"), streams(stream(0)))}, files{recordsName: full}},
		{"phases-of-thread", doctor.Warning, 1, "scheduler thread 2,", small(t, recordsName, `"core_to_thread": [0, 0, 1]`, `"core_to_thread": [0, 2, 1]`), nil},
		{"submits-empty", doctor.Warning, 0, "level 4", files{recordsName: strings.Replace(full, `"chip_swimlane_level":3`, `"chip_swimlane_level":4`, 1)}, files{recordsName: full}},
		{"receive-absent", doctor.Note, 1, "no row has a time", files{recordsName: records(1, kernels("[0,1,0,1100,1200]"))}, files{recordsName: records(1, kernels("[0,1,0,1100,1200,3]"))}},
		{"co-captured", doctor.Warning, 2, "dep_gen, pmu", meta(t, `"co_captured": ["pmu", "dep_gen"]`), meta(t, `"co_captured": []`)},
		{"several-runs", doctor.Note, 2, "2 runs", epochs("2"), files{recordsName: strings.Replace(epochs("1")[recordsName], "[0,1,0,300", "[0,1,1,300", 1)}},
		{"skewed-clocks", doctor.Warning, 1, "1 row was dispatched after", skewed(1150), skewed(1090)},
		{"runs-half-named", doctor.Warning, 1, "names the runs of some records", files{recordsName: `{"chip_swimlane_level":3,"metadata":{"clock_freq_hz":50000000,"runtime":"tensormap_and_ringbuffer"},"aicore_tasks":[[0,1,0,100,200,0,1]],` +
			`"scheduler_tasks":{"producer":"aicpu","records":[[0,0,90,210,1]]},` + streams(stream(0, phase("dispatch", 90, 95, "null"))) + `}`}, epochs("2")},
		{"core-types", doctor.Warning, 1, "core(s) 2", small(t, recordsName, `["aic", "aiv", "aiv"]`, `["aic", "aiv"]`), nil},
		{"no-vote", doctor.Warning, 1, "1100 scheduler streams", files{recordsName: records(3, kernels("[0,1,0,1100,1200,1]"), scheduler("[0,0,1045,1210]"), streams(many...))}, nil},
		{"clock-alignment", doctor.Warning, 1, "ignoring saved clock alignment", meta(t, `"clock_alignment": {"status": "odd"}`), meta(t, `"clock_alignment": {"status": "unavailable", "reason": "x"}`)},
		{"unknown-keys", doctor.Warning, 1, "metadata.new", meta(t, `"new": 1`), nil},
		{"unknown-kinds", doctor.Warning, 1, "frobnicate", small(t, recordsName, `"kind": "resolve"`, `"kind": "frobnicate"`), nil},
		{"dummy-without-record", doctor.Warning, 1, "dummy(t4)", small(t, recordsName, `"kind": "dummy_task"`, `"kind": "resolve"`), nil},
		{"launches-over-runs", doctor.Warning, 2, "2 kernel launches", files{recordsName: strings.Replace(epochs("2")[recordsName], `"runtime"`, launches+`,"runtime"`, 1)}, epochs("2")},
	}
}

// examplesOfGraphs: task graphs and names.
func examplesOfGraphs(t *testing.T) []example {
	good := small(t)
	graphs := func(tasks string) files {
		return files{recordsName: records(3, `"aicore_tasks":[[0,4294968320,0,1100,1200,1],[0,4294968321,1,1300,1400,1]]`, scheduler("[0,0,1045,1210],[0,1,1250,1410]"),
			streams(stream(0, phase("graph_prepare", 1000, 1010, "1"), phase("dispatch", 1040, 1052, "null")))),
			depsName: `{"tasks":[` + tasks + `],"edges":[]}`}
	}
	return []example{
		{"no-deps", doctor.Warning, 3, "3 rows without a function, and no arrows", good.and(depsName, "-"), nil},
		{"deps-unreadable", doctor.Warning, 1, "failed to read", good.and(depsName, good[depsName][:60]), nil},
		{"deps-unreadable", doctor.Warning, 0, "", files{depsName: good[depsName][:60]}, files{depsName: good[depsName]}},
		{"deps-without-edges", doctor.Warning, 1, "no 'edges' array", small(t, depsName, `"edges": [`, `"edges": {}, "more": [`), nil},
		{"deps-edges-skipped", doctor.Warning, 1, "1 edge(s)", small(t, depsName, `{"pred": "3", "succ": "0", "arg": 0}`, `{"pred": "3"}`), nil},
		{"graph-mismatch", doctor.Warning, 1, "lists 0 of the capture's 2 tasks", good.and(depsName, `{"tasks":[{"task_id":"99","kernel_ids":[0,-1,-1]}],"edges":[]}`), nil},
		{"graph-of-another-runtime", doctor.Warning, 1, "host_build_graph", small(t, depsName, `{"tasks"`, `{"runtime":"host_build_graph","tasks"`), small(t, depsName, `{"tasks"`, `{"runtime":"tensormap_and_ringbuffer","tasks"`)},
		{"self-edges", doctor.Warning, 1, "from a task to itself", small(t, depsName, `{"pred": "3", "succ": "0"`, `{"pred": "0", "succ": "0"`), nil},
		{"graph-cycle", doctor.Warning, 2, "2 tasks wait for each other in a circle: t4 -> t0 -> t4", small(t, depsName, `{"pred": "3", "succ": "0"`, `{"pred": "4", "succ": "0"`), nil},
		{"graph-cycle", doctor.Warning, 3, "3 tasks wait for each other in a circle: r2t5 -> t0 -> t4 -> r2t5", small(t, depsName, `{"pred": "3", "succ": "0"`, `{"pred": "8589934597", "succ": "0"`, depsName, `{"pred": "0", "succ": "8589934597", "arg": 1}`, `{"pred": "0", "succ": "4", "arg": 1}`, depsName, `{"pred": "0", "succ": "8589934597", "arg": 2}`, `{"pred": "0", "succ": "4", "arg": 2}`), small(t, depsName, `{"pred": "3", "succ": "0"`, `{"pred": "0", "succ": "0"`)},
		{"graph-cycle", doctor.Warning, 2, "2 tasks wait for each other in a circle: t4 -> t0 -> t4", small(t, recordsName, "{", "", depsName, `{"pred": "3", "succ": "0"`, `{"pred": "4", "succ": "0"`), nil},
		{"graph-cycle", doctor.Warning, 2, "2 tasks wait for each other in a circle: t4 -> t0 -> t4", small(t, depsName, `{"pred": "3", "succ": "0"`, `{"pred": "4", "succ": "0"`).and(recordsName, "-"), good.and(recordsName, "-")},
		{"deps-without-edges", doctor.Warning, 0, "no 'edges' array", small(t, depsName, `"edges"`, `"egdes"`).and(recordsName, "-"), good.and(recordsName, "-")},
		{"tasks-anonymous", doctor.Warning, 1, "1 row whose function deps.json does not tell", small(t, depsName, `"kernel_ids": [0, -1, -1]`, `"kernel_ids": [-1, -1, -1]`), nil},
		{"tasks-anonymous", doctor.Warning, 3, "3 rows whose function deps.json does not tell", small(t, depsName, `"kernel_ids"`, `"k"`, depsName, `"kernel_ids"`, `"k"`, depsName, `"kernel_ids"`, `"k"`), nil},
		{"tasks-anonymous", doctor.Warning, 3, "3 rows whose function deps.json does not tell", good.and(depsName, `{"version":1,"edges":[[0,4]]}`), nil},
		{"tasks-of-graphs", doctor.Note, 2, "2 rows of tasks inside graph tasks", graphs(`{"task_id":"1","kernel_ids":[0,-1,-1]}`), nil},
		{"edges-undrawn", doctor.Note, 1, "1 of 4 edges", small(t, depsName, `{"pred": "4", "succ": "8589934597", "arg": 0}`, `{"pred": "17", "succ": "8589934597", "arg": 0}`), nil},

		{"functions-unnamed", doctor.Note, 2, "2 functions without a name, in 3 rows: 0, 1", good.and(mapName, "-"), nil},
		{"functions-unnamed", doctor.Note, 1, "1 function without a name, in 2 rows: 1", small(t, mapName, `"1": "SF"`, `"2": "SF"`), nil},
		{"names-several", doctor.Warning, 1, "multiple sibling name maps", good.and("name_map_b.json", good[mapName]), nil},
		{"names-level", doctor.Warning, 1, "level 3", small(t, mapName, `"level": 2`, `"level": 3`), good.and("name_map_b.json", strings.Replace(good[mapName], `"level": 2`, `"level": 3`, 1))},
		{"names-unreadable", doctor.Error, 0, mapName, good.and(mapName, "{"), nil},
		{"names-unused", doctor.Warning, 1, "names none of the 2 functions", good.and(mapName, `{"level":2,"callable_id_to_name":{"7":"X"}}`), nil},
	}
}

// examplesOfLogs: the host's files.
func examplesOfLogs(t *testing.T) []example {
	good := small(t)
	whole := anchor(1) + run(1, 1, 1000)
	log := func(text string) files { return good.and("host.1.log", text) }
	drops := "[mono_ns=9][T0x7][ERROR] host_log_drops: [HOSTLOG_DROPS] v=1 pid=1 new=5 total=5 queue_full=5 claim_exhausted=0 output_failed=0 not_admitted=0\n"
	pass := `{"pid": 1, "inv": 1, "clock": "host_monotonic_ns", "dropped": 0, "records": [{"phase": "args", "start_ns": 10, "end_ns": 20, "detail": 0, "tid": 1}]}` + "\n"
	return []example{
		{"log-unreadable", doctor.Warning, 0, "", log("-> nowhere"), log(whole)},
		{"log-spans-incomplete", doctor.Warning, 1, "1 of 4 [STRACE] records", log(whole + "[STRACE] v=1 pid=1\n"), log(whole)},
		{"log-records-dropped", doctor.Warning, 5, "pid 1 dropped 5", log(whole + drops), log(whole)},
		{"log-anchor-repeated", doctor.Note, 2, "multiple [CLOCK_ANCHOR]", log(whole + anchor(1)), log(whole)},
		{"log-anchor-missing", doctor.Note, 1, "pid(s) 2", log(whole + run(2, 1, 1000)), log(whole)},
		{"log-version-unknown", doctor.Warning, 1, "another format version", log(whole + strings.Replace(span(1, 2, "x", 1, 2, ""), "v=1", "v=2", 1)), log(whole)},
		{"log-without-invocations", doctor.Note, 0, "no span in 1 host log", log("nothing\n"), log(whole)},
		{"host-phases-bad", doctor.Warning, 0, "", good.and("host_phase_records.jsonl", pass[:40]), good.and("host_phase_records.jsonl", pass)},
	}
}

// examplesOfRanks: trees.
func examplesOfRanks(t *testing.T) []example {
	good := node(t)
	side0, side1 := "rank0/d0/"+sidecarName, "rank1/d0/"+sidecarName
	rec1 := "rank1/d0/" + recordsName
	alone := func(edit ...string) files { // a tree without sidecars
		return good.and(side0, "-", side1, "-").and(edit...)
	}
	named := func(collection, attr string) files { // whole verdicts need these two fields
		collection = strings.Replace(collection, `"published"`, `"published", "processing_complete": true, "metadata_complete": true`, 1)
		return good.and(rec1, strings.Replace(good[rec1], domain, domain+", "+collection, 1), "host.2.log", strings.Replace(good["host.2.log"], "generation=1", "generation=1 "+attr, 1))
	}
	snug := good.and("host.1.log", strings.Replace(good["host.1.log"], "dur=12000", "dur=8600", 1), "host.2.log", strings.Replace(good["host.2.log"], "dur=12000", "dur=8600", 1))
	return []example{
		{"rank-directories", doctor.Error, 0, "rankA", good.and("rankA/", ""), good},
		{"rank-directories", doctor.Error, 0, "duplicate Rank number 1", good.and("rank01/d0/x", ""), good},
		{"node-directories", doctor.Error, 0, "node namespace", good.in("node0"), good},
		{"capture-directories", doctor.Error, 0, "dX", good.and("rank0/dX/", ""), good},
		{"rank-empty", doctor.Warning, 0, "no d0, d1, … in rank2", good.and("rank2/", ""), good},
		{"rank-empty", doctor.Warning, 0, "in rank1/d1", good.and("rank1/d1/", ""), good},
		{"sidecar-invalid", doctor.Error, 0, "invalid parent key", good.and(side0, strings.Replace(good[side0], `"run_id":17`, `"run_id":0`, 1)), good},
		{"sidecar-missing", doctor.Error, 1, "only 1/2 ranks: not for rank1", good.and(side1, "-"), good},
		{"ranks-asymmetric", doctor.Error, 0, "rank0=['d0'], rank1=['d0', 'd1']", alone("rank1/d1/"+recordsName, good[rec1]), good},
		{"ranks-asymmetric", doctor.Error, 0, "refusing to pair", good.and("rank1/d1/"+recordsName, good[rec1]), good},
		{"group-incomplete", doctor.Error, 0, "expected group indexes 0..2, found [0, 1]", good.and(side0, sidecar(0, 0, 5, 0, 3), side1, sidecar(1, 0, 5, 1, 3)), good},
		{"group-inconsistent", doctor.Error, 0, "inconsistent metadata", good.and(side1, sidecar(1, 0, 5, 1, 3)), good},
		{"group-repeated", doctor.Error, 0, "several captures on the same Rank [0]", good.and("rank0/d1/"+recordsName, good[rec1], "rank0/d1/"+sidecarName, sidecar(0, 1, 5, 1, 2)), good},
		{"log-missing", doctor.Error, 0, "host.*.log", good.and("host.1.log", "-", "host.2.log", "-"), good},
		{"log-without-windows", doctor.Error, 0, "nothing brackets", good.and("host.1.log", anchor(1)+span(1, 1, "chip.run", 1, 2, ""), "host.2.log", "-"), good},
		{"log-of-rank-missing", doctor.Error, 0, "2 captures but only 1", good.and("host.2.log", "-"), good},
		{"clock-domains", doctor.Error, 0, "linux-boot-id:b", good.and(rec1, strings.Replace(good[rec1], "boot-id:a", "boot-id:b", 1)), good},
		{"clock-domain-missing", doctor.Warning, 1, "1 capture without", good.and(rec1, strings.Replace(good[rec1], domain+", ", "", 1)), good},
		{"clock-domain-missing", doctor.Note, 2, "2 captures without", good.and(rec1, small(t)[recordsName], "rank0/d0/"+recordsName, small(t)[recordsName]), good},
		{"pairing-ambiguous", doctor.Error, 0, "pair ambiguously", alone(), good},
		{"sidecar-unmatched", doctor.Warning, 0, "rank1: sidecar identity matches no logged invocation", good.and("host.2.log", anchor(3)+run(3, 1, 1000)), good},
		{"capture-unplaceable", doctor.Error, 0, "no device-clock records", good.and(rec1, strings.Replace(records(1, kernels("")), `"metadata":{`, `"metadata":{`+domain+",", 1)), good},
		{"placement", doctor.Error, 0, "window is only 2.0 us wide", good.and("host.2.log", strings.Replace(good["host.2.log"], "dur=20000", "dur=2000", 1)), good},
		{"merge-refused", doctor.Error, 0, "cannot be read", good.and(rec1, "{"), good},
		{"ranks-no-trace", doctor.Note, 0, "no l3_swimlane*.json", good, good.and("l3_swimlane.json", "{}")},
		{"retained-unmerged", doctor.Note, 1, "of no rank", good.and("swimlane-0/records_e3.json", good[rec1]), good},
		{"retained-several", doctor.Error, 0, "holds 2 retained runs", good.and("rank0/d1/swimlane-0/records_e3.json", good[rec1], "rank0/d1/swimlane-0/records_e4.json", good[rec1]), good},
		{"ranks-runtimes", doctor.Error, 0, "(none, tensormap_and_ringbuffer)", good.and(rec1, strings.Replace(good[rec1], domain, domain+`, "runtime": "tensormap_and_ringbuffer"`, 1)), good},
		{"run-epochs", doctor.Error, 0, "rank1: the records are of run_epoch 3", named(`"collection": {"run_epoch": 3, "verdict": "published"}`, "run_epoch=4"), named(`"collection": {"run_epoch": 4, "verdict": "published"}`, "run_epoch=4")},
		{"rank-of-runs", doctor.Error, 0, "the capture is of 2 runs (run_epoch 1, 2)", good.and(rec1, `{"chip_swimlane_level":1,"metadata":{"clock_freq_hz":50000000,`+domain+`,"runtime":"tensormap_and_ringbuffer"},"aicore_tasks":[[0,1,0,100,200,0,1],[0,1,0,300,400,0,2]]}`,
			"rank0/d0/"+recordsName, strings.Replace(good[rec1], domain, domain+`, "runtime": "tensormap_and_ringbuffer"`, 1)), good},
		{"residual-large", doctor.Note, 0, "ranks 0, 1", good.and("host.1.log", strings.Replace(good["host.1.log"], "dur=12000", "dur=19000", 1), "host.2.log", strings.Replace(good["host.2.log"], "dur=12000", "dur=19000", 1)), snug},
		{"several-sets", doctor.Note, 2, "--dispatch d0, --dispatch d1", alone("rank0/d1/"+recordsName, good[rec1], "rank1/d1/"+recordsName, good[rec1]), good},
	}
}

// TestFindings: every finding has a capture that shows it and one that does not, with
// the count that its files say.
func TestFindings(t *testing.T) {
	all := slices.Concat(examplesOfFiles(t), examplesOfLosses(t), examplesOfPictures(t), examplesOfGraphs(t), examplesOfLogs(t), examplesOfRanks(t))
	shown := map[string]bool{
		// These need files that change while they are read, or are set in the tests below.
		"file-changes": true, "log-changed": true, "names-unlisted": true, "trace-stale": true,
	}
	for i, x := range all {
		shown[x.code] = true
		t.Run(fmt.Sprintf("%s_%d", x.code, i), func(t *testing.T) {
			r := look(t, x.shows.write(t))
			found := of(r, x.code)
			if len(found) == 0 {
				t.Fatalf("it is not found, but\n%s", listed(r))
			}
			f := found[0]
			if f.Severity != x.severity || f.Count != x.count || !strings.Contains(f.Found, x.found) {
				t.Errorf("%s ×%d: %s\nwant %s ×%d: …%s…", f.Severity, f.Count, f.Found, x.severity, x.count, x.found)
			}
			if f.File == "" || f.Why == "" || f.Do == "" || strings.Contains(f.Why+f.Do, "{dir}") {
				t.Errorf("incomplete: %+v", f)
			}
			if r.Healthy() != (r.Count(doctor.Error)+r.Count(doctor.Warning) == 0) || x.severity > doctor.Note && r.Healthy() {
				t.Errorf("healthy: %v", r.Healthy())
			}
			without := x.without
			if without == nil {
				without = small(t)
			}
			if r := look(t, without.write(t)); len(of(r, x.code)) > 0 {
				t.Errorf("it is found where it is not:\n%s", listed(r))
			}
		})
	}
	for _, code := range doctor.Codes() {
		if !shown[code] {
			t.Errorf("no capture shows %s", code)
		}
	}
	for _, code := range slices.Sorted(maps.Keys(shown)) {
		if _, _, _, ok := doctor.Explain(code); !ok {
			t.Errorf("nothing explains %s", code)
		}
	}
}

// TestOneCountOfAGraph: a graph has as many tasks and edges whether its records are
// there, cannot be read, or are missing; the small one has 5 rows of 4 edges, and 3 of its
// 4 tasks were submitted.
func TestOneCountOfAGraph(t *testing.T) {
	for name, f := range map[string]files{"joined": small(t), "refused": small(t).and(recordsName, "{"), "alone": small(t).and(recordsName, "-")} {
		found := false
		for _, p := range look(t, f.write(t)).Exams[0].Parts {
			found = found || p.Name == "graph" && strings.HasPrefix(p.Text, "deps.json: 4 tasks, 4 edges")
		}
		if !found {
			t.Errorf("%s: no part says that the graph has 4 tasks and 4 edges", name)
		}
	}
}

// TestHealthy: of captures in which nothing is wrong nothing is said but notes.
func TestHealthy(t *testing.T) {
	for name, f := range map[string]files{"small": small(t), "node": node(t), "packed": {recordsName + ".gz": gzipped(small(t)[recordsName]), depsName: small(t)[depsName], mapName: small(t)[mapName]}} {
		r := look(t, f.write(t))
		if !r.Healthy() {
			t.Errorf("%s:\n%s", name, listed(r))
		}
	}
}

// TestTraceStale: a trace that is older than what it is drawn of.
func TestTraceStale(t *testing.T) {
	dir := small(t).and("merged_swimlane.json", "{}").write(t)
	now := time.Now()
	touch(t, filepath.Join(dir, recordsName), now.Add(-time.Hour))
	touch(t, filepath.Join(dir, mapName), now.Add(-time.Hour))
	touch(t, filepath.Join(dir, depsName), now.Add(-time.Hour))
	touch(t, filepath.Join(dir, "merged_swimlane.json"), now.Add(-time.Minute))
	if r := look(t, dir); len(of(r, "trace-stale")) > 0 || len(of(r, "no-trace")) > 0 {
		t.Error(listed(r))
	}
	touch(t, filepath.Join(dir, depsName), now)
	r := look(t, dir)
	if f := of(r, "trace-stale"); len(f) != 1 || f[0].Found != "merged_swimlane.json is older than deps.json" || !r.Healthy() {
		t.Error(listed(r))
	}
}
