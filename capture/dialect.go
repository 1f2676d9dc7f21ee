package capture

import "fmt"

// The runtimes that a capture can name.
const (
	RuntimeTMR = "tensormap_and_ringbuffer"
	RuntimeHBG = "host_build_graph"
)

// Dialect holds the facts in which the generations of captures differ. The
// reader sets it from the file (spec/newest.md §2); everything else follows the
// facts and never asks which generation it was.
type Dialect struct {
	// Label describes the file in messages ("this file looks like …").
	Label string

	// IDs is how a task id is split and written.
	IDs IDLayout

	// StreamNamedByWorker: an AICore scheduler lane is named after the worker
	// id; otherwise after the physical core, if the file states it.
	StreamNamedByWorker bool
	// NoNestedResolve: a resolve record never lies inside another one.
	NoNestedResolve bool
	// SeamCountsUploads: host uploads take part in the host/device seam.
	SeamCountsUploads bool
	// NamesRuntime: the picture's metadata names the runtime, and is always there.
	NamesRuntime bool
	// ValidRowStats: the statistics say that they count valid rows only.
	ValidRowStats bool
	// ExplainsPhases: all phases are explained in the report of scheduler overhead.
	ExplainsPhases bool

	// Graph names what the Graph Execution view says about expanded graphs.
	Graph GraphWords
}

// GraphWords are the words of the Graph Execution view (spec/converter.md §4.2).
type GraphWords struct {
	Things string // "in-graph tasks": what a graph consists of, in the bar's name
	Count  string // argument names
	Min    string
	Max    string
	Layout string // description of the id layout
}

// IDLayout is how 64 bits of a task id are divided (spec/records.md §0.3,
// spec/newest.md §4.1). Nothing in an id says which layout it has.
type IDLayout uint8

// The layouts of task ids.
const (
	// HighLow: a 32-bit high word (ring, or id space) over a 32-bit local id. An
	// id in high word 1 may belong to a graph: graph << 10 | index.
	HighLow IDLayout = iota
	// Rings: an 8-bit ring over a 32-bit local id.
	Rings
	// Spaces: two bits of space, a 20-bit parent that only sub-tasks have, and a
	// 32-bit local id.
	Spaces
)

// The spaces of the layout Spaces.
const (
	SpaceGlobal = iota
	SpaceSubTask
	SpaceParam
)

// TaskID is a task id taken apart.
type TaskID struct {
	Ring   uint32 // HighLow: the high word; Rings: the ring
	Space  uint32 // Spaces only
	Parent uint32 // Spaces, sub-tasks only
	Local  uint32
}

// Split takes an id apart.
func (l IDLayout) Split(id uint64) TaskID {
	t := TaskID{Local: uint32(id)}
	switch l {
	case Rings:
		t.Ring = uint32(id>>32) & 0xff
	case Spaces:
		t.Space = uint32(id >> 62)
		if t.Space == SpaceSubTask {
			t.Parent = uint32(id>>32) & 0xfffff
		}
	default:
		t.Ring = uint32(id >> 32)
	}
	return t
}

// GraphMember reports whether a task was expanded from a graph, from which and
// as which node of it (spec/converter.md §3.7, spec/newest.md §6.5).
func (l IDLayout) GraphMember(id uint64) (graph uint64, index uint32, ok bool) {
	t := l.Split(id)
	switch l {
	case Rings:
		return 0, 0, false
	case Spaces:
		return uint64(t.Parent), t.Local, t.Space == SpaceSubTask
	}
	return uint64(t.Local >> 10), t.Local & 0x3ff, t.Ring == 1
}

// GraphOuter reports whether id can name a graph task.
func (l IDLayout) GraphOuter(id uint64) bool { return id>>32 == 0 }

// Check says what is wrong with an id that no runtime mints, "" if nothing is
// (spec/newest.md §4.1).
func (l IDLayout) Check(id uint64) string {
	const why = "either the invalid sentinel or a corrupt record"
	switch {
	case l == Spaces && id>>62 > SpaceParam:
		return fmt.Sprintf("task_id 0x%016x has id space %d (top two bits), which no real space takes; expected one of [0, 1, 2] -- %s", id, id>>62, why)
	case l == Rings && id>>32 > 0xff:
		return fmt.Sprintf("task_id 0x%016x has ring %d (bits 63:32), which exceeds the 8-bit field a mint can fill -- %s", id, id>>32, why)
	}
	return ""
}

// The generations that share the seeds' rules differ only in their sections,
// which the reader has read already; behind the door they are one dialect.
var seedDialect = Dialect{
	IDs: HighLow,
	Graph: GraphWords{
		Things: "in-graph tasks",
		Count:  "visible_in_graph_task_count",
		Min:    "visible_in_graph_local_id_min",
		Max:    "visible_in_graph_local_id_max",
		Layout: "ring1:(outer_task_id << 10) | in_graph_local_id",
	},
}

// runtimeDialect is the dialect of captures that name their runtime.
func runtimeDialect(runtime string) Dialect {
	d := Dialect{
		IDs: Rings, StreamNamedByWorker: true, SeamCountsUploads: true, NamesRuntime: true, ValidRowStats: true, ExplainsPhases: true,
		Graph: GraphWords{
			Things: "sub-tasks",
			Count:  "visible_sub_task_count",
			Min:    "visible_sub_task_local_id_min",
			Max:    "visible_sub_task_local_id_max",
			Layout: "space1:(outer_task_id << 32) | sub_task_local_id",
		},
	}
	if runtime == RuntimeHBG {
		d.IDs, d.NoNestedResolve = Spaces, true
	}
	return d
}
