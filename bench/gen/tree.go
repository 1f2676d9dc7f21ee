package gen

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// TreeOptions says which directory of several ranks to make. Equal options make equal
// bytes.
type TreeOptions struct {
	Options
	Ranks int
	// Distinct is how many captures differ; further ranks link to the files of those
	// before them, which saves room on the disk. 0: all differ.
	Distinct int
}

// cycleNs is the length of a cycle of the 50 MHz counter.
const cycleNs = 20

// What the logs of a tree say, in ns of the host.
const (
	treeStart  = 3_600_000_000_000 // of the dispatcher's run
	rankSkew   = 40_000            // from the start of one rank to that of the next
	launchLead = 150_000           // from the start of chip.run to that of the window
	deviceRoom = 400_000           // of the window that the device leaves
	phaseRoom  = 1_000             // of a phase that its records leave on both sides
)

// WriteTree makes a directory of several ranks below root: one group dispatch, a capture
// for each rank with its sidecar, and the logs of all processes.
func WriteTree(root string, o TreeOptions) error {
	if o.Ranks < 1 || o.Tasks < MinTasks {
		return fmt.Errorf("gen: %d ranks of %d tasks asked for, at least 1 and %d needed", o.Ranks, o.Tasks, MinTasks)
	}
	if o.Distinct < 1 || o.Distinct > o.Ranks {
		o.Distinct = o.Ranks
	}
	o.domain = "linux-boot-id:00000000-0000-4000-8000-000000000000"
	for rank := range o.Ranks {
		own := o.Options
		own.Seed += uint64(rank % o.Distinct)
		dir := filepath.Join(root, fmt.Sprintf("rank%d", rank), "d0")
		var err error
		if rank < o.Distinct {
			err = Write(dir, own)
		} else {
			err = link(filepath.Join(root, fmt.Sprintf("rank%d", rank%o.Distinct), "d0"), dir, own.Deps)
		}
		if err != nil {
			return err
		}
		if err := writeFile(filepath.Join(dir, "dispatch_identity.json"), func(t *text) { sidecar(t, rank, o.Ranks) }); err != nil {
			return err
		}
		s := newSchedule(own.Tasks, own.Seed)
		if err := writeFile(filepath.Join(root, fmt.Sprintf("host.%d.log", pidOf(rank))), func(t *text) { s.log(t, rank) }); err != nil {
			return err
		}
	}
	last := newSchedule(o.Tasks, o.Seed)
	return writeFile(filepath.Join(root, fmt.Sprintf("host.%d.log", pidOf(-1))), func(t *text) { last.dispatcherLog(t, o.Ranks) })
}

// link makes the files of a capture in another directory.
func link(from, to string, deps bool) error {
	if err := os.MkdirAll(to, 0o777); err != nil {
		return err
	}
	files := []string{RecordsFile, NameMapFile}
	if deps {
		files = append(files, DepsFile)
	}
	var all error
	for _, name := range files {
		all = errors.Join(all, os.Link(filepath.Join(from, name), filepath.Join(to, name)))
	}
	return all
}

// pidOf is the process of a rank, or for −1 that of the dispatcher.
func pidOf(rank int) int { return 5001 + rank }

// sidecar writes dispatch_identity.json.
func sidecar(t *text, rank, ranks int) {
	t.s(fmt.Sprintf(`{
  "schema_version": 1,
  "run_id": 1,
  "task_slot": 0,
  "group_index": %[1]d,
  "group_size": %[2]d,
  "host_pid": %[3]d,
  "chip_rank": %[1]d,
  "local_capture_index": 0,
  "endpoint_dispatch_id": 1,
  "pipeline_slot": 0,
  "pipeline_generation": 1,
  "callable_digest": "%[4]s"
}
`, rank, ranks, pidOf(rank), strings.Repeat("5a", 32)))
}

// bounds are the first and the last of some device times.
type bounds struct{ first, last uint64 }

func (b *bounds) add(from, to uint64) {
	if b.last == 0 || from < b.first {
		b.first = from
	}
	b.last = max(b.last, to)
}

// extent is where the device times of a capture lie: all of them, those of the
// schedulers and those of the orchestrator.
func (s *schedule) extent() (all, sched, orch bounds) {
	for i := range s.tasks {
		start, end, setup := s.kernel(i)
		all.add(start-setup, end)
		all.add(s.scheduled(i))
		orch.add(s.submit(i))
	}
	for thread := range numThreads {
		for g := range s.groups[thread] {
			sched.add(s.dispatchRecord(thread, g))
			sched.add(s.completeRecord(thread, g))
		}
	}
	all.add(sched.first, sched.last)
	all.add(orch.first, orch.last)
	return all, sched, orch
}

// span is a line of a log.
func span(t *text, pid int, depth int, name string, ts, dur uint64, attrs string) {
	t.s(fmt.Sprintf("[STRACE] v=1 pid=%d tid=%[1]d inv=1 hid=5a depth=%d name=%s ts=%d dur=%d %s\n", pid, depth, name, ts, dur, attrs))
}

// log is that of a rank's process. The device's zero is phaseRoom before its first record.
func (s *schedule) log(t *text, rank int) {
	pid, start := pidOf(rank), treeStart+launchLead+uint64(rank)*rankSkew
	all, sched, orch := s.extent()
	at := func(cycles uint64) uint64 { return (cycles-all.first)*cycleNs + phaseRoom }
	wall := at(all.last) + phaseRoom
	span(t, pid, 0, "chip.run", start-launchLead, wall+deviceRoom+2*launchLead, "run_id=1 dispatch_id=1 slot_id=0 generation=1")
	span(t, pid, 1, "chip.run.runner_run", start, wall+deviceRoom, "")
	span(t, pid, 2, "chip.run.runner_run.device_wall", 0, wall, "clk=dev")
	for _, p := range []struct {
		name string
		of   bounds
	}{{"orch", orch}, {"sched", sched}} {
		span(t, pid, 3, "chip.run.runner_run.device_wall."+p.name, at(p.of.first)-phaseRoom, (p.of.last-p.of.first)*cycleNs+2*phaseRoom, "clk=dev")
	}
}

// dispatcherLog is that of the process which dispatched to all ranks.
func (s *schedule) dispatcherLog(t *text, ranks int) {
	pid := pidOf(-1)
	all, _, _ := s.extent()
	span(t, pid, 0, "node.graph_build", treeStart-20_000, 15_000, "")
	for rank := range ranks {
		span(t, pid, 0, "node.dispatch", treeStart+uint64(rank)*rankSkew, rankSkew/2, fmt.Sprintf("worker_id=%d", rank))
	}
	span(t, pid, 0, "node.complete", treeStart+uint64(ranks)*rankSkew+(all.last-all.first)*cycleNs+deviceRoom, 10_000, "")
}
