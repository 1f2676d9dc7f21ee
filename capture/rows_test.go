package capture_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"swimlane/capture"
)

const (
	taskTiming  = "has invalid timing: expected 0 < start_cycles <= end_cycles"
	taskReceive = "has invalid receive_to_start_cycles: expected 0 <= receive_to_start_cycles < start_cycles"
	schedTiming = "has invalid timing: expected 0 < dispatch_cycles <= finish_cycles"
	fourColumns = "scheduler_tasks.records must contain four-column arrays"
	twoSections = "both scheduler_tasks and legacy aicpu_tasks are present"
	repeatedKey = "scheduler_tasks contains duplicate (core_id, reg_task_id) join keys"
)

// spec/records.md §2.3: every row of the table, in rows of five and six columns.
func TestTaskRowRules(t *testing.T) {
	tests := []struct{ rows, want string }{
		{`[5]`, "aicore_tasks[0] must contain five or six columns"},
		{`[null]`, "aicore_tasks[0] must contain five or six columns"},
		{`["row"]`, "aicore_tasks[0] must contain five or six columns"},
		{`[{"core_id": 0}]`, "aicore_tasks[0] must contain five or six columns"},
		{`[[]]`, "aicore_tasks[0] must contain five or six columns"},
		{`[[0,7,7,120]]`, "aicore_tasks[0] must contain five or six columns"},
		{`[[0,7,7,120,180],[0,8,8,120,180,10,1]]`, "aicore_tasks[1] must contain five or six columns"},
		{`[[0,7,7,120,180,10,1,2]]`, "aicore_tasks[0] must contain five or six columns"},
		{`[[0,7,7,120,180,10,1,2,3,4,5,6,7,8,9]]`, "aicore_tasks[0] must contain five or six columns"},
		{`[[0,7,7,0,180]]`, "aicore_tasks[0] " + taskTiming},
		{`[[0,7,7,0,0]]`, "aicore_tasks[0] " + taskTiming},
		{`[[0,7,7,-1,180,0]]`, "aicore_tasks[0] " + taskTiming},
		{`[[0,7,7,120,-180,0]]`, "aicore_tasks[0] " + taskTiming},
		{`[[0,7,7,-180,-120,0]]`, "aicore_tasks[0] " + taskTiming},
		{`[[0,1,1,1,1,0],[0,2,2,2,2,1],[0,7,7,121,120,10]]`, "aicore_tasks[2] " + taskTiming},
		{`[[0,7,7,120,180,120]]`, "aicore_tasks[0] " + taskReceive},
		{`[[0,7,7,120,180,18446744073709551615]]`, "aicore_tasks[0] " + taskReceive},
		{`[[0,7,7,120,180,-4]]`, "aicore_tasks[0] " + taskReceive},
		// The rules are tried in order within a row, and rows in order.
		{`[[0,7,7,180,120,-4]]`, "aicore_tasks[0] " + taskTiming},
		{`[[0,7,7,180,120,500]]`, "aicore_tasks[0] " + taskTiming},
		{`[[-1,7,7,120,180,-4]]`, "aicore_tasks[0] " + taskReceive},
		{`[[-1,7,7,120,180,500]]`, "aicore_tasks[0] " + taskReceive},
		{`[[-1,7,7,120,110,4]]`, "aicore_tasks[0] " + taskTiming},
		{`[[4294967296,7,7,120,110]]`, "aicore_tasks[0] " + taskTiming},
		{`[[0,1,1,5,9],[0,2,1,0,9]]`, "aicore_tasks[1] " + taskTiming},
		{`[[0,1,1,5,9],[0,1,2,0,9],[0]]`, "aicore_tasks[1] " + taskTiming},
		{`[[0,1,1,5,9],[0],[0,1,2,0,9]]`, "aicore_tasks[1] must contain five or six columns"},
		// A join key may stand once, whatever the task id.
		{`[[0,7,3,120,180,0],[0,8,3,200,210,0]]`, "duplicate aicore_tasks join key: (0, 3)"},
		{`[[0,7,3,120,180],[1,7,3,120,180],[0,7,3,120,180]]`, "duplicate aicore_tasks join key: (0, 3)"},
		{`[[5,7,18446744073709551615,120,180],[5,7,18446744073709551615,120,180]]`, "duplicate aicore_tasks join key: (5, 18446744073709551615)"},
		{`[[2147483647,7,1,120,180],[2147483647,7,1,120,180]]`, "duplicate aicore_tasks join key: (2147483647, 1)"},
		// The first row that repeats a key, not the smallest key.
		{`[[1,1,9,1,2],[0,1,2,1,2],[1,1,9,1,2],[0,1,2,1,2]]`, "duplicate aicore_tasks join key: (1, 9)"},
		{`[[1,1,9,1,2],[0,1,2,1,2],[0,1,2,1,2],[1,1,9,1,2]]`, "duplicate aicore_tasks join key: (0, 2)"},
		// Whichever row comes first.
		{`[[0,1,1,5,9],[0,2,1,5,9],[0,3,3,9,5]]`, "duplicate aicore_tasks join key: (0, 1)"},
		{`[[0,1,1,5,9],[0,3,3,9,5],[0,2,1,5,9]]`, "aicore_tasks[1] " + taskTiming},
		// Beyond the range of a column (§9 no. 15).
		{`[[2147483648,7,7,120,180]]`, "aicore_tasks[0] has an invalid core_id"},
		{`[[0,1,1,5,9],[4294967296,7,7,120,180],[0,2,2,5,9]]`, "aicore_tasks[1] has an invalid core_id"},
		{`[[18446744073709551615,7,7,120,180,1]]`, "aicore_tasks[0] has an invalid core_id"},
		{`[[-1,7,7,120,180,10]]`, "aicore_tasks[0] has an invalid core_id"},
		{`[[0,-7,7,120,180,10]]`, "aicore_tasks[0] has a negative id"},
		{`[[0,7,-7,120,180]]`, "aicore_tasks[0] has a negative id"},
		{`{}`, "aicore_tasks must be an array"},
		{`7`, "aicore_tasks must be an array"},
	}
	for _, tt := range tests {
		e := refuse(t, level1(tt.rows).String(), tt.want)
		if e != nil && (!errors.Is(e, capture.ErrInvalid) || e.Section != "aicore_tasks") {
			t.Errorf("%s: class %v, section %q", tt.rows, e.Class, e.Section)
		}
	}
}

