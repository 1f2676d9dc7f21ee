package fault_test

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"swimlane/internal/abi"
	"swimlane/internal/collector"
	"swimlane/internal/transport/fault"
)

var errInjected = errors.New("injected")

// memory is 256 bytes of a device at address 64, with the parts of copies that
// reached it.
type memory struct {
	bytes [256]byte
	parts []int // sizes
}

func (m *memory) ops() collector.Memory {
	return collector.Memory{
		Alloc:      func(int) (uint64, error) { return 64, nil },
		Free:       func(uint64) error { return nil },
		Register:   func(_ uint64, size int) (abi.Mem, error) { return abi.NewMem(size), nil },
		Unregister: func(uint64) error { return nil },
		CopyToDevice: func(addr uint64, from []byte) error {
			m.parts = append(m.parts, len(from))
			copy(m.bytes[addr-64:], from)
			return nil
		},
		CopyFromDevice: func(to []byte, addr uint64) error {
			m.parts = append(m.parts, len(to))
			copy(to, m.bytes[addr-64:])
			return nil
		},
	}
}

// The rule names its calls by direction, size, address and number.
func TestRulesNameTheirCalls(t *testing.T) {
	calls := []fault.Call{
		0: {fault.ToDevice, 64, 4},
		1: {fault.FromDevice, 64, 4},
		2: {fault.FromDevice, 96, 32},
		3: {fault.FromDevice, 68, 4},
		4: {fault.FromDevice, 128, 32},
		5: {fault.FromDevice, 64, 200},
		6: {fault.ToDevice, 128, 8},
	}
	for name, c := range map[string]struct {
		rule fault.Rule
		want []int
	}{
		"direction":             {fault.Rule{Op: fault.ToDevice}, []int{0, 6}},
		"size":                  {fault.Rule{Op: fault.FromDevice, Size: 32}, []int{2, 4}},
		"second of a size":      {fault.Rule{Op: fault.FromDevice, Size: 32, Nth: 2}, []int{4}},
		"third of a direction":  {fault.Rule{Op: fault.FromDevice, Nth: 3}, []int{3}},
		"more than there are":   {fault.Rule{Op: fault.ToDevice, Nth: 3}, nil},
		"word":                  {fault.Rule{Op: fault.FromDevice, From: 68, To: 72}, []int{3, 5}},
		"end and start of copy": {fault.Rule{Op: fault.FromDevice, From: 127, To: 129}, []int{2, 4, 5}},
		"between copies":        {fault.Rule{Op: fault.FromDevice, From: 72, To: 96, Size: 4}, nil},
		"size at an address":    {fault.Rule{Op: fault.FromDevice, From: 128, To: 160, Size: 32}, []int{4}},
		"allocations":           {fault.Rule{Op: fault.Alloc}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := fault.New(new(memory).ops())
			c.rule.Err = errInjected
			f.Add(c.rule)
			var got []int
			for i, call := range calls {
				var err error
				if call.Op == fault.ToDevice {
					err = f.Ops().CopyToDevice(call.Addr, make([]byte, call.Size))
				} else {
					err = f.Ops().CopyFromDevice(make([]byte, call.Size), call.Addr)
				}
				if err != nil {
					got = append(got, i)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("it named the calls %v, want %v", got, c.want)
			}
		})
	}
}

// Every operation can fail at its second call, and then the memory behind it has
// not seen the call.
func TestEveryOperationFails(t *testing.T) {
	for op, call := range map[fault.Op]func(collector.Memory) error{
		fault.Alloc:      func(m collector.Memory) error { _, err := m.Alloc(8); return err },
		fault.Free:       func(m collector.Memory) error { return m.Free(64) },
		fault.Register:   func(m collector.Memory) error { _, err := m.Register(64, 8); return err },
		fault.Unregister: func(m collector.Memory) error { return m.Unregister(64) },
		fault.ToDevice:   func(m collector.Memory) error { return m.CopyToDevice(64, make([]byte, 8)) },
		fault.FromDevice: func(m collector.Memory) error { return m.CopyFromDevice(make([]byte, 8), 64) },
	} {
		reached := 0
		inner := collector.Memory{
			Alloc:          func(int) (uint64, error) { reached++; return 64, nil },
			Free:           func(uint64) error { reached++; return nil },
			Register:       func(uint64, int) (abi.Mem, error) { reached++; return nil, nil },
			Unregister:     func(uint64) error { reached++; return nil },
			CopyToDevice:   func(uint64, []byte) error { reached++; return nil },
			CopyFromDevice: func([]byte, uint64) error { reached++; return nil },
		}
		f := fault.New(inner)
		f.Add(fault.Rule{Op: op, Nth: 2, Err: errInjected})
		for n := 1; n <= 3; n++ {
			if err := call(f.Ops()); (n == 2) != errors.Is(err, errInjected) {
				t.Errorf("operation %d: call %d gave %v", op, n, err)
			}
		}
		if reached != 2 {
			t.Errorf("operation %d: %d calls went through, want 2", op, reached)
		}
		bytes := int64(2 * 8)
		if op == fault.Free || op == fault.Unregister {
			bytes = 0 // they have no size
		}
		if got, want := f.Count(op), (fault.Count{Calls: 3, Failed: 1, Bytes: bytes}); got != want {
			t.Errorf("operation %d was counted as %+v, want %+v", op, got, want)
		}
		f.Add(fault.Rule{Op: op, Err: errInjected})
		f.Clear()
		if err := call(f.Ops()); err != nil {
			t.Errorf("operation %d: without rules %v", op, err)
		}
	}
}

