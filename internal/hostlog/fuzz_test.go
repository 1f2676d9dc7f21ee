package hostlog_test

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"swimlane/internal/hostlog"
	"swimlane/internal/parity"
)

// FuzzReader holds what is read of any bytes against the expressions, read at once
// and in small pieces, and asks everything of it.
func FuzzReader(f *testing.F) {
	f.Fuzz(func(t *testing.T, log []byte) {
		if bytes.HasPrefix(log, []byte{0x1f, 0x8b, 8}) {
			return // packed: compress/gzip has its own tests
		}
		if len(log) > 1<<14 {
			return // long lines have tests of their own
		}
		got := read(t, string(log))
		compare(t, log, got)
		again, err := hostlog.ReadAll(iotest.OneByteReader(bytes.NewReader(log)), "-")
		if err != nil {
			t.Fatal(err)
		}
		compare(t, log, again)
		grouped := 0
		for _, v := range hostlog.Group(got.Spans) {
			grouped += len(v.Spans)
			nodes := 0
			for range walk(v.Tree(), 0) {
				nodes++
			}
			if nodes != len(v.ByName()) {
				t.Fatalf("%d spans in the tree of %d names", nodes, len(v.ByName()))
			}
		}
		if grouped != len(got.Spans) {
			t.Fatalf("%d spans in groups of %d", grouped, len(got.Spans))
		}
		for i := range got.Spans {
			s := &got.Spans[i]
			if !utf8.ValidString(s.Name) || !utf8.ValidString(s.Attrs) || s.End() < s.TS {
				t.Fatalf("%+v", s)
			}
			for key, value := range s.Items() {
				if strings.Contains(key, "=") || !utf8.ValidString(value.Text()) {
					t.Fatalf("%q=%q", key, value.Text())
				}
			}
		}
	})
}

// TestReaderCorpus says what each entry of the corpus holds.
func TestReaderCorpus(t *testing.T) {
	parity.Corpus(t, "FuzzReader", map[string]string{
		"two_records_glued":                     "2 of 2 spans, 0 anchors, 0 reports",
		"record_cut_before_ts_and_glued":        "1 of 2 spans, 0 anchors, 0 reports",
		"crlf_lines_and_a_prefix":               "1 of 1 spans, 1 anchors, 0 reports",
		"anchor_with_trailing_text":             "0 of 0 spans, 0 anchors, 0 reports",
		"report_within_attributes":              "1 of 1 spans, 0 anchors, 1 reports",
		"numbers_that_do_not_fit":               "1 of 4 spans, 0 anchors, 0 reports",
		"bytes_that_are_no_utf8":                "1 of 1 spans, 0 anchors, 0 reports",
		"envelope_without_function":             "1 of 1 spans, 0 anchors, 0 reports",
		"marker_within_a_name":                  "1 of 3 spans, 0 anchors, 0 reports",
		"reports_of_other_versions_and_too_few": "0 of 0 spans, 0 anchors, 1 reports",
	}, func(t *testing.T, args []string, want string) {
		r := read(t, args[0])
		got := fmt.Sprintf("%d of %d spans, %d anchors, %d reports", len(r.Spans), r.Heads, len(r.Anchors()), len(r.Drops()))
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
		compare(t, []byte(args[0]), r)
	})
}

// FuzzSpan writes a span and expects to read it again, or that the log says why not.
func FuzzSpan(f *testing.F) {
	f.Add("host.odd name", "reason", "submit failed: [fatal]", "abc", uint64(7), 0, int64(1), int64(2))
	f.Add("chip.run", "k", "é%\xff\n=", "", uint64(math.MaxUint64), 3, int64(0), int64(math.MaxInt64))
	f.Add(strings.Repeat("é", 40), "", strings.Repeat("x%", 99), "FFFFFFFFFFFFFFFF", uint64(0), math.MaxInt, int64(math.MaxInt64), int64(0))
	f.Add("", "k", "v", "0x1", uint64(0), -1, int64(-1), int64(-1))
	f.Add("[STRACE] v=1", "[mono_ns=1][T0x1][A]", "f: x", "0", uint64(1), 0, int64(math.MaxInt64), int64(1))
	f.Fuzz(func(t *testing.T, name, key, value, hid string, inv uint64, depth int, ts, dur int64) {
		var out bytes.Buffer
		options, _ := simulated(&out)
		l := hostlog.New(options)
		l.Span(hostlog.Entry{Inv: inv, HID: hid, Depth: depth, Name: name, TS: ts, Dur: dur, Attrs: []hostlog.Attr{{Key: key, Value: value}, {Key: "last", Value: "1"}}})
		dropped := l.Drops().Total
		l.Message(hostlog.Warn, "main", "end")
		l.Close()
		for line := range strings.Lines(out.String()) {
			if len(line) > 512 || strings.ContainsFunc(line[:len(line)-1], func(r rune) bool { return r < ' ' || r > '~' }) {
				t.Fatalf("a record of %d bytes: %q", len(line), line)
			}
		}
		r := read(t, out.String())
		compare(t, out.Bytes(), r)
		hash := "0"
		if hid != "" {
			hash = strings.ToLower(hid)
		}
		possible := name != "" && len(hash) <= 16 && strings.Trim(hash, "0123456789abcdef") == "" && depth >= 0 && ts >= 0 && dur >= 0 && dur <= math.MaxInt64-ts
		if !possible {
			if len(r.Spans) != 0 || dropped != 1 || len(r.Drops()) != 1 {
				t.Fatalf("a span that cannot be: %d spans, %d dropped, reports %v", len(r.Spans), dropped, r.Drops())
			}
			return
		}
		if len(r.Spans) != 1 || r.Heads != 1 || dropped != 0 || len(r.Anchors()) != 1 {
			t.Fatalf("%d spans of %d heads, %d dropped, anchors %v", len(r.Spans), r.Heads, dropped, r.Anchors())
		}
		s := r.Spans[0]
		if s.PID != 41 || s.TID != 410 || s.Inv != inv || s.HID != hash || s.Depth != depth || s.TS != ts || s.Dur != dur {
			t.Fatalf("%+v", s)
		}
		if encoded := 3 * len(name); encoded <= 64 && utf8.ValidString(name) && s.Name != name {
			t.Fatalf("name %q became %q", name, s.Name)
		}
		if 3*(len(key)+len(value)) > 192-len("= last=1") || !utf8.ValidString(value) {
			return
		}
		if last, ok := s.Attr("last"); !ok || last.Text() != "1" {
			t.Fatalf("attributes %q, want last=1 in them", s.Attrs)
		}
		if plain := key != "" && key != "last" && !strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("%[]=", r) }); plain {
			if got, ok := s.Attr(key); !ok || got.Text() != value {
				t.Fatalf("%s=%q became %q", key, value, got.Text())
			}
		}
	})
}
