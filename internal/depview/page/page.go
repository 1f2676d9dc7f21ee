package page

import (
	"bufio"
	"context"
	"embed"
	"fmt"
	"io"
	"strings"

	"swimlane/internal/depview"
)

//go:embed assets
var assets embed.FS

// scripts are the parts of the page's script, in order.
var scripts = [...]string{"data.js", "near.js", "canvas.js", "svg.js", "ui.js"}

// Result says what a page holds.
type Result struct {
	Nodes, Shown, Edges int
	Near                bool // it has no layout of the whole graph
}

// Write writes the page of a view.
func Write(ctx context.Context, out io.Writer, v *depview.View, o Options) (Result, error) {
	p, err := newPicture(ctx, v, o)
	if err != nil {
		return Result{}, err
	}
	text, err := p.data().encode(p.form != formSVG)
	if err != nil {
		return Result{}, fmt.Errorf("the data of the page: %w", err)
	}
	w := bufio.NewWriterSize(out, 1<<16)
	if err := p.write(w, text); err != nil {
		return Result{}, err
	}
	return Result{Nodes: v.Nodes(), Shown: v.ShownEdges(), Edges: v.Edges(), Near: p.form == formNear}, w.Flush()
}

// write puts the page together: the frame of assets/page.html with its parts filled in.
func (p *picture) write(w *bufio.Writer, text []byte) error {
	frame, err := assets.ReadFile("assets/page.html")
	if err != nil {
		return err
	}
	rest := string(frame)
	for {
		before, after, found := strings.Cut(rest, "{{")
		if _, err := w.WriteString(before); err != nil || !found {
			return err
		}
		name, after, _ := strings.Cut(after, "}}")
		if err := p.part(w, name, text); err != nil {
			return err
		}
		rest = after
	}
}

func (p *picture) part(w *bufio.Writer, name string, text []byte) (err error) {
	switch name {
	case "title":
		_, err = w.WriteString(clean(p.title))
	case "form":
		_, err = w.WriteString(p.form)
	case "svg":
		if p.form == formSVG {
			_, err = w.Write(p.svg())
		}
	case "packing":
		packing := "none"
		if p.form != formSVG {
			packing = "gzip"
		}
		_, err = w.WriteString(packing)
	case "data":
		_, err = w.Write(text)
	case "style":
		err = asset(w, "style.css")
	case "script":
		for _, s := range scripts {
			if err := asset(w, s); err != nil {
				return err
			}
		}
	default:
		err = fmt.Errorf("assets/page.html: no part %q", name)
	}
	return err
}

func asset(w io.Writer, name string) error {
	b, err := assets.ReadFile("assets/" + name)
	if err == nil {
		_, err = w.Write(b)
	}
	return err
}
