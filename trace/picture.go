// Package trace says what a picture of a capture is: processes with lanes, and
// on them slices, arrows (flows) and counters.
//
// A Picture is pulled, not pushed. Whoever makes one lays out its lanes and
// numbers first; the events themselves are produced when a writer walks a
// section, in order, range by range. No writer needs to hold a picture whole,
// and ranges can be produced in parallel: Walk is safe for concurrent use.
package trace

import "iter"

// Picture is one picture. It is immutable.
type Picture struct {
	Processes []Process
	Lanes     []Lane
	Sections  []Section
	// Metadata describes the picture as a whole; nil if there is nothing to say.
	Metadata []Field
	// Document are further fields of the file, beside its events, for readers that are
	// no viewers.
	Document []Field
	// Unsorted leaves the order of processes and lanes to the viewer.
	Unsorted bool
}

// Process is a group of lanes.
type Process struct {
	PID  uint32
	Name string // "": the process is not described, only counters name its number
	Sort int32
}

// Lane is one row of the picture. Slices on a lane nest or do not touch.
type Lane struct {
	Process int // index into Picture.Processes
	TID     uint32
	Name    string
	Sort    int32
}

// Section is a run of events. Item numbers have no meaning outside the section;
// an item may stand for several events, or none.
type Section interface {
	// Len is the number of items.
	Len() int
	// Walk gives the events of the items from … to−1 to the sink, in order. What
	// it passes is valid during the call only. It may be called concurrently.
	Walk(from, to int, sink Sink)
}

// Sink takes events.
type Sink interface {
	Slice(*Slice)
	Flow(*Flow)
	Counter(*Counter)
}

// NoID marks a slice that is not numbered, and a flow end that names no slice.
const NoID = -1

// Slice is a bar on a lane. Times are ns from the picture's zero.
type Slice struct {
	Lane       int32
	Start, End int64
	ID         int64 // number of the slice in the picture, NoID if it has none
	Name       []byte
	Category   string
	Color      string // reserved colour name of the Chrome viewer, "" for none
	Args       []Arg
	// NameFirst: the event starts with its name, as host uploads do.
	NameFirst bool
	// Foreign: the keys of Args come from a file and can be any text.
	Foreign bool
}

// Flow is an arrow between two slices.
type Flow struct {
	ID       int64 // unique in the picture
	Name     string
	Category string // "": flow
	From, To Point
	// Counted: InputTasks and OutputTasks say how many blocks the two ends stand for.
	Counted                 bool
	InputTasks, OutputTasks int64
	Args                    []Arg // of both ends
}

// Point is one end of a flow: a place on a lane, and the number of the slice it is bound to.
type Point struct {
	Lane int32
	Time int64
	Bind int64 // NoID: not named
}

// Counter is a sample of one or more values.
type Counter struct {
	Process  int // index into Picture.Processes
	TID      uint32
	Time     int64
	Name     string
	Category string
	Values   []Arg
}

// Arg is a named value.
type Arg struct {
	Key   string
	Kind  ArgKind
	Num   uint64 // Uint; as int64: Int, Micros (in ns); Bool: 0 or 1
	Text  []byte // Text; of a Number its digits
	Three [3]int32
}

// ArgKind says which field of an Arg holds its value.
type ArgKind uint8

// The kinds of values.
const (
	Uint ArgKind = iota
	Int
	Micros // a time or length in ns, shown as µs
	Text
	Bool
	Triple
	Null
	Number // an integer of any size
	JSON   // Text is a value as JSON text
)

// Field is one entry of a picture's metadata, or of the file.
type Field struct {
	Key string
	// JSON is the value as compact JSON text.
	JSON []byte
	// List, of a field of the file, is the value instead: a list, whose items come as
	// compact JSON text, each valid until the next.
	List iter.Seq[[]byte]
}
