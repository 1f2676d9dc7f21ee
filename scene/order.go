package scene

import (
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"swimlane/internal/mailbox"
)

// What dispatcher and chip workers say to each other; see [mailbox.Frame].
const (
	kindHello   = 1 + iota // to a worker: who it is
	kindOrder              // to a worker: run a callable; the blob is what it reads
	kindStop               // to a worker: end
	kindReady              // from a worker: it has a place to work
	kindRefused            // from a worker: it cannot be what hello says
	kindDone               // from a worker: what became of an order; the blob is what was written
	kindEnded              // from a worker: it ends, as it was told to
)

// hello tells a worker who it is.
type hello struct {
	Class, Case string
	Config      Config
	Platform    string
	Costs       string // as [Costs.Write] writes them
	Rank        int
	Device      int
	Root        string // case root, "" if nothing is written
	LogLevel    string
	Swimlane    int
	DepGen      bool
	Digests     []string // of the node's callables
}

// ready is a worker's answer.
type ready struct{ Rank, PID int }

// refusal is its answer if it cannot be that.
type refusal struct{ Error string }

// farewell is the last that it says.
type farewell struct {
	Log string // what its log lacks; "": nothing
}

// order is a dispatch: what to run, and what the sidecar says of it (spec/l3.md §2.1).
type order struct {
	Callable   int
	RunID      uint64
	TaskSlot   int
	GroupIndex int
	GroupSize  int
	DispatchID uint64
	Slot       uint64
	Generation uint64
	Args       []orderArg
}

// orderArg is an argument of an order.
type orderArg struct {
	Name  string
	Type  DType
	Shape []int
	Use   Direction
}

// done is what became of an order.
type done struct {
	DispatchID uint64
	Error      string // "": it ended
	Capture    int    // number of its capture directory, −1 if it has none
	Records    bool   // which files are in it
	Graph      bool
	Names      bool
	Phases     bool
	DeviceLog  bool // there is a log of the device
	Submits    int
	Tasks      int
	Hazards    int
	MakespanNs int64
	Notes      []string
}

// Dispatch is what a chip of a node ran.
type Dispatch struct {
	Run      int // of the case, from 1 on: run_id
	TaskSlot int
	Rank     int // the worker
	Device   int
	PID      int    // of the worker's process
	Callable string // name of what ran
	Makespan time.Duration
	Submits  int
	Tasks    int
	Err      error // why it failed, nil if it did not

	Dir     string // directory of its artifacts, "" if it has none
	Records string // paths in it, "" if there is none
	Graph   string
	Names   string
	Phases  string // of the host, where it builds the graph
	Sidecar string
}

func (d *Dispatch) files() []string {
	return []string{d.Records, d.Graph, d.Names, d.Phases, d.Sidecar}
}

// sidecarName is the file that says which dispatch a capture is of.
const sidecarName = "dispatch_identity.json"

// captureDir is where a dispatch of a worker is recorded.
func captureDir(root string, rank, index int) string {
	return filepath.Join(root, "rank"+strconv.Itoa(rank), "d"+strconv.Itoa(index))
}

// travels tells whether the values go to the worker, or come back.
func (a *orderArg) travels(back bool) bool {
	if back {
		return a.Use != Reads
	}
	return a.Use != Writes
}

// arguments makes the tensors of an order from its blob, which must be as long as
// they say.
func (o *order) arguments(blob []byte) (args []Data, err error) {
	for i := range o.Args {
		a := &o.Args[i]
		if a.Use != Reads && a.Use != Writes && a.Use != ReadWrites {
			return nil, fmt.Errorf("%w: argument %d is %q: expected %s, %s or %s", mailbox.ErrFrame, i, a.Use, Reads, Writes, ReadWrites)
		}
		d, err := emptyData(a.Name, a.Type, a.Shape)
		if err != nil {
			return nil, fmt.Errorf("%w: %v", mailbox.ErrFrame, err)
		}
		if a.travels(false) {
			if blob, err = d.takeFrom(blob); err != nil {
				return nil, fmt.Errorf("%w: %v", mailbox.ErrFrame, err)
			}
		}
		args = append(args, d)
	}
	if len(blob) > 0 {
		return nil, fmt.Errorf("%w: %d bytes are left behind the arguments", mailbox.ErrFrame, len(blob))
	}
	return args, nil
}

// results takes what a worker has written back into the tensors of the node.
func results(args []NodeArg, blob []byte) error {
	want := 0
	for _, a := range args {
		if a.d != Reads {
			want += a.t.data.size()
		}
	}
	if len(blob) != want {
		return fmt.Errorf("%w: %d bytes of results: expected %d", mailbox.ErrFrame, len(blob), want)
	}
	for _, a := range args {
		if a.d == Reads {
			continue
		}
		var err error
		if blob, err = a.t.data.takeFrom(blob); err != nil {
			return err
		}
	}
	return nil
}
