package capture_test

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"swimlane/capture"
	"swimlane/internal/parity"
)

// captures are the records files below ../shared/captures, compressed ones included.
func captures(t *testing.T, below ...string) []string {
	return find(t, filepath.Join(append([]string{parity.Shared(t), "captures"}, below...)...), "swimlane_records.json")
}

func find(t *testing.T, root, suffix string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if name := strings.TrimSuffix(path, ".gz"); err == nil && e.Type().IsRegular() && strings.HasSuffix(name, suffix) {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// large says whether a file takes seconds to check; -short leaves those out.
func large(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Size() > 1<<20
}

// edgeCase is what expect.txt says about one of the hand-made captures.
type edgeCase struct {
	file     string // records file
	options  bool   // the command has options, so the outcome is not the reader's alone
	exit     string
	messages []string // parts of what standard error must say
}

func edgeCases(t *testing.T) map[string]edgeCase {
	root := filepath.Join(parity.Shared(t), "captures", "edge")
	dirs, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]edgeCase{}
	for _, dir := range dirs {
		text, err := os.ReadFile(filepath.Join(root, dir.Name(), "expect.txt"))
		if err != nil {
			t.Fatal(err)
		}
		var c edgeCase
		for line := range strings.Lines(string(text)) {
			key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			switch key {
			case "command":
				words := strings.Fields(value)
				c.file, c.options = filepath.Join(root, dir.Name(), words[1]), len(words) > 2
			case "exit":
				c.exit = value
			case "stderr contains":
				c.messages = append(c.messages, value)
			}
		}
		out[dir.Name()] = c
	}
	return out
}

// Every hand-made capture is accepted or refused as its expect.txt says. The
// command line prints "Error: " in front of what the reader says.
func TestEdgeCases(t *testing.T) {
	// Refused by others than the reader of the records file.
	elsewhere := map[string]bool{"names_invalid_utf8": true}
	refused, accepted := 0, 0
	for name, c := range edgeCases(t) {
		rec, err := capture.Read(c.file, capture.Options{})
		if c.exit == "0" || c.options || elsewhere[name] {
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			accepted++
			if len(rec.Warnings) != 0 {
				t.Errorf("%s: %v", name, rec.Warnings)
			}
			checkEdgeDeps(t, name, filepath.Dir(c.file), c.messages)
			continue
		}
		if err == nil {
			t.Errorf("%s: accepted, want it refused", name)
			continue
		}
		refused++
		for _, m := range c.messages {
			if !strings.Contains("Error: "+err.Error(), m) {
				t.Errorf("%s: got Error: %v\nwant %s", name, err, m)
			}
		}
	}
	if refused < 15 || accepted < 30 {
		t.Errorf("%d refused, %d accepted: the cases were not found", refused, accepted)
	}
}

func checkEdgeDeps(t *testing.T, name, dir string, messages []string) {
	deps, err := capture.ReadDeps(filepath.Join(dir, "deps.json"), nil)
	for _, m := range messages {
		switch {
		case strings.HasPrefix(m, "Warning: failed to read deps.json"):
			if err == nil {
				t.Errorf("%s: deps.json was read", name)
			}
			return
		case m == "Warning: deps.json has no 'edges' array":
			if err != nil || !deps.NoEdges {
				t.Errorf("%s: got %+v, %v", name, deps, err)
			}
			return
		}
	}
	if err != nil || deps != nil && deps.NoEdges {
		t.Errorf("%s: got %+v, %v", name, deps, err)
	}
}

// The counts of every capture are those that the list of captures states.
func TestCountsOfTheList(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(parity.Shared(t), "captures", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(text), "## Single captures")
	list, _, _ = strings.Cut(list, "\n## ")
	checked := 0
	for line := range strings.Lines(list) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if len(cells) < 8 || cells[1] != "archived" && cells[1] != "seed-era" {
			continue
		}
		var tasks, phases, orch, host int
		for _, path := range captures(t, cells[0]) {
			rec, err := capture.Read(path, capture.Options{})
			if err != nil {
				t.Errorf("%s: %v", path, err)
				continue
			}
			tasks += rec.Tasks.Len()
			for i := range rec.Streams {
				phases += rec.Streams[i].Phases.Len()
			}
			for i := range rec.DeviceOrc {
				orch += rec.DeviceOrc[i].Len()
			}
			host += rec.HostSubmits()
			if strconv.Itoa(rec.Level) != cells[4] || rec.Dialect.Label != cells[1] {
				t.Errorf("%s: level %d, %s, want %s, %s", path, rec.Level, rec.Dialect.Label, cells[4], cells[1])
			}
			if len(rec.Warnings) != 0 {
				t.Errorf("%s: %v", path, rec.Warnings)
			}
		}
		count := fmt.Sprint(orch)
		if host > 0 {
			count = fmt.Sprint(host, " host")
		}
		got, want := fmt.Sprintf("%d %d %s", tasks, phases, count), strings.Join(cells[5:8], " ")
		if got != want {
			t.Errorf("%s: got %s, want %s", cells[0], got, want)
		}
		checked++
	}
	if checked < 60 {
		t.Errorf("only %d captures in the list", checked)
	}
}

