package scene

import (
	"io"
	"time"

	"swimlane/internal/hostlog"
)

// SetGrace changes how long a failed run waits for what is at work, and then for what it
// has to write.
func SetGrace(work, words time.Duration) (back func()) {
	oldWork, oldWords := grace, lastWords
	grace, lastWords = work, words
	return func() { grace, lastWords = oldWork, oldWords }
}

// Kinds of frames.
const (
	KindHello   = kindHello
	KindOrder   = kindOrder
	KindStop    = kindStop
	WorkerEnv   = workerEnv
	KindReady   = kindReady
	KindRefused = kindRefused
	KindDone    = kindDone
	KindEnded   = kindEnded
)

// Hello is what a worker is told first.
type Hello = hello

// Order is what a worker is told to run.
type (
	Order    = order
	OrderArg = orderArg
)

// Arguments makes the tensors of an order.
func (o *Order) Arguments(blob []byte) ([]Data, error) { return o.arguments(blob) }

// Bytes are the values of a tensor.
func (d *Data) Bytes() []byte { return d.appendTo(nil) }

// Results takes a blob into a tensor that a task has written.
func Results(d *Data, blob []byte) error {
	t := &nodeTensor{data: *d}
	return results([]NodeArg{{t, Reads}, {t, Writes}}, blob)
}

// BeWorker serves a dispatcher in this process.
func BeWorker(scenes []*Scene, from io.Reader, to io.Writer) int { return beWorker(scenes, from, to) }

// Digests are those of a node's callables.
func Digests(s *Scene) []string { return s.Node.digests() }

// WaitsOf are the slots of the tasks that each task of an orchestration waits for, when it
// is submitted to a node where nothing runs.
func WaitsOf(s *Scene, orchestrate func(*NodeOrchestrator)) (waits [][]int) {
	n := &nodeBatch{node: s.Node, config: s.Cases[0].Config, digests: s.Node.digests()}
	n.log = newNodeLog(hostlog.New(hostlog.Options{Output: io.Discard}), hostlog.SystemClock())
	n.sched = newNodeSched(n)
	orchestrate(&NodeOrchestrator{run: &nodeRun{nodeBatch: n, id: 1}})
	for _, t := range n.sched.incoming {
		var on []int
		for _, p := range t.after {
			on = append(on, p.slot)
		}
		waits = append(waits, on)
	}
	return waits
}
