package capture_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"swimlane/capture"
	"swimlane/internal/parity"
)

// graph is the example of spec/deps.md §3.4.
const graph = `{"tasks":[{"task_id":"0","scope":"auto","early_dispatch":false,"kernel_ids":[-1,0,-1],"block_num":1,"args":[{"idx":0,"type":"OUTPUT"}]},
{"task_id":"4294967296","scope":"auto","early_dispatch":false,"kernel_ids":[7,-1,-1],"block_num":4,"args":[{"idx":0,"type":"INPUT","tensor_id":"13451765318376212391","dtype":"FLOAT32","shape":[16384],"start_offset":"0","strides":[1]}]}],
"tensors":[{"tensor_id":"13451765318376212391","buffer_addr":"29204938752","version":0,"dtype":"FLOAT32","buffer_numel":"16384"}],
"edges":[{"pred":"0","succ":"4294967296","arg":0,"source":"creator","flags":["wait","retain"],"tensor_id":"13451765318376212391","consumer_dtype":"FLOAT32","consumer_shape":[16384],"consumer_start_offset":"0","consumer_strides":[1]}]}
`

func readDeps(text string) (*capture.Deps, error) {
	return capture.ReadDepsFrom(strings.NewReader(text), "run/deps.json")
}

func acceptDeps(t *testing.T, text string) *capture.Deps {
	t.Helper()
	deps, err := readDeps(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return deps
}

func TestDepsExample(t *testing.T) {
	equal(t, acceptDeps(t, graph), &capture.Deps{
		Source: "run/deps.json", Task: []uint64{0, 1 << 32}, Kernel: [][3]int32{{-1, 0, -1}, {7, -1, -1}}, Block: []int32{1, 4},
		Has: []uint8{capture.HasKernel, capture.HasKernel}, Pred: []uint64{0}, Succ: []uint64{1 << 32},
	})
}

// R14: order and repetitions are kept here; the graph drops repeated pairs.
func TestDepsEdgeOrder(t *testing.T) {
	const r = 8589934597
	deps := acceptDeps(t, fmt.Sprintf(`{"tasks": [], "edges": [{"pred": "3", "succ": "0"}, {"pred": "0", "succ": "4"}, {"succ": %d, "pred": 4},
		{"pred": "0", "succ": "%d"}, {"pred": "0", "succ": "%d"}]}`, r, r, r))
	equal(t, deps.Pred, []uint64{3, 0, 4, 0, 0})
	equal(t, deps.Succ, []uint64{0, 4, r, r, r})
}

// spec/deps.md §2 and §5: what is an id, and what is skipped.
func TestDepsIDs(t *testing.T) {
	for text, want := range map[string]uint64{
		`5`: 5, `"5"`: 5, `0`: 0, `"18446744073709551615"`: math.MaxUint64, `18446744073709551615`: math.MaxUint64,
		`-1`: math.MaxUint64, `"-1"`: math.MaxUint64, `"-2"`: math.MaxUint64 - 1, `9007199254740993`: 9007199254740993,
		`-9223372036854775808`: 1 << 63,
	} {
		deps := acceptDeps(t, `{"tasks": [{"task_id": `+text+`}], "edges": [{"pred": `+text+`, "succ": 1}, [1, `+text+`]]}`)
		equal(t, deps.Task, []uint64{want})
		equal(t, deps.Pred, []uint64{want, 1})
		equal(t, deps.Succ, []uint64{1, want})
		if deps.Skipped != 0 {
			t.Errorf("%s: %d skipped", text, deps.Skipped)
		}
	}
	for _, text := range []string{
		`null`, `"x"`, `""`, `1.5`, `1e3`, `"1.5"`, `true`, `[]`, `{"a": 1}`, `18446744073709551616`, `"18446744073709551616"`, `"` + strings.Repeat("9", 500) + `"`,
	} {
		deps := acceptDeps(t, `{"tasks": [{"task_id": `+text+`, "block_num": 2}, {"task_id": 3}],
			"edges": [{"pred": `+text+`, "succ": 1}, {"pred": 1, "succ": `+text+`}, {"pred": 8, "succ": 9}]}`)
		equal(t, deps.Task, []uint64{3})
		equal(t, deps.Block, []int32{1})
		equal(t, deps.Pred, []uint64{8})
		if deps.Skipped != 2 {
			t.Errorf("%s: %d skipped", text, deps.Skipped)
		}
	}
}

// spec/deps.md §3.5: the oldest form, and rows that are no edges.
func TestDepsOldestEdges(t *testing.T) {
	deps := acceptDeps(t, `{"version": 1, "edges": [[1, 2], ["3", "18446744073709551615"], [4], [5, 6, 7], [], 8, null, "x", {"pred": 1}, {"succ": 1}, {}, [null, 1], [1, 2]]}`)
	equal(t, deps.Pred, []uint64{1, 3, 1})
	equal(t, deps.Succ, []uint64{2, math.MaxUint64, 2})
	if deps.Skipped != 10 || deps.NoEdges {
		t.Errorf("%d skipped, NoEdges %v", deps.Skipped, deps.NoEdges)
	}
}

func TestDepsWithoutEdges(t *testing.T) {
	for text, none := range map[string]bool{
		`{}`: true, `{"edges": null}`: true, `{"edges": {}}`: true, `{"edges": "x"}`: true, `{"edges": 5, "tasks": [{"task_id": 1}]}`: true,
		`{"edges": []}`: false, `{"edges": [], "tasks": {}}`: false, `{"tasks": null, "edges": [[1, 2]]}`: false,
	} {
		if deps := acceptDeps(t, text); deps.NoEdges != none {
			t.Errorf("%s: NoEdges %v, want %v", text, deps.NoEdges, none)
		}
	}
}

// spec/records.md §5.2: the kernel map and the block map.
func TestDepsTasks(t *testing.T) {
	kernels := map[string]bool{
		`[5, 7, 8]`: true, `["5", "7", "8"]`: true, `[5, 7]`: false, `[5, 7, 8, 9]`: false, `[]`: false, `null`: false, `{}`: false, `"x"`: false,
		`[5, 7, null]`: false, `[5, 7, "x"]`: false, `[5, 7, 1.5]`: false, `[5, 7, 2147483648]`: false, `[5, 7, [8]]`: false,
	}
	for text, has := range kernels {
		deps := acceptDeps(t, `{"tasks": [{"task_id": 1, "kernel_ids": `+text+`}], "edges": []}`)
		if got := deps.Has[0]&capture.HasKernel != 0; got != has {
			t.Errorf("%s: kernel %v, want %v", text, got, has)
		}
		if has && deps.Kernel[0] != [3]int32{5, 7, 8} {
			t.Errorf("%s: got %v", text, deps.Kernel[0])
		}
	}
	for text, want := range map[string]int32{
		`1`: 1, `128`: 128, `"64"`: 64, `0`: 1, `-5`: 1, `null`: 1, `"x"`: 1, `2.5`: 1, `[]`: 1, `true`: 1, `18446744073709551616`: 1,
		`2147483647`: math.MaxInt32, `9223372036854775807`: math.MaxInt32, `18446744073709551615`: 1,
	} {
		if deps := acceptDeps(t, `{"tasks": [{"block_num": `+text+`, "task_id": 1}]}`); deps.Block[0] != want {
			t.Errorf("%s: block_num %d, want %d", text, deps.Block[0], want)
		}
	}
	deps := acceptDeps(t, `{"tasks": [{"task_id": "9"}, 5, null, [], {"kernel_ids": [1, 2, 3]}, {"task_id": "9", "kernel_ids": [-1, -1, -1]}]}`)
	equal(t, deps.Task, []uint64{9, 9})
	equal(t, deps.Has, []uint8{0, capture.HasKernel})
	equal(t, deps.Block, []int32{1, 1})
}

// Field report 25: an unknown version or key never costs the arrows.
func TestDepsUnknownKeys(t *testing.T) {
	deps := acceptDeps(t, `{"version": 99, "runtime": "x", "later": {"a": [1.5]}, "edges": [{"pred": 1, "succ": 2, "kind": "new"}], "tasks": [{"task_id": 1, "later": {}}]}`)
	equal(t, deps.Pred, []uint64{1})
	equal(t, deps.Task, []uint64{1})
}

func TestDepsRefused(t *testing.T) {
	for _, text := range []string{
		``, `[]`, `null`, `5`, `{"tasks": [`, `{"edges": [[1, 2]]} x`, "\xef\xbb\xbf{}", `{"edges": [[1, 2],]}`, `{"edges": [], "edges": []}`,
		`{"edges": [{"pred": 1, "pred": 2, "succ": 3}]}`, `{"tasks": [{"args": [{"idx": 1, "idx": 2}]}]}`, `{"edges": [{"pred": 01, "succ": 2}]}`,
		`{"edges": [{"pred": NaN, "succ": 2}]}`, `{"x": ` + strings.Repeat("[", 70) + strings.Repeat("]", 70) + `}`, "{\"\xff\": 1}",
	} {
		deps, err := readDeps(text)
		var e *capture.Error
		if deps != nil || !errors.As(err, &e) || !errors.Is(err, capture.ErrSyntax) {
			t.Errorf("%s: got %+v, %v", text, deps, err)
			continue
		}
		if !strings.HasPrefix(e.Error(), "line 1 column ") || !strings.Contains(e.Error(), " (in run/deps.json)") {
			t.Errorf("%s: got %v", text, e)
		}
	}
}

// The message names the row, and what to do about a file that was cut.
func TestDepsErrorPlace(t *testing.T) {
	for text, want := range map[string]string{
		`{"tasks": [], "edges": [{"pred": 1, "succ": 2}, {"pred": tru`: `found "tru", expected true; the file is incomplete (edges[1]) (in run/deps.json); the writer was interrupted`,
		`{"tasks": [{"task_id": 1}, {"args": [1.]}]}`:                  `found "1.", expected a number (tasks[1]) (in run/deps.json)`,
		`{"tensors": {"a": 01}}`:                                       `found "01", expected a number (tensors) (in run/deps.json)`,
		`{"edges": [[1, 2]] x}`:                                        `found "x", expected ',' or '}' (in run/deps.json)`,
	} {
		if _, err := readDeps(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestDepsFiles(t *testing.T) {
	dir := t.TempDir()
	deps, err := capture.ReadDeps(filepath.Join(dir, "deps.json"), nil)
	if deps != nil || err != nil {
		t.Errorf("a missing file: got %v, %v", deps, err)
	}
	if _, err := capture.ReadDeps(dir, nil); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory: got %v", err)
	}
	plain, packed := filepath.Join(dir, "deps.json"), filepath.Join(dir, "packed.json")
	write(t, plain, []byte(graph))
	write(t, packed, pack(graph))
	var seen int64
	for _, path := range []string{plain, packed} {
		got, err := capture.ReadDeps(path, func(n int64) { seen = n })
		want := acceptDeps(t, graph)
		want.Source = path
		if err != nil || !reflect.DeepEqual(got, want) || seen != int64(len(graph)) {
			t.Errorf("%s: got %+v, %v, %d bytes", path, got, err, seen)
		}
	}
}

// Every graph of the captures, against encoding/json, and cut by other readers.
func TestDepsAgainstEncodingJSON(t *testing.T) {
	n := 0
	for _, path := range find(t, filepath.Join(parity.Shared(t), "captures"), "deps.json") {
		if testing.Short() && large(path) {
			continue
		}
		text := parity.Unpacked(t, path)
		got, err := capture.ReadDeps(path, nil)
		want, ok := jsonDeps(text)
		if (err == nil) != ok {
			t.Errorf("%s: got %v", path, err)
		}
		if err != nil {
			continue
		}
		want.Source = path
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got another graph", path)
		}
		if len(text) < 10<<20 {
			again, err := capture.ReadDepsFrom(&chunkReader{r: strings.NewReader(string(text)), size: 1 + n*97%5000}, path)
			if err != nil || !reflect.DeepEqual(again, want) {
				t.Errorf("%s in chunks: got another graph, %v", path, err)
			}
		}
		n++
	}
	if n < 90 {
		t.Errorf("only %d graphs", n)
	}
}

// jsonDeps is a graph as encoding/json reads it.
func jsonDeps(text []byte) (*capture.Deps, bool) {
	var in struct {
		Tasks []struct {
			ID     any   `json:"task_id"`
			Kernel []any `json:"kernel_ids"`
			Block  any   `json:"block_num"`
		} `json:"tasks"`
		Edges json.RawMessage `json:"edges"`
	}
	if json.Unmarshal(text, &in) != nil {
		return nil, false
	}
	id := func(v any) uint64 {
		switch x := v.(type) {
		case string:
			n, _ := strconv.ParseUint(x, 10, 64)
			return n
		case float64:
			return uint64(x) // small numbers only, see below
		}
		return 0
	}
	out := &capture.Deps{}
	for _, t := range in.Tasks {
		block := int32(1)
		if n, ok := t.Block.(float64); ok && n > 1 {
			block = int32(n)
		}
		var kernel [3]int32
		var has uint8
		if len(t.Kernel) == 3 {
			has = capture.HasKernel
			for k, v := range t.Kernel {
				kernel[k] = int32(v.(float64))
			}
		}
		out.Task = append(out.Task, id(t.ID))
		out.Kernel = append(out.Kernel, kernel)
		out.Block = append(out.Block, block)
		out.Has = append(out.Has, has)
	}
	var objects []struct {
		Pred string `json:"pred"`
		Succ string `json:"succ"`
	}
	var pairs [][2]uint64
	switch {
	case json.Unmarshal(in.Edges, &objects) == nil:
		for _, e := range objects {
			out.Pred = append(out.Pred, id(e.Pred))
			out.Succ = append(out.Succ, id(e.Succ))
		}
	case json.Unmarshal(in.Edges, &pairs) == nil:
		for _, e := range pairs {
			out.Pred = append(out.Pred, e[0])
			out.Succ = append(out.Succ, e[1])
		}
	default:
		out.NoEdges = true
	}
	return out, true
}

func write(t testing.TB, path string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
}
