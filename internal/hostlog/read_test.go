package hostlog_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"swimlane/internal/hostlog"
	"swimlane/internal/parity"
)

func TestGluedRecords(t *testing.T) { // spec/host-log.md §7.1, §7.2
	first := record("pid=1 tid=1 inv=1 hid=abc depth=0 name=chip.run ts=100 dur=20 rank=0")
	second := "[mono_ns=1000002][T0x2][TIMING] emit_host_span: [STRACE] v=1 pid=2 tid=2 inv=1 hid=abc depth=2 name=chip.run.runner_run.device_wall ts=100 dur=20 clk=dev rank=1"
	for _, between := range []string{"", "\n", "\r\n", " \t"} {
		got := read(t, first+between+second)
		want := []hostlog.Span{
			{PID: 1, TID: 1, Inv: 1, HID: "abc", Name: "chip.run", TS: 100, Dur: 20, Attrs: "rank=0"},
			{PID: 2, TID: 2, Inv: 1, HID: "abc", Depth: 2, Name: "chip.run.runner_run.device_wall", TS: 100, Dur: 20, Attrs: "clk=dev rank=1"},
		}
		if !slices.Equal(got.Spans, want) {
			t.Errorf("with %q between them: %+v, want %+v", between, got.Spans, want)
		}
		if got.Spans[0].Device() || !got.Spans[1].Device() {
			t.Error("the second span is the device's, the first is not")
		}
	}
}

func TestTornRecord(t *testing.T) { // §7.3
	whole := record("pid=1 tid=1 inv=1 hid=abc depth=0 name=chip.run ts=100 dur=20 ")
	torn, _, _ := strings.Cut(whole, " ts=")
	for _, between := range []string{"\n", ""} {
		got := read(t, torn+between+whole+"\n")
		if len(got.Spans) != 1 || got.Heads != 2 || got.Incomplete() != 1 {
			t.Errorf("%d spans of %d heads, want 1 of 2", len(got.Spans), got.Heads)
		}
		want := "1 of 2 [STRACE] records are incomplete and are excluded from the timing below"
		if w := got.Warnings(); len(w) != 1 || w[0].Text != want {
			t.Errorf("warnings %v, want %q", w, want)
		}
	}
}

