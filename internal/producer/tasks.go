package producer

import "swimlane/internal/abi"

// Tasks is the writer of the AicpuTask records of one core, for a thread that
// writes a great many: [Tasks.Reserve] and [Tasks.Commit] are small enough to be
// inlined, where [Thread.Task] is a call. It is half a cache line: the fewer lines
// a thread with many cores touches, the faster it is. Two threads with cores in
// turn would rather have a line for each; but devices in Go are simulated, by one
// goroutine.
type Tasks struct {
	buf     *abi.AicpuTaskBuffer // that is being filled; pool.scratch if there is none
	n, next uint32               // slots of it that were taken, all but one of a scratch; at how many attend is due
	total   *uint32              // of the pool
	pool    *taskPool
}

// taskPool is what a record does not touch of its pool.
type taskPool struct {
	pool
	port    *port                // of the thread that drives the core
	scratch *abi.AicpuTaskBuffer // takes the records that no buffer takes
}

func (w *Tasks) init(p *taskPool, region abi.Mem, off uint64, space abi.Space, index int, f *faults) {
	p.pool = newPool(&w.n, region, off, space, abi.KindAicpuTask, index)
	w.total, w.pool = p.total, p
	p.prime(f)
	w.bind()
}

// bind follows a change of the active buffer.
func (w *Tasks) bind() {
	p := w.pool
	if p.active.addr != 0 {
		w.buf = abi.View[abi.AicpuTaskBuffer](p.active.mem, 0)
		w.next = 1 + stride - p.index%stride // not 1: see rescue
		return
	}
	if p.scratch == nil {
		p.scratch = new(abi.AicpuTaskBuffer)
	}
	w.buf, w.n, w.next = p.scratch, abi.ProfBufferSize-1, abi.ProfBufferSize
}

// Reserve takes the slot of the next record, to be written and then committed:
// its token, and when the task was dispatched and seen to finish.
func (w *Tasks) Reserve() *abi.AicpuTask {
	w.n++
	return &w.buf.Records[w.n-1]
}

// Commit counts the record in the slot that was reserved last, after the task's
// resolve work (spec/collector.md §2.6). It just fits the compiler's budget for
// functions to be inlined.
func (w *Tasks) Commit() {
	*w.total++ // before the count: there are never more records than attempts
	w.buf.Count = w.n
	if w.n == w.next {
		w.attend()
	}
}

// Task records are 32 bytes: every four of them, the 128 bytes are fetched that
// the four after the next four will fill. Cores do so at different records,
// because many of them often fill their buffers in step, and the processor has
// only so many fetches in flight.
const (
	stride = 4
	ahead  = 2 * stride
)

// attend does what is due at some records only.
func (w *Tasks) attend() {
	if w.n < abi.ProfBufferSize {
		w.next = min(w.next+stride, abi.ProfBufferSize)
		if w.n+ahead < abi.ProfBufferSize {
			abi.PrefetchWrite(&w.buf.Records[w.n+ahead])
		}
		return
	}
	if w.pool.active.addr == 0 {
		w.rescue()
		return
	}
	w.pool.switchBuffer(w.pool.port)
	w.bind()
}

// rescue finds a buffer for a record that no buffer took, and drops the record if
// there is still none.
func (w *Tasks) rescue() {
	p := w.pool
	w.n-- // as it was without the record
	r := w.buf.Records[w.n]
	if !p.pop(p.port, p.seq.Load()) {
		*p.dropped++
		return
	}
	w.bind()
	*w.Reserve() = r
	w.buf.Count = 1 // Commit has counted it in total
}

func (w *Tasks) flush(out *port) {
	w.pool.flush(out)
	w.bind()
}