// Errors say in which row and at which byte, and what was found there.
func TestTaskRowErrorPlace(t *testing.T) {
	text := level1(`[[0,1,1,5,9],  [0,3,3,9,5]]`).String()
	e := refuse(t, text, "aicore_tasks[1] "+taskTiming)
	at := strings.Index(text, "[0,3,3,9,5]")
	if e == nil {
		return
	}
	want := "aicore_tasks[1] " + taskTiming + " (found start_cycles 9, end_cycles 5, byte " + itoa(at) + ", in " + fileName + ")"
	if e.Row != 1 || e.Error() != want {
		t.Errorf("got row %d, %s\nwant %s", e.Row, e, want)
	}
	e = refuse(t, level1(`[[0,7,3,120,180],[1,1,1,1,1],[0,8,3,200,210]]`).String(), "duplicate aicore_tasks join key: (0, 3)")
	if e != nil && (e.Row != 2 || !strings.Contains(e.Error(), "rows 0 (task 7) and 2 (task 8)")) {
		t.Errorf("got row %d, %v", e.Row, e)
	}
}

// spec/records.md §2.4 and §2.5: the shape of the scheduler's rows.
func TestSchedulerTaskShape(t *testing.T) {
	base := doc{"chip_swimlane_level": 2, "metadata": clock, "aicore_tasks": raw("[]")}
	tests := []struct{ section, want string }{
		{`[]`, "scheduler_tasks must be an object"},
		{`"x"`, "scheduler_tasks must be an object"},
		{`7`, "scheduler_tasks must be an object"},
		{`{}`, "Unsupported scheduler_tasks schema_version: 0"},
		{`{"producer": "aicpu", "records": []}`, "Unsupported scheduler_tasks schema_version: 0"},
		{`{"schema_version": null, "producer": "aicpu", "records": []}`, "Unsupported scheduler_tasks schema_version: 0"},
		{`{"schema_version": 0, "producer": "aicpu", "records": []}`, "Unsupported scheduler_tasks schema_version: 0"},
		{`{"schema_version": 2, "producer": "aicpu", "records": []}`, "Unsupported scheduler_tasks schema_version: 2"},
		{`{"schema_version": -1, "producer": "aicpu", "records": []}`, "Unsupported scheduler_tasks schema_version: -1"},
		{`{"schema_version": "2", "producer": "aicpu", "records": []}`, "Unsupported scheduler_tasks schema_version: 2"},
		{`{"schema_version": "one", "producer": "aicpu", "records": []}`, "Unsupported scheduler_tasks schema_version: 0"},
		{`{"schema_version": [1], "producer": "aicpu", "records": []}`, "Unsupported scheduler_tasks schema_version: 0"},
		{`{"schema_version": 1, "producer": "host", "records": []}`, "scheduler_tasks.producer must be 'aicpu' or 'aicore'"},
		{`{"schema_version": 1, "producer": "AICPU", "records": []}`, "scheduler_tasks.producer must be 'aicpu' or 'aicore'"},
		{`{"schema_version": 1, "producer": null, "records": []}`, "scheduler_tasks.producer must be 'aicpu' or 'aicore'"},
		{`{"schema_version": 1, "producer": 1, "records": []}`, "scheduler_tasks.producer must be 'aicpu' or 'aicore'"},
		{`{"schema_version": 1, "records": []}`, "scheduler_tasks.producer must be 'aicpu' or 'aicore'"},
		{`{"schema_version": 1, "producer": "aicore"}`, fourColumns},
		{`{"schema_version": 1, "producer": "aicore", "records": null}`, fourColumns},
		{`{"schema_version": 1, "producer": "aicore", "records": {}}`, fourColumns},
		{`{"schema_version": 1, "producer": "aicore", "records": [7]}`, fourColumns},
		{`{"schema_version": 1, "producer": "aicore", "records": [null]}`, fourColumns},
		{`{"schema_version": 1, "producer": "aicore", "records": [[]]}`, fourColumns},
		{`{"schema_version": 1, "producer": "aicore", "records": [[0,1,2]]}`, fourColumns},
		{`{"schema_version": 1, "producer": "aicore", "records": [[0,1,2,3],[0,2,2,3,4]]}`, "scheduler_tasks.records mixes row widths [4, 5]"},
		{`{"schema_version": 1, "producer": "aicore", "records": [[0,1,2,3,4,5]]}`, fourColumns},
		{`{"schema_version": 1, "producer": "aicore", "records": [[0,1,2,3,4,5,6,7,8,9]]}`, fourColumns},
		{`{"schema_version": 1, "producer": "aicore", "records": [[0,1,2,-3],[-5,-6,1]]}`, fourColumns},
		// Rules in the order of the table, whatever the order of the keys.
		{`{"records": [[0,1,2]], "producer": "host", "schema_version": 2}`, "Unsupported scheduler_tasks schema_version: 2"},
		{`{"records": [[0,1,2]], "producer": "host", "schema_version": 1}`, "scheduler_tasks.producer must be"},
		{`{"records": 5, "producer": "aicpu", "schema_version": 3}`, "Unsupported scheduler_tasks schema_version: 3"},
	}
	for _, tt := range tests {
		e := refuse(t, base.with("scheduler_tasks", raw(tt.section)).String(), tt.want)
		if e != nil && (!errors.Is(e, capture.ErrInvalid) || !strings.HasPrefix(e.Section, "scheduler_tasks")) {
			t.Errorf("%s: class %v, section %q", tt.section, e.Class, e.Section)
		}
	}
	for _, legacy := range []string{`{}`, `7`, `[[0,1,2]]`, `[[0,1,2,3,4]]`, `[null]`} {
		d := base.with("aicpu_tasks", raw(legacy))
		if legacy == `[[0,1,2,3,4]]` {
			continue // rows of a later generation, see TestLaterGenerations
		}
		refuse(t, d.String(), fourColumns)
	}
}

