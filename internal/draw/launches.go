package draw

import (
	"strconv"

	"swimlane/trace"
)

// launchBar is one kernel launch, from its boundary to the last record seen of it.
type launchBar struct{ start, end int64 }

// layOutLaunches adds the lane of kernel launches (spec/newest.md §8). A launch
// lasts until the end of its last record: nothing states when it ended.
func (d *drawing) layOutLaunches() error {
	rec, clock := d.t.Rec, &d.t.Clock
	if rec.Launches == nil {
		return nil
	}
	process := d.pic.process(pidLaunches, "Kernel Launches")
	lanes := []group{{name: "Launches", subs: 1}}
	d.pic.lanes(process, tidLaunch, 1, lanes)
	d.launchLane = lanes[0].lane
	last := make([]uint64, len(rec.Launches)) // cycles
	seen := func(run int32, c uint64) { last[run] = max(last[run], c) }
	for row, task := range d.t.Rows.Task {
		run := d.t.Tasks.RunOf(task)
		seen(run, d.t.Rows.End[row])
		if d.t.Rows.Timed(row) {
			seen(run, d.t.Rows.Finish[row])
		}
	}
	for n := range rec.Streams {
		p := &rec.Streams[n].Phases
		for j := range p.End {
			seen(runAt(p.Run, j), p.End[j])
		}
	}
	for i := range rec.DeviceOrc {
		s := &rec.DeviceOrc[i]
		for j := range s.End {
			seen(runAt(s.Run, j), s.End[j])
		}
	}
	for i := range rec.Lifecycle {
		for _, span := range rec.Lifecycle[i].Span {
			seen(rec.Lifecycle[i].Run, span[1])
		}
	}
	for i, l := range rec.Launches {
		start := clock.Ns(l.Start)
		end := max(start, clock.Ns(last[i]))
		if i+1 < len(rec.Launches) {
			end = min(end, clock.Ns(rec.Launches[i+1].Start)) // bars of one lane must not overlap
		}
		d.launches = append(d.launches, launchBar{start, end})
	}
	return nil
}

type launchSection struct{ *drawing }

func (s launchSection) Len() int { return len(s.launches) }

func (s launchSection) Walk(from, to int, sink trace.Sink) {
	for i := from; i < to; i++ {
		epoch := s.t.Rec.Launches[i].Epoch
		sink.Slice(&trace.Slice{
			Lane: s.launchLane, Start: s.launches[i].start, End: s.launches[i].end, ID: trace.NoID,
			Name: strconv.AppendUint([]byte("Launch "), epoch, 10), Category: "kernel_launch",
			Args: []trace.Arg{
				{Key: "launch_epoch", Num: epoch},
				{Key: "end_basis", Kind: trace.Text, Text: []byte("last_observed_record")},
			},
		})
	}
}
