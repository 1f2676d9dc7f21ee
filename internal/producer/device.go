package producer

import (
	"errors"
	"fmt"

	"swimlane/internal/abi"
)

// Device is the capture of one run on the device. It keeps nothing between runs:
// each launch attaches anew.
type Device struct {
	cfg     Config
	region  abi.Mem
	level   abi.Level
	table   abi.Mem // rotation table; nil = none
	cores   []core
	threads []*Thread
	sched   []records[abi.SchedPhaseBuffer]
	orch    records[abi.OrchPhaseBuffer]
	startup error
}

// core is what the AICPU keeps of a core. Only the thread that drives the core
// touches it; the padding keeps the cores of two threads off one cache line.
type core struct {
	tasks   taskPool
	kernels kernels
	_       [64]byte
}

// Attach begins a run (spec/collector.md §2.1, §2.2): it reads the level that
// the host set, fills the rotation table and takes the first buffers of all
// cores. The device is nil when the capture is off: by its bit, by level 0, or,
// with an error, because the host's numbers cannot be. Buffers that are missing
// do not keep it off; see [Device.Startup].
func Attach(c Config) (*Device, error) {
	if c.Enable&abi.EnableSwimlane == 0 {
		return nil, nil
	}
	region, err := regionAt(c.Space, c.RegionAddr, c.Region.TotalSize, "the swimlane region")
	if err != nil {
		return nil, err
	}
	level, err := abi.ParseLevel(int(*region.U32(c.Region.Level)))
	if err != nil || level == abi.Disabled {
		return nil, err
	}
	// The host drops what comes from cores that it does not count.
	if n := min(c.Region.GridCores, int(*region.U32(c.Region.NumCores))); c.Cores < 1 || c.Cores > n {
		return nil, fmt.Errorf("a run of %d cores cannot be captured in a region for %d: expected the host to lay it out for the cores of the run", c.Cores, n)
	}
	d := &Device{cfg: c, region: region, level: level, cores: make([]core, c.Cores)}
	if c.RotationTable != 0 {
		if d.table, err = regionAt(c.Space, c.RotationTable, 8*uint64(c.Cores), "the rotation table"); err != nil {
			return nil, err
		}
	}
	tasks, counts := make([]Tasks, c.Cores), make([]dispatches, c.Cores)
	for t := range c.Region.Arch.MaxThreads {
		d.threads = append(d.threads, &Thread{level: level, tasks: tasks, dispatches: counts, cores: d.cores, port: newPort(c.Waiting, region, &c.Region.QueueHeader, t)})
	}
	d.startup = d.primeCores(tasks, counts)
	return d, nil
}

// regionAt is memory that the host announced by its address.
func regionAt(s abi.Space, addr, size uint64, what string) (abi.Mem, error) {
	if addr == 0 {
		return nil, fmt.Errorf("%s has address 0 although its capture is enabled: expected the host to publish it before the launch; the capture is off", what)
	}
	if addr%abi.Align != 0 {
		return nil, fmt.Errorf("%s has address %#x: expected a multiple of %d; the capture is off", what, addr, abi.Align)
	}
	mem, err := s.At(addr, int(size))
	if err != nil {
		return nil, fmt.Errorf("%s: %w; the capture is off", what, err)
	}
	return mem, nil
}

func (d *Device) primeCores(tasks []Tasks, counts []dispatches) error {
	var missing []error
	r, space := d.cfg.Region, d.cfg.Space
	for i := range d.cores {
		c := &d.cores[i]
		if d.table != nil {
			d.table.Word64(8 * uint64(i)).Store(d.cfg.RegionAddr + r.Pool(abi.KindAicoreTask, i))
		}
		var f faults
		tasks[i].init(&c.tasks, d.region, r.Pool(abi.KindAicpuTask, i), space, i, &f)
		missing = append(missing, f.first)
		f = faults{}
		c.kernels = newKernels(&counts[i], d.region, r.Pool(abi.KindAicoreTask, i), space, i)
		c.kernels.prime(&f)
		missing = append(missing, f.first)
	}
	return errors.Join(missing...)
}

// Startup names the buffers that were missing when the run began, nil if none.
// The capture goes on without them.
func (d *Device) Startup() error {
	if d == nil {
		return nil
	}
	return d.startup
}

