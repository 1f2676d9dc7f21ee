package convert

import (
	"io"
	"strings"
	"testing"

	"swimlane/internal/console"
	"swimlane/internal/draw"
	"swimlane/trace/chrome"
)

func TestWrap(t *testing.T) {
	got := strings.Join(wrap([]string{"one", "two", "three", "a long one"}, 10), "|")
	if want := "one, two,|three,|a long one"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := wrap(nil, 10); got != nil {
		t.Errorf("%q, want nothing", got)
	}
}

// What went wrong in other tools: ../shared/design/field-reports.md, by number.

// TestField76TooLarge: beyond 500 MB, and only there, the summary says what to do instead.
func TestField76TooLarge(t *testing.T) {
	o := &Options{}
	c, err := Find("../../testdata/small", &o.Input)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.load(nil, console.NewProgress(io.Discard)); err != nil {
		t.Fatal(err)
	}
	pic, err := draw.New(c.Timeline, draw.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for bytes, want := range map[int64]bool{1: false, 500_000_000: false, 500_000_001: true, 3_600_000_000: true} {
		var b strings.Builder
		if err := (&summary{o, c, pic, nil, "big.json", chrome.Counts{Bytes: bytes}, bytes}).print(&b); err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{"A browser holds about 2 GB", "trace_processor server http big.json", "--from/--to", "--lane", "--no-flows"} {
			if strings.Contains(b.String(), part) != want {
				t.Errorf("%d bytes: said %q: %v, want %v\n%s", bytes, part, !want, want, b.String())
			}
		}
		if !strings.Contains(b.String(), console.Size(bytes)) {
			t.Errorf("%d bytes: the size is not said\n%s", bytes, b.String())
		}
	}
}
