package ranks

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"

	"swimlane/internal/hostlog"
	"swimlane/internal/infile"
)

// mostHeld is how many bytes of spans are kept before it is known which are needed. Logs
// with more are read again and again instead.
const mostHeld = 64 << 20

// logReader reads logs for a merge. All spans are kept if they are few. Of many it keeps
// what windows are made of, and then, in further passes, those around the windows that
// captures are in.
type logReader struct {
	hostlog.Summary
	paths []string
	most  int64                                            // bytes of spans that are kept before it is known which are needed
	begin func(logs []string) (progress func(bytes int64)) // of a pass; may be nil
	was   []os.FileInfo                                    // of the logs when they were first read
	all   []hostlog.Span
	many  bool // all has not all spans: runs is used
	runs  map[Key]*runInLog
}

// runInLog is what is known of a run that device work may be in.
type runInLog struct {
	sighting
	log     int  // that has it
	several bool // several logs have it, so some of its spans may be there twice
}

// event is what makes two records of a span one (spec/newest.md §10.2).
type event struct {
	pid   int
	inv   uint64
	depth int
	name  string
	ts    int64
	dur   int64
}

// collection are spans, and the log of each.
type collection struct {
	spans []hostlog.Span
	from  []int
	bytes int64
}

func (c *collection) add(s *hostlog.Span, log int) {
	const each = 128 // of a span without its texts; names are shared
	c.spans, c.from = append(c.spans, *s), append(c.from, log)
	c.bytes += each + int64(len(s.Attrs))
}

// distinct takes a span that several logs have once, from the first of them: the extract
// of a capture repeats what the log of its process has. What one log has twice happened
// twice.
func (c *collection) distinct() []hostlog.Span {
	in := map[int][2]int{} // first and last log of a process
	for i := range c.spans {
		pid, at := c.spans[i].PID, c.from[i]
		ends, ok := in[pid]
		if !ok {
			ends[0] = at
		}
		in[pid] = [2]int{ends[0], at}
	}
	seen := map[event]int{}
	kept := c.spans[:0]
	for i, s := range c.spans {
		if ends := in[s.PID]; ends[0] != ends[1] {
			e := event{s.PID, s.Inv, s.Depth, s.Name, s.TS, s.Dur}
			first, ok := seen[e]
			if !ok {
				seen[e] = c.from[i]
			} else if first != c.from[i] {
				continue
			}
		}
		kept = append(kept, s)
	}
	clear(c.spans[len(kept):])
	return kept
}

// pass reads all logs. What the first pass has read the others must find unchanged.
func (l *logReader) pass(take func(s *hostlog.Span, log int)) error {
	first, at := l.was == nil, 0
	r := hostlog.Reader{Span: func(s *hostlog.Span) error {
		take(s, at)
		return nil
	}}
	if l.begin != nil {
		r.Progress = l.begin(l.paths)
	}
	for i, path := range l.paths {
		at = i
		st, err := os.Stat(path)
		if err != nil {
			return err
		}
		if first {
			l.was = append(l.was, st)
		}
		if err := l.unchanged(i, st); err != nil {
			return err
		}
		if err := r.ReadSource(path, nil); err != nil {
			return err
		}
		if first {
			continue // a log that grows meanwhile is worth a warning then, as long as it is not read again
		}
		if st, err = os.Stat(path); err == nil {
			err = l.unchanged(i, st)
		}
		if err != nil {
			return err
		}
	}
	if first {
		l.Summary = r.Summary
	}
	return nil
}

func (l *logReader) unchanged(i int, now os.FileInfo) error {
	if how := infile.Differs(l.was[i], now); how != "" {
		return fmt.Errorf("%s changed between two readings (%s); %s", l.paths[i], how, infile.Hint)
	}
	return nil
}

// read is the first pass.
func (l *logReader) read() error {
	again := true // what is no file cannot be read twice
	for _, path := range l.paths {
		st, err := os.Stat(path)
		again = again && err == nil && st.Mode().IsRegular()
	}
	var c collection
	err := l.pass(func(s *hostlog.Span, log int) {
		if l.many {
			l.note(s, log)
			return
		}
		if c.add(s, log); c.bytes > l.most && again {
			l.many, l.runs = true, map[Key]*runInLog{}
			for i := range c.spans {
				l.note(&c.spans[i], c.from[i])
			}
			c = collection{}
		}
	})
	l.all = c.distinct()
	return err
}

// note takes what a span says about the window of its run.
func (l *logReader) note(s *hostlog.Span, log int) {
	if !tells(s.Name) {
		return
	}
	key := Key{s.PID, s.Inv}
	r := l.runs[key]
	if r == nil {
		r = &runInLog{sighting: sighting{Window: Window{Key: key}}, log: log}
		l.runs[key] = r
	}
	r.several = r.several || r.log != log
	r.take(s)
}

