package depgen

import (
	"io"

	"swimlane/internal/abi"
)

// WriteRecords makes a task graph of records that nobody collected, which fill
// the slots of buffers.
func WriteRecords(w io.Writer, form *abi.DepGenForm, buffers ...abi.Mem) (Summary, error) {
	t := &trace{form: form, records: func(yield func(abi.Mem, int) bool) {
		for _, m := range buffers {
			for slot := range (len(m) - form.Buffer().Records) / form.RecordSize {
				if !yield(m, slot) {
					return
				}
			}
		}
	}}
	s, err := t.count()
	if err != nil {
		return s, err
	}
	return s, t.write(w, &s)
}
