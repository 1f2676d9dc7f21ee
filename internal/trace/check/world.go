package check

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// A laneKey is the (pid, tid) that names a lane, after the importer's own
// replacements.
type laneKey struct{ pid, tid uint64 }

// A lane is one thread: the only kind of track that JSON can name.
type lane struct {
	key      laneKey
	name     uint32
	namedAt  uint32 // event number of its thread_name
	named    bool
	sort     int64
	slices   int64  // slices and marks drawn on it
	first    uint32 // the first of those in the store
	zeroTid  bool   // some event named it by tid 0 or none
	ownTid   bool   // some event named it by a tid equal to the pid
	stack    []frame
	awaiting []uint32 // 'f' points without bp that wait for the next slice
}

// A process is one pid.
type process struct {
	pid     uint64
	name    uint32
	namedAt uint32
	named   bool
	sort    int64
	drawn   bool // carries slices, marks or counters
}

// A counterKey names the track of a counter (perfetto-facts §1 Counters).
type counterKey struct {
	pid       uint64
	name, key uint32
	id        int64 // of a string id, 0 if none
}

// A counter remembers which of the numbers that do not name the track came
// with it first.
type counter struct {
	tid    uint64
	id     int64
	merged bool
}

// A world is every lane, process and counter track of a file.
type world struct {
	lanes    []lane
	laneOf   map[laneKey]uint32
	lastLane uint32
	procs    []process
	procOf   map[uint64]uint32
	counters map[counterKey]counter
}

func newWorld() world {
	return world{laneOf: map[laneKey]uint32{}, procOf: map[uint64]uint32{}, counters: map[counterKey]counter{}}
}

// lane returns the number of a lane, making it and its process if need be.
func (w *world) lane(k laneKey) uint32 {
	if int(w.lastLane) < len(w.lanes) && w.lanes[w.lastLane].key == k {
		return w.lastLane
	}
	i, ok := w.laneOf[k]
	if !ok {
		i = uint32(len(w.lanes))
		w.laneOf[k] = i
		w.process(k.pid)
		w.lanes = append(w.lanes, lane{key: k})
	}
	w.lastLane = i
	return i
}

// process returns a process, making it if need be.
func (w *world) process(pid uint64) *process {
	i, ok := w.procOf[pid]
	if !ok {
		i = uint32(len(w.procs))
		w.procOf[pid] = i
		w.procs = append(w.procs, process{pid: pid})
	}
	return &w.procs[i]
}

// closing states what can be said only when the whole file is known.
func (t *trace) closing() {
	for i := range t.lanes {
		l := &t.lanes[i]
		if l.zeroTid && l.ownTid {
			if h := t.finds.hit(ruleTidCollision); h != nil {
				h.say(t.laneText(l), "events with tid 0 and with tid %s meet here", t.placeText(l.key.tid))
			}
		}
		if !l.named && l.slices > 0 {
			if h := t.finds.hit(ruleLaneUnnamed); h != nil {
				h.say(t.laneText(l), "%d slices and no thread_name, the first is %s", l.slices, t.at(l.first))
			}
		}
	}
	for i := range t.procs {
		p := &t.procs[i]
		if p.drawn && !p.named {
			if h := t.finds.hit(ruleProcessUnnamed); h != nil {
				h.say("pid "+t.placeText(p.pid), "no process_name")
			}
		}
	}
	t.sortOrder()
	t.duplicateIDs()
}

// sortOrder compares the order that the sort indexes say with that of the
// numbers, since old viewers know only the latter (field report 19).
func (t *trace) sortOrder() {
	procs := slices.Clone(t.procs)
	slices.SortFunc(procs, func(a, b process) int { return cmp.Compare(a.pid, b.pid) })
	for i := 1; i < len(procs); i++ {
		a, b := &procs[i-1], &procs[i]
		if a.sort > b.sort {
			if h := t.finds.hit(ruleSortOrder); h != nil {
				h.say("pid "+t.placeText(b.pid), "sort_index %d, but pid %s has %d", b.sort, t.placeText(a.pid), a.sort)
			}
		}
	}
	var lanes []*lane
	for i := range t.lanes {
		if l := &t.lanes[i]; l.named || l.slices > 0 {
			lanes = append(lanes, l)
		}
	}
	slices.SortFunc(lanes, func(a, b *lane) int {
		return cmp.Or(cmp.Compare(a.key.pid, b.key.pid), cmp.Compare(a.key.tid, b.key.tid))
	})
	for i := 1; i < len(lanes); i++ {
		a, b := lanes[i-1], lanes[i]
		if a.key.pid == b.key.pid && a.sort > b.sort {
			if h := t.finds.hit(ruleSortOrder); h != nil {
				h.say(t.laneText(b), "sort_index %d, but tid %s has %d", b.sort, t.placeText(a.key.tid), a.sort)
			}
		}
	}
}

// report returns what was found.
func (t *trace) report() *Report {
	rep := t.rep
	for i := range t.lanes {
		if l := &t.lanes[i]; l.named || l.slices > 0 {
			rep.Lanes++
		}
	}
	rep.Processes = int64(len(t.procs))
	rep.Findings = t.finds.list()
	return &rep
}

// placeText writes a pid or tid.
func (t *trace) placeText(n uint64) string {
	if n >= firstText {
		return strconv.Quote(short(t.names.get(uint32(n - firstText))))
	}
	return strconv.FormatUint(n, 10)
}

func (t *trace) laneText(l *lane) string {
	s := "pid " + t.placeText(l.key.pid) + " tid " + t.placeText(l.key.tid)
	if l.named {
		s += fmt.Sprintf(" (%q)", short(t.names.get(l.name)))
	}
	return s
}

// usText writes nanoseconds as the microseconds of the file.
func usText(ns int64) string {
	sign, u := "", uint64(ns)
	if ns < 0 {
		sign, u = "-", -u
	}
	if ns == math.MinInt64 {
		return "below the range"
	}
	return fmt.Sprintf("%s%d.%03d", sign, u/1000, u%1000)
}