func TestFieldsOfSpans(t *testing.T) { // §2.1, §7.4 to §7.6
	for _, c := range []struct {
		record string
		want   hostlog.Span
	}{
		{record("pid=1 tid=1 inv=4294967303 hid=0 depth=0 name=a ts=0 dur=0 "), hostlog.Span{PID: 1, TID: 1, Inv: 4294967303, HID: "0", Name: "a"}},
		{record("pid=1 tid=1 inv=18446744073709551615 hid=ABCDEF depth=0 name=a ts=0 dur=0 "), hostlog.Span{PID: 1, TID: 1, Inv: 1<<64 - 1, HID: "abcdef", Name: "a"}},
		{"worker-3: " + record("pid=1 \t tid=2  inv=3 hid=0 depth=4 name=a.b ts=5 dur=6 k=v \r"), hostlog.Span{PID: 1, TID: 2, Inv: 3, HID: "0", Depth: 4, Name: "a.b", TS: 5, Dur: 6, Attrs: "k=v"}},
		{record("pid=1 tid=1 inv=0 hid=0 depth=0 name=host.odd%%20name ts=0 dur=0 "), hostlog.Span{PID: 1, TID: 1, HID: "0", Name: "host.odd name"}},
		{record("pid=1 tid=1 inv=0 hid=0 depth=0 name=a~ ts=0 dur=0"), hostlog.Span{PID: 1, TID: 1, HID: "0", Name: "a~"}},
		{record("pid=1 tid=1 inv=0 hid=0 depth=0 name=50%%%%zz%%5 ts=0 dur=0"), hostlog.Span{PID: 1, TID: 1, HID: "0", Name: "50%%zz%5"}},
		// D4: bytes that are UTF-8 together, and bytes that are not.
		{record("pid=1 tid=1 inv=0 hid=0 depth=0 name=%%C3%%a9 ts=0 dur=0"), hostlog.Span{PID: 1, TID: 1, HID: "0", Name: "é"}},
		{record("pid=1 tid=1 inv=0 hid=0 depth=0 name=é%%E9 ts=0 dur=0"), hostlog.Span{PID: 1, TID: 1, HID: "0", Name: "éé"}},
		{record("pid=1 tid=1 inv=0 hid=0 depth=0 name=a\xffb ts=0 dur=0 k=\xfe"), hostlog.Span{PID: 1, TID: 1, HID: "0", Name: "a\ufffdb", Attrs: "k=\ufffd"}},
		// Not an envelope: no function, a colon without whitespace, a carriage return in the function.
		{record("pid=1 tid=1 inv=0 hid=0 depth=0 name=a ts=0 dur=0 [mono_ns=1][T0x1][INFO] : x"), hostlog.Span{PID: 1, TID: 1, HID: "0", Name: "a", Attrs: "[mono_ns=1][T0x1][INFO] : x"}},
		{record("pid=1 tid=1 inv=0 hid=0 depth=0 name=a ts=0 dur=0 [mono_ns=1][T0x1][INFO] f:x"), hostlog.Span{PID: 1, TID: 1, HID: "0", Name: "a", Attrs: "[mono_ns=1][T0x1][INFO] f:x"}},
		{record("pid=1 tid=1 inv=0 hid=0 depth=0 name=a ts=0 dur=0 [mono_ns=1][T0x1][INFO] f\rg: x"), hostlog.Span{PID: 1, TID: 1, HID: "0", Name: "a", Attrs: "[mono_ns=1][T0x1][INFO] f\rg: x"}},
		// The shortest run counts.
		{record("pid=1 tid=1 inv=0 hid=0 depth=0 name=a ts=0 dur=0 a=1[mono_ns=1][T0x1][INFO] f: x"), hostlog.Span{PID: 1, TID: 1, HID: "0", Name: "a", Attrs: "a=1"}},
		{record("pid=1 tid=1 inv=0 hid=0 depth=0 name=a ts=0 dur=0 a=1[STRACE] nothing"), hostlog.Span{PID: 1, TID: 1, HID: "0", Name: "a", Attrs: "a=1"}},
	} {
		got := read(t, c.record+"\n")
		if len(got.Spans) != 1 || got.Spans[0] != c.want {
			t.Errorf("%s:\n%+v, want\n%+v", c.record, got.Spans, c.want)
		}
		compare(t, []byte(c.record+"\n"), got)
	}
}

func TestRecordsThatCannotBe(t *testing.T) {
	for _, fields := range []string{
		"pid=1 tid=1 inv=0 hid=0 depth=0 name=a ts=-5 dur=0",
		"pid=1 tid=1 inv=0 hid=0 depth=0 name=a ts=5 dur=-1",
		"pid=1 tid=1 inv=18446744073709551616 hid=0 depth=0 name=a ts=0 dur=0",
		"pid=1 tid=1 inv=0 hid=0 depth=0 name=a ts=9223372036854775808 dur=0",
		"pid=1 tid=1 inv=0 hid=0 depth=0 name=a ts=9223372036854775807 dur=1", // its end
		"pid=1 tid=1 inv=0 hid=0xab depth=0 name=a ts=0 dur=0",
		"pid=1 tid=1 inv=0 hid=0 depth=0 name= ts=0 dur=0",
		"tid=1 pid=1 inv=0 hid=0 depth=0 name=a ts=0 dur=0",
		"pid=1 tid=1 inv=0 hid=0 depth=0 name=a\nts=0 dur=0",
	} {
		got := read(t, record("%s", fields))
		if len(got.Spans) != 0 || got.Incomplete() != 1 {
			t.Errorf("%s: %d spans, %d incomplete, want 0 and 1", fields, len(got.Spans), got.Incomplete())
		}
	}
}

func TestOtherVersionIsReadAndSaid(t *testing.T) { // §8 D2
	line := "[STRACE] v=2 pid=1 tid=1 inv=1 hid=0 depth=0 name=a ts=0 dur=1\n"
	got := read(t, line+line)
	if w := got.Warnings(); len(got.Spans) != 2 || len(w) != 1 || w[0].Code != "version-unknown" || w[0].Count != 2 {
		t.Errorf("%d spans and the warnings %+v, want 2, and one that counts 2", len(got.Spans), w)
	}
}

