package capture

// Dialect holds the facts in which the generations of captures differ. The
// reader sets it from the file (spec/newest.md §2); everything else follows the
// facts and never asks which generation it was.
type Dialect struct {
	// Describes the file in messages ("this file looks like …").
	Label string

	// IDs is how a task id is split and written.
	IDs IDLayout

	// StreamNamedByWorker: an AICore scheduler lane is named after the worker
	// id; otherwise after the physical core, if the file states it.
	StreamNamedByWorker bool
	// MarkersFirst: inside a stream all markers are drawn before all bars.
	MarkersFirst bool
	// SeamCountsUploads: host uploads take part in the host/device seam.
	SeamCountsUploads bool
	// AlwaysMetadata: the picture carries metadata even when nothing but the runtime is known.
	AlwaysMetadata bool

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

// IDLayout is how 64 bits of a task id are divided (spec/records.md §0.3).
type IDLayout uint8

// The layouts of task ids.
const (
	// HighLow: a 32-bit high word (ring, or id space) over a 32-bit local id. An
	// id in high word 1 may belong to a graph: graph << 10 | index.
	HighLow IDLayout = iota
)

// Split returns the high part that the task text shows and the local id.
func (l IDLayout) Split(id uint64) (high, local uint32) {
	return uint32(id >> 32), uint32(id)
}

// GraphMember reports whether a task was expanded from a graph, from which and
// as which node of it. The rule of HighLow is spec/converter.md §3.7; an outer
// graph task has high word 0.
func (l IDLayout) GraphMember(id uint64) (graph uint64, index uint32, ok bool) {
	high, local := l.Split(id)
	return uint64(local >> 10), local & 0x3ff, high == 1
}

// GraphOuter reports whether id can name a graph task.
func (l IDLayout) GraphOuter(id uint64) bool {
	high, _ := l.Split(id)
	return high == 0
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
