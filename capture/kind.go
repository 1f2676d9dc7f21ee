package capture

// Class says how records of a phase kind are used.
type Class uint8

// The classes of phase kinds (spec/records.md §2.11).
const (
	// Bar: drawn as a bar on the lane of its stream.
	Bar Class = iota
	// Marker: a task that ran on no core; drawn among the workers.
	Marker
	// Legacy: read and counted, never drawn.
	Legacy
	// Unknown: in no table; drawn under its own name and counted.
	Unknown
)

// Kind is what the formats say about one kind of scheduler phase. All code that
// treats kinds differently asks this table.
type Kind struct {
	Name  string // as written in the file
	Class Class
	Shown string // name in the picture, where it differs from Name (resolve_standalone)
	Task  string // display name on AICore streams, in front of the task id
	Color string // reserved colour name of the Chrome trace viewer

	// Work: the stream does more than resolve (spec/converter.md §3.5).
	Work bool
	// Resolves: evidence for a stream whose role is resolution (§3.5).
	Resolves bool
	// Publishes: hands tasks to cores, so a dispatch arrow may leave from it.
	Publishes bool
	// Parent: a resolve record inside one of these is nested (§3.4).
	Parent bool
	// Sampled: its end samples the shared ready queues on every stream (§4.7);
	// SampledByResolver: only on streams whose role is resolution.
	Sampled, SampledByResolver bool
	// Inside: lies within another record of the same lane by design.
	Inside bool
}

// Outer reports whether records of the kind are bars of their stream that take up
// its time: no marks, nothing that lies inside another record by design, no idle.
// The gaps between them are the stream's idle time (spec/converter.md §4.7, §13
// no. 6). A nested resolve is none, which only its place tells.
func (k *Kind) Outer() bool {
	return (k.Class == Bar || k.Class == Unknown) && !k.Inside && k.Name != "idle"
}

// Indexes of the kinds that rules name one by one.
const (
	KindComplete = iota
	KindDispatch
	KindResolve
	KindResolveStandalone
	KindDummy
	KindGraphPrepare
	KindDummyTask
	KindPredicatedSkip
	KindIdle
	KindMissing // a record without a kind, which counts as "unknown"
)

// known lists the kinds of spec/records.md §2.11 with the colours and display
// names of spec/converter.md §4.7. The first ones stand at the indexes above.
var known = []Kind{
	KindComplete:          {Name: "complete", Task: "Completion", Color: "good", Work: true, Parent: true, Sampled: true},
	KindDispatch:          {Name: "dispatch", Task: "Dispatch", Color: "terrible", Work: true, Publishes: true, Sampled: true},
	KindResolve:           {Name: "resolve", Task: "Resolve", Color: "vsync_highlight_color", Resolves: true, SampledByResolver: true},
	KindResolveStandalone: {Name: "resolve_standalone", Shown: "resolve", Task: "Resolve", Color: "vsync_highlight_color", Resolves: true, SampledByResolver: true},
	KindDummy:             {Name: "dummy", Color: "grey", Resolves: true, Parent: true, SampledByResolver: true},
	KindGraphPrepare:      {Name: "graph_prepare", Color: "rail_animation", Work: true},
	KindDummyTask:         {Name: "dummy_task", Class: Marker},
	KindPredicatedSkip:    {Name: "predicated_skip", Class: Marker},
	KindIdle:              {Name: "idle", Color: "grey"},
	KindMissing:           {Name: "unknown", Class: Unknown, Color: "generic_work"},

	{Name: "async_poll", Color: "yellow", Resolves: true, SampledByResolver: true},
	{Name: "release", Color: "olive", Work: true},
	{Name: "early_dispatch", Color: "rail_animation", Work: true, Publishes: true},
	{Name: "drain", Color: "cq_build_running", Work: true, Publishes: true},
	{Name: "drain_prepare", Color: "cq_build_attempt_runnable", Publishes: true, Inside: true},
	{Name: "drain_publish", Color: "cq_build_attempt_passed", Publishes: true, Inside: true},
	{Name: "bootstrap", Color: "rail_animation"},
	{Name: "state_probe", Task: "StateProbe", Color: "cq_build_running", Work: true},
	{Name: "worksteal", Task: "Worksteal", Color: "cq_build_attempt_failed", Work: true, Publishes: true},
	{Name: "refill", Task: "Refill", Color: "cq_build_attempt_passed", Work: true, Publishes: true},
	{Name: "fanin", Color: "cq_build_running"},
	{Name: "ready_claim", Color: "cq_build_attempt_runnable"},
	{Name: "ready_steal", Color: "cq_build_attempt_failed"},
	{Name: "direct_refill", Color: "cq_build_attempt_passed", Publishes: true},

	{Name: "scan", Class: Legacy},
	{Name: "poll", Class: Legacy},
	{Name: "fanout", Class: Legacy},
	{Name: "prestage", Class: Legacy},
	{Name: "wire", Class: Legacy},
}

var knownIndex = func() map[string]uint16 {
	m := make(map[string]uint16, len(known))
	for i, k := range known {
		m[k.Name] = uint16(i)
	}
	return m
}()

// kinds numbers the kinds of one file: the known ones, then those in no table in order of appearance.
type kinds struct {
	table []Kind
	index map[string]uint16
}

// maxKinds bounds the kinds of one file; a file with more is no capture.
const maxKinds = 4096

func (k *kinds) lookup(name []byte) (uint16, bool) {
	if i, ok := knownIndex[string(name)]; ok {
		return i, true
	}
	if i, ok := k.index[string(name)]; ok {
		return i, true
	}
	if k.table == nil {
		k.table = append(k.table, known...)
		k.index = map[string]uint16{}
	}
	if len(k.table) >= maxKinds {
		return 0, false
	}
	i := uint16(len(k.table))
	n := string(name)
	k.table = append(k.table, Kind{Name: n, Class: Unknown, Color: "generic_work"})
	k.index[n] = i
	return i, true
}

func (k *kinds) all() []Kind {
	if k.table == nil {
		return known
	}
	return k.table
}
