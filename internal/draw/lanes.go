package draw

import (
	"fmt"

	"swimlane/trace"
)

// The processes of a picture: numbers, order and names (spec/converter.md §4.0).
// The order on the screen follows the number; the sort index says the same.
const (
	pidOrchestrator = 1
	pidScheduler    = 2
	pidSchedView    = 3
	pidWorkers      = 4
	pidGraphs       = 5
	pidLifecycle    = 6
	pidLaunches     = 7
)

// The first thread numbers of the lane families.
const (
	tidQueue     = 3999
	tidSubmit    = 4000
	tidUpload    = 4100
	tidGraph     = 5000
	tidCore      = 10000
	tidAICPU     = 19000
	tidStream    = 30000
	tidLifecycle = 60000
	tidLaunch    = 70000
)

// process adds a process and returns its index.
func (p *Picture) process(pid uint32, name string) int {
	p.Processes = append(p.Processes, trace.Process{PID: pid, Name: name, Sort: int32(pid)})
	return len(p.Processes) - 1
}

// group is a lane with its sub-lanes.
type group struct {
	name string
	at   uint32 // place among the groups of its family, ascending
	subs int    // at least 1
	lane int32  // index of the first lane; the sub-lanes follow
	lost bool   // records are missing, which a lane of its own shows
	bare bool   // there is no other lane
	// lossLane is the index of the lane of what was lost.
	lossLane int32
}

// main is the number of lanes that bars lie on.
func (g *group) main() int {
	if g.bare {
		return 0
	}
	return max(g.subs, 1)
}

// width is the number of all lanes.
func (g *group) width() int {
	if g.lost {
		return max(g.main(), 1) + 1
	}
	return g.main()
}

// lanes adds the lanes of a family. Thread numbers are base + stride·place +
// sub-lane; the stride is the format's unless a lane has more sub-lanes than
// that, so numbers never collide. It returns the first number behind the family.
func (p *Picture) lanes(process int, base, stride uint32, groups []group) (next uint32) {
	places := uint32(0)
	for i := range groups {
		for uint32(groups[i].width()) > stride {
			stride *= 10
		}
		places = max(places, groups[i].at+1)
	}
	// Numbers are 32 bits wide. Places beyond that, which only made-up core
	// numbers reach, are closed up.
	dense := uint64(base)+uint64(stride)*uint64(places) > 1<<31
	for i := range groups {
		g := &groups[i]
		place := g.at
		if dense {
			place = uint32(i)
			places = uint32(len(groups))
		}
		g.lane = int32(len(p.Lanes))
		for k := range g.main() {
			name := g.name
			if k > 0 {
				name = fmt.Sprintf("%s (%d)", g.name, k+1)
			}
			p.lane(process, base+stride*place+uint32(k), name)
		}
		if g.lost {
			g.lossLane = p.lossLane(process, base+stride*place+uint32(g.width()-1), g.name)
		}
	}
	return base + stride*places
}

// lane adds a lane and returns its index.
func (p *Picture) lane(process int, tid uint32, name string) int32 {
	p.Lanes = append(p.Lanes, trace.Lane{Process: process, TID: tid, Name: name, Sort: int32(tid)})
	return int32(len(p.Lanes) - 1)
}

// LossSuffix ends the name of a lane that shows where records are missing.
const LossSuffix = " (lost)"

// lossLane adds the lane that shows where the lane of that name lost records.
func (p *Picture) lossLane(process int, tid uint32, name string) int32 {
	return p.lane(process, tid, name+LossSuffix)
}

// runAt is the run of a record; records that name none belong to the first.
func runAt(run []int32, j int) int32 {
	if run == nil {
		return 0
	}
	return run[j]
}

// runArg appends the run's identity, where records name one (spec/newest.md §6.2).
func (d *drawing) runArg(args []trace.Arg, run int32) []trace.Arg {
	r := d.t.Rec.Runs[run]
	switch {
	case !r.Known:
		return args
	case d.t.Rec.Launches != nil:
		return append(args, trace.Arg{Key: "launch_epoch", Num: r.Epoch})
	}
	return append(args, trace.Arg{Key: "run_epoch", Num: r.Epoch})
}

// own returns the place inside the bar [start, end) that is nearest to t and
// where no bar that nests in it (from inner on; 0 = none) lies on top.
func own(t, start, end, inner int64) int64 {
	if inner > 0 {
		end = min(end, inner)
	}
	return max(start, min(t, end-1))
}
