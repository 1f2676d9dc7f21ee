package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"swimlane/internal/parity"
)

// What went wrong in other tools: ../shared/design/field-reports.md, by number.

// jsonNumbers parses a text that must be one JSON value, and returns its numbers as written.
func jsonNumbers(t *testing.T, text []byte) (out []string) {
	t.Helper()
	if !json.Valid(text) {
		t.Fatalf("no JSON: %.500s", text)
	}
	dec := json.NewDecoder(strings.NewReader(string(text)))
	dec.UseNumber()
	for {
		tok, err := dec.Token()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		if n, ok := tok.(json.Number); ok {
			out = append(out, n.String())
		}
	}
}

// TestField64Outputs, and 7: whatever a command writes is read by a parser that
// shares nothing with the writer, and no number in it has an exponent.
func TestField64Outputs(t *testing.T) {
	small, err := filepath.Abs("../../testdata/small")
	if err != nil {
		t.Fatal(err)
	}
	odd := t.TempDir()
	const at = 1692108548132154500 // ns, beyond what a float64 holds
	for name, text := range map[string]string{
		"chip_swimlane_records.json": fmt.Sprintf(`{"chip_swimlane_level":3,"metadata":{"clock_freq_hz":1000000000,"core_types":["aic","a\"\\\u0001\ud83d\ude00"]},
"aicore_tasks":[[0,18446744073709551615,0,%d,%d,0],[1,2,1,%d,%d,1]],"later":{"x":[1e400,"\u2028"]},
"scheduler_tasks":{"schema_version":1,"producer":"aicpu","records":[[0,0,%d,%d],[1,1,%d,%d]]},
"scheduler_records":{"schema_version":1,"streams":[{"producer":"aicpu","scheduler_id":0,"metrics":[],"records":[
{"start_cycles":%d,"end_cycles":%d,"loop_iter":0,"kind":"odd \"kind\"\n\u0007","tasks_processed":1,"task_id":null}]}]}}`,
			at+1, at+2, at+1, at+86_400_000_000_000, at, at+3, at, at+86_400_000_000_001, at, at+1),
		"deps.json":         `{"version":99,"tasks":[{"task_id":"18446744073709551615","kernel_ids":[0,-1,-1]},{"task_id":"2","kernel_ids":[-1,1,-1]}],"edges":[{"pred":"18446744073709551615","succ":"2"}]}`,
		"name_map_odd.json": `{"level":2,"callable_id_to_name":{"0":"a \"name\", with \\ and \u0000\n\u00e9","1":"<b>1e-9</b>"}}`,
	} {
		if err := os.WriteFile(filepath.Join(odd, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for what, capture := range map[string]string{"small": small, "odd": odd, "nothing in it": writeCapture(t, 0, 0), "many": writeCapture(t, 20, 9)} {
		for _, args := range []string{
			"convert -q -o OUT", "convert -q --overhead --idle -o OUT", "convert -q --no-flows --from 0 --to 5 -o OUT", "convert -q --lane AI* -o OUT",
			"convert -q -o OUT.gz", "convert -o -", "read", "read -o OUT.gz", "stats --format json", "stats --format csv",
		} {
			t.Run(what+"/"+args, func(t *testing.T) {
				place := filepath.Join(t.TempDir(), "out.json")
				words := strings.Fields(strings.ReplaceAll(args, "OUT", place))
				text := []byte(stdoutOf(t, append([]string{words[0], capture}, words[1:]...)...))
				switch {
				case strings.HasSuffix(args, "OUT"):
					text = parity.Unpacked(t, place)
				case strings.HasSuffix(args, ".gz"):
					text = parity.Unpacked(t, place+".gz")
				}
				var numbers []string
				if strings.HasSuffix(args, "csv") {
					rows, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
					if err != nil || len(rows) == 0 {
						t.Fatalf("%v\n%s", err, text)
					}
					for _, row := range rows[1:] {
						numbers = append(numbers, append(row[:1:1], row[2:]...)...)
					}
				} else {
					numbers = jsonNumbers(t, text)
				}
				for _, n := range numbers {
					if strings.ContainsAny(n, "eE+") {
						t.Errorf("a number is written %s", n)
					}
				}
			})
		}
	}
}
