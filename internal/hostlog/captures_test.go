package hostlog_test

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"swimlane/internal/hostlog"
	"swimlane/internal/parity"
)

// captures calls f with every log and every captured console of the real captures.
func captures(t *testing.T, f func(t *testing.T, path string, log []byte)) {
	root := filepath.Join(parity.Shared(t), "captures")
	n := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		host, _ := filepath.Match("host.*.log", d.Name())
		if err != nil || d.IsDir() || !host && d.Name() != "log.txt" {
			return err
		}
		log, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		n++
		rel, _ := filepath.Rel(root, path)
		t.Run(rel, func(t *testing.T) { f(t, path, log) })
		return nil
	})
	if err != nil || n < 100 {
		t.Fatalf("%d logs, error %v; expected at least 100", n, err)
	}
}

// TestCaptures holds what is read of each real log against the expressions.
func TestCaptures(t *testing.T) {
	spans, torn := 0, int64(0)
	captures(t, func(t *testing.T, path string, log []byte) {
		got, err := hostlog.ReadAll(nil, path)
		if err != nil {
			t.Fatal(err)
		}
		compare(t, log, got)
		spans += len(got.Spans)
		torn += got.Incomplete()
	})
	if spans < 3000 || torn != 1 {
		t.Errorf("%d spans and %d torn records, expected more than 3000, and the torn one of l3/node_and_network_logs", spans, torn)
	}
}

// table is the default report of the span tool (spec/host-log.md §6.1), as short as
// the groups make it.
func table(r *hostlog.Records) string {
	all := hostlog.Invocations(r.Spans)
	buckets := hostlog.Buckets(all)
	slices.SortStableFunc(buckets, func(a, b hostlog.Bucket) int { return cmp.Compare(len(b.Invocations), len(a.Invocations)) })
	var out strings.Builder
	us := func(ns int64) string { return strconv.FormatFloat(float64(ns)/1000, 'f', 1, 64) + "us" }
	for _, b := range buckets {
		fmt.Fprintf(&out, "callable hid=%s — %d invocation(s)\n", b.HID, len(b.Invocations))
		var roots []int64
		stages := map[string][]int64{}
		for _, v := range b.Invocations {
			if v.Root != nil {
				roots = append(roots, v.Root.Dur)
			}
			for _, s := range v.ByName() {
				if s.Depth != 0 {
					stages[s.Name] = append(stages[s.Name], s.Dur)
				}
			}
		}
		mean := func(all []int64) int64 {
			sum := int64(0)
			for _, d := range all {
				sum += d
			}
			return sum / int64(len(all))
		}
		if len(roots) > 0 {
			fmt.Fprintf(&out, "  chip.run: mean=%s min=%s max=%s\n", us(mean(roots)), us(slices.Min(roots)), us(slices.Max(roots)))
		}
		var names []string
		for name := range stages {
			names = append(names, name)
		}
		slices.SortFunc(names, func(a, b string) int {
			return cmp.Or(cmp.Compare(len(stages[b]), len(stages[a])), cmp.Compare(a, b))
		})
		for _, name := range names {
			fmt.Fprintf(&out, "%s%s: mean=%s (n=%d)\n", strings.Repeat(" ", 2+2*strings.Count(name, ".")), name, us(mean(stages[name])), len(stages[name]))
		}
		out.WriteString("\n")
	}
	return out.String()
}

// TestReferenceTables makes the tables that the reference printed of the same logs.
func TestReferenceTables(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(parity.Shared(t), "captures", "*", "reference", "strace.txt"))
	if err != nil || len(files) < 40 {
		t.Fatalf("%d tables, error %v; expected at least 40", len(files), err)
	}
	for _, file := range files {
		dir := filepath.Dir(filepath.Dir(file))
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		r, err := hostlog.ReadAll(nil, dir)
		if err != nil {
			t.Fatal(err)
		}
		if got := table(r); got != string(want) {
			t.Errorf("%s:\n%s\nwant\n%s", filepath.Base(dir), got, want)
		}
	}
}

// envelope finds the parts of a record that the writer takes from its process.
var envelope = regexp.MustCompile(`^\[mono_ns=(\d+)\]\[T0x([0-9a-f]+)\]\[([A-Z]+)\] ([^:]+): (.*)$`)

// script is a clock that shows what it is told.
type script struct{ mono, wall int64 }

func (s *script) Mono() int64 { return s.mono }
func (s *script) Wall() int64 { return s.wall }

func atoi(t testing.TB, text string, base int) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(text, base, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestRealLogsWrittenAgain writes the records of each real log again, and expects
// its bytes.
func TestRealLogsWrittenAgain(t *testing.T) {
	written := 0
	captures(t, func(t *testing.T, path string, log []byte) {
		pid, ok := strings.CutPrefix(filepath.Base(path), "host.")
		if !ok {
			return // of several processes
		}
		pid, _ = strings.CutSuffix(pid, ".log")
		var out, want bytes.Buffer
		var clock script
		var handle uint64
		var l *hostlog.Log
		newLog := func(threshold hostlog.Level) {
			l = hostlog.New(hostlog.Options{
				Output: &out, PID: int(atoi(t, pid, 10)), Clock: &clock, Threshold: threshold,
				Thread: func() int64 { return 1 }, Handle: func(int64) uint64 { return handle },
			})
		}
		for line := range strings.Lines(string(log)) {
			m := envelope.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
			if m == nil {
				continue // noise
			}
			clock.mono, handle = int64(atoi(t, m[1], 10)), atoi(t, m[2], 16)
			level, err := hostlog.ParseLevel(m[3])
			if err != nil {
				t.Fatal(err)
			}
			f := oracle([]byte(line))
			switch {
			case len(f.anchors) == 1:
				// The anchor precedes the record that makes the log write it. Its own clock
				// is read a moment before that of its envelope.
				continue
			case len(f.spans) == 1:
				s := f.spans[0]
				if l == nil {
					newLog(hostlog.Timing)
				}
				var attrs []hostlog.Attr
				for _, item := range strings.Fields(s.Attrs) {
					key, value, _ := strings.Cut(item, "=")
					attrs = append(attrs, hostlog.Attr{Key: key, Value: unescape(value)})
				}
				l.Span(hostlog.Entry{TID: s.TID, Inv: s.Inv, HID: s.HID, Depth: s.Depth, Name: s.Name, TS: s.TS, Dur: s.Dur, Attrs: attrs})
			case f.heads > 0 || len(f.drops) > 0:
				continue // torn, or a report
			default:
				if l == nil {
					newLog(level)
				}
				l.MessageOf(1, level, m[4], m[5])
				if !l.Enabled(level) {
					continue
				}
			}
			want.WriteString(line)
			written++
		}
		if l == nil {
			return
		}
		// Beside the anchor everything is as it was.
		got := out.String()
		if first, rest, _ := strings.Cut(got, "\n"); strings.Contains(first, "[CLOCK_ANCHOR]") {
			got = rest
		}
		if got != want.String() {
			t.Errorf("written again:\n%.2000s\nwant\n%.2000s", got, want.String())
		}
	})
	if written < 2500 {
		t.Errorf("%d records were written, expected more than 2500", written)
	}
}
