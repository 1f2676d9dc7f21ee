package hostlog_test

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"swimlane/internal/hostlog"
)

// The expressions of spec/host-log.md §2 and §3, as a second reader of logs that
// shares nothing with the first.
const blanks = "[\t-\r ]"

var (
	spanHead = regexp.MustCompile(strings.ReplaceAll(`\[STRACE\]~+v=(\d+)~+pid=(\d+)~+tid=(\d+)~+inv=(\d+)~+hid=([0-9a-fA-F]+)~+depth=(\d+)~+name=([^\t-\r ]+)~+ts=(\d+)~+dur=(\d+)`, "~", blanks))
	spanEnd  = regexp.MustCompile(strings.ReplaceAll(`\[mono_ns=\d+\]\[T0x[0-9a-fA-F]+\]\[[A-Z]+\]~+[^:\r\n]+:(?:~|$)|\[STRACE\]|$`, "~", blanks))
	heads    = regexp.MustCompile(`\[STRACE\]` + blanks + `+v=\d+`)
	anchors  = regexp.MustCompile(`\[mono_ns=\d+\]\[T0x[0-9a-fA-F]+\]\[TIMING\] clock_anchor: \[CLOCK_ANCHOR\] v=1 pid=(\d+) mono_ns=(\d+) wall_ns=(\d+)[ \t]*\r?$`)
	drops    = regexp.MustCompile(strings.ReplaceAll(`\[HOSTLOG_DROPS\]~+v=1~+pid=(\d+)~+new=(\d+)~+total=(\d+)~+queue_full=(\d+)~+claim_exhausted=(\d+)~+output_failed=(\d+)~+not_admitted=(\d+)`, "~", blanks))
)

// found is what the expressions find in a log.
type found struct {
	spans   []hostlog.Span
	heads   int64
	anchors map[int][]hostlog.Anchor
	drops   map[int]hostlog.Drops
}

// fits reads numbers, the last of which may have 64 bits, the others 63.
func fits(texts ...string) ([]uint64, bool) {
	var out []uint64
	for i, text := range texts {
		bits := 63
		if i == len(texts)-1 {
			bits = 64
		}
		n, err := strconv.ParseUint(text, 10, bits)
		if err != nil {
			return nil, false
		}
		out = append(out, n)
	}
	return out, true
}

// oracle reads a log with the expressions.
func oracle(log []byte) found {
	f := found{anchors: map[int][]hostlog.Anchor{}, drops: map[int]hostlog.Drops{}}
	for _, line := range bytes.Split(log, []byte("\n")) {
		f.heads += int64(len(heads.FindAll(line, -1)))
		for _, m := range drops.FindAllSubmatch(line, -1) {
			if pid, err := strconv.ParseInt(string(m[1]), 10, 64); err == nil {
				var n [6]uint64
				ok := true
				for i := range n {
					n[i], err = strconv.ParseUint(string(m[i+2]), 10, 64)
					ok = ok && err == nil
				}
				if old, known := f.drops[int(pid)]; ok && (!known || n[1] >= old.Total) {
					f.drops[int(pid)] = hostlog.Drops{PID: int(pid), New: n[0], Total: n[1], QueueFull: n[2], ClaimExhausted: n[3], OutputFailed: n[4], NotAdmitted: n[5]}
				}
			}
		}
		if m := anchors.FindSubmatch(line); m != nil {
			if n, ok := fits(string(m[1]), string(m[2]), string(m[3]), "0"); ok {
				pid := int(n[0])
				f.anchors[pid] = append(f.anchors[pid], hostlog.Anchor{PID: pid, MonoNS: int64(n[1]), WallNS: int64(n[2])})
			}
		}
		for rest := line; ; {
			m := spanHead.FindSubmatchIndex(rest)
			if m == nil {
				break
			}
			g := func(i int) string { return string(rest[m[2*i]:m[2*i+1]]) }
			end := m[1] + spanEnd.FindIndex(rest[m[1]:])[0]
			n, ok := fits(g(2), g(3), g(6), g(8), g(9), g(4))
			if ok && n[3]+n[4] < 1<<63 {
				f.spans = append(f.spans, hostlog.Span{
					PID: int(n[0]), TID: int64(n[1]), Depth: int(n[2]), TS: int64(n[3]), Dur: int64(n[4]), Inv: n[5],
					HID: strings.ToLower(g(5)), Name: unescape(text(g(7))), Attrs: strings.Trim(text(string(rest[m[1]:end])), "\t\n\v\f\r "),
				})
				rest = rest[end:]
				continue
			}
			rest = rest[m[0]+len("[STRACE]"):]
		}
	}
	return f
}

// text replaces bytes that are no UTF-8.
func text(s string) string { return string([]rune(s)) }

var escaped = regexp.MustCompile(`%[0-9a-fA-F]{2}`)

// unescape replaces what is escaped by bytes if the result is UTF-8, else by characters.
func unescape(s string) string {
	by := func(verb string) string {
		return escaped.ReplaceAllStringFunc(s, func(e string) string {
			n, _ := strconv.ParseUint(e[1:], 16, 8)
			if verb == "byte" {
				return string([]byte{byte(n)})
			}
			return string(rune(n))
		})
	}
	if b := by("byte"); utf8.ValidString(b) {
		return b
	}
	return by("rune")
}

// compare holds what a reader found against what the expressions find.
func compare(t *testing.T, log []byte, got *hostlog.Records) {
	t.Helper()
	want := oracle(log)
	if len(got.Spans) != len(want.spans) || got.Heads != want.heads || got.Parsed != int64(len(want.spans)) {
		t.Fatalf("%d spans (counted %d) of %d heads, want %d of %d", len(got.Spans), got.Parsed, got.Heads, len(want.spans), want.heads)
	}
	for i := range want.spans {
		if got.Spans[i] != want.spans[i] {
			t.Fatalf("span %d is\n%.300s, want\n%.300s", i, fmt.Sprintf("%+v", got.Spans[i]), fmt.Sprintf("%+v", want.spans[i]))
		}
	}
	if g := got.Anchors(); len(g) != len(want.anchors) {
		t.Fatalf("anchors %v, want those of %v", g, want.anchors)
	}
	repeated := 0
	for pid, all := range want.anchors {
		if g, ok := got.Anchor(pid); !ok || g != all[len(all)-1] {
			t.Fatalf("anchor %+v, want %+v", g, all)
		}
		if len(all) > 1 {
			repeated++
		}
	}
	for _, w := range got.Warnings() {
		if w.Code == "anchor-repeated" {
			repeated--
		}
	}
	if repeated != 0 {
		t.Fatalf("%d repeated anchors are not warned of: %v", repeated, got.Warnings())
	}
	if g := got.Drops(); len(g) != len(want.drops) {
		t.Fatalf("drops %v, want %v", g, want.drops)
	}
	for _, g := range got.Drops() {
		if g != want.drops[g.PID] {
			t.Fatalf("drops %+v, want %+v", g, want.drops[g.PID])
		}
	}
}

// read reads a log from memory.
func read(t testing.TB, log string) *hostlog.Records {
	t.Helper()
	got, err := hostlog.ReadAll(strings.NewReader(log), "-")
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// record is a span record with the given fields behind the marker.
func record(format string, args ...any) string {
	return "[mono_ns=1000001][T0x1][TIMING] emit_host_span: [STRACE] v=1 " + fmt.Sprintf(format, args...)
}
