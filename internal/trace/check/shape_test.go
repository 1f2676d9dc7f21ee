package check_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"swimlane/internal/parity"
	"swimlane/internal/trace/check"
)

const one = `{"ph":"X","name":"a","pid":1,"tid":2,"ts":0,"dur":1}`

// Files that the viewer refuses as a whole, or shows nothing of: perfetto-facts
// §1 File shape and Strings.
func TestRefused(t *testing.T) {
	deep := strings.Repeat("[", 65) + strings.Repeat("]", 65)
	tests := []struct{ name, text, want string }{
		{"nothing", "", "empty"},
		{"empty array", "[]", "unknown trace type"},
		{"empty object", "{}", "unknown trace type"},
		{"byte order mark", "\ufeff" + events(one), "byte order mark"},
		{"200 blanks", strings.Repeat(" ", 200) + events(one), "blanks"},
		{"blanks inside the array form", "[" + strings.Repeat(" ", 200) + one + "]", "unknown trace type"},
		{"not JSON at all", "hello", "unknown trace type"},
		{"object form cut off", `{"traceEvents":[` + one, "cut off"},
		{"object form cut off inside an event", `{"traceEvents":[` + one[:20], "cut off"},
		{"object form without its brace", `{"traceEvents":[` + one + `]`, "cut off"},
		{"no traceEvents", `{"a":1}`, "no traceEvents"},
		{"traceEvents is an object", `{"traceEvents":{}}`, "not an array"},
		{"NaN", events(`{"ph":"X","ts":NaN}`), "byte 31: NaN"},
		{"-Infinity", events(`{"ph":"X","ts":-Infinity}`), "Infinity"},
		{"NaN in args", events(`{"ph":"X","args":{"a":[NaN]}}`), "NaN"},
		{"NaN in other data", `{"otherData":NaN,"traceEvents":[]}`, "NaN"},
		{"surrogate pair in a name", events(`{"ph":"X","name":"a\ud83d\ude00"}`), "byte 35: a surrogate pair"},
		{"surrogate pair in args", events(`{"ph":"X","args":{"a":"\uD83D\uDE00"}}`), "surrogate"},
		{"surrogate pair in metadata", `{"metadata":{"a":"\ud83d\ude00"},"traceEvents":[]}`, "surrogate"},
		{"bytes behind the end", events(one) + "x", "after the end"},
		{"control character", events("{\"ph\":\"X\n\"}"), "control character"},
		{"bad escape", events(`{"ph":"\x"}`), "bad escape"},
		{"bad hex escape", events(`{"ph":"\u12g4"}`), "bad escape"},
		{"leading zero", events(`{"ts":01}`), "bad number"},
		{"bare point", events(`{"ts":1.}`), "bad number"},
		{"bare exponent", events(`{"ts":1e}`), "bad number"},
		{"bad word", events(`{"ts":tru}`), "bad word"},
		{"two commas", `{"traceEvents":[` + one + `,,` + one + `]}`, "not JSON"},
		{"trailing comma in an event", events(`{"ph":"X",}`), "not JSON"},
		{"trailing comma in args", events(`{"args":[1,]}`), "not JSON"},
		{"missing colon", events(`{"ph" "X"}`), "not JSON"},
		{"too deep", events(`{"args":{"a":` + deep + `}}`), "deeper than 64"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rep, err := check.JSON(strings.NewReader(tt.text))
			if err == nil {
				t.Fatalf("accepted: %+v", rep)
			}
			if !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "byte ") {
				t.Errorf("error %q, want the byte and %q", err, tt.want)
			}
		})
	}
}

func TestShapesThatLoad(t *testing.T) {
	tests := []struct {
		name, text, want string
		events           int64
		clean            bool
	}{
		{"empty trace", `{"traceEvents":[]}`, "", 0, true},
		{"blanks in front", "  \n{ \"traceEvents\" : [\n] } \n", "", 0, true},
		{"other members", `{"displayTimeUnit":"ns","otherData":{"a":"\ud83d\ude00"},"traceEvents":[],"metadata":{"a":{"b":[1]}}}`, "", 0, true},
		{"array form", "[" + named + "," + x("a", 10, "0", "1") + "]", "", 5, true},
		{"array cut after an event", "[" + named, "array-cut:1", 4, true},
		{"array cut after a comma", "[" + named + ",\n", "array-cut:1", 4, true},
		{"array cut inside an event", "[" + named + "," + x("a", 10, "0", "1")[:30], "event-cut:1", 4, false},
		{"array cut inside a number", "[" + named + `,{"ph":"X","ts":1`, "event-cut:1", 4, false},
		{"array cut inside a word", "[" + named + `,{"ph":"X","flow_in":tru`, "event-cut:1", 4, false},
		{"array cut inside an escape", "[" + named + `,{"ph":"X","name":"\u12`, "event-cut:1", 4, false},
		{"trailing comma", `{"traceEvents":[` + named + `,]}`, "trailing-comma:1", 4, true},
		{"trailing comma in the array form", "[" + named + ", ]", "trailing-comma:1", 4, true},
		{"not an object", events(named, "17", `"a"`, "[1]"), "event-not-object:3", 7, false},
		{"64 levels", events(named, `{"ph":"M","name":"x","pid":1,"args":{"a":`+strings.Repeat("[", 60)+strings.Repeat("]", 60)+`}}`), "", 5, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rep := mustCheck(t, tt.text)
			if got := found(rep); got != tt.want || rep.Clean() != tt.clean {
				t.Errorf("found %q, clean %v; want %q, %v", got, rep.Clean(), tt.want, tt.clean)
			}
			if rep.Events != tt.events {
				t.Errorf("%d events, want %d", rep.Events, tt.events)
			}
		})
	}
}

