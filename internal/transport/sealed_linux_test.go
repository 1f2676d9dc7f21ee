package transport_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"swimlane/internal/abi"
	"swimlane/internal/transport"
)

// asDevice makes the test binary the device's process of TestTwoProcesses.
const asDevice = "SWIMLANE_TEST_DEVICE"

const sharedSize = 1 << 20

func TestMain(m *testing.M) {
	if os.Getenv(asDevice) == "" {
		os.Exit(m.Run())
	}
	if err := deviceProcess(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// deviceProcess publishes a ready entry in the memory of descriptor 3 and then
// waits for its end.
func deviceProcess() error {
	file := os.NewFile(3, "device")
	if err := file.Truncate(64); !errors.Is(err, unix.EPERM) {
		return fmt.Errorf("the device could truncate the memory under its host: %v", err)
	}
	m, err := transport.Open(file, base, sharedSize)
	if err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	region, err := abi.NewRegion(abi.A5, 3)
	if err != nil {
		return err
	}
	mem, err := m.Space().At(base, int(region.TotalSize))
	if err != nil {
		return err
	}
	e := abi.View[abi.ReadyEntry](mem, region.Entry(4, 0))
	e.CoreIndex, e.Kind, e.BufferPtr, e.BufferSeq = 5, abi.KindAicoreTask, 0x100040, 2
	mem.Word32(region.Tail(4)).Store(1)
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

func TestTwoProcesses(t *testing.T) {
	d := shared(t)
	region, err := abi.NewRegion(abi.A5, 3)
	if err != nil {
		t.Fatal(err)
	}
	m := transport.Mapped(d)
	host, err := m.Register(alloc(t, m, int(region.TotalSize)), int(region.TotalSize))
	if err != nil {
		t.Fatal(err)
	}

	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(self)
	child.Env = append(os.Environ(), asDevice+"=1")
	child.ExtraFiles = []*os.File{d.File()} // descriptor 3
	child.Stderr = os.Stderr
	if _, err := child.StdinPipe(); err != nil { // open until the child is waited for
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- child.Wait() }()

	for tail := host.Word32(region.Tail(4)); tail.Load() == 0; runtime.Gosched() {
		select {
		case err := <-ended:
			t.Fatalf("the device ended before it published: %v", err)
		default:
		}
	}
	// spec/device-abi.md §5: core 5, AicoreTask, 0x100040, sequence 2.
	want := "0500000003000000" + "4000100000000000" + "02000000" + "000000000000000000000000"
	entry := func() string {
		off := region.Entry(4, 0)
		return fmt.Sprintf("%x", []byte(host[off:off+32]))
	}
	if got := entry(); got != want {
		t.Errorf("the entry is %s, want %s", got, want)
	}

	if err := child.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := <-ended; !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the device ended with %v, want to have been killed", err)
	}
	if got := entry(); got != want {
		t.Errorf("after the device's death the entry is %s, want %s", got, want)
	}
	for i := range host { // every page is still there
		host[i]++
	}
	alloc(t, m, sharedSize/2)
}

func shared(t *testing.T) *transport.Device {
	t.Helper()
	d, err := transport.NewShared(base, sharedSize)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func TestSealedMemoryKeepsItsSize(t *testing.T) {
	f := shared(t).File()
	for _, size := range []int64{0, sharedSize - 1, sharedSize + 1} {
		if err := f.Truncate(size); !errors.Is(err, unix.EPERM) {
			t.Errorf("truncating to %d gave %v, want EPERM", size, err)
		}
	}
	if _, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_FUTURE_WRITE); !errors.Is(err, unix.EPERM) {
		t.Errorf("adding a seal gave %v, want EPERM", err)
	}
	if info, err := f.Stat(); err != nil || info.Size() != sharedSize {
		t.Errorf("the size is %v (%v), want %d", info.Size(), err, sharedSize)
	}
}

func memfd(t *testing.T, size int64, seals int) *os.File {
	t.Helper()
	fd, err := unix.MemfdCreate("test", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), "test")
	t.Cleanup(func() { f.Close() })
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
	if seals != 0 {
		if _, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, seals); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

func TestOpenTakesSealedMemoryOnly(t *testing.T) {
	const all = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL
	open := func(f *os.File, at uint64, size int) error {
		m, err := transport.Open(f, at, size)
		if err == nil {
			err = m.Close()
		}
		return err
	}
	if err := open(memfd(t, 4096, all), base, 4096); err != nil {
		t.Error(err)
	}
	refused(t, open(memfd(t, 4096, 0), base, 4096), "not sealed against shrinking, growing, other seals", "SIGBUS")
	refused(t, open(memfd(t, 4096, unix.F_SEAL_GROW|unix.F_SEAL_SEAL), base, 4096), "not sealed against shrinking:")
	refused(t, open(memfd(t, 4096, unix.F_SEAL_SHRINK), base, 4096), "not sealed against growing, other seals:")
	refused(t, open(memfd(t, 4096, all), base, 8192), "4096 bytes, but the device has 8192")
	refused(t, open(memfd(t, 8192, all), base, 4096), "8192 bytes, but the device has 4096")
	refused(t, open(memfd(t, 4096, all), base+1, 4096), "cannot begin at address")

	// A pipe has no seals on any file system.
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	refused(t, open(r, base, 4096), "cannot be sealed")
	plain, err := os.Create(filepath.Join(t.TempDir(), "plain"))
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	refused(t, open(plain, base, 4096), "sealed")
}

// What is not touched takes no memory, as the kernel counts it.
func TestSharedMemoryIsSparse(t *testing.T) {
	const size = 1 << 36
	d, err := transport.NewShared(base, size)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	at(t, d, base+size-64, 64)[0] = 1
	var st unix.Stat_t
	if err := unix.Fstat(int(d.File().Fd()), &st); err != nil {
		t.Fatal(err)
	}
	if used := st.Blocks * 512; used == 0 || used > 4<<20 {
		t.Errorf("one byte of %d takes %d bytes, want a page", size, used)
	}
}

func TestCloseIsIdempotent(t *testing.T) {
	d, err := transport.NewShared(base, sharedSize)
	if err != nil {
		t.Fatal(err)
	}
	m := transport.Shadow(d)
	other, err := transport.Open(d.File(), base, sharedSize)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.CopyToDevice(base, []byte{1, 2, 3, 4}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	refused(t, m.CopyToDevice(base, make([]byte, 4)), "outside the device's memory")
	if mem, err := other.Space().At(base, 4); err != nil || mem[3] != 4 {
		t.Errorf("the other mapping went with the first: %v %v", mem, err)
	}
	for range 2 {
		if err := other.Close(); err != nil {
			t.Error(err)
		}
	}
}
