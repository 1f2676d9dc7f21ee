//go:build linux

package main

import (
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"swimlane/internal/abi"
	"swimlane/internal/collector"
	"swimlane/internal/producer"
	"swimlane/internal/transport"
)

// job is one measurement: a device thread and a collector in one process.
type job struct {
	transport, kind        string
	policy                 abi.Policy
	pools, records, shards int
	idle                   bool // the cores write nothing: what the AICPU does for their records
}

// result is what a job showed.
type result struct {
	job
	wall      time.Duration // from the first store to the last callback
	deviceCPU time.Duration // of the device thread, stalls included
	hostCPU   time.Duration // of all other threads
	best      float64       // records/s of the fastest run
	stalls    producer.Stalls
	inFlight  int               // the most buffers between the device's hand-over and the callback's end
	collected uint64            // by the callback's own count
	lost      uint64            // of the records that were made
	account   collector.Account // by the collector
	copyRate  float64           // records/s of a plain copy of the same bytes

	// CPU ns per record of the device thread, without its waits.
	allNs   float64 // everything
	loopNs  float64 // the load generator's loop without a writer
	idleNs  float64 // with the AICPU's part of a core's record, and without the core's
	storeNs float64 // plain stores in the same order
}

func (r *result) rate() float64   { return float64(r.collected) / r.wall.Seconds() }
func (r *result) hostNs() float64 { return perRecord(r.hostCPU, r.records) }

// deviceNs is the writer of the records alone.
func (r *result) deviceNs() float64 {
	if r.kind == "aicore" {
		return r.allNs - r.idleNs
	}
	return r.allNs - r.loopNs
}

// shareNs is the AICPU's part of a core's record.
func (r *result) shareNs() float64 { return max(r.idleNs-r.loopNs, 0) }

func perRecord(d time.Duration, records int) float64 {
	return float64(d.Nanoseconds()) / float64(records)
}

func (r *result) print() {
	share := ""
	if r.kind == "aicore" {
		share = fmt.Sprintf("%.2f", r.shareNs())
	}
	fmt.Printf("| %s | %s | %d | %.2f | %s | %.2f | %d | %.1f | %.1f | %.1f | %.2f | %d | %d / %d / %d / %d | %.0f |\n",
		r.transport, r.kind, r.pools, r.deviceNs(), share, r.storeNs, r.stalls.Count, float64(r.stalls.Total.Microseconds())/1e3, r.best/1e6, r.rate()/1e6, r.hostNs(),
		r.inFlight, r.account.Collected, r.account.Dropped, r.account.HostLost, r.account.Unflushed, r.copyRate/1e6)
}

// memoryBase is where the device's addresses begin, memorySize how much of it
// there is; what is not used costs nothing.
const (
	memoryBase = 0x10_0000_0000
	memorySize = 4 << 30
)

// device makes memory and the host's way to it: memory that two processes can map,
// or memory of its own that the host sees through copies.
func (j *job) device() (*transport.Device, collector.Memory, error) {
	if j.transport == "shadow" {
		d, err := transport.New(memoryBase, memorySize)
		if err != nil {
			return nil, collector.Memory{}, err
		}
		return d, transport.Shadow(d), nil
	}
	d, err := transport.NewShared(memoryBase, memorySize)
	if err != nil {
		return nil, collector.Memory{}, err
	}
	return d, transport.Mapped(d), nil
}

// sink sums up every record. Each shard has one of its own.
type sink struct {
	sum     uint64
	records uint64
	_       [48]byte
}

