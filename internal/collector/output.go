package collector

import (
	"io"
	"strconv"
)

// output collects text and hands it on in large pieces. Rows are appended to buf
// by hand, which is what makes writing fast.
type output struct {
	w   io.Writer
	buf []byte
	err error // the first that happened; what follows is not written
}

const (
	outputSize = 256 << 10
	rowRoom    = 1 << 10 // more than any row takes
)

func newOutput(w io.Writer) *output { return &output{w: w, buf: make([]byte, 0, outputSize)} }

// room returns the buffer with space for a row.
func (o *output) room(b []byte) []byte {
	if len(b) < outputSize-rowRoom {
		return b
	}
	return o.flush(b)
}

func (o *output) flush(b []byte) []byte {
	if o.err == nil {
		_, o.err = o.w.Write(b)
	}
	return b[:0]
}

func (o *output) close() error {
	o.buf = o.flush(o.buf)
	return o.err
}

func (o *output) text(s string) { o.buf = append(o.room(o.buf), s...) }

func (o *output) uint(v uint64) { o.buf = strconv.AppendUint(o.room(o.buf), v, 10) }

// comma separates the entries of a list.
func (o *output) comma(first *bool) {
	if !*first {
		o.text(",")
	}
	*first = false
}