func TestBothSchedulerSections(t *testing.T) {
	for _, sched := range []string{`{"schema_version": 1, "producer": "aicpu", "records": []}`, `7`, `{}`, `{"schema_version": 9}`} {
		for _, legacy := range []string{`[]`, `[[0,1,2,3]]`, `7`, `[[1]]`} {
			d := doc{"chip_swimlane_level": 2, "metadata": clock, "scheduler_tasks": raw(sched), "aicpu_tasks": raw(legacy)}
			refuse(t, d.String(), twoSections)
			refuse(t, d.text(reversed(sections)), twoSections)
		}
	}
	// null is an absent key (§0.2).
	for _, d := range []doc{
		{"chip_swimlane_level": 2, "metadata": clock, "scheduler_tasks": schedTasks("1", `"aicore"`, "[]"), "aicpu_tasks": nil},
		{"chip_swimlane_level": 2, "metadata": clock, "scheduler_tasks": nil, "aicpu_tasks": raw("[]")},
	} {
		accept(t, d.String())
	}
}

// spec/records.md §2.4: rules that both shapes share.
func TestSchedulerRowRules(t *testing.T) {
	tests := []struct{ rows, want string }{
		{`[[0,7,115,185],[0,7,200,210]]`, repeatedKey},
		{`[[0,7,115,185],[1,7,115,185],[1,8,115,185],[1,7,115,185]]`, repeatedKey},
		{`[[0,18446744073709551615,115,185],[0,18446744073709551615,115,185]]`, repeatedKey},
		{`[[0,7,185,115]]`, "scheduler_tasks.records[0] " + schedTiming},
		{`[[0,7,0,115]]`, "scheduler_tasks.records[0] " + schedTiming},
		{`[[0,7,0,0]]`, "scheduler_tasks.records[0] " + schedTiming},
		{`[[0,7,-5,115]]`, "scheduler_tasks.records[0] " + schedTiming},
		{`[[0,7,5,-115]]`, "scheduler_tasks.records[0] " + schedTiming},
		{`[[0,7,5,6],[0,8,6,5],[0,9,0,5]]`, "scheduler_tasks.records[1] " + schedTiming},
		{`[[0,7,5,6],[0,8,-6,5],[0,9,9,5]]`, "scheduler_tasks.records[1] " + schedTiming},
		// Repeated keys come before timing, wherever they stand.
		{`[[0,7,185,115],[0,8,1,2],[0,8,1,2]]`, repeatedKey},
		{`[[0,7,-185,115],[0,7,1,2]]`, repeatedKey},
	}
	for _, tt := range tests {
		refuse(t, level2("[]", tt.rows).String(), tt.want)
		legacy := doc{"chip_swimlane_level": 2, "metadata": clock, "aicpu_tasks": raw(tt.rows)}
		refuse(t, legacy.String(), tt.want)
		// The rules hold at every level.
		refuse(t, level2("[]", tt.rows).with("chip_swimlane_level", 1).String(), tt.want)
	}
	e := refuse(t, level2("[]", `[[0,7,5,6],[0,8,-6,5]]`).String(), "scheduler_tasks.records[1]")
	if e != nil && (e.Row != 1 || !strings.Contains(e.Error(), "found dispatch_cycles -6, finish_cycles 5, byte ")) {
		t.Errorf("got row %d, %v", e.Row, e)
	}
	for rows, want := range map[string]string{
		`[[-1,7,5,6]]`:                     "scheduler_tasks.records[0] has an invalid core_id",
		`[[0,1,5,6],[2147483648,7,5,6]]`:   "scheduler_tasks.records[1] has an invalid core_id",
		`[[18446744073709551615,7,5,6]]`:   "scheduler_tasks.records[0] has an invalid core_id",
		`[[0,-7,5,6],[0,1,5,6]]`:           "scheduler_tasks.records[0] has a negative id",
		`[[9999999999,1,5,6],[0,1,5,6]]`:   "scheduler_tasks.records[0] has an invalid core_id",
		`[[2147483647,1,5,6],[-3,-1,5,6]]`: "scheduler_tasks.records[1] has an invalid core_id",
	} {
		refuse(t, level2("[]", rows).String(), want)
	}
}

