package chrome_test

import (
	"encoding/json"
	"iter"
	"strings"
	"testing"

	"swimlane/trace"
	"swimlane/trace/chrome"
)

// TestForeignArgs: keys that come from a file are written as JSON strings, numbers of
// any size as they are, and an event without a category has none.
func TestForeignArgs(t *testing.T) {
	got, _ := write(t, picture(events{
		slice(trace.Slice{ID: trace.NoID, Name: []byte("s"), End: 1, Foreign: true, Args: []trace.Arg{
			{Key: "a\"\\\n", Kind: trace.Number, Text: []byte("-123456789012345678901234567890")},
		}}),
		slice(trace.Slice{ID: trace.NoID, Name: []byte("n"), NameFirst: true, Foreign: true, Category: "c", End: 1, Args: []trace.Arg{{Key: "\"", Num: 1}}}),
		flow(trace.Flow{ID: 1, Name: "f", Category: "own", From: trace.Point{Bind: trace.NoID}, To: trace.Point{Bind: trace.NoID}}),
	}), chrome.Options{})
	for _, want := range []string{
		`{"args":{"a\"\\\n":-123456789012345678901234567890},"name":"s","ph":"X",`,
		`"args":{"\"":1}}`,
		`{"cat":"own","id":1,"name":"f","ph":"s",`,
		`{"cat":"own","id":1,"name":"f","ph":"f",`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
}

// TestDocument: fields beside the events, lists item by item, however long; without
// sort indexes, if a picture has none.
func TestDocument(t *testing.T) {
	const items = 50000 // several pieces
	list := iter.Seq[[]byte](func(yield func([]byte) bool) {
		for range items {
			if !yield([]byte(`{"text":"` + strings.Repeat("x", 20) + `"}`)) {
				return
			}
		}
	})
	p := picture()
	p.Unsorted = true
	p.Document = []trace.Field{{Key: "unit", JSON: []byte(`"ms"`)}, {Key: "long", List: list}, {Key: "none", List: func(func([]byte) bool) {}}}
	p.Metadata = []trace.Field{{Key: "a", JSON: []byte("1")}}
	got, _ := write(t, p, chrome.Options{})
	var doc struct {
		Unit     string
		Long     []struct{ Text string }
		None     []any
		Metadata map[string]int
	}
	if err := json.Unmarshal([]byte(got), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Unit != "ms" || len(doc.Long) != items || doc.Long[items-1].Text != strings.Repeat("x", 20) || doc.None == nil || len(doc.None) != 0 || doc.Metadata["a"] != 1 {
		t.Errorf("it has unit %q, %d items, %v, %v", doc.Unit, len(doc.Long), doc.None, doc.Metadata)
	}
	if strings.Contains(got, "sort_index") {
		t.Errorf("sort indexes in %.500s", got)
	}
}