// The array form loads wherever it is cut; the object form nowhere.
func TestCutEverywhere(t *testing.T) {
	evs := named + "," + with(x("\\u4e2d", 10, "1.5e0", "1"), `"args":{"a":[true,null,-0.5]}`)
	array, object := "["+evs+"]", events(evs)
	for n := 2; n < len(array); n++ {
		if _, err := check.JSON(strings.NewReader(array[:n])); err != nil && !strings.Contains(err.Error(), "unknown trace type") {
			t.Errorf("array form cut at %d: %v", n, err)
		}
	}
	for n := range len(object) {
		if _, err := check.JSON(strings.NewReader(object[:n])); err == nil {
			t.Errorf("object form cut at %d loads", n)
		}
	}
}

func TestFile(t *testing.T) {
	dir := t.TempDir()
	text := onLanes(x("a", 10, "0", "1"))
	var packed bytes.Buffer
	zw := gzip.NewWriter(&packed)
	if _, err := zw.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, path := range []string{
		write("a.json", []byte(text)),
		write("a.json.gz", packed.Bytes()),
		write("packed.json", packed.Bytes()), // the name does not matter
	} {
		rep, err := check.File(path)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if rep.Slices != 1 || len(rep.Findings) != 0 {
			t.Errorf("%s: %+v, want one slice and no finding", path, rep)
		}
	}
	for _, path := range []string{
		filepath.Join(dir, "absent.json"),
		write("short.json.gz", packed.Bytes()[:packed.Len()-12]),
		write("broken.json.gz", packed.Bytes()[:5]),
		write("empty.json", nil),
	} {
		if _, err := check.File(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error %v, want one that names the file", path, err)
		}
	}
}

// reference returns a trace that the ecosystem's own tool made of a capture.
func reference(t *testing.T, capture string) string {
	t.Helper()
	return filepath.Join(parity.Shared(t), "captures", filepath.FromSlash(capture), "reference", "trace.json.gz")
}

func TestReferenceOverlap(t *testing.T) {
	rep, err := check.File(reference(t, "edge/overlap_on_core"))
	if err != nil {
		t.Fatal(err)
	}
	// On (4, 10000) stand [1.6,10] [3.6,8] [6.8,14] [7.9,8.4] [14,15]. When
	// [6.8,14] comes, [3.6,8] is on top and ends first; when [7.9,8.4] comes,
	// the same. On (4, 10010) [3,3.6] nests in [2,4]. The lanes of process 3
	// are laid out without overlap.
	for _, f := range rep.Findings {
		if f.Rule == "slice-overlap" {
			if f.Count != 2 || f.Severity != check.Drop {
				t.Errorf("slice-overlap %d %v, want 2 dropped", f.Count, f.Severity)
			}
			if rep.Clean() {
				t.Error("a trace with overlap is clean")
			}
			return
		}
	}
	t.Errorf("no slice-overlap in %s", found(rep))
}

// The counts of a reference trace, taken again by encoding/json.
func TestReferenceCounts(t *testing.T) {
	path := reference(t, "a2a3sim_tmr_vector_example_l4")
	rep, err := check.File(path)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		TraceEvents []struct {
			Ph       string
			Pid, Tid int
			Name     string
		} `json:"traceEvents"`
	}
	if err := json.Unmarshal(parity.Unpacked(t, path), &doc); err != nil {
		t.Fatal(err)
	}
	phs := map[string]int64{}
	lanes, procs := map[[2]int]bool{}, map[int]bool{}
	for _, e := range doc.TraceEvents {
		phs[e.Ph]++
		procs[e.Pid] = true
		if e.Ph == "X" || e.Name == "thread_name" {
			lanes[[2]int{e.Pid, e.Tid}] = true
		}
	}
	got := *rep
	got.Findings = nil
	want := check.Report{
		Events: int64(len(doc.TraceEvents)), Slices: phs["X"], Flows: phs["s"] + phs["f"],
		Counters: phs["C"], Metadata: phs["M"], Lanes: int64(len(lanes)), Processes: int64(len(procs)),
	}
	if want.Slices == 0 || want.Flows == 0 || want.Counters == 0 {
		t.Fatalf("the reference holds %+v, too little to compare", want)
	}
	if got.Events != want.Events || got.Slices != want.Slices || got.Flows != want.Flows || got.Counters != want.Counters ||
		got.Metadata != want.Metadata || got.Lanes != want.Lanes || got.Processes != want.Processes {
		t.Errorf("counts %+v, want %+v", got, want)
	}
}

// endless repeats one letter.
type endless byte

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}

// TestLongestValue: a text without end is refused long before memory is.
func TestLongestValue(t *testing.T) {
	_, err := check.JSON(io.MultiReader(strings.NewReader(`{"traceEvents":[{"name":"`), endless('a')))
	if err == nil || !strings.Contains(err.Error(), "found a single value longer than 64 MiB") {
		t.Errorf("got %v", err)
	}
}
