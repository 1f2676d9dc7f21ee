package ranks

import (
	"bytes"
	"encoding/json"
	"math/big"
	"testing"
)

// FuzzSidecar reads sidecars and holds what is taken from them against the reading of encoding/json.
func FuzzSidecar(f *testing.F) {
	const whole = `{"schema_version":1,"run_id":3,"task_slot":0,"group_index":1,"group_size":2,"chip_rank":0,"local_capture_index":0,` +
		`"endpoint_dispatch_id":7,"pipeline_slot":0,"pipeline_generation":1,"host_pid":12,` +
		`"callable_digest":"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"}`
	f.Add([]byte(whole))
	f.Add([]byte(whole[:40]))
	f.Add([]byte(`{"schema_version":1,"schema_version":"x"}`))
	f.Add([]byte(`[1]`))
	f.Add([]byte(`{"schema_version":1e0,"run_id":99999999999999999999}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		id, err := parseIdentity("rank0/d0/"+IdentityFile, data)
		if (id == nil) == (err == nil) {
			t.Fatalf("%v with the error %v", id, err)
		}
		if err != nil {
			return
		}
		read := json.NewDecoder(bytes.NewReader(id.JSON))
		read.UseNumber()
		var fields map[string]any
		if err := read.Decode(&fields); err != nil {
			t.Fatalf("the kept document is no JSON: %v\n%s", err, id.JSON)
		}
		for name, got := range map[string]int64{
			"schema_version": 1, "run_id": id.RunID, "task_slot": id.TaskSlot, "group_index": id.GroupIndex, "group_size": id.GroupSize,
			"chip_rank": 0, "local_capture_index": 0, "endpoint_dispatch_id": id.Dispatch.ID,
			"pipeline_slot": id.Dispatch.Slot, "pipeline_generation": id.Dispatch.Generation,
		} {
			n, ok := fields[name].(json.Number)
			if !ok {
				t.Fatalf("%s is %v, taken as %d", name, fields[name], got)
			}
			if want, ok := new(big.Int).SetString(n.String(), 10); !ok || want.Cmp(big.NewInt(got)) != 0 {
				t.Fatalf("%s is %s, taken as %d", name, n, got)
			}
		}
	})
}
