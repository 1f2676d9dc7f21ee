package depgen

import (
	"fmt"
	"io"
	"iter"

	"swimlane/internal/fanin"
	"swimlane/internal/producer"
)

// WriteBuilt writes deps.json of a graph that the host has built, from its submits in
// their order: nothing was collected, and nothing can be lost. Edges have no flags,
// as the runtime has only one kind of them (spec/deps.md §3.3, §4.3).
func WriteBuilt(dir string, submits iter.Seq[*producer.Submit]) (Summary, error) {
	if dir == "" {
		return Summary{}, fmt.Errorf("no %s: %w; choose an output prefix", FileName, ErrNoPath)
	}
	var s Summary
	each := func(do func(*producer.Submit) error) error {
		for submit := range submits {
			if err := do(submit); err != nil {
				return err
			}
		}
		return nil
	}
	_ = each(func(submit *producer.Submit) error {
		s.Tasks++
		s.slices += fanin.Registers(submit)
		return nil
	})
	return save(dir, s, func(w io.Writer, s *Summary) error {
		f := newFile(w)
		f.plain = true
		return writeGraph(f, each, s)
	})
}
