package collector_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/collector"
	"swimlane/internal/producer"
	"swimlane/internal/transport"
	"swimlane/internal/transport/fault"
)

// depChip is a device with an orchestrator and the collector of its submits.
type depChip struct {
	t       *testing.T
	memory  *transport.Device
	faults  *fault.Memory
	host    *collector.DepGen
	form    *abi.DepGenForm
	waiting producer.Waiting
}

func newDepChip(t *testing.T, shadow bool, o collector.DepGenOptions) *depChip {
	t.Helper()
	memory, err := transport.New(deviceBase, 128<<20)
	if err != nil {
		t.Fatal(err)
	}
	way := transport.Mapped(memory)
	if shadow {
		way = transport.Shadow(memory)
	}
	c := &depChip{t: t, memory: memory, faults: fault.New(way), form: o.Form}
	if c.form == nil {
		c.form = abi.DepGenKinds
	}
	if o.Arch == nil {
		o.Arch = abi.A2A3
	}
	o.Memory = c.faults.Ops()
	if c.host, err = collector.NewDepGen(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.faults.Clear()
		for range 2 {
			if err := c.host.Finalize(); err != nil {
				t.Error(err)
			}
		}
		if n, bytes := memory.InUse(); n != 0 {
			t.Errorf("%d allocations of %d bytes are left", n, bytes)
		}
	})
	return c
}

// begin arms and starts a run, and attaches the device's writer.
func (c *depChip) begin() (*collector.DepGenRun, *producer.DepGen) {
	c.t.Helper()
	run, err := c.host.Begin()
	if err != nil {
		c.t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		c.t.Fatal(err)
	}
	return run, c.attach()
}

// attach is what the device does at its start.
func (c *depChip) attach() *producer.DepGen {
	c.t.Helper()
	w, err := producer.AttachDepGen(producer.DepGenConfig{
		Region: c.host.Layout(), Space: c.memory.Space(), RegionAddr: c.host.DataBase(), Enable: abi.EnableDepGen, Waiting: c.waiting,
	})
	if err != nil || w == nil || w.Startup() != nil {
		c.t.Fatalf("no writer: %v, %v", err, w.Startup())
	}
	return w
}

// depRecord is a record as the test expects it, with all that a form holds.
type depRecord struct {
	task     uint64
	flags    uint32
	deps     []uint64
	kinds    []abi.DepKind // nil in the form without
	args     []abi.ArgType // of a base record, as the rest
	tensors  []abi.Tensor
	kernels  [3]int32
	blocks   uint32
	overflow bool
}

func (r *depRecord) equal(o *depRecord) bool {
	return r.task == o.task && r.flags == o.flags && r.kernels == o.kernels && r.blocks == o.blocks && r.overflow == o.overflow &&
		slices.Equal(r.deps, o.deps) && slices.Equal(r.kinds, o.kinds) && slices.Equal(r.args, o.args) && slices.Equal(r.tensors, o.tensors)
}

// chain is what spec/device-abi.md §10 makes of a submit, given how many
// dependencies an overflow record holds.
func chain(s *producer.Submit, perOverflow int, kinds bool) (out []depRecord) {
	piece := func(from, to int) (deps []uint64, k []abi.DepKind) {
		for _, d := range s.Deps[from:to] {
			deps = append(deps, d.Producer)
			if kinds {
				if d.Kind == 0 {
					d.Kind = 3
				}
				k = append(k, d.Kind)
			}
		}
		return deps, k
	}
	r := depRecord{task: s.TaskID, kernels: s.KernelIDs, blocks: 1}
	if s.BlockNum > 0 {
		r.blocks = uint32(s.BlockNum)
	}
	if s.ManualScope {
		r.flags |= 1
	}
	if s.EarlyDispatch {
		r.flags |= 16
	}
	at := min(64, len(s.Deps))
	if at < len(s.Deps) {
		r.flags |= 2
	}
	r.deps, r.kinds = piece(0, at)
	for _, a := range s.Args {
		r.args = append(r.args, a.Type)
		if a.Type == abi.ArgOutput {
			a.Tensor = abi.Tensor{}
		}
		r.tensors = append(r.tensors, a.Tensor)
	}
	for out = append(out, r); at < len(s.Deps); {
		to := min(at+perOverflow, len(s.Deps))
		o := depRecord{task: s.TaskID, flags: 4, overflow: true}
		if to == len(s.Deps) {
			o.flags |= 8
		}
		o.deps, o.kinds = piece(at, to)
		out, at = append(out, o), to
	}
	return out
}