func TestTheMemorysOwnErrorsAreCounted(t *testing.T) {
	f := fault.New(collector.Memory{CopyToDevice: func(uint64, []byte) error { return errInjected }})
	if err := f.Ops().CopyToDevice(64, make([]byte, 8)); !errors.Is(err, errInjected) {
		t.Errorf("the memory's error became %v", err)
	}
	if got, want := f.Count(fault.ToDevice), (fault.Count{Calls: 1, Failed: 1}); got != want {
		t.Errorf("counted as %+v, want %+v", got, want)
	}
}

// The step of the device is seen by the second half only.
func TestTear(t *testing.T) {
	for _, c := range []struct {
		name string
		addr uint64
		size int
		cut  int // bytes from before the step
	}{
		{"ready entry", 64, 32, 16},
		{"region", 64, 200, 96}, // the middle is 100; 164 is no multiple of 8, 160 is
		{"tails of five queues", 68, 20, 4},
		{"slot", 64, 8, 0},
		{"word", 68, 4, 0},
		{"two words across a multiple of 8", 68, 8, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := new(memory)
			f := fault.New(m.ops())
			f.Add(fault.Rule{Op: fault.FromDevice, Tear: func(got fault.Call) {
				if want := (fault.Call{Op: fault.FromDevice, Addr: c.addr, Size: c.size}); got != want {
					t.Errorf("the step was told of %+v, want %+v", got, want)
				}
				for i := range m.bytes {
					m.bytes[i] = 1
				}
			}})
			to := make([]byte, c.size)
			if err := f.Ops().CopyFromDevice(to, c.addr); err != nil {
				t.Fatal(err)
			}
			for i, b := range to {
				if (i < c.cut) != (b == 0) {
					t.Fatalf("read %v, want %d bytes from before the step", to, c.cut)
				}
			}
			if got, want := f.Count(fault.FromDevice), (fault.Count{Calls: 1, Bytes: int64(c.size)}); got != want {
				t.Errorf("counted as %+v, want %+v", got, want)
			}
		})
	}
}

func TestTearToDevice(t *testing.T) {
	m := new(memory)
	f := fault.New(m.ops())
	var seen byte
	f.Add(fault.Rule{Op: fault.ToDevice, Tear: func(fault.Call) { seen = m.bytes[0] + 2*m.bytes[31] }})
	from := slices.Repeat([]byte{1}, 32)
	if err := f.Ops().CopyToDevice(64, from); err != nil {
		t.Fatal(err)
	}
	if seen != 1 || !slices.Equal(m.bytes[:33], append(from, 0)) {
		t.Errorf("the device saw %d in between, want the first half alone; and then %v", seen, m.bytes[:33])
	}
	if !slices.Equal(m.parts, []int{16, 16}) {
		t.Errorf("the copy was made in parts of %v bytes, want twice 16", m.parts)
	}
}

func TestRulesActTogether(t *testing.T) {
	m := new(memory)
	f := fault.New(m.ops())
	var order []string
	note := func(s string) func(fault.Call) { return func(fault.Call) { order = append(order, s) } }
	f.Add(fault.Rule{Op: fault.ToDevice, Before: note("first"), Tear: note("torn")})
	f.Add(fault.Rule{Op: fault.ToDevice, Before: note("second"), Nth: 2, Err: errInjected})
	for range 2 {
		err := f.Ops().CopyToDevice(64, make([]byte, 16))
		if len(order) < 3 != (err == nil) {
			t.Errorf("after %q: %v", order, err)
		}
	}
	if want := []string{"first", "torn", "first", "second"}; !slices.Equal(order, want) {
		t.Errorf("the order was %q, want %q", order, want)
	}
}

// A call that waits holds nobody else up, and what it waits for may use the memory.
func TestBeforeWaitsAlone(t *testing.T) {
	m := new(memory)
	f := fault.New(m.ops())
	ops := f.Ops()
	release := make(chan struct{})
	f.Add(fault.Rule{Op: fault.FromDevice, Nth: 1, Before: func(fault.Call) { <-release }})
	f.Add(fault.Rule{Op: fault.FromDevice, Nth: 1, Before: func(fault.Call) {
		if err := ops.CopyToDevice(65, []byte{9}); err != nil {
			t.Error(err)
		}
	}})
	to := make([]byte, 2)
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := ops.CopyFromDevice(to, 64); err != nil {
			t.Error(err)
		}
	})
	if err := ops.CopyToDevice(64, []byte{8}); err != nil {
		t.Fatal(err)
	}
	close(release)
	wg.Wait()
	if to[0] != 8 || to[1] != 9 {
		t.Errorf("the call that waited read %v, want 8 9, which was written while it waited", to)
	}
}

// Of many calls at once exactly one is the n-th.
func TestOneNthOfMany(t *testing.T) {
	f := fault.New(collector.Memory{CopyToDevice: func(uint64, []byte) error { return nil }})
	f.Add(fault.Rule{Op: fault.ToDevice, Nth: 77, Err: errInjected})
	ops := f.Ops()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				_ = ops.CopyToDevice(64, make([]byte, 4)) // the count tells
			}
		})
	}
	wg.Wait()
	if got, want := f.Count(fault.ToDevice), (fault.Count{Calls: 200, Failed: 1, Bytes: 199 * 4}); got != want {
		t.Errorf("counted as %+v, want %+v", got, want)
	}
}

func TestAbsentOperationsStayAbsent(t *testing.T) {
	ops := fault.New(collector.Memory{}).Ops()
	if ops.Alloc != nil || ops.Free != nil || ops.Register != nil || ops.Unregister != nil || ops.CopyToDevice != nil || ops.CopyFromDevice != nil {
		t.Error("a memory without operations got some")
	}
}
