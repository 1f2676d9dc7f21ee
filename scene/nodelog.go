package scene

import (
	"os"

	"swimlane/internal/hostlog"
)

// nodeLog writes the dispatcher's spans (spec/host-log.md §4.3). What the facade does
// stands on the main thread of the process, what the scheduler does on its own.
type nodeLog struct {
	log       *hostlog.Log
	clock     hostlog.Clock
	facade    int64 // thread ids
	scheduler int64
}

func newNodeLog(log *hostlog.Log, clock hostlog.Clock) *nodeLog {
	return &nodeLog{log: log, clock: clock, facade: int64(os.Getpid())}
}

func (l *nodeLog) now() int64 { return l.clock.Mono() }

// span writes a span that ends now.
func (l *nodeLog) span(thread int64, inv uint64, digest, name string, began int64, attrs ...hostlog.Attr) {
	hid := ""
	if digest != "" {
		hid = hashOf(digest)
	}
	l.log.Span(hostlog.Entry{TID: thread, Inv: inv, HID: hid, Name: "node." + name, TS: began, Dur: l.now() - began, Attrs: attrs})
}

func role(name string) hostlog.Attr { return hostlog.Attr{Key: "role", Value: name} }

// graphBuild is the whole orchestration of a run.
func (l *nodeLog) graphBuild(run uint64, began int64) {
	l.span(l.facade, run, "", "graph_build", began, hostlog.Int("run_id", run), role("facade"))
}

// submit is one submit of a chip callable; those of sub-workers have no span.
func (l *nodeLog) submit(run uint64, t *nodeTask, began int64) {
	if t.k.Chip == nil {
		return
	}
	attrs := []hostlog.Attr{hostlog.Int("run_id", run), hostlog.Int("task_slot", t.slot)}
	if t.group {
		attrs = append(attrs, hostlog.Int("group_index", -1), hostlog.Int("group_size", len(t.members)))
	} else {
		attrs = append(attrs, hostlog.Int("group_index", 0), hostlog.Int("group_size", 1), hostlog.Int("worker_id", t.members[0].worker))
	}
	l.span(l.facade, run, t.digest, "submit", began, append(attrs, role("facade"))...)
}

// retirement is what follows when all tasks of a run have ended.
func (l *nodeLog) retirement(run uint64, slot, generation uint64, began int64) {
	l.span(l.facade, run, "", "post_fence_retirement", began,
		hostlog.Int("run_id", run), hostlog.Int("slot_id", slot), hostlog.Int("generation", generation), role("facade"))
}

// flight is a member on its way to an endpoint, at work there, or on its way back.
type flight struct {
	m          *nodeMember
	run        uint64
	worker     int
	dispatch   uint64 // counter of the endpoint
	generation uint64 // of the only slot of the pipeline
}

// attrs are those that all spans of a flight have.
func (f *flight) attrs(who string) []hostlog.Attr {
	return []hostlog.Attr{
		hostlog.Int("run_id", f.run), hostlog.Int("task_slot", f.m.task.slot), hostlog.Int("group_index", f.m.index), hostlog.Int("worker_id", f.worker),
		hostlog.Int("dispatch_id", f.dispatch), {Key: "endpoint_kind", Value: "local_mailbox"}, hostlog.Int("prepare_only", 0), role(who),
	}
}

func (l *nodeLog) frameSubmit(f *flight, began int64) {
	l.span(l.scheduler, f.run, f.m.task.digest, "frame_submit", began, f.attrs("worker")...)
}

func (l *nodeLog) dispatched(f *flight, began int64) {
	l.span(l.scheduler, f.run, f.m.task.digest, "dispatch", began,
		append(f.attrs("scheduler"), hostlog.Int("slot_id", 0), hostlog.Int("generation", f.generation))...)
}

func (l *nodeLog) completed(f *flight, began int64, failed bool) {
	outcome := 0
	if failed {
		outcome = 1
	}
	l.span(l.scheduler, f.run, f.m.task.digest, "complete", began, append(f.attrs("worker"), hostlog.Int("outcome", outcome))...)
}

// loop is an iteration of the scheduler that took or dispatched something.
func (l *nodeLog) loop(began int64, drained, dispatched int, drainNs int64, spins int) {
	l.span(l.scheduler, 0, "", "scheduler_loop", began, role("scheduler"),
		hostlog.Int("drained", drained), hostlog.Int("dispatched", dispatched), hostlog.Int("drain_ns", drainNs), hostlog.Int("spins", spins))
}