// Stalls are the waits of all threads, when these have ended.
func (d *Device) Stalls() (all Stalls) {
	if d == nil {
		return all
	}
	for _, t := range d.threads {
		s := t.Stalls()
		all.Count += s.Count
		all.Total += s.Total
		all.Kept = append(all.Kept, s.Kept...)
	}
	return all
}

// Faults is how many things went wrong that the writers of the threads could not
// mend, and the first of each thread, when these have ended.
func (d *Device) Faults() (count uint64, first error) {
	if d == nil {
		return 0, nil
	}
	var all []error
	for _, t := range d.threads {
		n, err := t.Faults()
		count += n
		all = append(all, err)
	}
	return count, errors.Join(all...)
}

// Level is what the run records.
func (d *Device) Level() abi.Level {
	if d == nil {
		return abi.Disabled
	}
	return d.level
}

// Thread is the writer of an AICPU thread, nil if d is.
func (d *Device) Thread(i int) *Thread {
	if d == nil {
		return nil
	}
	return d.threads[i]
}

// Core is a new writer for an AICore, nil if d is or if there is no rotation
// table to find its buffers by.
func (d *Device) Core(i int) *Core {
	if d == nil || d.table == nil {
		return nil
	}
	return newCore(i, d.cfg.Space, d.table.Word64(8*uint64(i)))
}

// InitPhases begins the phase records, from level 3 on: of the first so many
// scheduler threads, and of an orchestrator if there is one on the device. It is
// called before the threads enter their loops. Buffers that are missing are an
// error, and do not keep the phases off.
func (d *Device) InitPhases(schedThreads, orchThreads int) error {
	if d.Level() < abi.SchedPhases {
		return nil
	}
	r, threads := d.cfg.Region, len(d.threads)
	if schedThreads < 0 || schedThreads > threads || orchThreads < 0 || orchThreads > 1 {
		return fmt.Errorf("phases of %d scheduler threads and %d orchestrators cannot be recorded: expected at most %d and 1", schedThreads, orchThreads, threads)
	}
	// Atomic: the host reads these two while it runs.
	d.region.Word32(r.NumSchedPhaseThreads).Store(uint32(schedThreads))
	d.region.Word32(r.NumOrchPhaseThreads).Store(uint32(orchThreads))
	*d.region.U32(r.NumPhaseCores) = 0
	for i := range r.Arch.MaxCores {
		d.region[r.CoreToThread+uint64(i)] = 0xFF // -1
	}
	var missing []error
	d.sched = make([]records[abi.SchedPhaseBuffer], schedThreads)
	for i := range d.sched {
		var f faults
		d.sched[i] = newRecords[abi.SchedPhaseBuffer](d.region, r.Pool(abi.KindSchedPhase, i), d.cfg.Space, abi.KindSchedPhase, i)
		d.sched[i].prime(&f)
		missing = append(missing, f.first)
		d.threads[i].sched = &d.sched[i]
	}
	if orchThreads == 1 && d.level >= abi.OrchPhases { // below, the host makes no buffers for it
		var f faults
		d.orch = newRecords[abi.OrchPhaseBuffer](d.region, r.Pool(abi.KindOrchPhase, 0), d.cfg.Space, abi.KindOrchPhase, 0)
		d.orch.prime(&f)
		missing = append(missing, f.first)
	}
	return errors.Join(missing...)
}

// AnnounceOrchestrator says which thread runs the orchestrator: its ready queue
// takes the buffers. Until then no OrchPhase is recorded, and none below level 4
// or without an orchestrator in InitPhases. That thread calls it.
func (d *Device) AnnounceOrchestrator(thread int) {
	if d.Level() >= abi.OrchPhases && d.orch.free != nil {
		d.threads[thread].orch = &d.orch
	}
}

// PublishCores tells the host, from level 3 on, which thread drives each core;
// -1 is none. It may be called while the run goes on: the host reads it when the
// run has ended.
func (d *Device) PublishCores(thread []int8) error {
	if d.Level() < abi.SchedPhases {
		return nil
	}
	r := d.cfg.Region
	if len(thread) > r.Arch.MaxCores {
		return fmt.Errorf("%d cores cannot be assigned to threads: expected at most %d", len(thread), r.Arch.MaxCores)
	}
	for i, t := range thread {
		d.region[r.CoreToThread+uint64(i)] = byte(t)
	}
	*d.region.U32(r.NumPhaseCores) = uint32(len(thread))
	return nil
}