// R4.
func TestRejectedTiming(t *testing.T) {
	tests := []struct{ task, sched, want string }{
		{"180,120,10", "115,185", "aicore_tasks[0] has invalid timing: expected 0 < start_cycles <= end_cycles"},
		{"120,180,120", "115,185", "aicore_tasks[0] has invalid receive_to_start_cycles: expected 0 <= receive_to_start_cycles < start_cycles"},
		{"120,180,10", "185,115", "scheduler_tasks.records[0] has invalid timing: expected 0 < dispatch_cycles <= finish_cycles"},
	}
	for _, tt := range tests {
		refuse(t, level2("[[0,7,7,"+tt.task+"]]", "[[0,7,"+tt.sched+"]]").String(), tt.want)
	}
}

// R2 and R3: counters of different producers may be skewed.
func TestSkewIsAccepted(t *testing.T) {
	for _, producer := range []string{capture.ProducerAICPU, capture.ProducerAICore} {
		for _, sched := range [][2]uint64{{115, 185}, {125, 185}, {115, 175}} {
			d := level2("[[0,7,7,120,180,10]]", "[]").with("scheduler_tasks", schedTasks("1", `"`+producer+`"`,
				"[[0,7,"+itoa(int(sched[0]))+","+itoa(int(sched[1]))+"]]"))
			rec := accept(t, d.String())
			if !rec.Sched.Present || rec.Sched.Producer != producer || rec.Sched.Len() != 1 || rec.Sched.Dispatch[0] != sched[0] || rec.Sched.Finish[0] != sched[1] {
				t.Errorf("got %+v", rec.Sched)
			}
			if rec.Tasks.Receive[0] != 110 || rec.Tasks.Start[0] != 120 || rec.Tasks.End[0] != 180 {
				t.Errorf("got %+v", rec.Tasks)
			}
		}
	}
}

