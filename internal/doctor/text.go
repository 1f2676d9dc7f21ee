package doctor

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"swimlane/internal/analysis/stats"
	"swimlane/internal/console"
)

// Style says how a report is printed.
type Style struct {
	Colour bool
	All    bool // every part and note, also where much was examined
	Brief  bool // only what is not healthy
	Width  int  // of the terminal, 0 if that is unknown or there is none
}

// Lines get no longer than widest, nor than the terminal if that is not narrower than
// narrowest, as far as words allow.
const widest, narrowest = 110, 50

// Text prints a report. Of several exams the healthy ones have one line, and notes
// are counted, unless everything is wanted.
func (r *Report) Text(w io.Writer, style Style) error {
	p := printer{style: style, width: widest, said: map[string]bool{}}
	if style.Width > 0 {
		p.width = min(max(style.Width, narrowest), widest)
	}
	whole := style.All || len(r.Exams) == 1
	for i, x := range r.Exams {
		if style.Brief && x.Healthy() {
			continue
		}
		if p.b.Len() > 0 && (whole || !x.Healthy() || !r.Exams[i-1].Healthy()) {
			p.line("")
		}
		p.exam(r, x, whole)
	}
	if p.b.Len() > 0 {
		p.line("")
	}
	p.line("%s", r.summary(whole))
	_, err := io.WriteString(w, p.b.String())
	return err
}

// summary is the last line.
func (r *Report) summary(whole bool) string {
	healthy := int64(0)
	for _, x := range r.Exams {
		if x.Healthy() {
			healthy++
		}
	}
	kinds := map[string]int64{}
	for _, x := range r.Exams {
		kinds[x.Kind]++
	}
	var what []string
	for _, k := range []struct{ kind, name string }{{OfCapture, "capture"}, {OfRanks, "tree"}, {OfRun, "directory"}} {
		switch n := kinds[k.kind]; {
		case n == 0:
		case k.kind == OfRanks:
			what = append(what, console.Count(n, "tree")+" of ranks")
		case k.kind == OfRun && n > 1:
			what = append(what, console.Thousands(n)+" directories without records")
		case k.kind == OfRun:
			what = append(what, "1 directory without records")
		default:
			what = append(what, console.Count(n, k.name))
		}
	}
	text := strings.Join(what, ", ")
	switch n := int64(len(r.Exams)); {
	case healthy == n && n == 1:
		text += ": healthy"
	case healthy == n:
		text += ": all healthy"
	case n > 1:
		text += fmt.Sprintf(": %s healthy, %s not", console.Thousands(healthy), console.Thousands(n-healthy))
	default:
		text += ": not healthy"
	}
	text += fmt.Sprintf("; %s, %s, %s", console.Count(r.Count(Error), "error"), console.Count(r.Count(Warning), "warning"), console.Count(r.Count(Note), "note"))
	if !whole && r.Count(Note) > 0 {
		text += " (-v shows notes)"
	}
	return text
}

type printer struct {
	b     strings.Builder
	style Style
	width int
	said  map[string]bool // causes and remedies
}

func (p *printer) line(format string, args ...any) { fmt.Fprintf(&p.b, format+"\n", args...) }

// colours are those of ANSI terminals.
var colours = map[string]string{"error": "31", "warning": "33", "note": "36", "ok": "32", "healthy": "32"}

// word pads and colours a word.
func (p *printer) word(text string, pad int) string {
	padded := text + strings.Repeat(" ", max(pad-len(text), 0))
	if c := colours[text]; c != "" && p.style.Colour {
		return "\x1b[" + c + "m" + text + "\x1b[0m" + padded[len(text):]
	}
	return padded
}

func (p *printer) exam(r *Report, x *Exam, whole bool) {
	verdict := p.word("healthy", 0)
	if n := counts(x, whole); n != "" && (whole || !x.Healthy()) {
		verdict = n
		if x.Healthy() {
			verdict = p.word("healthy", 0) + ", " + n
		}
	}
	p.line("%s: %s", stats.Printable(x.Path), verdict)
	if !whole && x.Healthy() {
		return
	}
	for _, part := range x.Parts {
		p.paragraph("  "+p.word("ok", 8)+" ", 11, part.Name+": "+stats.Printable(part.Text))
	}
	for i := range x.Findings {
		f := &x.Findings[i]
		if f.Severity == Note && !whole {
			continue
		}
		p.finding(x, f)
	}
}

// finding prints what was found, why it is so and what to do.
func (p *printer) finding(x *Exam, f *Finding) {
	where := f.File
	if rel, err := filepath.Rel(x.dir, f.File); err == nil && !strings.HasPrefix(rel, "..") && rel != "." {
		where = rel
	}
	if f.Section != "" {
		where += ", " + f.Section
		if len(f.Rows) > 0 {
			where += fmt.Sprintf("[%d]", f.Rows[0])
		}
	}
	if where == x.Path {
		where = "" // the headline has it
	}
	p.line("%s", strings.TrimRight("  "+p.word(f.Severity.String(), 8)+" "+f.Code+"  "+stats.Printable(where), " "))
	p.paragraph("           found: ", 18, stats.Printable(f.Found))
	advice := f.Code + f.Why + f.Do
	if p.said[advice] {
		p.line("           why and what to do: as above")
		return
	}
	p.said[advice] = true
	p.paragraph("           why:   ", 18, stats.Printable(f.Why))
	p.paragraph("           do:    ", 18, stats.Printable(f.Do))
}

// paragraph prints a text behind a head, with lines of the width, indented.
func (p *printer) paragraph(head string, indent int, text string) {
	p.b.WriteString(head)
	at := indent
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		if i > 0 {
			if at+1+n > p.width {
				p.b.WriteString("\n" + strings.Repeat(" ", indent))
				at = indent
			} else {
				p.b.WriteByte(' ')
				at++
			}
		}
		p.b.WriteString(word)
		at += n
	}
	p.b.WriteByte('\n')
}

// counts are the findings of an exam by severity.
func counts(x *Exam, notes bool) string {
	var parts []string
	for s := Error; s >= Note; s-- {
		n := int64(0)
		for i := range x.Findings {
			if x.Findings[i].Severity == s {
				n++
			}
		}
		if n > 0 && (s > Note || notes) {
			parts = append(parts, console.Count(n, s.String()))
		}
	}
	return strings.Join(parts, ", ")
}

// JSON writes a report for scripts.
func (r *Report) JSON(w io.Writer) error {
	type exam struct {
		*Exam
		Healthy bool `json:"healthy"`
	}
	out := struct {
		Root     string `json:"root"`
		Healthy  bool   `json:"healthy"`
		Errors   int64  `json:"errors"`
		Warnings int64  `json:"warnings"`
		Notes    int64  `json:"notes"`
		Exams    []exam `json:"examined"`
	}{r.Root, r.Healthy(), r.Count(Error), r.Count(Warning), r.Count(Note), []exam{}}
	for _, x := range r.Exams {
		out.Exams = append(out.Exams, exam{x, x.Healthy()})
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(out)
}
