package collector_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/collector"
	"swimlane/internal/parity"
)

// TestHostPhasesFile records what real captures say that their hosts did, in any
// order, and gets their files to the byte.
func TestHostPhasesFile(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(parity.Shared(t), "captures", "*_hbg_*", "host_phase_records.jsonl*"))
	if err != nil || len(paths) < 9 {
		t.Errorf("%d files are found (%v), want nine at least", len(paths), err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) {
			want := parity.Unpacked(t, path)
			var file struct {
				Pid     int
				Inv     uint64
				Records []struct {
					Phase       string
					Start       uint64 `json:"start_ns"`
					End         uint64 `json:"end_ns"`
					Detail, Tid uint64
				}
			}
			if err := json.Unmarshal(want, &file); err != nil {
				t.Fatal(err)
			}
			pool := collector.NewHostPhasePool()
			for _, i := range rand.New(rand.NewPCG(4, 2)).Perm(len(file.Records)) {
				r := file.Records[i]
				pool.Add(abi.HostPhase{StartNs: r.Start, EndNs: r.End, Payload: r.Detail, ThreadID: uint32(r.Tid), Kind: uint32(slices.Index(hostKinds, r.Phase))})
			}
			dir := t.TempDir()
			got, err := pool.WriteFile(dir, file.Pid, file.Inv)
			if err != nil || got != filepath.Join(dir, collector.HostPhasesFile) {
				t.Fatalf("%q (%v)", got, err)
			}
			text, err := os.ReadFile(got)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(text, want) {
				t.Errorf("the file is %.400s, want %.400s", text, want)
			}
		})
	}
}

// TestHostPhasesFileDrops: the file says how many records had no room.
func TestHostPhasesFileDrops(t *testing.T) {
	pool := collector.NewHostPhasePool()
	for range 512*24 + 3 {
		pool.Add(abi.HostPhase{Kind: uint32(collector.HostSubmitTask)})
	}
	path, err := pool.WriteFile(t.TempDir(), 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Dropped uint64
		Records []json.RawMessage
	}
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &file)
	}
	if err != nil || file.Dropped != 3 || len(file.Records) != 512*24 {
		t.Errorf("%d dropped of %d (%v), want 3 beside those of 24 buffers", file.Dropped, len(file.Records), err)
	}
	if _, err := pool.WriteFile(filepath.Join(t.TempDir(), "none"), 1, 2); err == nil {
		t.Error("a directory that is not there is no error")
	}
}
