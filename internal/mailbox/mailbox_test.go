package mailbox_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"swimlane/internal/mailbox"
)

type order struct {
	Rank int
	Name string
}

// TestFrames: what was written comes back, whatever the pieces in which it arrives.
func TestFrames(t *testing.T) {
	var b bytes.Buffer
	want := order{3, "vector"}
	f, err := mailbox.New(7, want, []byte{1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	empty, _ := mailbox.New(8, struct{}{}, nil)
	for _, f := range []mailbox.Frame{f, empty} {
		if err := mailbox.Write(&b, f); err != nil {
			t.Fatal(err)
		}
	}
	// The layout: mark, version, kind, lengths, then the parts.
	text := `{"Rank":3,"Name":"vector"}`
	bytesWant := append([]byte("SLMB\x01\x00\x07\x00\x1a\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00"+text), 1, 2, 3)
	if !bytes.HasPrefix(b.Bytes(), bytesWant) {
		t.Errorf("the frame is % x, want % x", b.Bytes(), bytesWant)
	}
	r := iotest.OneByteReader(&b)
	got, err := mailbox.Read(r)
	if err != nil || got.Kind != 7 || !bytes.Equal(got.Blob, []byte{1, 2, 3}) {
		t.Fatalf("%+v (%v)", got, err)
	}
	var o order
	if err := got.Decode(&o); err != nil || o != want {
		t.Errorf("%+v (%v), want %+v", o, err, want)
	}
	if got, err := mailbox.Read(r); err != nil || got.Kind != 8 || len(got.Blob) != 0 {
		t.Errorf("%+v (%v)", got, err)
	}
	if _, err := mailbox.Read(r); err != io.EOF {
		t.Errorf("behind the last frame: %v, want io.EOF", err)
	}
}

// frame is a header with any lengths, and what follows it.
func frame(version, kind uint16, head uint32, blob uint64, rest string) []byte {
	b := binary.LittleEndian.AppendUint16([]byte("SLMB"), version)
	b = binary.LittleEndian.AppendUint16(b, kind)
	b = binary.LittleEndian.AppendUint32(b, head)
	return append(binary.LittleEndian.AppendUint64(b, blob), rest...)
}

// hostile are streams that are no frames, and what the error must say.
var hostile = map[string]struct {
	stream []byte
	want   string
}{
	"cut header":   {frame(1, 1, 2, 0, "{}")[:7], "after 7 of the 20 bytes of a header"},
	"other mark":   {append([]byte("SLMX"), frame(1, 1, 2, 0, "{}")[4:]...), `begins with "SLMX"`},
	"version 2":    {frame(2, 1, 2, 0, "{}"), "version 2, expected 1"},
	"huge head":    {frame(1, 1, 1<<20+1, 0, "{}"), "its head has 1048577 bytes"},
	"huge blob":    {frame(1, 1, 2, 1<<32+1, "{}"), "its blob has 4294967297 bytes"},
	"promised":     {frame(1, 1, 2, 1<<32, "{}abc"), "after 3 of the 4294967296 bytes of a blob"},
	"cut head":     {frame(1, 1, 3, 0, "{}"), "after 2 of the 3 bytes of a head"},
	"unknown key":  {frame(1, 1, 9, 0, `{"Who":1}`), "unknown field"},
	"two values":   {frame(1, 1, 4, 0, `{}{}`), "goes on behind its value"},
	"no JSON":      {frame(1, 1, 2, 0, "??"), "the head of kind 1"},
	"another type": {frame(1, 1, 12, 0, `{"Rank":"x"}`), "cannot unmarshal"},
}

func TestHostileFrames(t *testing.T) {
	for name, v := range hostile {
		var o order
		f, err := mailbox.Read(bytes.NewReader(v.stream))
		if err == nil {
			err = f.Decode(&o)
		}
		if !errors.Is(err, mailbox.ErrFrame) || !strings.Contains(err.Error(), v.want) {
			t.Errorf("%s: %v, want %q", name, err, v.want)
		}
	}
	if err := mailbox.Write(io.Discard, mailbox.Frame{Head: make([]byte, mailbox.MaxHead+1)}); !errors.Is(err, mailbox.ErrFrame) {
		t.Errorf("a head that no reader takes is written: %v", err)
	}
}

// FuzzRead: a frame that is read is written again as the same bytes.
func FuzzRead(f *testing.F) {
	for _, v := range hostile {
		f.Add(v.stream)
	}
	f.Add(frame(1, 1, 2, 3, "{}abc"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		r := bytes.NewReader(stream)
		got, err := mailbox.Read(r)
		if err != nil {
			if err != io.EOF && !errors.Is(err, mailbox.ErrFrame) {
				t.Fatalf("%v is neither the end nor a frame's error", err)
			}
			return
		}
		var again bytes.Buffer
		if err := mailbox.Write(&again, got); err != nil {
			t.Fatal(err)
		}
		if read := stream[:len(stream)-r.Len()]; !bytes.Equal(again.Bytes(), read) {
			t.Errorf("% x was read, % x written", read, again.Bytes())
		}
	})
}
