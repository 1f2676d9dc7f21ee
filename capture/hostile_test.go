package capture_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"swimlane/capture"
	"swimlane/internal/jsonscan"
)

// small is a records file with something in every section.
func small(t *testing.T) string {
	t.Helper()
	d := soundDoc(t)
	object(d["metadata"])["core_types"] = []any{"aic", "aiv"}
	object(d["metadata"])["host_capture"] = map[string]any{"status": "complete", "expected_records": 1}
	object(d["scheduler_records"])["streams"] = []any{raw(`{"producer": "aicpu", "scheduler_id": 0, "physical_core_id": null,
		"capture": {"dropped": 0, "truncated": false}, "records": [` + phase + `], "metrics": [{"record_index": 0, "shared_at_start": [1, 2, 3], "pop_hit": -1}]}`)}
	d["unknown \u00e9\"\n"] = []any{1.5, true, nil, "\U0001f600"}
	text := writeDoc(d, append([]string{"unknown \u00e9\"\n"}, sections...))
	return strings.Replace(text, "unknown \u00e9\"\n", `unknown é\"\n\ud83d\ude00`, 1) + "\n"
}

// Field report 63: a file that was cut off is refused wherever the cut is, never
// read as a shorter capture.
func TestEveryPrefixIsRefused(t *testing.T) {
	text := small(t)
	accept(t, text)
	for cut := range len(text) {
		part := text[:cut]
		rec, err := read(part, capture.Options{Extras: true})
		if whole := json.Valid([]byte(part)); (err == nil) != whole || (rec != nil) != whole {
			t.Fatalf("cut at %d of %d: got %v", cut, len(text), err)
		}
		if err == nil {
			continue
		}
		var e *capture.Error
		var at *jsonscan.Error
		if !errors.As(err, &e) || !errors.Is(err, capture.ErrSyntax) || !errors.As(err, &at) || !strings.Contains(err.Error(), fileName) {
			t.Fatalf("cut at %d: got %v", cut, err)
		}
		if at.Offset > int64(cut) {
			t.Fatalf("cut at %d: the error is said to be at byte %d", cut, at.Offset)
		}
		if !strings.Contains(err.Error(), "byte ") {
			t.Fatalf("cut at %d: no place in %v", cut, err)
		}
	}
	for cut := range len(graph) {
		if _, err := readDeps(graph[:cut]); (err == nil) != json.Valid([]byte(graph[:cut])) {
			t.Fatalf("deps.json cut at %d: %v", cut, err)
		}
	}
}

// Bytes changed one by one: refused or read, never a panic, and what is read is JSON.
func TestEveryByteChanged(t *testing.T) {
	text := small(t)
	for i := range len(text) {
		for _, c := range []byte{0, ' ', '"', '\\', ',', '[', ']', '{', '}', '0', '9', '-', '.', 'e', 'n', 0x80, 0xff} {
			bad := text[:i] + string([]byte{c}) + text[i+1:]
			if _, err := read(bad, capture.Options{}); err == nil && !json.Valid([]byte(bad)) {
				t.Fatalf("byte %d changed to %q: accepted", i, c)
			}
		}
	}
}

