package infile

import (
	"compress/flate"
	"compress/gzip"
	"errors"
	"io"
)

// PackedHint says what to do about a file packed with gzip that is cut off or
// damaged, to follow what went wrong; "" for other errors.
func PackedHint(err error) string {
	var corrupt flate.CorruptInputError
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) || errors.As(err, &corrupt) {
		return "; the packed data is cut off or damaged: copy the file again, or unpack it with gzip -dc to see how far it is good"
	}
	return ""
}
