package producer

import "fmt"

// faults counts what a writer met and could not mend, and keeps the first.
type faults struct {
	count uint64
	first error
}

func (f *faults) add(format string, args ...any) {
	if f.count == 0 {
		f.first = fmt.Errorf(format, args...)
	}
	f.count++
}