func TestAttributes(t *testing.T) { // §2.4, and the example of §2.3
	s := hostlog.Span{Attrs: `run_id=7 reason=submit%20failed%3A%20%5Bfatal%5D role=facade`}
	want := map[string]string{"run_id": "7", "reason": "submit failed: [fatal]", "role": "facade"}
	n := 0
	for key, v := range s.Items() {
		n++
		if v.Text() != want[key] {
			t.Errorf("%s is %q, want %q", key, v.Text(), want[key])
		}
	}
	if n != len(want) {
		t.Errorf("%d attributes, want %d", n, len(want))
	}
	s = hostlog.Span{Attrs: "flag a=1\tb=x=y a=-02 a= big=18446744073709551615 more=18446744073709551616 least=-9223372036854775808 minus=- coded=%31 zero=-0"}
	for _, c := range []struct {
		key, text, integer string
		u, i               bool
	}{
		{"a", "", "", false, false},
		{"b", "x=y", "", false, false},
		{"big", "18446744073709551615", "18446744073709551615", true, false},
		{"more", "18446744073709551616", "18446744073709551616", false, false},
		{"least", "-9223372036854775808", "-9223372036854775808", false, true},
		{"minus", "-", "", false, false},
		{"coded", "1", "", false, false},
		{"zero", "-0", "0", true, true},
	} {
		v, ok := s.Attr(c.key)
		integer, isInt := v.Integer()
		u, isUint := v.Uint()
		i, isInt64 := v.Int()
		if !ok || v.Text() != c.text || integer != c.integer || isInt != (c.integer != "") || isUint != c.u || isInt64 != c.i {
			t.Errorf("%s: %q, integer %q, unsigned %v, signed %v", c.key, v.Text(), integer, isUint, isInt64)
		}
		if c.u && fmt.Sprint(u) != c.integer || c.i && fmt.Sprint(i) != c.integer {
			t.Errorf("%s is %d or %d, want %s", c.key, u, i, c.integer)
		}
	}
	if _, ok := s.Attr("flag"); ok {
		t.Error("flag has no value, and is no attribute")
	}
}