// records are what came, copied out of the buffers.
func (c *depChip) records(o *collector.DepGenOutcome) (out []depRecord) {
	for m, slot := range o.Records() {
		v := c.form.Overflow(m, slot)
		if v.Flags&4 != 0 {
			r := depRecord{task: v.TaskID, flags: v.Flags, overflow: true, deps: v.Deps[:v.DepCount]}
			if v.Kinds != nil {
				r.kinds = v.Kinds[:v.DepCount]
			}
			out = append(out, r)
			continue
		}
		b := c.form.Record(m, slot)
		r := depRecord{task: b.TaskID, flags: b.Flags, deps: b.ExplicitDeps[:b.ExplicitDepCount], args: b.ArgTypes[:b.TensorCount],
			tensors: b.Tensors[:b.TensorCount], kernels: b.KernelID, blocks: b.BlockNum}
		if b.Kinds != nil {
			r.kinds = b.Kinds[:b.ExplicitDepCount]
		}
		out = append(out, r)
	}
	return out
}

func sameRecords(t *testing.T, got, want []depRecord) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d records came, want %d", len(got), len(want))
	}
	for i := range got {
		if !got[i].equal(&want[i]) {
			t.Fatalf("record %d is\n%.300s\nwant\n%.300s", i, fmt.Sprint(got[i]), fmt.Sprint(want[i]))
		}
	}
}

// saidOf are the texts of a severity, "" for all of them.
func saidOf(notices []collector.Notice, severity string) (out []string) {
	for _, n := range notices {
		if severity == "" || n.Severity.String() == severity {
			out = append(out, n.Text)
		}
	}
	return out
}

