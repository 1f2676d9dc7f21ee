package strace

import (
	"slices"

	"swimlane/internal/hostlog"
)

// Phases are the steps of preparing runs, as spans (spec/host-log.md §6.6).
type Phases struct {
	Spans   []*hostlog.Span
	Present int // steps that the log has as spans already
	Dropped int // passes of runs that the log does not have
}

const bind = "chip.run.bind"

// segments are the steps right below bind. Others are part of the orchestration.
var segments = []string{"args", "arena_build", "static_arena", "gm_heap", "shared_mem", "runtime_init", "host_orch",
	"graph_upload", "arena_h2d", "host_view_close"}

// recording are the steps that a thread of its own takes when it records graphs.
var recording = []string{"record_in_graph_task", "record_node", "build_definition"}

type runKey struct {
	pid int
	inv uint64
}

type nameKey struct {
	runKey
	name string
}

// ReadPhases reads files of host phase records and attaches what they hold to the
// runs of the log.
func (l *Log) ReadPhases(paths []string) (*Phases, error) {
	out := &Phases{}
	if len(paths) == 0 {
		return out, nil
	}
	binds := map[runKey]*hostlog.Span{}
	present := map[nameKey]bool{}
	for s := range l.Spans() {
		if s.Device() {
			continue
		}
		key := runKey{s.PID, s.Inv}
		if s.Name == bind {
			binds[key] = s
		}
		if len(s.Name) > len(bind) && s.Name[:len(bind)] == bind {
			present[nameKey{key, s.Name}] = true
		}
	}
	for _, path := range paths {
		err := hostlog.ReadPhases(path, func(p *hostlog.Pass) {
			key := runKey{p.PID, p.Inv}
			b := binds[key]
			if b == nil || !p.Keyed {
				out.Dropped++
				return
			}
			for i := range p.Records {
				s := phase(b, &p.Records[i])
				if s.Depth == b.Depth+1 && present[nameKey{key, s.Name}] {
					out.Present++
					continue
				}
				out.Spans = append(out.Spans, s)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// phase is a step as a span below bind.
func phase(b *hostlog.Span, r *hostlog.PhaseRecord) *hostlog.Span {
	s := *b
	s.TS, s.Dur = r.Start, max(0, r.End-r.Start)
	thread := "host_main"
	switch {
	case slices.Contains(segments, r.Phase):
		s.Name, s.Depth = bind+"."+r.Phase, b.Depth+1
	default:
		s.Name, s.Depth = bind+".host_orch."+r.Phase, b.Depth+2
		if r.TID > 0 {
			s.TID = r.TID
		}
	}
	switch {
	case slices.Contains(recording, r.Phase) && r.TID > 0 && r.TID != b.TID:
		thread = "graph_record_worker"
	case r.Phase == "graph_submit":
		thread = "graph_submit_main"
	}
	s.Attrs = "detail=" + r.Detail + " src=host_phase_records host_phase_thread=" + thread
	return &s
}
