package producer

import "swimlane/internal/abi"

// Tokens numbers the dispatches of one core (spec/collector.md §2.4). The zero
// value is a core without dispatches; the value is the sequence so far.
type Tokens uint32

// Next is the token of the next dispatch: 1, 2, …, without those from
// abi.TokenExit on. Skipping them is an even step, so that even and odd keep
// alternating.
func (t *Tokens) Next() uint32 {
	*t++
	if uint32(*t)&abi.TaskIDMask >= abi.TokenExit {
		*t += abi.TaskIDMask + 1 - abi.TokenExit
	}
	return uint32(*t) & abi.TaskIDMask
}

// kernels is the AICPU's side of a core's AicoreTask pool: the core fills the
// buffers, the AICPU changes them. A full buffer is handed over only when the
// core acknowledged the first task of the next one, because until then the
// record of its last task may be on its way.
type kernels struct {
	*dispatches
	pool
	started bool
	stash   stash
}

// dispatches is what a dispatch and an ACK touch of a core.
type dispatches struct {
	total *uint32 // of the core's AicoreTask pool
	first uint32  // total when the run began
	gate  uint32  // the token whose ACK proves that all records of the stash have landed; noGate without a stash
}

func newKernels(d *dispatches, region abi.Mem, off uint64, space abi.Space, index int) kernels {
	k := kernels{dispatches: d, pool: newPool(new(uint32), region, off, space, abi.KindAicoreTask, index)}
	d.total = k.pool.total
	return k
}

// noGate is no token.
const noGate = abi.StateMask

// stash is a full buffer whose last record may be on its way.
type stash struct {
	buffer // none: nothing is stashed
	seq    uint32
}

// prime takes the first buffer of a run.
func (k *kernels) prime(f *faults) {
	k.first, k.gate = *k.pool.total, noGate
	k.pool.prime(f)
}

// boundary is called before a dispatch that begins another buffer's worth of
// them, the first one included.
func (k *kernels) boundary(out *port, token uint32) {
	if k.started {
		k.rotate(out, token)
	}
	k.started = true
}

// rotate gives the core an empty buffer, from the task with this token on.
func (k *kernels) rotate(out *port, token uint32) {
	if !out.waitFree(k.free) {
		k.keep(out, token)
		return
	}
	next, ok := k.peek(&out.faults)
	if !ok {
		k.free.Head.Store(k.free.Head.Load() + 1) // else every further rotation would find the same slot
		k.keep(out, token)
		return
	}
	claim := true
	if k.active.addr != 0 {
		if k.stash.addr != 0 && !k.publishStash(out) {
			// There is no third place for a full buffer. Its records are lost, and it
			// serves at once as the new one: the one in the queue stays there, and no
			// buffer is left without an owner.
			*k.dropped += abi.AicoreBufferSize
			next, claim = k.stash.buffer, false
		}
		k.stash, k.gate = stash{buffer: k.active, seq: k.seq.Load()}, token
	}
	if claim {
		k.free.Head.Store(k.free.Head.Load() + 1)
	}
	// Not one more than the last: after a rotation that failed, the sequence would
	// no longer say at which dispatch the buffer begins, and live, and the host
	// (spec/collector.md §5.2), would take slots of its earlier life for records.
	k.activate(next, (*k.pool.total-k.first)/abi.AicoreBufferSize)
}

// keep leaves the core with its full buffer. The records of the next tasks find
// no slot; the protocol counts them nowhere.
func (k *kernels) keep(out *port, token uint32) {
	out.faults.add("core %d gets no empty AicoreTask buffer at dispatch token %d: the records of its next %d tasks are lost; expected the host to refill the free queue",
		k.index, token, abi.AicoreBufferSize)
}

// publishStash hands the stashed buffer over. If it cannot, it stays stashed.
func (k *kernels) publishStash(out *port) bool {
	*k.stash.count = abi.AicoreBufferSize
	if !k.publish(out, k.stash.buffer, k.stash.seq) {
		return false
	}
	k.stash, k.gate = stash{}, noGate
	return true
}

// flushStash hands the stashed buffer over for the last time.
func (k *kernels) flushStash(out *port) {
	if k.stash.addr != 0 && !k.publishStash(out) {
		k.loseFlushed(out, abi.AicoreBufferSize)
		k.stash, k.gate = stash{}, noGate
	}
}

// flush hands over the buffer that the core filled last. The core must have left
// its task loop.
func (k *kernels) flush(out *port, level abi.Level) {
	if k.active.addr == 0 {
		return
	}
	if n := k.live(level); n != 0 {
		*k.n, *k.active.count = n, n
		k.pool.flush(out)
	}
}

// live is how many slots of the active buffer the core has used. Level 1 does
// not say: the host skips slots without a start.
func (k *kernels) live(level abi.Level) uint32 {
	if level < abi.ScheduleTiming {
		return abi.AicoreBufferSize
	}
	return min(*k.pool.total-k.first-k.seq.Load()*abi.AicoreBufferSize, abi.AicoreBufferSize)
}