func TestFamilies(t *testing.T) { // §4.1
	for name, want := range map[string][2]string{
		"chip.run": {"chip", ""}, "chip": {"chip", ""}, "core.x": {"core", ""}, "node.submit": {"node", ""},
		"network1.dispatch": {"node", ""}, "network2.a": {"node", ""}, "network3": {"node", ""}, "network4.a": {"unknown", ""},
		"nodes.a": {"unknown", ""}, "": {"unknown", ""}, "host.odd name": {"unknown", ""},
		"ext.pypto.decode_layer": {"external", "pypto"}, "ext.pypto.attention.qk": {"external", "pypto"}, "ext.node.foo": {"external", "node"},
		"ext.pypto": {"external", ""}, "ext.": {"external", ""}, "ext..decode_layer": {"external", ""}, "ext.pypto.": {"external", ""},
		"ext.pypto..detail": {"external", ""}, "ext": {"external", ""},
	} {
		s := hostlog.Span{Name: name}
		if got := [2]string{s.Family().String(), s.Producer()}; got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
	for name, want := range map[string]string{"node.frame_submit": "frame_submit", "network1.a.b": "a.b", "node": "", "chip.run": ""} {
		if s := (hostlog.Span{Name: name}); s.Leaf() != want {
			t.Errorf("the leaf of %q is %q, want %q", name, s.Leaf(), want)
		}
	}
}

func anchor(pid, mono, wall int64) string {
	return fmt.Sprintf("[mono_ns=%d][T0x1][TIMING] clock_anchor: [CLOCK_ANCHOR] v=1 pid=%d mono_ns=%d wall_ns=%d", mono, pid, mono, wall)
}

func TestWallTime(t *testing.T) { // the examples of §3.1
	var log strings.Builder
	for _, a := range [][3]int64{{41, 1000, 17e17}, {52, 1000, 19e17}, {64, 2000, 20e17}} {
		log.WriteString(anchor(a[0], a[1], a[2]) + "\n")
	}
	for _, pid := range []int{41, 52, 63, 64} {
		log.WriteString(record("pid=%d tid=1 inv=1 hid=0 depth=0 name=a ts=1500 dur=1 \n", pid))
	}
	log.WriteString(record("pid=41 tid=1 inv=1 hid=0 depth=0 name=a ts=1500 dur=1 clk=dev\n"))
	got := read(t, log.String())
	want := []int64{1700000000000000500, 1900000000000000500, 0, 0, 0}
	for i := range got.Spans {
		wall, ok := got.Wall(&got.Spans[i])
		if wall != want[i] || ok != (want[i] != 0) {
			t.Errorf("span %d at %d, want %d", i, wall, want[i])
		}
	}
	a := hostlog.Anchor{MonoNS: 1000, WallNS: 17e17}
	wall, ok := a.Wall(1250)
	if text := hostlog.FormatWall(wall); !ok || wall != 1700000000000000250 || text != "2023-11-14T22:13:20.000000250Z" {
		t.Errorf("%d %s", wall, text)
	}
	if _, ok := (hostlog.Anchor{WallNS: 1<<63 - 1}).Wall(1); ok {
		t.Error("a wall time of more than 63 bits")
	}
}

func TestAnchorsThatCount(t *testing.T) { // §3.1, §7.7
	good := anchor(7, 5, 6)
	payload := good[strings.Index(good, "[CLOCK"):]
	for log, want := range map[string]int{
		good:                        1,
		good + " \t\r":              1,
		"launcher: " + good + "\nx": 1,
		record("pid=1 torn") + good: 1,
		payload:                     0,
		"[mono_ns=5][T0x1][INFO] message: " + payload:          0,
		"[mono_ns=5][T0x1][TIMING] message: " + payload:        0,
		"[T0x1][TIMING] clock_anchor: " + payload:              0,
		"[mono_ns=5][T0x1][TIMING] clock_anchor: x " + payload: 0,
		good + " trailing":                                0,
		good + "\r\r":                                     0,
		strings.Replace(good, "v=1", "v=2", 1):            0,
		strings.Replace(good, "wall_ns=6", "wall_ns=", 1): 0,
		strings.Replace(good, "wall_ns=6", "wall_ns=9223372036854775808", 1): 0,
	} {
		got := read(t, log+"\n")
		if len(got.Anchors()) != want {
			t.Errorf("%q: %d anchors, want %d", log, len(got.Anchors()), want)
		}
		compare(t, []byte(log+"\n"), got)
	}
}

func report(pid, fresh, total int, v string) string {
	return fmt.Sprintf("[mono_ns=1][T0x1][ERROR] host_log_drops: [HOSTLOG_DROPS] v=%s pid=%d new=%d total=%d queue_full=%d claim_exhausted=0 output_failed=0 not_admitted=0\n", v, pid, fresh, total, total)
}

func TestDropReports(t *testing.T) { // §3.2, §7.8
	got := read(t, report(71, 2, 2, "1")+report(72, 1, 1, "1")+report(71, 3, 5, "1")+report(71, 9, 3, "1")+report(73, 1, 1, "2"))
	want := []hostlog.Drops{{PID: 71, New: 3, Total: 5, QueueFull: 5}, {PID: 72, New: 1, Total: 1, QueueFull: 1}}
	if !slices.Equal(got.Drops(), want) {
		t.Errorf("%+v, want %+v", got.Drops(), want)
	}
	// A later report of the same total replaces; one behind a torn span counts too.
	got = read(t, report(71, 2, 5, "1")+record("pid=1 tid=1 inv=0 hid=0 depth=0 name=a ts=0 dur=0 ")+report(71, 4, 5, "1"))
	if d := got.Drops(); len(d) != 1 || d[0].New != 4 {
		t.Errorf("%+v, want the second report", d)
	}
}

func TestWarnings(t *testing.T) { // §3.3
	span := func(pid int) string {
		return record("pid=%d tid=1 inv=1 hid=0 depth=0 name=a ts=1500 dur=1 \n", pid)
	}
	log := span(72) + span(71) + span(9) + anchor(9, 1, 2) + "\n" + anchor(9, 3, 4) + "\n" + anchor(8, 3, 4) + "\n" + anchor(8, 3, 4) + "\n" + anchor(8, 3, 4) + "\n" +
		"[STRACE] v=1 pid=3\n" + "[HOSTLOG_DROPS] v=1 pid=5 new=2 total=9 queue_full=2 claim_exhausted=3 output_failed=4 not_admitted=0\n"
	want := []string{
		"multiple [CLOCK_ANCHOR] records found for pid 8 (3 records); using the last one",
		"multiple [CLOCK_ANCHOR] records found for pid 9 (2 records); using the last one",
		"no [CLOCK_ANCHOR] record for pid(s) 71, 72 that emitted spans; their timestamps stay monotonic-only. Each process writes its anchor before its first record, so check that every input is complete and that no process's stream is missing.",
		"1 of 4 [STRACE] records are incomplete and are excluded from the timing below",
		"pid 5 dropped 9 host-log record(s) before they reached the destination (queue_full=2 claim_exhausted=3 output_failed=4 not_admitted=0); the timing below is computed from an incomplete log",
	}
	r := read(t, log)
	var got []string
	for _, w := range r.Warnings() {
		got = append(got, w.Text)
	}
	if !slices.Equal(got, want) {
		t.Errorf("warnings\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if a, _ := r.Anchor(9); a != (hostlog.Anchor{PID: 9, MonoNS: 3, WallNS: 4}) {
		t.Errorf("anchor %+v, want the last one", a)
	}
	if w := read(t, span(72)).Warnings(); len(w) != 0 { // §8 D3
		t.Errorf("a log without any anchor is warned of: %v", w)
	}
}

func TestSources(t *testing.T) { // §1.2
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	line := func(name string) string {
		return record("pid=1 tid=1 inv=1 hid=0 depth=0 name=%s ts=1 dur=1", name) // no line feed behind it
	}
	write("host.9.log", line("nine"))
	write("host.10.log", line("ten"))
	write("other.log", line("other"))
	write("host.log", line("host"))
	for _, d := range []string{"sub", "host.dir.log"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write("sub/host.3.log", line("sub"))
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	io.WriteString(z, line("packed"))
	z.Close()
	write("packed", packed.String())
	write("cut", packed.String()[:packed.Len()-6])

	got, err := hostlog.ReadAll(strings.NewReader(line("stdin")), dir, filepath.Join(dir, "other.log"), "-", filepath.Join(dir, "packed"), filepath.Join(dir, "other.log"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range got.Spans {
		names = append(names, s.Name)
	}
	if want := []string{"ten", "nine", "other", "stdin", "packed", "other"}; !slices.Equal(names, want) {
		t.Errorf("spans %q, want %q", names, want)
	}

	sub := filepath.Join(dir, "host.dir.log")
	_, err = hostlog.ReadAll(nil, sub)
	if want := sub + " is a directory but holds no host.*.log files"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if _, err := hostlog.ReadAll(nil, filepath.Join(dir, "absent")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v, want one that says that the file is not there", err)
	}
	cut := filepath.Join(dir, "cut")
	if got, err := hostlog.ReadAll(nil, cut); !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), cut) || len(got.Spans) != 1 {
		t.Errorf("a cut gzip file gives %v and %d spans, want the error, and what came", err, len(got.Spans))
	}
}

func TestLogThatGrows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "host.1.log")
	line := record("pid=1 tid=1 inv=1 hid=0 depth=0 name=a ts=1 dur=1\n")
	if err := os.WriteFile(path, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	for grows, want := range map[bool]string{false: "", true: path + " changed while it was read"} {
		r := hostlog.Reader{Span: func(*hostlog.Span) error {
			if !grows {
				return nil
			}
			grows = false
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = f.WriteString(line)
			return err
		}}
		if err := r.ReadSource(path, nil); err != nil {
			t.Fatal(err)
		}
		var got string
		for _, w := range r.Warnings() {
			got += w.Text
		}
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("warnings %q, want %q", got, want)
		}
	}
}

func TestReaderStops(t *testing.T) {
	enough := errors.New("enough")
	n := 0
	r := hostlog.Reader{Span: func(*hostlog.Span) error {
		if n++; n == 2 {
			return enough
		}
		return nil
	}}
	line := record("pid=1 tid=1 inv=1 hid=0 depth=0 name=a ts=1 dur=1\n")
	if err := r.Read("x", strings.NewReader(strings.Repeat(line, 3))); err != enough || n != 2 {
		t.Errorf("%v after %d spans, want the caller's error after 2", err, n)
	}
	broken := errors.New("broken")
	r = hostlog.Reader{}
	if err := r.Read("x", io.MultiReader(strings.NewReader(line+line), iotest.ErrReader(broken))); !errors.Is(err, broken) || r.Parsed != 2 {
		t.Errorf("%v after %d spans, want %v after 2", err, r.Parsed, broken)
	}
}

// noise is no record, and has many beginnings of them.
func noise(n int) string {
	parts := []string{"\x00\xff\xfe", "[", "[STR", "[mono_ns=", "[mono_ns=1][T0x1][A] ", "[CLOCK_ANCHOR]", "\r", " ", "]]", "v=1 ", "é", "[HOSTLOG_DROPS] v=1 "}
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		b.WriteString(parts[(i*i+i/7)%len(parts)])
	}
	return b.String()
}