// run measures the job several times, on one collector.
func (j *job) run(times int) (all []result, err error) {
	dev, mem, err := j.device()
	if err != nil {
		return nil, err
	}
	defer dev.Close()
	c, err := collector.New(collector.Options{
		Arch: abi.A2A3, Cores: j.pools, Level: abi.ScheduleTiming, Shards: j.shards, Memory: mem,
		Threads: max(j.shards, 2),
	})
	if err != nil {
		return nil, err
	}
	defer c.Finalize()
	// A first run touches all memory and lets the buffers spread; it does not count.
	warm := *j
	warm.records = min(j.records, j.pools*warmPerPool)
	if err := warm.measure(dev.Space(), c, new(result)); err != nil {
		return nil, err
	}
	for range times {
		r, err := j.once(dev.Space(), c)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

func (j *job) once(space abi.Space, c *collector.Swimlane) (result, error) {
	r := result{job: *j}
	if err := j.measure(space, c, &r); err != nil {
		return r, err
	}
	r.loopNs, r.best = j.loop(), r.rate()
	if j.kind == "aicore" { // on a device the two writers run on processors of their own
		share, own := *j, result{}
		share.idle = true
		if err := share.measure(space, c, &own); err != nil {
			return r, err
		}
		r.idleNs = own.allNs
	}
	r.copyRate, r.storeNs = j.plainCopy(), j.plainStores()
	return r, nil
}

// warmPerPool is how many records of a pool go through every buffer it can have.
const warmPerPool = 300_000

// measure makes one run of the collector.
func (j *job) measure(space abi.Space, c *collector.Swimlane, r *result) error {
	sinks := make([]sink, j.shards)
	run, err := c.Begin(collector.RunOptions{
		Level: abi.ScheduleTiming, Policy: j.policy,
		Sink: func(shard int, kind abi.Kind, _ int, _ uint32, records []byte) {
			s := &sinks[shard]
			s.sum += checksum(kind, records)
			s.records += uint64(len(records) / 32)
		},
	})
	if err != nil {
		return err
	}
	if err := run.Start(); err != nil {
		return err
	}
	before := processCPU()
	start := time.Now()
	if err := j.produce(space, c, r); err != nil {
		return err
	}
	run.Stop()
	r.wall = time.Since(start)
	r.hostCPU = processCPU() - before - r.deviceCPU
	out := run.Outcome()
	r.inFlight = out.MostInFlight
	var sum uint64
	for i := range sinks {
		sum += sinks[i].sum
		r.collected += sinks[i].records
	}
	if j.idle {
		return nil
	}
	if r.collected > uint64(j.records) {
		return fmt.Errorf("%d records came: expected %d", r.collected, j.records)
	}
	r.lost = uint64(j.records) - r.collected
	if r.lost > 0 && j.policy == abi.Block {
		return fmt.Errorf("%d of %d records are lost although the device waits", r.lost, j.records)
	}
	if want := j.expected(); r.lost == 0 && sum != want {
		return fmt.Errorf("the checksum of %d records is %#x: expected %#x", r.collected, sum, want)
	}
	r.account = out.Capture.Accounting.Kinds[j.abiKind()]
	if a := r.account; a.Total != a.Collected+a.Dropped+a.HostLost+a.Unflushed || a.Collected != r.collected {
		return fmt.Errorf("the accounting %+v does not add up with %d records seen", a, r.collected)
	}
	return nil
}

func (j *job) abiKind() abi.Kind {
	if j.kind == "aicore" {
		return abi.KindAicoreTask
	}
	return abi.KindAicpuTask
}

// produce is the device: one thread of the system that writes all records, to
// the pools in turn.
func (j *job) produce(space abi.Space, c *collector.Swimlane, r *result) (err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		var stalled time.Duration
		// A device waits on a processor of its own, so it does not give its thread to
		// the host's goroutines; but the system may have other work for the processor.
		var last time.Duration
		waiting := producer.Waiting{Policy: j.policy, Wait: func() {
			from := threadCPU()
			if from-last < time.Microsecond { // the same stall: what lies between is a look at the queue
				from = last
			}
			unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
			last = threadCPU()
			stalled += last - from
		}}
		var d *producer.Device
		d, err = producer.Attach(producer.Config{
			Region: c.Layout(), Space: space, RegionAddr: c.DataBase(), RotationTable: c.RotationTable(),
			Enable: abi.EnableSwimlane, Cores: j.pools, Waiting: waiting,
		})
		if err != nil {
			return
		}
		from := threadCPU()
		j.write(d)
		r.deviceCPU = threadCPU() - from
		r.allNs = perRecord(r.deviceCPU-stalled, j.records)
		r.stalls = d.Thread(0).Stalls()
	}()
	<-done
	return err
}

// write writes all records; without a device it is the loop alone.
func (j *job) write(d *producer.Device) {
	if j.kind == "aicore" {
		j.aicore(d)
	} else {
		j.aicpu(d)
	}
}

// loop is what the loop takes without a writer.
func (j *job) loop() float64 {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	from := threadCPU()
	j.write(nil)
	return perRecord(threadCPU()-from, j.records)
}

// aicpu writes the scheduler's records.
func (j *job) aicpu(d *producer.Device) {
	t := d.Thread(0)
	tasks := make([]*producer.Tasks, j.pools)
	for i := range tasks {
		tasks[i] = t.Tasks(i)
	}
	core, token := 0, uint32(1)
	for i := range uint64(j.records) {
		if w := tasks[core]; w != nil {
			r := w.Reserve()
			r.RegTaskID, r.DispatchTime, r.FinishTime = token, i, i+7
			w.Commit()
		}
		if core++; core == j.pools {
			core, token = 0, token+1
		}
	}
	t.Flush(j.cores(), nil)
}

// aicore writes the cores' records, with the scheduler's part in changing the
// buffers.
func (j *job) aicore(d *producer.Device) {
	t := d.Thread(0)
	cores := make([]*producer.Core, j.pools)
	for i := range cores {
		if !j.idle {
			cores[i] = d.Core(i)
		}
	}
	core, token := 0, uint32(1)
	for i := range uint64(j.records) {
		c := cores[core]
		t.Dispatch(core, token)
		c.Reserve()
		t.Ack(core, token)
		c.Commit(i, token, i, i+1, i+7)
		if core++; core == j.pools {
			core, token = 0, token+1
		}
	}
	t.Flush(j.cores(), nil)
}

func (j *job) cores() []int {
	out := make([]int, j.pools)
	for i := range out {
		out[i] = i
	}
	return out
}

// checksum folds every field of every record, so that the order of records does
// not matter.
func checksum(kind abi.Kind, records []byte) (sum uint64) {
	n := len(records) / 32
	if kind == abi.KindAicoreTask {
		tasks := abi.Views[abi.AicoreTask](records, 0, n)
		for i := range tasks {
			r := &tasks[i]
			sum += fold(r.StartTime, r.EndTime+r.TaskTokenRaw*3, uint64(r.RegTaskID)<<32|uint64(r.ReceiveToStartCycles))
		}
		return sum
	}
	tasks := abi.Views[abi.AicpuTask](records, 0, n)
	for i := range tasks {
		r := &tasks[i]
		sum += fold(r.DispatchTime, r.FinishTime, uint64(r.RegTaskID)<<32)
	}
	return sum
}

func fold(a, b, c uint64) uint64 {
	return (a ^ b*0x9E3779B97F4A7C15) + c*0xC2B2AE3D27D4EB4F
}

// expected is the checksum of all records, computed from their numbers alone.
func (j *job) expected() (sum uint64) {
	core, token := 0, uint64(1)
	for i := range uint64(j.records) {
		if j.kind == "aicore" {
			sum += fold(i+1, i+7+i*3, token<<32|1)
		} else {
			sum += fold(i, i+7, token<<32)
		}
		if core++; core == j.pools {
			core, token = 0, token+1
		}
	}
	return sum
}

// plainCopy copies as many bytes in pieces of a buffer, through as much memory
// as the buffers of the pools take.
func (j *job) plainCopy() float64 {
	shape := abi.Buffers[j.abiKind()]
	n := max(j.pools*abi.ProfBuffersPerCore, 8)
	from, to := abi.NewMem(n*shape.Size), abi.NewMem(n*shape.Size)
	for _, m := range []abi.Mem{from, to} {
		for i := 0; i < len(m); i += 4096 {
			m[i] = 1
		}
	}
	buffers := (j.records + shape.Capacity - 1) / shape.Capacity
	start := time.Now()
	for i := range buffers {
		at := i % n * shape.Size
		copy(to[at:at+shape.Size], from[at:at+shape.Size])
	}
	return float64(j.records) / time.Since(start).Seconds()
}

// plainStores writes the same records without a protocol: bare stores of a record
// and a count, to the pools in turn, through as many buffers as plainCopy.
func (j *job) plainStores() float64 {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	shape := abi.Buffers[j.abiKind()]
	mem := abi.NewMem(j.pools * abi.ProfBuffersPerCore * shape.Size)
	type lane struct {
		records []abi.AicpuTask
		n       int
		count   *uint32
	}
	fill := func(l *lane, buffer int) {
		at := uint64(buffer * shape.Size)
		l.records, l.n, l.count = abi.Views[abi.AicpuTask](mem, at, shape.Capacity), 0, mem.U32(at+uint64(shape.Count))
	}
	lanes, next := make([]lane, j.pools), 0
	var took time.Duration
	for range 2 { // the first touches the memory
		from := threadCPU()
		for i := range lanes {
			fill(&lanes[i], i)
		}
		core, token := 0, uint32(1)
		for i := range uint64(j.records) {
			l := &lanes[core]
			if l.n == len(l.records) {
				next = (next + 1) % (j.pools * abi.ProfBuffersPerCore)
				fill(l, next)
			}
			r := &l.records[l.n]
			r.DispatchTime, r.FinishTime, r.RegTaskID = i, i+7, token
			l.n++
			*l.count = uint32(l.n)
			if core++; core == j.pools {
				core, token = 0, token+1
			}
		}
		took = threadCPU() - from
	}
	return perRecord(took, j.records)
}

// processCPU and threadCPU are the CPU times used so far.
func processCPU() time.Duration { return clock(unix.CLOCK_PROCESS_CPUTIME_ID) }
func threadCPU() time.Duration  { return clock(unix.CLOCK_THREAD_CPUTIME_ID) }

func clock(id int32) time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(id, &ts); err != nil {
		panic(err)
	}
	return time.Duration(ts.Nano())
}
