package scene

import (
	"fmt"
	"path/filepath"

	"swimlane/internal/console"
	"swimlane/internal/depview"
)

// viewName is the file of a task graph's text.
const viewName = "deps_viewer.txt"

// view writes the text of a task graph beside it, with the names of the case
// (spec/deps.md §6.7). One that fails is a warning, and fails no case.
func (p *Performed) view(e *console.Env, graph, names string) {
	path := filepath.Join(filepath.Dir(graph), viewName)
	if err := p.writeView(e, path, graph, names); err != nil {
		fmt.Fprintf(e.Stderr, "Warning: Failed to write %s: %v\n", path, err)
		return
	}
	p.Views = append(p.Views, path)
}

func (p *Performed) writeView(e *console.Env, path, graph, names string) error {
	place, err := depview.Locate(graph)
	if err != nil {
		return err
	}
	out, err := e.Create(path, []string{graph})
	if err != nil {
		return err
	}
	defer out.Discard()
	m, err := depview.Load(place, depview.Options{FuncNames: names})
	if err != nil {
		return err
	}
	// The text is the same wherever the case's directory lies.
	if rel, err := filepath.Rel(p.Prefix, graph); err == nil {
		m.Source = filepath.ToSlash(rel)
	}
	return out.Close(m.View(depview.Full, nil).WriteText(out))
}