// TestLongLines puts records into lines that are longer than what is held at once.
func TestLongLines(t *testing.T) {
	var log strings.Builder
	for i := range 40 {
		log.WriteString(noise(100_003 * (i % 5)))
		log.WriteString(record("pid=%d tid=1 inv=1 hid=0 depth=0 name=a%d ts=1 dur=1 k=%d", i, i, i))
		log.WriteString("[mono_ns=1][T0x1][INFO] main: ")
		if i%9 == 0 {
			log.WriteString(strings.TrimSuffix(report(i, 1, 10+i, "1"), "\n") + " ")
		}
	}
	log.WriteString(anchor(3, 4, 5))
	if strings.Contains(log.String(), "\n") || log.Len() < 3<<20 {
		t.Fatal("this must be one line of several pieces")
	}
	for name, in := range map[string]io.Reader{
		"at once": strings.NewReader(log.String()), "in halves": iotest.HalfReader(strings.NewReader(log.String())),
		"with the end": iotest.DataErrReader(strings.NewReader(log.String())),
	} {
		if testing.Short() && name != "at once" {
			continue // the expressions take long
		}
		t.Run(name, func(t *testing.T) {
			got, err := hostlog.ReadAll(in, "-")
			if err != nil {
				t.Fatal(err)
			}
			compare(t, []byte(log.String()), got)
			if len(got.Spans) != 40 || len(got.Drops()) != 5 || len(got.Anchors()) != 1 {
				t.Errorf("%d spans, %d drop reports, %d anchors, want 40, 5 and 1", len(got.Spans), len(got.Drops()), len(got.Anchors()))
			}
		})
	}
}

