package depview

import "swimlane/capture"

// covered reports whether a redundant edge with creator rows can go because data flows
// around it (spec/deps.md §6.5, reduced_dataflow): for every such row, tasks between the
// owner of the storage and this one, and tasks behind this one, hold all the bytes in
// question, so that they keep the storage alive.
func (m *Model) covered(e int32) bool {
	owner, task := m.Edge(e)
	for _, i := range m.Rows(e) {
		r := &m.Graph.Rows[i]
		if r.Source != capture.SourceCreator {
			continue
		}
		arg := m.Arg(task, r.Arg)
		if arg == nil || arg.Type != capture.ArgInout {
			return false
		}
		s := m.consumerSlice(r, arg)
		all := m.region(s)
		if all == nil {
			return false
		}
		buffer := m.Graph.Tensors[s.tensor].Addr
		if !m.incoming(owner, task, r.Arg, buffer, all) || !m.outgoing(owner, task, buffer, all) {
			return false
		}
	}
	return true
}

// incoming reports whether what the task's slot has got from producers that hold the
// owner's buffer too covers a region.
func (m *Model) incoming(owner, task, slot int32, buffer uint64, all region) bool {
	var cover region
	for _, e := range m.In(task) {
		var held region // of the producer; nil: not looked up yet
		for _, i := range m.Rows(e) {
			r := &m.Graph.Rows[i]
			if r.Source != capture.SourceTensorMap || r.Arg != slot {
				continue
			}
			overlap := m.overlap(task, r, buffer)
			if len(overlap) == 0 {
				continue
			}
			if held == nil {
				held = m.holds(owner, m.pred[e], buffer, -1)
			}
			if cover = cover.or(overlap.and(held)); cover.covers(all) {
				return true
			}
		}
	}
	return cover.covers(all)
}

// outgoing reports whether what consumers that hold the owner's buffer too get from the
// task covers a region.
func (m *Model) outgoing(owner, task int32, buffer uint64, all region) bool {
	var cover region
	for e, end := m.Out(task); e < end; e++ {
		for _, i := range m.Rows(e) {
			r := &m.Graph.Rows[i]
			if r.Source != capture.SourceTensorMap || r.Arg < 0 {
				continue
			}
			overlap := m.overlap(m.succ[e], r, buffer)
			if len(overlap) == 0 {
				continue
			}
			if cover = cover.or(overlap.and(m.holds(owner, m.succ[e], buffer, r.Arg))); cover.covers(all) {
				return true
			}
		}
	}
	return cover.covers(all)
}

// overlap is what the two slices of a row of the tensor map share, if its consumer slot
// is INOUT and both are exactly known slices of the buffer; otherwise it is empty.
func (m *Model) overlap(consumer int32, r *capture.DepsRow, buffer uint64) region {
	arg := m.Arg(consumer, r.Arg)
	if arg == nil || arg.Type != capture.ArgInout {
		return nil
	}
	if arg.Has&capture.HasTensorID != 0 {
		// The row names the tensor that was registered, the argument the one that is used.
		if t := m.Tensor(arg.Tensor); t < 0 || m.Graph.Tensors[t].Addr != buffer {
			return nil
		}
	}
	in, out := m.consumerSlice(r, arg), m.producerSlice(r)
	if in.tensor < 0 || out.tensor < 0 || m.Graph.Tensors[in.tensor].Addr != buffer || m.Graph.Tensors[out.tensor].Addr != buffer {
		return nil
	}
	return m.region(in).and(m.region(out))
}

// holds is the region of a buffer that a task holds through creator rows from an owner:
// in the slot, where it must be INOUT, or with slot −1 in any that is INOUT or
// OUTPUT_EXISTING.
func (m *Model) holds(owner, task int32, buffer uint64, slot int32) region {
	held := region{}
	e := m.Find(owner, task)
	if e < 0 {
		return held
	}
	for _, i := range m.Rows(e) {
		r := &m.Graph.Rows[i]
		if r.Source != capture.SourceCreator || slot >= 0 && r.Arg != slot {
			continue
		}
		arg := m.Arg(task, r.Arg)
		if arg == nil || arg.Type != capture.ArgInout && (slot >= 0 || arg.Type != capture.ArgOutputExisting) {
			continue
		}
		s := m.consumerSlice(r, arg)
		if s.tensor >= 0 && m.Graph.Tensors[s.tensor].Addr == buffer {
			held = held.or(m.region(s))
		}
	}
	return held
}
