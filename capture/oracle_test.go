package capture_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"testing"

	"swimlane/capture"
)

// jsonCapture is a capture as encoding/json reads it; numbers stay text.
type jsonCapture struct {
	Level    json.Number `json:"chip_swimlane_level"`
	OldLevel json.Number `json:"l2_swimlane_level"`
	Metadata struct {
		Clock        json.Number   `json:"clock_freq_hz"`
		CoreTypes    []string      `json:"core_types"`
		CoreToThread []json.Number `json:"core_to_thread"`
		Origin       json.Number   `json:"host_orchestration_origin_ns"`
	} `json:"metadata"`
	Tasks [][]json.Number `json:"aicore_tasks"`
	Sched *struct {
		Producer string          `json:"producer"`
		Records  [][]json.Number `json:"records"`
	} `json:"scheduler_tasks"`
	AICPU     [][]json.Number `json:"aicpu_tasks"`
	Scheduler *struct {
		Streams []struct {
			ID      *int64           `json:"scheduler_id"`
			Records []map[string]any `json:"records"`
			Metrics []map[string]any `json:"metrics"`
		} `json:"streams"`
	} `json:"scheduler_records"`
	Phases    [][]map[string]any         `json:"aicpu_scheduler_phases"`
	DeviceOrc [][]map[string]json.Number `json:"aicpu_orchestrator_phases"`
	HostOrc   [][]map[string]json.Number `json:"host_orchestrator_phases"`
	Uploads   []map[string]any           `json:"host_device_uploads"`
	Lifecycle []map[string]json.Number   `json:"aicpu_lifecycle_records"`
}

func num[T ~string](n T) uint64 {
	v, _ := strconv.ParseUint(string(n), 10, 64)
	return v
}

// anyNum is a number of a map[string]any, 0 if it is missing.
func anyNum(v any) uint64 {
	n, _ := v.(json.Number)
	return num(n)
}

// checkAgainstJSON compares every column with what encoding/json reads.
func checkAgainstJSON(t *testing.T, path string, rec *capture.Records, text []byte) {
	t.Helper()
	var want jsonCapture
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&want); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	same := func(what string, got, want any) {
		t.Helper()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %s differs", path, what)
		}
	}
	level := want.Level
	if level == "" {
		level = want.OldLevel
	}
	same("level", uint64(rec.Level), num(level))
	same("clock", rec.Meta.ClockHz, num(want.Metadata.Clock))
	same("core types", append([]string{}, rec.Meta.CoreTypes...), append([]string{}, want.Metadata.CoreTypes...))
	threads := make([]string, 0)
	for _, v := range rec.Meta.CoreToThread {
		threads = append(threads, strconv.Itoa(int(v)))
	}
	for i, v := range want.Metadata.CoreToThread {
		same("thread", threads[i], string(v))
	}
	same("threads", len(threads), len(want.Metadata.CoreToThread))

	var tasks capture.TaskRows
	for _, r := range want.Tasks {
		tasks.Core = append(tasks.Core, int32(num(r[0])))
		tasks.Task = append(tasks.Task, num(r[1]))
		tasks.Reg = append(tasks.Reg, num(r[2]))
		tasks.Start = append(tasks.Start, num(r[3]))
		tasks.End = append(tasks.End, num(r[4]))
		receive := num(r[3])
		if len(r) > 5 {
			receive -= num(r[5])
		}
		tasks.Receive = append(tasks.Receive, receive)
	}
	same("kernel rows", rec.Tasks, tasks)

	var sched capture.SchedRows
	rows := want.AICPU
	switch {
	case want.Sched != nil:
		sched.Present, sched.Producer, rows = true, want.Sched.Producer, want.Sched.Records
	case want.AICPU != nil:
		sched.Present, sched.Producer = true, "aicpu"
	}
	for _, r := range rows {
		sched.Core = append(sched.Core, int32(num(r[0])))
		sched.Reg = append(sched.Reg, num(r[1]))
		sched.Dispatch = append(sched.Dispatch, num(r[2]))
		sched.Finish = append(sched.Finish, num(r[3]))
	}
	same("scheduler rows", rec.Sched, sched)

	same("device lanes", rec.DeviceOrc, lanes(want.DeviceOrc, "start_cycles", "end_cycles", false))
	same("host lanes", rec.HostOrc, lanes(want.HostOrc, "start_host_ns", "end_host_ns", true))
	var uploads []capture.Upload
	for _, u := range want.Uploads {
		phase, _ := u["phase"].(string)
		uploads = append(uploads, capture.Upload{
			Phase: phase, Start: anyNum(u["start_host_ns"]), End: anyNum(u["end_host_ns"]), Bytes: int64(anyNum(u["detail"])),
		})
	}
	same("uploads", rec.Uploads, uploads)
	same("lifecycle records", len(rec.Lifecycle), len(want.Lifecycle))
	for i, l := range want.Lifecycle {
		for k := range rec.Lifecycle[i].Span {
			from, to := capture.LifecycleFields(k)
			same("lifecycle", rec.Lifecycle[i].Span[k], [2]uint64{num(l[from+"_cycles"]), num(l[to+"_cycles"])})
		}
	}
	checkStreams(t, path, rec, &want)
}