// R5.
func TestSchemaDrift(t *testing.T) {
	base := doc{"chip_swimlane_level": 2, "metadata": clock, "aicore_tasks": raw("[]")}
	for section, want := range map[string]string{
		`{"schema_version": 2, "producer": "aicore", "records": []}`:          "Unsupported scheduler_tasks schema_version: 2",
		`{"schema_version": 1, "producer": "host", "records": []}`:            "scheduler_tasks.producer must be 'aicpu' or 'aicore'",
		`{"schema_version": 1, "producer": "aicore", "records": [[0, 1, 2]]}`: fourColumns,
	} {
		refuse(t, base.with("scheduler_tasks", raw(section)).String(), want)
	}
	refuse(t, base.with("scheduler_tasks", schedTasks("1", `"aicore"`, "[]"), "aicpu_tasks", raw("[]")).String(), twoSections)
	// The string "1" is version 1 too (§8).
	accept(t, base.with("scheduler_tasks", schedTasks(`"1"`, `"aicore"`, "[]")).String())
}

// R6, and what else §4.4 says about missing scheduler rows.
func TestMissingSchedulerRows(t *testing.T) {
	two := `[[0,7,7,120,180,10],[1,8,3,120,180,10]]`
	want := "level 2 requires Scheduler task timing for every AICore task; missing 2 join key(s): (0, 7), (1, 3)"
	for _, d := range []doc{
		{"chip_swimlane_level": 2, "metadata": clock, "aicore_tasks": raw(two)},
		level2(two, "[]"),
		level2(two, "[[0,3,115,185],[1,7,115,185],[2,7,115,185]]"),
		{"chip_swimlane_level": 2, "metadata": clock, "aicore_tasks": raw(two), "aicpu_tasks": raw("[]")},
	} {
		refuse(t, d.String(), want+" (")
	}
	// Sorted by core, then token; three are named.
	rows := `[[2,1,9,5,6],[10,1,1,5,6],[2,2,10,5,6],[0,3,500,5,6],[2,4,2,5,6],[1,4,0,5,6]]`
	refuse(t, level2(rows, "[[1,0,5,6],[2,9,5,6]]").with("chip_swimlane_level", 3).String(),
		"level 3 requires Scheduler task timing for every AICore task; missing 4 join key(s): (0, 500), (2, 2), (2, 10) (")
	// Level 1 needs none; at any level there may be more than needed.
	accept(t, level2(two, "[[0,7,115,185]]").with("chip_swimlane_level", 1).String())
	accept(t, level2(two, "[[1,3,115,185],[7,7,1,1],[0,7,115,185]]").with("chip_swimlane_level", 4).String())
}

