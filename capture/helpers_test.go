package capture_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"swimlane/capture"
)

const fileName = "run/chip_swimlane_records.json"

// read reads text as a records file.
func read(text string, opt capture.Options) (*capture.Records, error) {
	return capture.ReadFrom(strings.NewReader(text), fileName, opt)
}

// accept reads text, which must be accepted.
func accept(t *testing.T, text string) *capture.Records {
	t.Helper()
	rec, err := read(text, capture.Options{})
	if err != nil {
		t.Fatalf("%.300s: %v", text, err)
	}
	return rec
}

// refuse reads text, which must be refused with a message that begins with want.
func refuse(t *testing.T, text, want string) *capture.Error {
	t.Helper()
	rec, err := read(text, capture.Options{})
	if err == nil {
		t.Errorf("%.300s: accepted, want %q", text, want)
		return nil
	}
	if rec != nil {
		t.Errorf("%.300s: refused, but something was returned", text)
	}
	var e *capture.Error
	if !errors.As(err, &e) {
		t.Errorf("%.300s: got %v, which is no *capture.Error", text, err)
		return nil
	}
	if !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%.300s:\n got %s\nwant %s…", text, err, want)
	}
	if !strings.Contains(err.Error(), fileName) {
		t.Errorf("%.300s: %v does not name the file", text, err)
	}
	return e
}

// doc is a records file that tests take apart: top-level keys and their values.
type doc map[string]any

// sections are the top-level keys in the order in which writers write them.
var sections = []string{
	"chip_swimlane_level", "l2_swimlane_level", "metadata", "aicore_tasks", "scheduler_tasks", "aicpu_tasks", "scheduler_records",
	"aicpu_scheduler_phases", "aicpu_lifecycle_records", "aicpu_orchestrator_phases", "host_orchestrator_phases", "host_device_uploads",
}

// raw is JSON text inside a doc.
func raw(text string) json.RawMessage { return json.RawMessage(text) }

// text writes the file with its sections in the given order.
func (d doc) text(order []string) string {
	var parts []string
	for _, key := range order {
		v, ok := d[key]
		if !ok {
			continue
		}
		b, ok := v.(json.RawMessage) // as it is, white space included
		if !ok {
			var err error
			if b, err = json.Marshal(v); err != nil {
				panic(err)
			}
		}
		parts = append(parts, `"`+key+`": `+string(b))
	}
	if len(parts) != len(d) {
		panic("a section is not in the list")
	}
	return "{" + strings.Join(parts, ",\n") + "}"
}

func (d doc) String() string { return d.text(sections) }

func reversed(order []string) []string {
	out := slices.Clone(order)
	slices.Reverse(out)
	return out
}

// with returns a copy with other sections.
func (d doc) with(pairs ...any) doc {
	out := doc{}
	for k, v := range d {
		out[k] = v
	}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i].(string)] = pairs[i+1]
	}
	return out
}

var clock = raw(`{"clock_freq_hz": 1000000000}`)

// level1 is a level-1 capture with these kernel rows.
func level1(rows string) doc {
	return doc{"chip_swimlane_level": 1, "metadata": clock, "aicore_tasks": raw(rows)}
}

// level2 is a level-2 capture with these kernel and scheduler rows.
func level2(rows, sched string) doc {
	return doc{"chip_swimlane_level": 2, "metadata": clock, "aicore_tasks": raw(rows), "scheduler_tasks": schedTasks("1", `"aicpu"`, sched)}
}

func schedTasks(version, producer, records string) json.RawMessage {
	return raw(`{"schema_version": ` + version + `, "producer": ` + producer + `, "records": ` + records + `}`)
}

// level3 is a level-3 capture without kernels and with these streams.
func level3(streams string) doc {
	return doc{
		"chip_swimlane_level": 3, "metadata": clock, "aicore_tasks": raw("[]"), "scheduler_tasks": schedTasks("1", `"aicpu"`, "[]"),
		"scheduler_records": raw(`{"schema_version": 1, "streams": ` + streams + `}`),
	}
}

// stream is a stream of scheduler 0 with these records and metrics.
func stream(records, metrics string) string {
	return `{"producer": "aicpu", "scheduler_id": 0, "records": ` + records + `, "metrics": ` + metrics + `}`
}

// phase is a whole record of a scheduler.
const phase = `{"start_cycles": 10, "end_cycles": 20, "loop_iter": 3, "kind": "idle", "tasks_processed": 0, "task_id": null}`

func some(v int64) capture.OptInt { return capture.OptInt{V: v, Set: true} }

// warning returns the warning with this code, which must be there once.
func warning(t *testing.T, warnings []capture.Warning, code string) capture.Warning {
	t.Helper()
	var found []capture.Warning
	for _, w := range warnings {
		if w.Code == code {
			found = append(found, w)
		}
	}
	if len(found) != 1 {
		t.Fatalf("got %v, want one warning %s", warnings, code)
	}
	return found[0]
}

func itoa(n int) string { return strconv.Itoa(n) }

// equal fails unless both values are deeply equal.
func equal(t *testing.T, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

type rawText = json.RawMessage
