package collector

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// exchange moves buffers round the loop of spec/collector.md §1:
//
//	device free queue → device → ready queue → drain shard → hand-off →
//	collector shard → done → replenish → recycled lane → device free queue
//
// Each shard is one drain goroutine and one collector goroutine; one more
// goroutine replenishes. A channel is the ring between two of them, and a lane
// the stack of free buffers.
type exchange struct {
	mod    module
	kinds  []kindSpec
	mem    *mapping
	region *region
	queues int // ready queues of this run's threads
	shards []*shard
	pools  []*pool
	log    Logger
	faults faults
	flight gauge  // buffers taken from a ready queue and not collected yet
	lost   []lost // per kind: what could not be charged to a pool

	handoff   int           // capacity of the hand-off of a shard
	rebalance bool          // send a collected buffer to the shard that lacks most
	idleLimit time.Duration // a shard without traffic is reported after this long

	running  atomic.Bool // drain and replenish go on
	troubled atomic.Bool // a transfer of this run has failed, and that was said
	threads  sync.WaitGroup
	started  bool
	stopping sync.Mutex // start and stop, one at a time
}

// shard is what belongs to one drain and one collector goroutine.
type shard struct {
	handoff  chan handoff
	done     chan *buffer
	recycled []*lane   // per kind
	held     []handoff // the module wants to see them again after the stop; of the collector goroutine

	collected atomic.Uint64 // buffers
}

// pool is one free queue. Its lock makes the drain shards and the replenish
// goroutine one producer; it is rarely contended.
type pool struct {
	poolSpec
	mu    sync.Mutex
	next  *buffer     // it could not be pushed: the next push tries it again
	short atomic.Bool // it was not full when it was topped up last
	lost  lost
}

// capacities of the channels and lanes of a shard (spec/collector.md §3.3).
type capacities struct{ handoff, done, recycled int }

func newExchange(mod module, mem *mapping, r *region, queues, shards int, c capacities, log Logger) (*exchange, error) {
	threads := mod.header().Threads
	if queues < 1 || queues > threads {
		return nil, fmt.Errorf("%s: %d ready queues cannot be drained: expected 1 to %d", mod.name(), queues, threads)
	}
	if shards < 1 || shards > mod.maxShards() {
		return nil, fmt.Errorf("%s: %d collector shards cannot be: expected 1 to %d", mod.name(), shards, mod.maxShards())
	}
	x := &exchange{
		mod: mod, kinds: mod.kinds(), mem: mem, region: r, queues: queues, log: log,
		handoff: c.handoff, rebalance: true, idleLimit: idleLimit,
	}
	for range shards {
		s := &shard{done: make(chan *buffer, c.done)}
		for range x.kinds {
			s.recycled = append(s.recycled, &lane{room: c.recycled})
		}
		x.shards = append(x.shards, s)
	}
	x.lost = make([]lost, len(x.kinds))
	for _, p := range mod.pools() {
		x.pools = append(x.pools, &pool{poolSpec: p})
	}
	return x, nil
}

// put offers a free buffer to a lane and retires it if the lane is full.
func (x *exchange) put(shard int, b *buffer) {
	b.at.Store(atHost)
	if !x.shards[shard].recycled[b.kind].put(b) {
		x.retire(b)
	}
}

// retire takes a buffer out of use. It stays allocated until the collector ends.
func (x *exchange) retire(b *buffer) {
	b.at.Store(retired)
	x.faults.retired.Add(1)
}

// take takes a free buffer out of a lane.
func (x *exchange) take(shard, kind int) *buffer {
	return x.shards[shard].recycled[kind].take()
}

// takeAny takes a free buffer out of the lane that has most, so that no lane falls
// below its target while another is above it.
func (x *exchange) takeAny(kind int) *buffer {
	for {
		most := 0
		for i, s := range x.shards {
			if s.recycled[kind].len() > x.shards[most].recycled[kind].len() {
				most = i
			}
		}
		b := x.take(most, kind)
		if b != nil || x.shards[most].recycled[kind].len() == 0 { // else its drain goroutine was faster
			return b
		}
	}
}

// grow allocates a batch of buffers for a lane.
func (x *exchange) grow(shard, kind, count int) error {
	b, err := x.mem.carve(kind, x.kinds[kind].buffer.Size, count)
	if err != nil {
		x.faults.allocation.Add(1)
		return fmt.Errorf("%s: %s buffers: %w", x.mod.name(), x.kinds[kind].name, err)
	}
	for i := range b.buffers {
		x.put(shard, &b.buffers[i])
	}
	return nil
}

// seed allocates the buffers of a pool before the device runs: as many as fit go
// into its free queue, the rest into the lane of a shard.
func (x *exchange) seed(p *pool, shard, count int) error {
	b, err := x.mem.carve(p.kind, x.kinds[p.kind].buffer.Size, count)
	if err != nil {
		return err
	}
	l := x.mod.freeQueue()
	queued := min(count, l.Slots)
	for i := range b.buffers {
		if i < queued {
			b.buffers[i].at.Store(atDevice)
			x.region.host.Word64(p.queue + l.Slot(uint32(i))).Store(b.buffers[i].addr)
			continue
		}
		x.put(shard, &b.buffers[i])
	}
	x.region.host.Word32(p.queue + l.Tail()).Store(uint32(queued))
	return nil
}

// start fills the free queues and starts the goroutines; it must come before the
// device does. A second start without a stop between them does nothing.
func (x *exchange) start() error {
	x.stopping.Lock()
	defer x.stopping.Unlock()
	if x.started {
		return nil
	}
	r := newReplenisher(x)
	if _, err := r.fillQueues(); err != nil {
		return err
	}
	if _, err := r.fillLanes(); err != nil { // the free queues are full, which is what a run needs
		r.growFailed(err)
	}
	for _, s := range x.shards {
		s.handoff = make(chan handoff, x.handoff)
	}
	x.started = true
	x.troubled.Store(false)
	x.running.Store(true)
	var drains sync.WaitGroup
	for i := range x.shards {
		drains.Go(newDrainer(x, i).run)
	}
	replenished := make(chan struct{})
	go func() {
		defer close(replenished)
		r.run()
	}()
	for i, s := range x.shards {
		x.threads.Go(func() { x.collectAll(i, s) })
	}
	// The order of the end: drain, replenish, collect (spec/collector.md §4.8).
	x.threads.Go(func() {
		drains.Wait()
		<-replenished
		for _, s := range x.shards {
			close(s.handoff)
		}
	})
	return nil
}

// stop ends the goroutines after everything that the device has handed over is
// collected. The device must have finished: no freeze is served any more. A
// second stop does nothing.
func (x *exchange) stop() {
	x.stopping.Lock()
	defer x.stopping.Unlock()
	if !x.started {
		return
	}
	x.running.Store(false)
	x.threads.Wait()
	x.started = false
	newReplenisher(x).drainDone()
}