// Every value of every capture is what encoding/json reads there.
func TestValuesAgainstEncodingJSON(t *testing.T) {
	refused := map[string]bool{}
	for name, c := range edgeCases(t) {
		refused[name] = c.exit != "0" && name != "names_invalid_utf8" && !c.options
	}
	n := 0
	for _, path := range captures(t) {
		if filepath.Base(filepath.Dir(filepath.Dir(path))) == "edge" && refused[filepath.Base(filepath.Dir(path))] || testing.Short() && large(path) {
			continue
		}
		rec, err := capture.Read(path, capture.Options{StreamsByAppearance: true})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		checkAgainstJSON(t, path, rec, parity.Unpacked(t, path))
		n++
	}
	if n < 150 {
		t.Errorf("only %d captures", n)
	}
}

// The result does not depend on how the reader cuts the file.
func TestReaderChunks(t *testing.T) {
	cut := map[string]func(io.Reader) io.Reader{
		"one byte": iotest.OneByteReader,
		"odd":      func(r io.Reader) io.Reader { return &oddReader{r: r} },
		"64 KiB":   func(r io.Reader) io.Reader { return &chunkReader{r: r, size: 64 << 10} },
		"4093":     func(r io.Reader) io.Reader { return &chunkReader{r: r, size: 4093} },
		"data+EOF": iotest.DataErrReader,
	}
	for _, path := range captures(t) {
		if large(path) && !strings.Contains(path, "tmr_paged_attention_medium_l4_deps") {
			continue
		}
		text := string(parity.Unpacked(t, path))
		want, wantErr := capture.ReadFrom(strings.NewReader(text), path, capture.Options{Extras: true})
		for name, r := range cut {
			if len(text) > 1<<20 && testing.Short() {
				continue
			}
			got, err := capture.ReadFrom(r(strings.NewReader(text)), path, capture.Options{Extras: true})
			if fmt.Sprint(err) != fmt.Sprint(wantErr) || !reflect.DeepEqual(got, want) {
				t.Errorf("%s, %s: got another result (%v, %v)", path, name, err, wantErr)
			}
		}
	}
}

// oddReader returns 1, 2, 3, … bytes at a time.
type oddReader struct {
	r io.Reader
	n int
}

func (o *oddReader) Read(p []byte) (int, error) {
	o.n++
	return o.r.Read(p[:min(len(p), o.n)])
}

// chunkReader returns at most size bytes at a time.
type chunkReader struct {
	r    io.Reader
	size int
}

func (c *chunkReader) Read(p []byte) (int, error) { return c.r.Read(p[:min(len(p), c.size)]) }

// The order of the sections in the file says nothing.
func TestSectionOrder(t *testing.T) {
	for _, path := range captures(t) {
		if large(path) {
			continue
		}
		text := parity.Unpacked(t, path)
		var parts map[string]json.RawMessage
		if json.Unmarshal(text, &parts) != nil {
			continue
		}
		d := doc{}
		var order []string
		for key, v := range parts {
			d[key] = v
			order = append(order, key) // random
		}
		want, wantErr := capture.ReadFrom(strings.NewReader(string(text)), path, capture.Options{})
		got, err := capture.ReadFrom(strings.NewReader(d.text(order)), path, capture.Options{})
		if text := ruleOf(err); text != ruleOf(wantErr) || !reflect.DeepEqual(got, want) {
			t.Errorf("%s with sections %v: got another result (%v, %v)", path, order, err, wantErr)
		}
	}
}

// ruleOf is the part of an error that does not depend on places in the file.
func ruleOf(err error) string {
	if e, ok := err.(*capture.Error); ok {
		return e.Text
	}
	return fmt.Sprint(err)
}
