package check_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"

	"swimlane/internal/trace/check"
)

// FuzzJSON looks for inputs that panic, that mean something else when their
// bytes arrive one by one, or that are accepted without being JSON.
func FuzzJSON(f *testing.F) {
	bars := x("a", 10, "0", "4") + "," + x("b", 10, "2", "3e0")
	for _, seed := range []string{
		"", "[]", "[" + one, "[" + one + ",]", `{"traceEvents":[]}`,
		onLanes(bars, start(1, 10, "0"), finish(`"1"`, 10, "2")),
		onLanes(with(x("\\u4e2d\\u0000", 10, "-1.5", "\"2\""), `"id":"a","bind_id":1,"flow_in":true,"args":{"a":[null,18446744073709551615,{"b":1e400}]}`)),
		events(`{"ph":"C","name":"q","pid":"x","tid":-1,"ts":8796093022209.123,"args":{"v":null,"w":"7"}}`),
		events(`{"ph":"B","ts":0,"pid":0}`, `{"ph":"X","ts":1,"dur":9,"pid":0}`, `{"ph":"E","ts":5,"pid":0}`, `{"ph":"f","id":2,"ts":6,"pid":0}`, `{"ph":"i","ts":7,"pid":0}`),
		events(`{"ph":"M","name":"thread_sort_index","pid":4,"tid":4,"args":{"sort_index":"1"}}`, "7"),
		`{"metadata":{"a":NaN},"traceEvents":[]}`, `[{"name":"\ud83d\ude00"}]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		rep, err := check.JSON(bytes.NewReader(data))
		slow, slowErr := check.JSON(iotest.OneByteReader(bytes.NewReader(data)))
		if fmt.Sprint(err) != fmt.Sprint(slowErr) {
			t.Fatalf("error %v, byte by byte %v", err, slowErr)
		}
		if err != nil {
			return
		}
		if fmt.Sprint(*rep) != fmt.Sprint(*slow) {
			t.Fatalf("report %+v, byte by byte %+v", *rep, *slow)
		}
		loose := false
		for _, fd := range rep.Findings {
			loose = loose || fd.Rule == "array-cut" || fd.Rule == "event-cut" || fd.Rule == "trailing-comma"
			if fd.Count < 1 || len(fd.Examples) == 0 || len(fd.Examples) > 5 {
				t.Errorf("finding %+v: want a count and one to five places", fd)
			}
		}
		if !loose && !json.Valid(data) {
			t.Errorf("accepted %q, which is not JSON", data)
		}
		if rep.Slices+rep.Flows+rep.Counters+rep.Metadata > rep.Events {
			t.Errorf("more of its kinds than events: %+v", *rep)
		}
	})
}

// TestDepthIsCapped makes sure that nesting costs no stack.
func TestDepthIsCapped(t *testing.T) {
	for _, open := range []string{"[", `{"a":`} {
		_, err := check.JSON(strings.NewReader(`{"a":` + strings.Repeat(open, 1_000_000)))
		if err == nil || !strings.Contains(err.Error(), "deeper than 64") {
			t.Errorf("a million %q: %v", open, err)
		}
	}
}
