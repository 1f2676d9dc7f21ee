package collector_test

import (
	"io"
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/collector"
)

// bytesOf are the bytes of records as a device has them.
func bytesOf[T any](records ...T) []byte {
	var out []byte
	for i := range records {
		out = append(out, abi.Bytes(&records[i])...)
	}
	return out
}

// large is a capture of n tasks on a whole chip, with the phases that go with
// them, and the bytes of its records.
func large(n int) (*collector.Capture, *collector.Store, int) {
	const threads = 3
	cores, store, size := abi.A2A3.MaxCores, new(collector.Store), 0
	add := func(kind abi.Kind, index int, seq uint32, b []byte) {
		store.Add(kind, index, seq, b)
		size += len(b)
	}
	totals := make([]uint32, cores)
	now := uint64(74_056_108_866_123)
	for core := range cores {
		var tasks []abi.AicoreTask
		var timings []abi.AicpuTask
		for i := range n / cores {
			now += 777
			token := uint32(i + 1)
			tasks = append(tasks, abi.AicoreTask{StartTime: now, EndTime: now + 500, TaskTokenRaw: abi.TaskID(1, token*7), RegTaskID: token, ReceiveToStartCycles: 40})
			timings = append(timings, abi.AicpuTask{DispatchTime: now - 90, FinishTime: now + 560, RegTaskID: token})
		}
		totals[core] = uint32(len(tasks))
		for seq := 0; seq*abi.AicoreBufferSize < len(tasks); seq++ {
			add(abi.KindAicoreTask, core, uint32(seq), bytesOf(tasks[seq*abi.AicoreBufferSize:min((seq+1)*abi.AicoreBufferSize, len(tasks))]...))
		}
		for seq := 0; seq*abi.ProfBufferSize < len(timings); seq++ {
			add(abi.KindAicpuTask, core, uint32(seq), bytesOf(timings[seq*abi.ProfBufferSize:min((seq+1)*abi.ProfBufferSize, len(timings))]...))
		}
	}
	for thread := range threads {
		var phases []abi.SchedPhase
		for i := range n / threads / 2 {
			now += 300
			p := abi.SchedPhase{StartTime: now, EndTime: now + 200, LoopIter: uint32(i * 3), Kind: abi.PhaseKind(i % 2), TasksProcessed: 2}
			p.SetPops(3, uint32(i%100))
			phases = append(phases, p)
		}
		for seq := 0; seq*abi.PhaseRecordsPerThread < len(phases); seq++ {
			add(abi.KindSchedPhase, thread, uint32(seq), bytesOf(phases[seq*abi.PhaseRecordsPerThread:min((seq+1)*abi.PhaseRecordsPerThread, len(phases))]...))
		}
	}
	c := collector.NewCapture(abi.A2A3, abi.SchedPhases, cores, []*collector.Store{store}, totals)
	c.Runtime = "tensormap_and_ringbuffer"
	return c, store, size
}

type counter struct{ n int64 }

func (c *counter) Write(b []byte) (int, error) { c.n += int64(len(b)); return len(b), nil }

// BenchmarkExport writes two million rows of tasks and half a million phases.
func BenchmarkExport(b *testing.B) {
	c, _, _ := large(1_000_000)
	var n counter
	if err := c.Write(&n); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(n.n)
	b.ReportAllocs()
	for b.Loop() {
		if err := c.Write(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAdd copies full buffers of a core.
func BenchmarkAdd(b *testing.B) {
	records := make([]abi.AicoreTask, abi.AicoreBufferSize)
	for i := range records {
		records[i].StartTime = uint64(i + 1)
	}
	data := bytesOf(records...)
	b.SetBytes(int64(len(data)))
	store, seq := new(collector.Store), uint32(0)
	for b.Loop() {
		if seq++; seq%4096 == 0 {
			store.Rotate()
		}
		store.Add(abi.KindAicoreTask, 1, seq, data)
	}
}
