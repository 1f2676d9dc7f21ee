package console

import (
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Progress shows a bar on a terminal once something takes longer than a second.
type Progress struct {
	w       io.Writer // nil: nothing is shown
	started time.Time
	mu      sync.Mutex
	bar     *progressbar.ProgressBar
	name    string
	all     int64
	parts   []*int64
	drawn   time.Time
}

const showAfter = time.Second

// NewProgress shows progress on w if that is a terminal.
func NewProgress(w io.Writer) *Progress {
	p := &Progress{started: time.Now()}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.w = w
	}
	return p
}

// Stage begins something of the given size; 0 if that is not known.
func (p *Progress) Stage(name string, all int64) {
	if p.w == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	p.name, p.all, p.parts = name, all, nil
	if all <= 0 {
		p.all = -1 // shown as a spinner
	}
}

// Reading is a Stage of reading files. Those that are not there are not read.
func (p *Progress) Reading(name string, files ...string) {
	if p.w != nil {
		p.Stage(name, sizeOf(files...))
	}
}

// sizeOf is the size of all files together, 0 if that is no measure of what
// will be read from them.
func sizeOf(paths ...string) int64 {
	var n int64
	for _, path := range paths {
		if path == Standard {
			return 0
		}
		st, err := os.Stat(path)
		switch {
		case errors.Is(err, os.ErrNotExist):
		case err != nil || !st.Mode().IsRegular() || strings.HasSuffix(path, ".gz"):
			return 0
		default:
			n += st.Size()
		}
	}
	return n
}

// Part returns a function that reports how much of one part of the stage is done.
func (p *Progress) Part() func(int64) {
	if p.w == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	n := new(int64)
	p.parts = append(p.parts, n)
	return func(done int64) {
		p.mu.Lock()
		defer p.mu.Unlock()
		*n = done
		p.show()
	}
}

// Items is Part for what tells of all there is too.
func (p *Progress) Items() func(done, all int64) {
	report := p.Part()
	if report == nil {
		return nil
	}
	return func(done, _ int64) { report(done) }
}

func (p *Progress) show() {
	now := time.Now()
	if now.Sub(p.started) < showAfter || now.Sub(p.drawn) < 100*time.Millisecond {
		return
	}
	p.drawn = now
	if p.bar == nil {
		// Without an interval of its own: a spinner would go on drawing over what comes after it.
		p.bar = progressbar.NewOptions64(p.all, progressbar.OptionSetWriter(p.w), progressbar.OptionSetDescription(p.name),
			progressbar.OptionSetWidth(30), progressbar.OptionClearOnFinish(), progressbar.OptionSetSpinnerChangeInterval(0), progressbar.OptionSetPredictTime(true))
	}
	var done int64
	for _, n := range p.parts {
		done += *n
	}
	if p.all > 0 {
		done = min(done, p.all-1) // the bar ends when the stage does, not before
	}
	p.bar.Set64(done)
}

func (p *Progress) clear() {
	if p.bar != nil {
		p.bar.Clear()
		p.bar = nil
	}
}

// Done removes the bar.
func (p *Progress) Done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}
