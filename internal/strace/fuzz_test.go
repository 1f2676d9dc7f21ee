package strace_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"swimlane/internal/hostlog"
	"swimlane/internal/strace"
	"swimlane/trace/chrome"
)

// FuzzStrace makes everything of any log and any phase records: reports are JSON or
// text, pictures are JSON, and every span is in them once.
func FuzzStrace(f *testing.F) {
	f.Add(golden(), `{"pid":1,"inv":1,"records":[{"phase":"args","start_ns":1,"end_ns":2,"tid":3,"detail":"x y"}]}`)
	f.Add(text(pipeline([2]int64{150, 350}, [2]int64{300, 490})...)+anchor(5, 1, 2), "[]\n{}")
	f.Add(text(native(1, 2, [2]int64{50, 20}, [2]int64{100, 100}, 200)...), `{"pid":1,"inv":1}`)
	f.Add(text(span{pid: 1, tid: 1, name: "node.submit", attrs: "run_id=1 slot=2"}, span{pid: 1, tid: 1, name: "node.dispatch", attrs: "run_id=1 slot=2 a\"b=%00"}), "")
	path := filepath.Join(f.TempDir(), "phases")
	f.Fuzz(func(t *testing.T, log, records string) {
		if strings.HasPrefix(log, "\x1f\x8b\x08") || strings.HasPrefix(records, "\x1f\x8b\x08") || len(log)+len(records) > 1<<14 {
			return // packed, or long: others test that
		}
		times := read(t, strace.KeepTimes, log).Runs()
		l := read(t, strace.KeepAll, log)
		all := l.Runs()
		for i, v := range [][]hostlog.Invocation{times, all} {
			for _, r := range []texter{strace.NewStages(v), strace.NewRounds(v), strace.NewTrees(v)} {
				if printed(t, r) == "" {
					t.Errorf("nothing is printed of a %T", r)
				}
				if _, err := json.Marshal(r); err != nil {
					t.Error(err)
				}
			}
			if _, err := strace.NewOverlap(v, i == 0); err != nil && err.Error() == "" {
				t.Error("an error without words")
			}
		}
		equal(t, "stages of what is kept", printed(t, strace.NewStages(times)), printed(t, strace.NewStages(all)))
		for i := range times {
			if times[i].HID != all[i].HID || len(times[i].Spans) != len(all[i].Spans) {
				t.Errorf("%+v is kept of %+v", times[i], all[i])
			}
		}
		if err := os.WriteFile(path, []byte(records), 0o666); err != nil {
			t.Fatal(err)
		}
		phases, err := l.ReadPhases([]string{path})
		if err != nil {
			t.Fatal(err)
		}
		h := hosts(t, l, phases)
		spans := len(slices.Collect(l.Spans()))
		if h.Host+h.Device != spans {
			t.Errorf("%d spans, %d of the host, %d of the device", spans, h.Host, h.Device)
		}
		var b bytes.Buffer
		counts, err := chrome.Write(context.Background(), &b, h.Picture, chrome.Options{})
		if err != nil || !json.Valid(b.Bytes()) || counts.Slices != int64(h.Host+len(phases.Spans)) {
			t.Errorf("%v, %d bars of %d: %s", err, counts.Slices, h.Host, b.Bytes())
		}
		p, n := l.RunsPicture(all)
		b.Reset()
		counts, err = chrome.Write(context.Background(), &b, p, chrome.Options{})
		if err != nil || !json.Valid(b.Bytes()) || counts.Slices != int64(n) {
			t.Errorf("%v, %d bars of %d: %s", err, counts.Slices, n, b.Bytes())
		}
	})
}
