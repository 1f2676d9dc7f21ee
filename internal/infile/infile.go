// Package infile notices that an input file is written to while it is read: what
// was read then is no file that anybody wrote. It also says what to do about a
// packed one that is damaged.
package infile

import (
	"fmt"
	"io/fs"
	"os"
)

// Hint is what to do about an input that changed.
const Hint = "it is still being written: read it when it is complete"

// State is what an open file was like at one time.
type State struct {
	file *os.File
	info fs.FileInfo // nil: nothing to compare with
}

// Now notes the state of an open file, which must be done before the first read.
// Only regular files have one; pipes and devices never change.
func Now(f *os.File) State {
	st, err := f.Stat()
	if err != nil || !st.Mode().IsRegular() {
		return State{}
	}
	return State{f, st}
}

// Changed says how the file differs from what it was, as "4 bytes at first, 8 now",
// "" if it does not.
// It is the open file that counts: another one in its place is no change.
func (s State) Changed() string {
	if s.info == nil {
		return ""
	}
	now, err := s.file.Stat()
	if err != nil { // nothing is known, so nothing is claimed
		return ""
	}
	return written(s.info, now)
}

// Differs says how a file that is opened a second time differs from what it was the
// first time, "" if it does not. Here another file in its place counts.
func Differs(was, now fs.FileInfo) string {
	if !os.SameFile(was, now) {
		return "another file now"
	}
	return written(was, now)
}

func written(was, now fs.FileInfo) string {
	switch {
	case now.Size() != was.Size():
		return fmt.Sprintf("%d bytes at first, %d now", was.Size(), now.Size())
	case !now.ModTime().Equal(was.ModTime()):
		return fmt.Sprintf("still %d bytes, but written to meanwhile", now.Size())
	}
	return ""
}