// R7: the rows of a level-1 file.
func TestLevel1(t *testing.T) {
	rec := accept(t, level1(`[[0,7,7,120,180],[5,3,3,100,130]]`).with("metadata", raw(`{"clock_freq_hz": 1000000000, "core_types": ["aic"]}`)).String())
	if rec.Level != 1 || rec.Meta.ClockHz != 1_000_000_000 || rec.Sched.Present || rec.Sched.Producer != "" || rec.Sched.Len() != 0 {
		t.Errorf("got level %d, clock %d, %+v", rec.Level, rec.Meta.ClockHz, rec.Sched)
	}
	want := capture.TaskRows{
		Core: []int32{0, 5}, Task: []uint64{7, 3}, Reg: []uint64{7, 3}, Start: []uint64{120, 100}, End: []uint64{180, 130}, Receive: []uint64{120, 100},
	}
	equal(t, rec.Tasks, want)
	if rec.Meta.CoreType(0) != "aic" || rec.Meta.CoreType(5) != "aiv" || rec.Meta.Thread(0) != -1 {
		t.Errorf("core types %q %q, thread %d", rec.Meta.CoreType(0), rec.Meta.CoreType(5), rec.Meta.Thread(0))
	}
	// Core 5 counts as aiv by default, which is worth a word.
	equal(t, rec.Warnings, []capture.Warning{{Code: "core-types", Count: 1,
		Text: "metadata.core_types of " + fileName + " has 1 entries, and none for core(s) 5; they count as aiv"}})
	if rec.Source != fileName {
		t.Errorf("source %q", rec.Source)
	}
}

// R8: rows without a partner are kept here; the join drops them.
func TestUnmatchedSchedulerRows(t *testing.T) {
	d := doc{
		"chip_swimlane_level": 2, "metadata": clock, "aicore_tasks": raw(`[[0,7,7,120,180,10]]`),
		"aicpu_tasks": raw(`[[0,7,115,185],[0,9,50,60],[3,1,70,80],[3,2,70,80]]`),
	}
	rec := accept(t, d.String())
	equal(t, rec.Sched, capture.SchedRows{
		Present: true, Producer: "aicpu", Core: []int32{0, 0, 3, 3}, Reg: []uint64{7, 9, 1, 2},
		Dispatch: []uint64{115, 50, 70, 70}, Finish: []uint64{185, 60, 80, 80},
	})
}