// TestRecordsAcrossPieces lets what is held of a line at once end at each byte of
// the records on it.
func TestRecordsAcrossPieces(t *testing.T) {
	span := record("pid=1 tid=1 inv=1 hid=0 depth=0 name=a ts=1 dur=12 k=v")
	records := span + " " + strings.TrimSuffix(report(7, 1, 12, "1"), "\n") + " " + span + " " + anchor(1, 12, 13)
	padding := strings.Repeat("x", 1<<20)
	step := 1
	if testing.Short() {
		step = 23
	}
	for cut := 0; cut <= len(records); cut += step {
		got := read(t, padding[cut:]+records)
		if len(got.Spans) != 2 || got.Heads != 2 || len(got.Anchors()) != 1 || len(got.Drops()) != 1 {
			t.Fatalf("cut at %d: %d spans of %d heads, anchors %v, drops %v", cut, len(got.Spans), got.Heads, got.Anchors(), got.Drops())
		}
		for _, s := range got.Spans {
			if s.Attrs != "k=v" || s.Dur != 12 {
				t.Fatalf("cut at %d: %+v", cut, s)
			}
		}
		if a, d := got.Anchors()[0], got.Drops()[0]; a.WallNS != 13 || d.Total != 12 {
			t.Fatalf("cut at %d: %+v, %+v", cut, a, d)
		}
	}
}

// TestPiecesAreNoLines: what is true at the end of a line is not at that of a piece.
func TestPiecesAreNoLines(t *testing.T) {
	padding := strings.Repeat("x", 1<<20)
	trailing := anchor(1, 12, 13) + "4 x"
	for cut := range 12 {
		if got := read(t, padding[len(trailing)-cut:]+trailing); len(got.Anchors()) != 0 {
			t.Errorf("anchors %v in spite of the text behind", got.Anchors())
		}
	}
	// A report that is longer than what pieces have in common is not taken by half.
	long := strings.Replace(report(7, 1, 12, "1"), " total", strings.Repeat(" ", 2000)+"total", 1)
	long = strings.Replace(long, "not_admitted=0", "not_admitted=12", 1)
	if got := read(t, padding[len(long)-2:]+long); len(got.Drops()) != 0 {
		t.Errorf("reports %+v, want none", got.Drops())
	}
	// An envelope needs whitespace behind its colon, and a marker is none.
	span := record("pid=1 tid=1 inv=1 hid=0 depth=0 name=a ts=1 dur=12 k=v")
	log := span + "[mono_ns=1][T0x1][A] f:" + span[strings.Index(span, "[STRACE]"):] + "[mono_ns=1][T0x1][A] f: " + padding
	got := read(t, log)
	if len(got.Spans) != 2 || got.Spans[0].Attrs != "k=v[mono_ns=1][T0x1][A] f:" {
		t.Errorf("%d spans, the first %+v", len(got.Spans), got.Spans[0])
	}
}

