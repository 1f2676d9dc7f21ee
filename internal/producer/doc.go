// Package producer is the device's half of the capture protocol
// (spec/collector.md §2, §10): it fills the record buffers that the host laid
// out, hands them over, and takes empty ones.
//
// A run begins with [Attach], called by one leader before any core may see a
// task. [Device.Startup] says whether buffers were missing. With phases, from
// level 3 on, the leader calls [Device.InitPhases] before the threads enter their
// loops; with an orchestrator on the device its thread calls
// [Device.AnnounceOrchestrator]; and whoever assigns cores to threads calls
// [Device.PublishCores]. The [Device] gives out the writers:
//
//   - a [Thread] for each AICPU thread: it counts dispatches, keeps the buffers
//     of the cores that it drives, and writes AicpuTask and phase records;
//   - a [Core] for each AICore: it writes the core's own AicoreTask records;
//   - [AttachDepGen] gives the [DepGen] of the orchestrator, which has a region
//     of its own.
//
// A writer belongs to one goroutine at a time, and so does a core's state: all
// calls that name a core come from the thread that drives it. One goroutine may
// play all threads and cores.
//
// What a scheduler thread calls, per task on a core:
//
//	token := tokens[core].Next()      // also when nothing is recorded
//	thread.Dispatch(core, token)      // before the token is written to DATA_MAIN_BASE
//	…
//	thread.Ack(core, id)              // on every matched COND event, after finish_ts
//	thread.Task(core, token, dispatched, finished)
//
// or, without a call per record, through the core's [Tasks], which it asks for
// once with [Thread.Tasks]:
//
//	if w := tasks[core]; w != nil {
//		r := w.Reserve()
//		r.RegTaskID, r.DispatchTime, r.FinishTime = token, dispatched, finished
//		w.Commit()
//	}
//
// and what the core calls:
//
//	c.Reserve()                       // before it writes ACK
//	c.Commit(task, token, received, started, ended) // after it wrote FIN
//
// At the end of its loop a thread calls [Thread.Flush], the orchestrator
// [Thread.FlushOrch] and [DepGen.Flush].
//
// A nil Device gives nil writers, and all methods of a nil writer do nothing,
// except those of Tasks, whose caller looks for itself.
// That is what a run without capture looks like: the methods on the way of a task
// are small enough to be inlined, and end with the comparison.
//
// What a writer meets on its way (a host that holds a freeze too long, numbers
// that cannot be) never stops it. It counts such things and keeps the first as
// an error; records that are lost are counted in the shared memory, where the
// host finds them.
package producer