// An archived level-1 file has an empty aicpu_tasks: it names the producer (§2.5).
func TestEmptyArchivedTasks(t *testing.T) {
	rec := accept(t, level1("[]").with("aicpu_tasks", raw("[]")).String())
	if !rec.Sched.Present || rec.Sched.Producer != "aicpu" || rec.Sched.Len() != 0 || rec.Dialect.Label != "archived" {
		t.Errorf("got %+v, %s", rec.Sched, rec.Dialect.Label)
	}
	if rec := accept(t, level1("[]").String()); rec.Dialect.Label != "seed-era" || rec.Dialect.IDs != capture.HighLow {
		t.Errorf("got %+v", rec.Dialect)
	}
	// aicore_tasks may be absent (§2).
	if rec := accept(t, `{"chip_swimlane_level": 1, "metadata": {"clock_freq_hz": 1}}`); rec.Tasks.Len() != 0 {
		t.Errorf("got %+v", rec.Tasks)
	}
}

// Five and six columns may stand side by side; ids use all 64 bits; integers may
// be strings (§0.2).
func TestRowForms(t *testing.T) {
	rec := accept(t, level2(
		"[[0,18446744073709551615,18446744073709551614,90071992547409921,90071992547409922],\n\t [\"1\", \"9007199254740993\" , \"2\",\"300\",\"301\",\"-0\"]\r\n,[ 2,0,0,1,18446744073709551615,0 ]]",
		`[[0,18446744073709551614,1,18446744073709551615],["1","2","3","4"],[2,0,1,1]]`).String())
	equal(t, rec.Tasks, capture.TaskRows{
		Core: []int32{0, 1, 2}, Task: []uint64{math.MaxUint64, 9007199254740993, 0}, Reg: []uint64{math.MaxUint64 - 1, 2, 0},
		Start: []uint64{90071992547409921, 300, 1}, End: []uint64{90071992547409922, 301, math.MaxUint64}, Receive: []uint64{90071992547409921, 300, 1},
	})
	equal(t, rec.Sched, capture.SchedRows{
		Present: true, Producer: "aicpu", Core: []int32{0, 1, 2}, Reg: []uint64{math.MaxUint64 - 1, 2, 0},
		Dispatch: []uint64{1, 3, 1}, Finish: []uint64{math.MaxUint64, 4, 1},
	})
	if id := rec.Dialect.IDs.Split(rec.Tasks.Task[1]); id.Ring != 1<<21 || id.Local != 1 {
		t.Errorf("split into %+v", id)
	}
}

// Field report A.12: the receive is earlier than everything else.
func TestReceiveBeforeStart(t *testing.T) {
	if rec := accept(t, level1(`[[0,1,0,1000,1100,50]]`).String()); rec.Tasks.Receive[0] != 950 {
		t.Errorf("got %d, want 950", rec.Tasks.Receive[0])
	}
}

// Field report A.16: a repeated key is an error that names both rows.
func TestRepeatedKeyNamesBothRows(t *testing.T) {
	e := refuse(t, level1(`[[0,1,0,100,200],[0,2,0,300,400]]`).String(), "duplicate aicore_tasks join key: (0, 0)")
	if e != nil && !strings.Contains(e.Error(), "rows 0 (task 1) and 1 (task 2)") {
		t.Error(e)
	}
}

func TestKeyOrder(t *testing.T) {
	core := []int32{3, 0, 3, 1 << 30, 0, 3}
	reg := []uint64{9, 5, 2, 0, 5, 2}
	if got, want := (capture.Keys{Core: core, Reg: reg}).Order(), []int32{1, 4, 2, 5, 0, 3}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	core[3] = 4
	if got, want := (capture.Keys{Core: core, Reg: reg}).Order(), []int32{1, 4, 2, 5, 0, 3}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := (capture.Keys{}).Order(); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}