func wantSaid(t *testing.T, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("said\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func randomSubmit(random *rand.Rand, id uint64) *producer.Submit {
	s := &producer.Submit{
		TaskID: id, ManualScope: random.IntN(2) == 0, EarlyDispatch: random.IntN(2) == 0,
		KernelIDs: [3]int32{random.Int32N(9), -1, random.Int32()}, BlockNum: random.Int32N(5) - 1,
	}
	deps := random.IntN(4)
	if random.IntN(6) == 0 { // at and around the places where a chain grows
		deps = []int{64, 65, 64 + 524, 64 + 525, 64 + 582, 64 + 583, 5000}[random.IntN(7)]
	}
	for range deps {
		s.Deps = append(s.Deps, producer.Dep{Producer: random.Uint64(), Kind: abi.DepKind(random.IntN(4))})
	}
	for range random.IntN(5) {
		s.Args = append(s.Args, producer.Arg{Type: abi.ArgType(random.IntN(5)), Tensor: abi.Tensor{BufferAddr: random.Uint64(), NDims: 2}})
	}
	return s
}

// Every record comes, in the order of the submits and with all it holds, over
// both transports, on both architectures, in both forms.
func TestDepGenCollects(t *testing.T) {
	for _, arch := range []*abi.Arch{abi.A2A3, abi.A5} {
		for _, shadow := range []bool{false, true} {
			for _, form := range []*abi.DepGenForm{abi.DepGenKinds, abi.DepGenNoKinds} {
				if form.HasKinds == ((arch == abi.A5) == shadow) { // each pair of the three, once
					continue
				}
				t.Run(fmt.Sprintf("%s/shadow=%v/kinds=%v", arch.Name, shadow, form.HasKinds), func(t *testing.T) {
					perOverflow := 582
					if form.HasKinds {
						perOverflow = 524
					}
					seed := rand.Uint64()
					t.Logf("seed %d", seed)
					random := rand.New(rand.NewPCG(seed, 1))
					c := newDepChip(t, shadow, collector.DepGenOptions{Arch: arch, Form: form})
					run, w := c.begin()
					w.Announce(arch.MaxThreads - 1)
					var want []depRecord
					submits := 0
					for ; len(want) < 2100; submits++ {
						s := randomSubmit(random, abi.TaskID(uint32(submits%4), uint32(submits)))
						w.Submit(s)
						want = append(want, chain(s, perOverflow, form.HasKinds)...)
					}
					w.Flush()
					run.Stop()
					o := run.Outcome()
					sameRecords(t, c.records(o), want)
					if n := uint64(len(want)); o.Account != (collector.Account{Total: n, Collected: n}) || o.Submits != uint64(submits) || !o.Clean {
						t.Errorf("%d submits, clean %v, account %+v; want %d, true and %d records", o.Submits, o.Clean, o.Account, submits, n)
					}
					wantSaid(t, saidOf(o.Notices, ""), fmt.Sprintf("dep_gen reconcile: counts match (collected=%d, dropped=0, device_total=%d, overflow=%d)",
						len(want), submits, len(want)-submits))
					if o.Faults != (collector.Faults{}) {
						t.Errorf("faults %+v", o.Faults)
					}
					if n, err := w.Faults(); n != 0 {
						t.Errorf("%d faults of the device: %v", n, err)
					}
				})
			}
		}
	}
}

// A chain never crosses buffers: one that does not fit behind others begins a
// buffer, and one longer than a whole buffer is cut to it.
func TestDepGenLongestChain(t *testing.T) {
	for _, v := range []struct {
		form *abi.DepGenForm
		most int // spec/device-abi.md §10
		per  int
	}{{abi.DepGenKinds, 536_116, 524}, {abi.DepGenNoKinds, 595_450, 582}} {
		c := newDepChip(t, true, collector.DepGenOptions{Form: v.form})
		run, w := c.begin()
		w.Announce(0)
		long := &producer.Submit{TaskID: 2, Deps: make([]producer.Dep, v.most+1)}
		for i := range long.Deps {
			long.Deps[i] = producer.Dep{Producer: uint64(i), Kind: abi.DepWait}
		}
		first, last := &producer.Submit{TaskID: 1}, &producer.Submit{TaskID: 3}
		for _, s := range []*producer.Submit{first, long, last} {
			w.Submit(s)
		}
		w.Flush()
		run.Stop()
		o := run.Outcome()
		cut := *long
		cut.Deps = cut.Deps[:v.most]
		var want []depRecord
		for _, s := range []*producer.Submit{first, &cut, last} {
			want = append(want, chain(s, v.per, v.form.HasKinds)...)
		}
		sameRecords(t, c.records(o), want)
		if want := (collector.Account{Total: 1026, Collected: 1026}); o.Account != want || o.Submits != 3 || !o.Clean {
			t.Errorf("%d submits, clean %v, account %+v, want 3, true, %+v", o.Submits, o.Clean, o.Account, want)
		}
		if n, err := w.Faults(); n != 1 || !strings.Contains(err.Error(), fmt.Sprint(v.most)) {
			t.Errorf("%d faults, %v: want the cut to %d dependencies", n, err, v.most)
		}
	}
}

// The vectors of spec/collector.md §10, seen from the host.
func TestDepGenVectors(t *testing.T) {
	c := newDepChip(t, true, collector.DepGenOptions{})
	run, w := c.begin()
	w.Submit(&producer.Submit{TaskID: 1}) // nobody has said which thread this is
	run.Stop()
	o := run.Outcome()
	if o.Clean || o.Account != (collector.Account{Total: 1, Dropped: 1}) || o.Submits != 1 {
		t.Errorf("clean %v, account %+v, %d submits", o.Clean, o.Account, o.Submits)
	}
	if said := saidOf(o.Notices, ""); len(said) != 1 || !strings.HasPrefix(said[0], "dep_gen reconcile: 1 records dropped on device side") {
		t.Errorf("said %q", said)
	}

	run, w = c.begin()
	w.Announce(0)
	w.Submit(&producer.Submit{TaskID: 0x1234})
	w.Flush()
	run.Stop()
	o = run.Outcome()
	if !o.Clean || o.Account != (collector.Account{Total: 1, Collected: 1}) {
		t.Errorf("clean %v, account %+v", o.Clean, o.Account)
	}
	sameRecords(t, c.records(o), []depRecord{{task: 0x1234, blocks: 1}})
	wantSaid(t, saidOf(o.Notices, ""), "dep_gen reconcile: counts match (collected=1, dropped=0, device_total=1, overflow=0)")

	run, _ = c.begin() // an empty trace is a valid one
	run.Stop()
	if o = run.Outcome(); !o.Clean || o.Account != (collector.Account{}) || len(c.records(o)) != 0 {
		t.Errorf("without submits: clean %v, account %+v", o.Clean, o.Account)
	}
}

// Whatever is missing makes the run not clean, and is said and counted.
func TestDepGenNotClean(t *testing.T) {
	type outcome struct {
		account collector.Account
		said    []string
	}
	submit := func(w *producer.DepGen, n int) {
		for i := range n {
			w.Submit(&producer.Submit{TaskID: uint64(i)})
		}
	}
	// active is where the device fills a buffer.
	active := func(c *depChip) uint64 {
		m, err := c.memory.Space().At(c.host.DataBase()+c.host.Layout().State, 192)
		if err != nil {
			t.Fatal(err)
		}
		return m.Word64(128).Load()
	}
	for name, run := range map[string]func(c *depChip, w *producer.DepGen) outcome{
		"not flushed": func(c *depChip, w *producer.DepGen) outcome {
			w.Submit(&producer.Submit{TaskID: 1, Deps: make([]producer.Dep, 65)})
			submit(w, 2)
			return outcome{collector.Account{Total: 4, Unflushed: 4}, []string{
				fmt.Sprintf("dep_gen reconcile: un-flushed buffer (current_buf_ptr=0x%x, count=4) — device flush failed", active(c)),
				"dep_gen reconcile: record count mismatch (collected=0 + dropped=0 != device_total=3 + overflow=1, silent_loss=4)",
			}}
		},
		"a buffer in and one not flushed": func(c *depChip, w *producer.DepGen) outcome {
			submit(w, 1024+6)
			return outcome{collector.Account{Total: 1030, Collected: 1024, Unflushed: 6}, []string{
				fmt.Sprintf("dep_gen reconcile: un-flushed buffer (current_buf_ptr=0x%x, count=6) — device flush failed", active(c)),
				"dep_gen reconcile: record count mismatch (collected=1024 + dropped=0 != device_total=1030 + overflow=0, silent_loss=6)",
			}}
		},
		"a buffer that cannot be read": func(c *depChip, w *producer.DepGen) outcome {
			size := 4_849_728 // spec/device-abi.md §10
			for i := range 3 {
				c.faults.Add(fault.Rule{Op: fault.FromDevice, Size: size, Nth: i + 2, Err: errors.New("no way")})
			}
			submit(w, 3*1024)
			w.Flush()
			return outcome{collector.Account{Total: 3072, Collected: 2048, HostLost: 1024}, []string{
				"dep_gen reconcile: record count mismatch (collected=2048 + dropped=0 != device_total=3072 + overflow=0, silent_loss=1024)",
			}}
		},
		"counters that cannot be read": func(c *depChip, w *producer.DepGen) outcome {
			c.faults.Add(fault.Rule{Op: fault.FromDevice, Size: int(c.host.Layout().TotalSize), Err: errors.New("no way")})
			submit(w, 5)
			w.Flush()
			return outcome{collector.Account{Total: 5, Collected: 5}, []string{
				"dep_gen reconcile: the device's counters cannot be read, so nothing is known of losses: no way",
			}}
		},
		"counters that could not be read at once": func(c *depChip, w *producer.DepGen) outcome {
			c.faults.Add(fault.Rule{Op: fault.FromDevice, Size: int(c.host.Layout().TotalSize), Nth: 1, Err: errors.New("no way")})
			submit(w, 5)
			return outcome{collector.Account{Total: 5, Unflushed: 5}, []string{
				fmt.Sprintf("dep_gen reconcile: un-flushed buffer (current_buf_ptr=0x%x, count=5) — device flush failed", active(c)),
				"dep_gen reconcile: record count mismatch (collected=0 + dropped=0 != device_total=5 + overflow=0, silent_loss=5)",
			}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newDepChip(t, true, collector.DepGenOptions{})
			r, w := c.begin()
			w.Announce(1)
			want := run(c, w)
			r.Stop()
			o := r.Outcome()
			if o.Clean || o.Account != want.account {
				t.Errorf("clean %v, account %+v, want not clean, %+v", o.Clean, o.Account, want.account)
			}
			wantSaid(t, saidOf(o.Notices, "error"), want.said...)
			if got := uint64(len(c.records(o))); got != want.account.Collected {
				t.Errorf("%d records, want %d", got, want.account.Collected)
			}
			// The next run knows nothing of it.
			r, w = c.begin()
			w.Announce(1)
			c.faults.Clear()
			submit(w, 3)
			w.Flush()
			if o := r.Outcome(); !o.Clean || o.Account != (collector.Account{Total: 3, Collected: 3}) {
				t.Errorf("the next run: clean %v, account %+v, said %q", o.Clean, o.Account, o.Notices)
			}
		})
	}
}

// A host that stands still costs records where the device drops, and none where
// it waits.
func TestDepGenStandingHost(t *testing.T) {
	for _, policy := range []abi.Policy{abi.Drop, abi.Block} {
		t.Run(fmt.Sprint("policy ", policy), func(t *testing.T) {
			const rest = 200
			c := newDepChip(t, true, collector.DepGenOptions{Buffers: 1})
			goOn := make(chan struct{})
			once := sync.OnceFunc(func() { close(goOn) })
			c.waiting = producer.Waiting{Policy: policy, Wait: once}
			c.faults.Add(fault.Rule{Op: fault.FromDevice, Size: 4_849_728, Before: func(fault.Call) { <-goOn }})
			run, w := c.begin()
			w.Announce(2)
			for i := range 4*1024 + rest { // a free queue has 4 slots
				w.Submit(&producer.Submit{TaskID: uint64(i)})
			}
			once()
			w.Flush()
			run.Stop()
			o := run.Outcome()
			n := uint64(4*1024 + rest)
			want := collector.Account{Total: n, Collected: n}
			if policy == abi.Drop {
				want = collector.Account{Total: n, Collected: 4 * 1024, Dropped: rest}
				if said := saidOf(o.Notices, "error"); len(said) != 1 || !strings.HasPrefix(said[0], "dep_gen reconcile: 200 records dropped on device side") {
					t.Errorf("said %q", said)
				}
			}
			if o.Account != want || o.Clean != (policy == abi.Block) {
				t.Errorf("clean %v, account %+v, want %+v", o.Clean, o.Account, want)
			}
			for i, r := range c.records(o) {
				if r.task != uint64(i) {
					t.Fatalf("record %d is of task %d", i, r.task)
				}
			}
		})
	}
}

// Runs follow each other on the same buffers, whatever state the last one left
// them in, and an outcome stays what it was.
func TestDepGenRuns(t *testing.T) {
	c := newDepChip(t, false, collector.DepGenOptions{})
	var first *collector.DepGenOutcome
	allocations, _ := c.memory.InUse()
	for i := range 20 {
		run, w := c.begin()
		w.Announce(i % 4)
		submits := 1 + i%3*1024
		for n := range submits {
			w.Submit(&producer.Submit{TaskID: uint64(i)<<32 | uint64(n)})
		}
		if i%2 == 0 { // else the device dies
			w.Flush()
		}
		o := run.Outcome() // which stops it
		if o != run.Outcome() {
			t.Fatal("a second outcome")
		}
		if o.Clean != (i%2 == 0) || o.Account.Total != uint64(submits) || o.Account.Total != o.Account.Collected+o.Account.Unflushed {
			t.Fatalf("run %d of %d submits: clean %v, account %+v", i, submits, o.Clean, o.Account)
		}
		for n, r := range c.records(o) {
			if r.task != uint64(i)<<32|uint64(n) {
				t.Fatalf("run %d: record %d is of task %#x", i, n, r.task)
			}
		}
		if i == 0 {
			first = o
		}
	}
	if n, _ := c.memory.InUse(); n > allocations+4 {
		t.Errorf("%d allocations after 20 runs, %d before: buffers are not used again", n, allocations)
	}
	if r := c.records(first); len(r) != 1 || r[0].task != 0 || !first.Clean {
		t.Errorf("the first outcome has changed: %+v", r)
	}
}

func TestDepGenLifeCycle(t *testing.T) {
	fails := func(err error, want string) {
		t.Helper()
		if err == nil || err.Error() != want {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	c := newDepChip(t, false, collector.DepGenOptions{})
	run, _ := c.begin()
	if err := run.Start(); err != nil {
		t.Errorf("a second start: %v", err)
	}
	_, err := c.host.Begin()
	fails(err, "begin a dep_gen run: the run before it has not been stopped")
	run.Stop()
	run.Stop()
	fails(run.Start(), "this run is over: begin another one")

	idle, err := c.host.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if o := idle.Outcome(); o.Clean || o.Account != (collector.Account{}) { // nobody knows what the device did
		t.Errorf("a run without a start: %+v", o)
	}
	fails(idle.Start(), "this run is over: begin another one")

	last, err := c.host.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.host.Finalize(); err != nil {
		t.Error(err)
	}
	fails(last.Start(), "this run is over: begin another one") // its memory is gone
	_, err = c.host.Begin()
	fails(err, "begin a dep_gen run: the collector has been finalized")
	if run.Outcome() == nil {
		t.Error("the outcome of an old run is gone")
	}
}

func TestDepGenOptionsRefused(t *testing.T) {
	memory, err := transport.New(deviceBase, 128<<20)
	if err != nil {
		t.Fatal(err)
	}
	good := collector.DepGenOptions{Arch: abi.A2A3, Memory: transport.Mapped(memory)}
	for want, change := range map[string]func(o *collector.DepGenOptions){
		"no architecture is given":                           func(o *collector.DepGenOptions) { o.Arch = nil },
		"the memory operations alloc and free are mandatory": func(o *collector.DepGenOptions) { o.Memory.Free = nil },
		"-1 buffers cannot be: expected 1 to 4096":           func(o *collector.DepGenOptions) { o.Buffers = -1 },
		"4097 buffers cannot be: expected 1 to 4096":         func(o *collector.DepGenOptions) { o.Buffers = 4097 },
		"5 ready queues cannot be drained: expected 1 to 4":  func(o *collector.DepGenOptions) { o.Threads = 5 },
		"-1 ready queues cannot be drained: expected 1 to 4": func(o *collector.DepGenOptions) { o.Threads = -1 },
		"allocate 969945600 bytes of device memory: no memory": func(o *collector.DepGenOptions) {
			o.Buffers = 200
			o.Memory.Alloc = func(size int) (uint64, error) {
				if size > 1<<20 {
					return 0, errors.New("no memory")
				}
				return good.Memory.Alloc(size)
			}
		},
	} {
		o := good
		change(&o)
		_, err := collector.NewDepGen(o)
		if err == nil || !strings.HasPrefix(err.Error(), "dep_gen collector: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
		if n, _ := memory.InUse(); n != 0 {
			t.Errorf("%s: %d allocations are left", want, n)
		}
	}
}

// What a device hands over to a host that was never started is lost by the host,
// and said.
func TestDepGenHostNeverStarted(t *testing.T) {
	for _, shadow := range []bool{false, true} {
		c := newDepChip(t, shadow, collector.DepGenOptions{})
		run, err := c.host.Begin()
		if err != nil {
			t.Fatal(err)
		}
		w := c.attach()
		w.Announce(0)
		for i := range 10 {
			w.Submit(&producer.Submit{TaskID: uint64(i)})
		}
		w.Flush()
		o := run.Outcome()
		if want := (collector.Account{Total: 10, HostLost: 10}); o.Account != want || o.Submits != 10 || o.Clean || len(o.Notices) == 0 {
			t.Errorf("shadow %v: %+v, want %+v and no clean run", shadow, o, want)
		}
	}
}

// After a flush the orchestrator goes on with the same sequence: what it then
// leaves is un-flushed, though a buffer of that sequence has come.
func TestDepGenSubmitsAfterFlush(t *testing.T) {
	c := newDepChip(t, false, collector.DepGenOptions{})
	run, w := c.begin()
	w.Announce(0)
	w.Submit(&producer.Submit{TaskID: 1})
	w.Flush()
	w.Submit(&producer.Submit{TaskID: 2})
	w.Submit(&producer.Submit{TaskID: 3})
	o := run.Outcome()
	if want := (collector.Account{Total: 3, Collected: 1, Unflushed: 2}); o.Account != want || o.Clean {
		t.Errorf("account %+v, want %+v and no clean run", o.Account, want)
	}
	found := false
	for _, n := range o.Notices {
		found = found || strings.HasPrefix(n.Text, "dep_gen reconcile: un-flushed buffer (current_buf_ptr=0x") && strings.Contains(n.Text, "count=2)")
	}
	if !found {
		t.Errorf("said %+v", o.Notices)
	}
}