// TestHugeRecord: a record that is longer than what is held is incomplete, and
// those around it are read.
func TestHugeRecord(t *testing.T) {
	small := record("pid=1 tid=1 inv=1 hid=0 depth=0 name=a ts=1 dur=1 k=v")
	for _, huge := range []string{
		record("pid=1 tid=1 inv=1 hid=0 depth=0 name=a ts=1 dur=1 k=%s", strings.Repeat("x", 3<<20)),
		record("pid=1 tid=1 inv=1 hid=0 depth=0 name=%s ts=1 dur=1", strings.Repeat("x", 3<<20)),
		record("pid=1 tid=%s inv=1 hid=0 depth=0 name=a ts=1 dur=1", strings.Repeat("0", 3<<20)),
	} {
		got := read(t, small+huge+small+"\n"+small)
		if len(got.Spans) != 3 || got.Heads != 4 {
			t.Errorf("%d spans of %d heads, want 3 of 4", len(got.Spans), got.Heads)
		}
		for _, s := range got.Spans {
			if s.Attrs != "k=v" {
				t.Errorf("attributes %.80q", s.Attrs)
			}
		}
	}
}

// TestHostileLinesAreReadInTime: nothing on a line is looked for again and again.
func TestHostileLinesAreReadInTime(t *testing.T) {
	if testing.Short() {
		t.Skip("measures, which means nothing under the race detector")
	}
	head := "[STRACE] v=1 pid=1 tid=1 inv=1 hid=0 depth=0 name=a ts=1 dur=1 "
	for name, part := range map[string]string{
		"envelopes":        "[mono_ns=1][T0x1][A] x",
		"spans, envelopes": head + "[mono_ns=1][T0x1][A] x",
		"anchors":          "[TIMING] clock_anchor: [CLOCK_ANCHOR] v=1 pid=1 mono_ns=1 wall_ns=1 ",
		"brackets":         "[",
		"markers":          "[STRACE]",
		"heads":            "[STRACE] v=1 pid=1 tid=1 inv=1 hid=0 depth=0 name=",
		"carriage returns": "[mono_ns=1][T0x1][A]\r",
		"colons":           "[mono_ns=1][T0x1][A] :",
		"drops":            "[HOSTLOG_DROPS] v=1 pid=1 ",
		"blanks":           "[STRACE]                                    ",
	} {
		for _, end := range []string{"", ": \r:x", "\r x: y"} {
			line := strings.Repeat(part, 4<<20/len(part)) + end
			var r hostlog.Reader
			begin := parity.CPUTime()
			if err := r.Read(name, strings.NewReader(line)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if took := parity.CPUTime() - begin; took > 5*time.Second {
				t.Errorf("%s, then %q: 4 MB took %v, expected some 10 ms", name, end, took)
			}
		}
	}
}

// TestProgress: what is told are the bytes of all files so far, packed or not.
func TestProgress(t *testing.T) {
	dir := t.TempDir()
	line := "[STRACE] v=1 pid=1 tid=1 inv=1 hid=0 depth=0 name=a ts=1 dur=1 \n"
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	for i := range 1 << 14 {
		fmt.Fprintf(z, "%d %s", i, line)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	plain := []byte(strings.Repeat(line, 1<<12))
	for name, text := range map[string][]byte{"host.1.log": plain, "host.2.log": packed.Bytes()} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var told []int64
	r := hostlog.Reader{Progress: func(bytes int64) { told = append(told, bytes) }}
	if err := r.ReadSource(dir, nil); err != nil {
		t.Fatal(err)
	}
	if want := int64(len(plain) + packed.Len()); len(told) < 8 || !slices.IsSorted(told) || told[len(told)-1] != want || r.Parsed != 1<<14+1<<12 {
		t.Errorf("%d spans; told %d, want several that rise to %d", r.Parsed, told, want)
	}
}
