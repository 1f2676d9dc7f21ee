package collector

import (
	"errors"
	"testing"

	"swimlane/internal/abi"
)

// lastPass runs a drain shard that is told to end at once, on a queue with three
// buffers of 1, 2 and 3 records. Its copies from the device fail where fail says
// so; n counts those of the same place.
func lastPass(t *testing.T, fail func(off uint64, n int) bool, spoil func(device, abi.Mem)) (x *exchange, collected uint64) {
	t.Helper()
	mem, mod := newTestMemory(), newTestModule(1, 4, 0)
	ops := mem.shadow()
	x = testExchange(t, mod, ops, 1, nil)
	if _, err := newReplenisher(x).fillQueues(); err != nil {
		t.Fatal(err)
	}
	// The device is played on its own memory.
	dev := device{x: x, mod: mod}
	onDevice := mem.at(x.region.addr, mod.size())
	for i := range uint32(3) {
		addr := dev.pop(0, 0)
		*mem.at(addr, 192).U32(128) = i + 1
		*abi.View[abi.ReadyEntry](onDevice, mod.hdr.Entry(0, i)) = abi.ReadyEntry{BufferPtr: addr, BufferSeq: i}
	}
	onDevice.Word32(mod.hdr.Tail(0)).Store(3)
	seen := map[uint64]int{}
	x.mem.mem.CopyFromDevice = func(to []byte, addr uint64) error {
		off := addr - x.region.addr
		if seen[off]++; fail(off, seen[off]) {
			return errors.New("bus error")
		}
		return ops.CopyFromDevice(to, addr)
	}
	if spoil != nil {
		spoil(dev, onDevice)
	}
	x.shards[0].handoff = make(chan handoff, 8)
	newDrainer(x, 0).run()
	close(x.shards[0].handoff)
	for h := range x.shards[0].handoff {
		collected += uint64(*h.buf.host.U32(128))
		h.buf.at.Store(atHost)
	}
	return x, collected
}

// A word that fails once in the pass after the stop costs nothing.
func TestWordFailsInTheLastPass(t *testing.T) {
	mod := newTestModule(1, 4, 0)
	for name, at := range map[string]uint64{"tail": mod.hdr.Tail(0), "first entry": mod.hdr.Entry(0, 0), "last entry": mod.hdr.Entry(0, 2)} {
		t.Run(name, func(t *testing.T) {
			x, collected := lastPass(t, func(off uint64, n int) bool { return off == at && n == 1 }, nil)
			if collected != 6 || x.faults.transfers.Load() != 1 || x.faults.untaken.Load() != 0 {
				t.Errorf("%d records collected, %d transfers failed, %d entries untaken; want 6, 1, 0", collected, x.faults.transfers.Load(), x.faults.untaken.Load())
			}
		})
	}
}

// What stays in a queue is charged: by its count where that can be read, else as
// a buffer of unknown contents.
func TestUntakenEntries(t *testing.T) {
	mod := newTestModule(1, 4, 0)
	second := mod.hdr.Entry(0, 1)
	broken := func(uint64, []byte) error { return errors.New("bus error") }
	for _, c := range []struct {
		name                             string
		fail                             func(off uint64, n int) bool
		spoil                            func(d device, mem abi.Mem)
		collected, counted, pool, adrift uint64 // records; and buffers of unknown contents, by pool and by kind
		untaken                          uint64
	}{
		{"second entry is never readable", func(off uint64, n int) bool { return off == second }, nil, 1, 3, 0, 1, 2},
		{"tail is never readable", func(off uint64, n int) bool { return off == mod.hdr.Tail(0) }, nil, 0, 0, 0, testQueueSize - 1, 1},
		{"the head is never writable", func(uint64, int) bool { return false }, func(d device, _ abi.Mem) {
			d.x.mem.mem.CopyToDevice = broken
		}, 0, 6, 0, 0, 3},
		{"so is the head, and the second entry names nothing", func(uint64, int) bool { return false }, func(d device, mem abi.Mem) {
			d.x.mem.mem.CopyToDevice = broken
			abi.View[abi.ReadyEntry](mem, second).BufferPtr = 0xDEAD000
		}, 0, 4, 1, 0, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			x, collected := lastPass(t, c.fail, c.spoil)
			pool := &x.pools[0].lost
			if collected != c.collected || pool.records.Load() != c.counted || pool.buffers.Load() != c.pool ||
				x.lost[0].buffers.Load() != c.adrift || x.lost[0].records.Load() != 0 || x.faults.untaken.Load() != c.untaken {
				t.Errorf("%d collected, %d counted as lost, %d and %d buffers of unknown contents, %d untaken; want %+v",
					collected, pool.records.Load(), pool.buffers.Load(), x.lost[0].buffers.Load(), x.faults.untaken.Load(), c)
			}
			if x.faults.retired.Load() != 0 {
				t.Errorf("%d buffers are out of use", x.faults.retired.Load())
			}
		})
	}
}