func lanes(want [][]map[string]json.Number, from, to string, dropEmpty bool) (out []capture.Submits) {
	for _, lane := range want {
		var s capture.Submits
		for _, r := range lane {
			id, named := r["task_id"]
			s.Index = append(s.Index, int64(num(r["submit_idx"])))
			s.Task = append(s.Task, num(id))
			s.Has = append(s.Has, named)
			s.Start = append(s.Start, num(r[from]))
			s.End = append(s.End, num(r[to]))
		}
		if len(lane) > 0 || !dropEmpty {
			out = append(out, s)
		}
	}
	return out
}

// checkStreams compares the phase records, read in order of appearance.
func checkStreams(t *testing.T, path string, rec *capture.Records, want *jsonCapture) {
	t.Helper()
	lists := want.Phases
	if want.Scheduler != nil {
		lists = nil
		for _, s := range want.Scheduler.Streams {
			for _, m := range s.Metrics {
				for k, v := range m {
					s.Records[anyNum(m["record_index"])][k] = v
				}
			}
			lists = append(lists, s.Records)
		}
	}
	if len(rec.Streams) != len(lists) {
		t.Errorf("%s: %d streams, want %d", path, len(rec.Streams), len(lists))
		return
	}
	for i, list := range lists {
		p := &rec.Streams[i].Phases
		if p.Len() != len(list) {
			t.Errorf("%s: stream %d has %d records, want %d", path, i, p.Len(), len(list))
			continue
		}
		for j, r := range list {
			if !samePhase(rec, p, j, r) {
				t.Errorf("%s: stream %d record %d differs from %v", path, i, j, r)
				break
			}
		}
	}
}

func samePhase(rec *capture.Records, p *capture.Phases, j int, r map[string]any) bool {
	kind, ok := r["kind"].(string)
	if !ok {
		kind = "unknown"
	}
	if rec.Kinds[p.Kind[j]].Name != kind || p.Start[j] != anyNum(r["start_cycles"]) || p.End[j] != anyNum(r["end_cycles"]) ||
		p.Loop[j] != int64(anyNum(r["loop_iter"])) || p.Processed[j] != int64(anyNum(r["tasks_processed"])) {
		return false
	}
	if _, has := r["task_id"].(json.Number); has != (p.Flags[j]&capture.HasTask != 0) || has && p.Task[j] != anyNum(r["task_id"]) {
		return false
	}
	start, hasStart := depths(r["shared_at_start"])
	end, hasEnd := depths(r["shared_at_end"])
	has := p.Flags[j]&capture.HasDepths != 0
	return has == (hasStart && hasEnd) && (!has || p.Depth[j] == capture.Depths{Start: start, End: end})
}

func depths(v any) (out [3]int32, ok bool) {
	list, _ := v.([]any)
	for i, n := range list {
		if i < 3 {
			out[i] = int32(anyNum(n))
		}
	}
	return out, len(list) == 3
}
