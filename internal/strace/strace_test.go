package strace_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"swimlane/internal/hostlog"
	"swimlane/internal/strace"
	"swimlane/internal/trace/check"
	"swimlane/trace"
	"swimlane/trace/chrome"
)

// span is a record as a log has it.
type span struct {
	pid, tid int
	inv      uint64
	hid      string // abc unless it is set
	depth    int
	name     string
	ts, dur  int64
	attrs    string
}

func (s span) String() string {
	hid := s.hid
	if hid == "" {
		hid = "abc"
	}
	return fmt.Sprintf("[mono_ns=%d][T0x1][TIMING] emit_host_span: [STRACE] v=1 pid=%d tid=%d inv=%d hid=%s depth=%d name=%s ts=%d dur=%d %s",
		s.ts+s.dur, s.pid, s.tid, s.inv, hid, s.depth, s.name, s.ts, s.dur, s.attrs)
}

// text is a log with these lines.
func text[T any](lines ...T) string {
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintln(&b, l)
	}
	return b.String()
}

func read(t testing.TB, keep strace.Keep, log string) *strace.Log {
	t.Helper()
	l, err := strace.Read(keep, strings.NewReader(log), []string{"-"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// runs are the runs of a log of which only what tables need is kept.
func runs(t testing.TB, log string) []hostlog.Invocation {
	t.Helper()
	return read(t, strace.KeepTimes, log).Runs()
}

// event is what a trace file holds.
type event struct {
	Ph, Name, Cat, BP string
	PID               int64
	TID               int64
	TS, Dur           json.Number
	ID                json.Number
	Args              map[string]any
}

// document is a trace file.
type document struct {
	TraceEvents          []event
	DisplayTimeUnit      string
	UnalignedDeviceSpans []any
	ClockAnchors         []any
}

// written is the file of a picture, which must be one that viewers show whole
// unless findings are named.
func written(t testing.TB, p *trace.Picture, findings ...string) document {
	t.Helper()
	var b bytes.Buffer
	if _, err := chrome.Write(context.Background(), &b, p, chrome.Options{}); err != nil {
		t.Fatal(err)
	}
	if len(p.Lanes) > 0 {
		r, err := check.JSON(bytes.NewReader(b.Bytes()))
		if err != nil {
			t.Fatalf("%v in %s", err, b.String())
		}
		var found []string
		for _, f := range r.Findings {
			if f.Severity < check.Note {
				found = append(found, f.Rule)
			}
		}
		if !slices.Equal(found, findings) {
			t.Errorf("a viewer finds %q, want %q: %+v", found, findings, r.Findings)
		}
	}
	var d document
	dec := json.NewDecoder(&b)
	dec.UseNumber()
	if err := dec.Decode(&d); err != nil {
		t.Fatal(err)
	}
	if d.DisplayTimeUnit != "ms" {
		t.Errorf("displayTimeUnit is %q", d.DisplayTimeUnit)
	}
	return d
}

// names are the names of what M events name, as pid:name or pid/tid:name.
func (d *document) names(what string) []string {
	var out []string
	for _, e := range d.TraceEvents {
		switch {
		case e.Ph != "M" || e.Name != what:
		case what == "process_name":
			out = append(out, fmt.Sprintf("%d:%v", e.PID, e.Args["name"]))
		default:
			out = append(out, fmt.Sprintf("%d/%d:%v", e.PID, e.TID, e.Args["name"]))
		}
	}
	return out
}

// of are the events of a phase.
func (d *document) of(ph string) []event {
	var out []event
	for _, e := range d.TraceEvents {
		if e.Ph == ph {
			out = append(out, e)
		}
	}
	return out
}

// points are the ends of arrows: phase, id, pid/tid, time.
func (d *document) points() []string {
	var out []string
	for _, e := range d.TraceEvents {
		if e.Ph == "s" || e.Ph == "f" {
			out = append(out, fmt.Sprintf("%s%s %d/%d %s", e.Ph, e.ID, e.PID, e.TID, e.TS))
		}
	}
	return out
}

func hosts(t testing.TB, l *strace.Log, phases *strace.Phases) *strace.Hosts {
	t.Helper()
	if phases == nil {
		phases = &strace.Phases{}
	}
	return l.HostsPicture(phases)
}

func equal[T any](t testing.TB, what string, got, want T) {
	t.Helper()
	g, w := fmt.Sprint(got), fmt.Sprint(want)
	if g != w {
		t.Errorf("%s:\n%s\nwant\n%s", what, g, w)
	}
}