// windows finds the runs that device work can be placed in, as Windows does.
func (l *logReader) windows() ([]Window, error) {
	if !l.many {
		return Windows(l.all)
	}
	again := map[Key]*runInLog{}
	for key, r := range l.runs {
		if r.several {
			again[key] = r
			r.sighting = sighting{Window: Window{Key: key}}
		}
	}
	if len(again) > 0 {
		var c collection
		err := l.pass(func(s *hostlog.Span, log int) {
			if tells(s.Name) && again[Key{s.PID, s.Inv}] != nil {
				c.add(s, log)
			}
		})
		if err != nil {
			return nil, err
		}
		for _, s := range c.distinct() {
			again[Key{s.PID, s.Inv}].take(&s)
		}
	}
	byKey := func(a, b Key) int { return cmp.Or(cmp.Compare(a.PID, b.PID), cmp.Compare(a.Inv, b.Inv)) }
	var out []Window
	for _, key := range slices.SortedFunc(maps.Keys(l.runs), byKey) {
		if r := l.runs[key]; r.brackets() {
			out = append(out, r.Window)
		}
	}
	l.runs = nil
	return out, orNone(out)
}

// around returns all spans that setAxis can need of the members, which are placed, in
// the order of the input, and gives the windows theirs. Which ones are drawn is up to
// setAxis; here it only matters that none of them is missing, and that of two records of
// one span both are kept or none: so what is kept may depend on no more than an event has.
func (l *logReader) around(members []*Member) ([]hostlog.Span, error) {
	if !l.many {
		return l.all, nil
	}
	v := vicinity{windows: map[Key]*Window{}, paired: map[int]bool{}, served: map[uint64]bool{}, picked: map[Key]bool{}}
	for i, m := range members {
		w := m.Pair.Window
		v.windows[w.Key], v.paired[w.PID] = w, true
		if w.Dispatch != nil && w.Dispatch.Run > 0 {
			v.served[uint64(w.Dispatch.Run)] = true
		}
		if i == 0 {
			v.inner = reach{m.Placement.Low(), w.Start + w.Dur}
		}
		v.inner.add(m.Placement.Low(), w.Start+w.Dur)
		if w.Run != nil {
			v.inner.add(w.Run.Start, w.Run.Start+w.Run.Dur) // a span of the run: all of them is known behind the first pass
		}
	}
	v.outer = v.inner
	for {
		// Every pass goes by what those before have found, and the last one finds no more:
		// behind the first all spans of the windows are known, behind the second the runs of
		// dispatchers that reach into them, behind the third how far these reach.
		before, picked := v, len(v.picked)
		var c collection
		v.lasts = map[Key]reach{}
		err := l.pass(func(s *hostlog.Span, log int) {
			if v.keeps(s) {
				c.add(s, log)
			}
		})
		if err != nil {
			return nil, err
		}
		for key, whole := range v.lasts {
			if whole.overlaps(v.inner) {
				v.picked[key] = true
			}
		}
		if v.inner != before.inner || v.outer != before.outer || len(v.picked) != picked {
			continue
		}
		spans := c.distinct()
		for i := range spans {
			if w := v.windows[Key{spans[i].PID, spans[i].Inv}]; w != nil {
				w.spans = append(w.spans, &spans[i])
			}
		}
		return spans, nil
	}
}

// reach is a range of host times, in ns.
type reach struct{ from, to int64 }

func (r *reach) add(from, to int64) { r.from, r.to = min(r.from, from), max(r.to, to) }

func (r reach) overlaps(o reach) bool { return r.from < o.to && r.to > o.from }

// vicinity is what is known of what lies around the windows of captures. It only grows.
type vicinity struct {
	windows map[Key]*Window
	paired  map[int]bool
	served  map[uint64]bool
	inner   reach // of the windows with all their spans
	outer   reach // of that and of the runs that are picked
	picked  map[Key]bool
	lasts   map[Key]reach // of runs that served the captures
}

// keeps says whether the span can be needed, by what is known so far, and takes what the
// span says about that.
func (v *vicinity) keeps(s *hostlog.Span) bool {
	key, own := Key{s.PID, s.Inv}, reach{s.TS, s.End()}
	switch {
	case v.paired[s.PID]:
		if v.windows[key] == nil {
			return false
		}
		if !s.Device() {
			v.inner.add(own.from, own.to)
			v.outer.add(own.from, own.to)
		}
		return true
	case s.Family() == hostlog.Chip:
		return false
	case s.Inv == 0:
		return own.overlaps(v.outer)
	case s.Device():
		return v.picked[key]
	}
	if own.overlaps(v.inner) {
		v.picked[key] = true
	}
	if v.served[s.Inv] && s.Family() == hostlog.Node {
		whole, ok := v.lasts[key]
		if !ok {
			whole = own
		}
		whole.add(own.from, own.to)
		v.lasts[key] = whole
	}
	if v.picked[key] {
		v.outer.add(own.from, own.to)
	}
	return v.picked[key]
}
