package collector

import (
	"encoding/binary"
	"fmt"

	"swimlane/internal/abi"
)

// region is the shared memory of one diagnostic as the host sees it. On shared
// memory host is the device's own; otherwise it holds the host's words only, and
// what the device owns is read word by word and never written back, so that the
// host can not roll back a field that has moved on (spec/collector.md §8).
type region struct {
	mem  *Memory
	addr uint64
	host abi.Mem
}

func (r *region) shared() bool { return r.mem.CopyFromDevice == nil }

// pullAll refreshes the whole image. Only after the device has stopped. All that
// is known of losses depends on it, so a failure is not taken at once.
func (r *region) pullAll() (err error) {
	if r.shared() {
		return nil
	}
	for range copyTries {
		if err = r.mem.CopyFromDevice(r.host, r.addr); err == nil {
			break
		}
	}
	return err
}

// pushAll writes the whole image. Only before the device has started.
func (r *region) pushAll() error {
	if r.shared() {
		return nil
	}
	return r.mem.CopyToDevice(r.addr, r.host)
}

// port is one goroutine's access to a region: words that the device owns come in,
// words that the host owns go out.
type port struct {
	*region
	scratch []byte // of one transfer
}

func newPort(r *region) *port { return &port{region: r, scratch: abi.NewMem(abi.Align)} }

// load32 reads a word of the device, or one that both write.
func (p *port) load32(off uint64) (uint32, error) {
	if p.shared() {
		return p.host.Word32(off).Load(), nil
	}
	w := p.scratch[:4]
	if err := p.mem.CopyFromDevice(w, p.addr+off); err != nil {
		return 0, fmt.Errorf("read 4 bytes at offset %d of the region: %w", off, err)
	}
	return binary.LittleEndian.Uint32(w), nil
}

// own32 is a word of the host: what it wrote last.
func (p *port) own32(off uint64) uint32 { return p.host.Word32(off).Load() }

// store32 writes a word of the host. If it cannot be written back, the host's
// image keeps the old value.
func (p *port) store32(off uint64, v uint32) error {
	w := p.host.Word32(off)
	if p.shared() {
		w.Store(v)
		return nil
	}
	b := binary.LittleEndian.AppendUint32(p.scratch[:0], v)
	if err := p.mem.CopyToDevice(p.addr+off, b); err != nil {
		return fmt.Errorf("write 4 bytes at offset %d of the region: %w", off, err)
	}
	w.Store(v)
	return nil
}

// store64 is store32 for a slot of a free queue.
func (p *port) store64(off uint64, v uint64) error {
	w := p.host.Word64(off)
	if p.shared() {
		w.Store(v)
		return nil
	}
	b := binary.LittleEndian.AppendUint64(p.scratch[:0], v)
	if err := p.mem.CopyToDevice(p.addr+off, b); err != nil {
		return fmt.Errorf("write 8 bytes at offset %d of the region: %w", off, err)
	}
	w.Store(v)
	return nil
}

// entry reads a ready entry. Its bytes are plain: the tail that was read before
// orders them.
func (p *port) entry(off uint64) (e abi.ReadyEntry, err error) {
	if p.shared() {
		return *abi.View[abi.ReadyEntry](p.host, off), nil
	}
	b := abi.Mem(p.scratch[:abi.ReadyEntrySize])
	if err := p.mem.CopyFromDevice(b, p.addr+off); err != nil {
		return e, fmt.Errorf("read the ready entry at offset %d of the region: %w", off, err)
	}
	return *abi.View[abi.ReadyEntry](b, 0), nil
}

// pull refreshes the shadow of a buffer; nothing to do on shared memory.
func (p *port) pull(b *buffer) error {
	if p.shared() {
		return nil
	}
	if err := p.mem.CopyFromDevice(b.host, b.addr); err != nil {
		return fmt.Errorf("read the buffer of %d bytes at device address %#x: %w", len(b.host), b.addr, err)
	}
	return nil
}

// count reads how many records a buffer claims to hold, without its records.
func (p *port) count(b *buffer, spec *abi.Buffer) (uint32, error) {
	if p.shared() {
		return *b.host.U32(uint64(spec.Count)), nil
	}
	w := p.scratch[:4]
	if err := p.mem.CopyFromDevice(w, b.addr+uint64(spec.Count)); err != nil {
		return 0, fmt.Errorf("read the count of the buffer at device address %#x: %w", b.addr, err)
	}
	return binary.LittleEndian.Uint32(w), nil
}

// pushBlock writes a whole allocation. Only while the device does not run.
func (p *port) pushBlock(b *block) error {
	if p.shared() {
		return nil
	}
	if err := p.mem.CopyToDevice(b.addr, b.host); err != nil {
		return fmt.Errorf("write %d bytes at device address %#x: %w", len(b.host), b.addr, err)
	}
	return nil
}

// push writes n bytes of the host's image. Only while the device does not run.
func (p *port) push(off uint64, n int) error {
	if p.shared() {
		return nil
	}
	if err := p.mem.CopyToDevice(p.addr+off, p.host[off:off+uint64(n)]); err != nil {
		return fmt.Errorf("write %d bytes at offset %d of the region: %w", n, off, err)
	}
	return nil
}