// spec/records.md §9 no. 15: refused with the place.
func TestHostileJSON(t *testing.T) {
	in := func(rows string) string { return level1(rows).String() }
	tests := []struct{ name, text, want string }{
		{"empty", "", "found the end of the file"},
		{"white space", " \n ", "found the end of the file"},
		{"array", "[]", "found an array, expected the object of a chip_swimlane_records.json"},
		{"number", "5", "found a number, expected the object"},
		{"null", "null", "found null, expected the object"},
		{"byte order mark", "\xef\xbb\xbf" + in("[]"), "found a byte order mark"},
		{"garbage behind", in("[]") + "\n{}", "behind the JSON value"},
		{"trailing comma", in("[[0,7,7,120,180,10],]"), "expected a value behind the comma"},
		{"NaN", in("[[0,7,7,NaN,180,10]]"), "NaN and Infinity are not JSON"},
		{"Infinity", in("[[0,7,7,Infinity,180,10]]"), "NaN and Infinity are not JSON"},
		{"minus infinity", in("[[0,7,7,-Infinity,180,10]]"), "expected a number"},
		{"fraction", in("[[0,7,7,120.0,180,10]]"), "found 120.0, expected an integer without fraction or exponent"},
		{"exponent", in("[[0,7,7,1e2,180,10]]"), "found 1e2, expected an integer without fraction or exponent"},
		{"beyond 64 bits", in("[[0,18446744073709551616,7,120,180,10]]"), "found 18446744073709551616, expected an integer of at most 64 bits"},
		{"far beyond", in("[[0," + strings.Repeat("9", 1000) + ",7,120,180,10]]"), "expected an integer of at most 64 bits"},
		{"text", in(`[[0,"seven",7,120,180,10]]`), `found the string "seven", expected an integer`},
		{"truth", in(`[[0,true,7,120,180,10]]`), "found true, expected an integer"},
		{"nothing", in(`[[0,null,7,120,180,10]]`), "found null, expected an integer"},
		{"key twice", `{"chip_swimlane_level": 1, "metadata": {"clock_freq_hz": 1}, "chip_swimlane_level": 2}`, `found the key "chip_swimlane_level" twice in one object`},
		{"key twice below", `{"metadata": {"clock_freq_hz": 1, "clock_freq_hz": 2}}`, `found the key "clock_freq_hz" twice in one object`},
		{"key twice in an ignored place", `{"x": {"a": {"b": 1, "b": 2}}}`, `found the key "b" twice in one object`},
		{"key twice by escape", `{"metadata": {"clock_freq_hz": 1, "clock_\u0066req_hz": 2}}`, `found the key "clock_freq_hz" twice in one object`},
		{"phase key twice", level3(`[` + stream(`[`+strings.Replace(phase, "}", `, "kind": "x"}`, 1)+`]`, "[]") + `]`).String(), `found the key "kind" twice in one object`},
		{"deep", `{"x": ` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}`, "found nesting deeper than 64"},
		{"phase fraction", level3(`[` + stream(`[`+strings.Replace(phase, "10", "10.5", 1)+`]`, "[]") + `]`).String(), "found 10.5, expected an integer"},
		{"phase negative", level3(`[` + stream(`[`+strings.Replace(phase, "10", "-10", 1)+`]`, "[]") + `]`).String(), "found -10, expected an integer that is not negative"},
		{"phase kind", level3(`[` + stream(`[`+strings.Replace(phase, `"idle"`, "5", 1)+`]`, "[]") + `]`).String(), "found a number, expected a string"},
		{"loop too large", level3(`[` + stream(`[`+strings.Replace(phase, "3", "9223372036854775808", 1)+`]`, "[]") + `]`).String(), "expected an integer of 64 bits with sign"},
		{"stream id fraction", level3(`[{"scheduler_id": 1.5, "records": []}]`).String(), "found 1.5, expected an integer"},
		{"version fraction", level2("[]", "[]").with("scheduler_tasks", schedTasks("1.0", `"aicpu"`, "[]")).String(), "found 1.0, expected an integer"},
		{"UTF-8", "{\"\xff\": 1}", "expected UTF-8"},
		{"control character", "{\"a\x01\": 1}", "found the control character 0x01"},
	}
	for _, tt := range tests {
		e := refuse(t, tt.text, "cannot read "+fileName+": line ")
		if e == nil {
			continue
		}
		if !strings.Contains(e.Error(), tt.want) || !errors.Is(e, capture.ErrSyntax) || len(e.Error()) > 400 {
			t.Errorf("%s: got %v, want %s", tt.name, e, tt.want)
		}
	}
	// 64 levels are read.
	accept(t, `{"chip_swimlane_level": 1, "metadata": {"clock_freq_hz": 1}, "x": `+strings.Repeat("[", 63)+strings.Repeat("]", 63)+`}`)
}

// The place in the message is that of the value.
func TestErrorPlace(t *testing.T) {
	text := "{\"chip_swimlane_level\": 1,\n \"metadata\": {\"clock_freq_hz\": 1},\n \"aicore_tasks\": [\n  [0, 7, 1, 5, 6],\n  [0, 8, 1.5, 5, 6]]}"
	e := refuse(t, text, fmt.Sprintf("cannot read %s: line 5 column 10 (byte %d): found 1.5, expected an integer", fileName, strings.Index(text, "1.5")))
	if e != nil && !strings.Contains(e.Error(), "(aicore_tasks[1])") {
		t.Error(e)
	}
	e = refuse(t, text[:60], "cannot read "+fileName+": line 2 ")
	if e != nil && !strings.Contains(e.Error(), "; the writer was interrupted or the file is still being written") {
		t.Error(e)
	}
}

// A small file cannot make the reader take much memory, whatever numbers are in it.
func TestHostileMemory(t *testing.T) {
	base := doc{"chip_swimlane_level": 1, "metadata": clock}
	files := map[string]string{
		"core id":           level1(`[[2147483647,1,1,1,1],[0,1,1,1,1]]`).String(),
		"core id beyond":    level1(`[[2147483648,1,1,1,1]]`).String(),
		"scheduler core id": level2("[]", `[[2147483647,1,1,1],[0,1,1,1]]`).String(),
		"scheduler id":      level3(`[{"scheduler_id": 255, "records": []}]`).String(),
		"scheduler id high": level3(`[{"scheduler_id": 9223372036854775807, "records": []}]`).String(),
		"record index":      level3(`[{"records": [], "metrics": [{"record_index": 9000000000000000000}]}]`).String(),
		"threads":           base.with("metadata", raw(`{"clock_freq_hz": 1, "core_to_thread": [2147483647, 2147483647, -2147483648]}`)).String(),
		"nesting":           strings.Repeat(`[`, 200),
		"objects":           strings.Repeat(`{"a":`, 40),
		"nested skip":       `{"x": ` + strings.Repeat("[", 100),
		"long number":       `{"x": ` + strings.Repeat("9", 190),
		"long fraction":     `{"x": 0.` + strings.Repeat("9", 180) + `e999999999}`,
		"long string":       `{"x": "` + strings.Repeat("a", 190),
		"escapes":           `{"x": "` + strings.Repeat(`\u0000`, 30) + `"}`,
		"num_cores":         base.with("metadata", raw(`{"clock_freq_hz": 1, "num_cores": 9223372036854775807}`)).String(),
		"expected records":  base.with("metadata", raw(`{"clock_freq_hz": 1, "host_capture": {"expected_records": 9223372036854775807}}`)).String(),
		"times":             level1(`[[0,1,1,18446744073709551615,18446744073709551615,18446744073709551614]]`).String(),
		"empty lanes":       `{"aicpu_orchestrator_phases": [` + strings.Repeat("[],", 50) + `[]]}`,
		"empty lists":       `{"aicpu_scheduler_phases": [` + strings.Repeat("[],", 50) + `[]]}`,
		"block_num":         `{"tasks": [{"task_id": 1, "block_num": 9223372036854775807}], "edges": [[18446744073709551615, 0]]}`,
	}
	for name, text := range files {
		if len(text) > 300 {
			t.Errorf("%s: %d bytes are not small", name, len(text))
		}
		if n := allocated(func() {
			_, _ = read(text, capture.Options{Extras: true})
			_, _ = capture.ReadFrom(struct{ io.Reader }{strings.NewReader(text)}, fileName, capture.Options{StreamsByAppearance: true})
			_, _ = readDeps(text)
		}); n > 64<<20 {
			t.Errorf("%s: %d MiB were allocated", name, n>>20)
		}
	}
}

func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Lists of nothing cost more memory than text, so there is a limit.
func TestTooManyLanes(t *testing.T) {
	for head, tail := range map[string]string{
		`{"aicpu_orchestrator_phases": [[]`: `]}`, `{"host_orchestrator_phases": [[]`: `]}`, `{"aicpu_scheduler_phases": [[]`: `]}`,
	} {
		refuse(t, head+strings.Repeat(",[]", 1<<16)+tail, "cannot read ")
	}
	refuse(t, `{"scheduler_records": {"streams": [{}`+strings.Repeat(",{}", 1<<16)+`]}}`, "cannot read ")
}

// The typed columns decide about memory, not the text.
func TestMemoryPerRow(t *testing.T) {
	const rows = 200_000
	var b strings.Builder
	b.WriteString(`{"chip_swimlane_level": 1, "metadata": {"clock_freq_hz": 1}, "aicore_tasks": [`)
	for i := range rows {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "\n    [%d, %d, %d, %d, %d, %d]", i%72, 1<<33+i, i, 84118822850+i, 84118877895+i, 7)
	}
	b.WriteString("]}")
	text := b.String()
	const typed = rows * (4 + 5*8)
	if n := allocated(func() { accept(t, text) }); n > 4*typed {
		t.Errorf("%d bytes were allocated for %d bytes of columns", n, typed)
	}
}

// Errors of the scanner name section, list and row too.
func TestErrorSection(t *testing.T) {
	one := func(record string) string {
		return level3(`[` + stream(`[`+phase+`, `+strings.Replace(phase, `"loop_iter": 3`, record, 1)+`]`, "[]") + `]`).String()
	}
	for _, tt := range []struct{ name, text, want string }{
		{"kernel row", level1(`[[0,7,1,5,6],[0,8,null,5,6]]`).String(), "(aicore_tasks[1])"},
		{"scheduler row", level2("[]", `[[0,7,5,6],[0,8,5,true]]`).String(), "(scheduler_tasks.records[1])"},
		{"phase record", one(`"loop_iter": 1.5`), "(scheduler_records.streams[0].records[1])"},
		{"metric", level3(`[` + stream(`[`+phase+`]`, `[{"record_index": 0}, {"record_index": 0, "shared_at_end": [0, 0, 4294967296]}]`) + `]`).String(), "(scheduler_records.streams[0].metrics[1])"},
		{"submit", level1("[]").with("aicpu_orchestrator_phases", raw(`[[], [{"submit_idx": 1, "end_cycles": 1.5}]]`)).String(), "(aicpu_orchestrator_phases[1][0])"},
		{"upload", level1("[]").with("host_device_uploads", raw(`[{"start_host_ns": -1}]`)).String(), "(host_device_uploads[0])"},
		{"life cycle", level1("[]").with("aicpu_lifecycle_records", raw(`[{}, {"config_start_cycles": 1.5}]`)).String(), "(aicpu_lifecycle_records[1])"},
		{"archived phase", level1("[]").with("aicpu_scheduler_phases", raw(`[[], [{"loop_iter": 1.5}]]`)).String(), "(aicpu_scheduler_phases[1][0])"},
		{"metadata", level1("[]").with("metadata", raw(`{"clock_freq_hz": 1.5}`)).String(), "(metadata)"},
		// What stands behind a list is not in its last row.
		{"stream", level3(`[{"records": [` + phase + `], "capture": {"dropped": 1.5}}]`).String(), "(scheduler_records.streams[0])"},
		{"behind a stream", level3(`[` + stream("["+phase+"]", "[]") + `,]`).String(), "(scheduler_records.streams)"},
		{"behind the streams", level3("[]").with("scheduler_records", raw(`{"streams": [`+stream("["+phase+"]", "[]")+`], "schema_version": 1.5}`)).String(), "(scheduler_records)"},
		{"behind scheduler rows", level2("[]", "[]").with("scheduler_tasks", raw(`{"records": [[0,7,5,6]], "schema_version": 1.5}`)).String(), "(scheduler_tasks)"},
		{"behind a lane", level1("[]").with("aicpu_orchestrator_phases", raw(`[[{"submit_idx": 1}],]`)).String(), "(aicpu_orchestrator_phases)"},
		{"lane", level1("[]").with("aicpu_orchestrator_phases", raw(`[[{"submit_idx": 1}], {}]`)).String(), "(aicpu_orchestrator_phases[1])"},
		{"archived list", level1("[]").with("aicpu_scheduler_phases", raw(`[[{}, {}], nul]`)).String(), "(aicpu_scheduler_phases[1])"},
	} {
		e := refuse(t, tt.text, "cannot read "+fileName+": line ")
		if e != nil && !strings.Contains(e.Error(), tt.want) {
			t.Errorf("%s: %v does not say %s", tt.name, e, tt.want)
		}
	}
}
