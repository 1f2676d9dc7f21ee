// Package mailbox is what a dispatcher and its worker processes say to each other over
// pipes: frames of a kind, a head in JSON and a blob of bytes.
//
// Every frame says which version it is of and how long its parts are. A reader believes
// none of it: a length that cannot be, an end in the middle, a head with unknown keys
// are errors, and memory grows only with what has arrived.
package mailbox

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Version is that of the frames and of what is in them. Both ends are one binary, so
// another one is no neighbour but an error.
const Version = 1

// The parts of a frame: a fixed header, little endian, then the head and the blob.
const (
	mark       = "SLMB"
	headerSize = len(mark) + 2 + 2 + 4 + 8 // mark, version, kind, lengths of head and blob
)

// The largest head and blob that are taken, in bytes.
const (
	MaxHead = 1 << 20
	MaxBlob = 1 << 32
)

// ErrFrame is the class of all errors about frames that are not as they must be. The
// end of a stream between two frames is io.EOF.
var ErrFrame = errors.New("a frame is not as it must be")

func wrong(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrFrame, fmt.Sprintf(format, args...))
}

// Frame is one message.
type Frame struct {
	Kind uint16
	Head []byte // JSON
	Blob []byte
}

// New makes a frame with a value as its head.
func New(kind uint16, head any, blob []byte) (Frame, error) {
	text, err := json.Marshal(head)
	return Frame{kind, text, blob}, err
}

// Decode reads the head into a value. A key that the value has not is an error.
func (f *Frame) Decode(value any) error {
	d := json.NewDecoder(bytes.NewReader(f.Head))
	d.DisallowUnknownFields()
	if err := d.Decode(value); err != nil {
		return wrong("the head of kind %d: %v", f.Kind, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return wrong("the head of kind %d goes on behind its value", f.Kind)
	}
	return nil
}

// Write writes a frame.
func Write(w io.Writer, f Frame) error {
	if len(f.Head) > MaxHead || int64(len(f.Blob)) > MaxBlob {
		return wrong("a head of %d bytes and a blob of %d: expected at most %d and %d", len(f.Head), len(f.Blob), MaxHead, int64(MaxBlob))
	}
	b := make([]byte, 0, headerSize+len(f.Head))
	b = append(b, mark...)
	b = binary.LittleEndian.AppendUint16(b, Version)
	b = binary.LittleEndian.AppendUint16(b, f.Kind)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(f.Head)))
	b = binary.LittleEndian.AppendUint64(b, uint64(len(f.Blob)))
	if _, err := w.Write(append(b, f.Head...)); err != nil {
		return err
	}
	if len(f.Blob) == 0 {
		return nil
	}
	_, err := w.Write(f.Blob)
	return err
}

// Read reads a frame. io.EOF: the stream has ended before one.
func Read(r io.Reader) (Frame, error) {
	var header [headerSize]byte
	if n, err := io.ReadFull(r, header[:]); err != nil {
		if n == 0 && err == io.EOF {
			return Frame{}, io.EOF
		}
		return Frame{}, wrong("the stream ends after %d of the %d bytes of a header (%v)", n, headerSize, err)
	}
	if string(header[:len(mark)]) != mark {
		return Frame{}, wrong("it begins with %q, expected %q", header[:len(mark)], mark)
	}
	rest := header[len(mark):]
	version, kind := binary.LittleEndian.Uint16(rest), binary.LittleEndian.Uint16(rest[2:])
	head, blob := binary.LittleEndian.Uint32(rest[4:]), binary.LittleEndian.Uint64(rest[8:])
	switch {
	case version != Version:
		return Frame{}, wrong("it is of version %d, expected %d: both ends must be the same program", version, Version)
	case head > MaxHead:
		return Frame{}, wrong("its head has %d bytes, expected at most %d", head, MaxHead)
	case blob > MaxBlob:
		return Frame{}, wrong("its blob has %d bytes, expected at most %d", blob, int64(MaxBlob))
	}
	f := Frame{Kind: kind}
	var err error
	if f.Head, err = take(r, int64(head), "head"); err != nil {
		return Frame{}, err
	}
	f.Blob, err = take(r, int64(blob), "blob")
	return f, err
}

// take reads so many bytes into memory that grows as they arrive.
func take(r io.Reader, n int64, what string) ([]byte, error) {
	var b bytes.Buffer
	got, err := io.CopyN(&b, r, n)
	if got < n {
		return nil, wrong("the stream ends after %d of the %d bytes of a %s (%v)", got, n, what, err)
	}
	return b.Bytes(), nil
}
