package hbg

import (
	"swimlane/internal/abi"
	"swimlane/internal/sim"
)

// aicoreGang is a task whose blocks start together, while schedulers gather cores for
// it. All take part that have idle ones: they fill slots behind a gate, and whoever
// fills the last one opens it for all at one moment (spec/collector.md, question 29).
// There is one at a time.
type aicoreGang struct {
	claim     *aicoreClaim
	announced bool // it has been probed, and others may take part
	staged    int  // subtasks behind the gate
	workers   []*aicoreWorker
	jobs      []*aicoreJob
}

// gangService begins with a task of the own inbox whose blocks start together, or
// takes part in what another has begun.
func (s *aicoreSched) gangService() (did bool) {
	r := s.r
	if in := s.inboxes[kindGang]; r.gang == nil && len(in) > 0 {
		s.busy()
		c := s.claim(s, kindGang, in[0].of.Form.Blocks)
		r.gang = &aicoreGang{claim: c}
		c.task.next = 0
		s.probe(c)
		r.gang.announced = true
		r.wakeAll(s.now())
		did = true
	}
	g := r.gang
	if g == nil || !g.announced || g.claim.task.rest() == 0 {
		return did
	}
	places := s.gangPlaces(g.claim.task)
	if len(places) == 0 {
		return did
	}
	s.busy()
	t := g.claim.task
	first := t.next
	t.next += len(places)
	span := aicoreInterval{start: s.stamp(abi.SchedPhases), worker: s.worker, loop: s.loop}
	s.spend(sim.CoreSchedGang)
	for i, cores := range places {
		for _, w := range cores {
			s.spend(sim.CoreSchedDispatch)
			g.workers, g.jobs = append(g.workers, w), append(g.jobs, r.put(w, t, first+i, abi.PublicationGated))
			g.staged++
		}
	}
	if g.staged < t.of.Form.Subtasks {
		return true
	}
	s.spend(sim.CoreSchedGang)
	span.end = s.published(t)
	s.trace(g.claim, span, nil)
	for i, j := range g.jobs {
		r.open(g.workers[i], j, span.end)
	}
	r.gang = nil
	r.wakeAll(s.now())
	return true
}

// gangPlaces are the cores for as many of the blocks that are left as the idle cores
// of the cluster can take.
func (s *aicoreSched) gangPlaces(t *aicoreTask) (places [][]*aicoreWorker) {
	if t.of.Form.Shape == abi.ShapeAIV {
		for _, w := range s.on(sim.LaneAIV0 | sim.LaneAIV1) {
			if w.idle() && len(places) < t.rest() {
				places = append(places, []*aicoreWorker{w})
			}
		}
		return places
	}
	if s.all(t.lanes(), (*aicoreWorker).idle) {
		places = append(places, s.on(t.lanes()))
	}
	return places
}
