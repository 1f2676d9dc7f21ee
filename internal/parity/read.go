package parity

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// Trace is a parsed trace.
type Trace struct {
	processes map[int64]*process
	threads   map[laneID]*thread
	slices    []*slice
	byIdent   map[string]*slice
	counters  []*counter
	arrows    []*arrow
	metadata  any
	faults    []string // what makes this file itself unsound
}

// laneID is a lane as the file numbers it.
type laneID struct{ pid, tid int64 }

// process holds the metadata events of one pid.
type process struct {
	name      string
	named     bool
	sortIndex *int64
}

// thread holds the metadata events of one lane.
type thread struct {
	name      string
	named     bool
	sortIndex int64 // 0 is what a viewer takes for a missing index
}

// slice is an 'X' event.
type slice struct {
	lane             laneID
	name, cat, cname string
	ident            string // canonical id, "" without one
	start, end       float64
	args             map[string]any
}

// counter is a 'C' event.
type counter struct {
	pid       int64
	name, cat string
	ts        float64
	args      string // canonical
}

// arrow is a flow: the two halves that share an id.
type arrow struct {
	id, name      string
	start, finish *half
}

// half is one end of an arrow, as written.
type half struct {
	lane    laneID
	ts      float64
	name    string
	cat, bp string
	in, out string // task counts, canonical, "" without
	args    string // canonical
	bind    *slice
}

// ReadFile reads a trace from a file, unpacking it if its name ends in .gz.
func ReadFile(path string) (*Trace, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var r io.Reader = bufio.NewReader(f)
	if strings.HasSuffix(path, ".gz") {
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		defer z.Close()
		r = z
	}
	t, err := Read(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// Read reads a trace. Integers keep all their digits.
func Read(r io.Reader) (*Trace, error) {
	dec := json.NewDecoder(r)
	dec.UseNumber()
	dec.DisallowUnknownFields()
	if err := expectDelim(dec, '{'); err != nil {
		return nil, err
	}
	b := newBuilder()
	seen := false
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return nil, err
		}
		switch tok {
		case "traceEvents":
			seen = true
			if err := b.readEvents(dec); err != nil {
				return nil, err
			}
		case "metadata":
			if err := dec.Decode(&b.trace.metadata); err != nil {
				return nil, fmt.Errorf("metadata: %w", err)
			}
		default:
			return nil, fmt.Errorf("unexpected top-level key %q", tok)
		}
	}
	if err := expectDelim(dec, '}'); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("data after the trace")
	}
	if !seen {
		return nil, errors.New("no traceEvents")
	}
	return b.finish(), nil
}

// expectDelim reads one delimiter.
func expectDelim(dec *json.Decoder, want json.Delim) error {
	tok, err := dec.Token()
	if err != nil {
		return err
	}
	if tok != want {
		return fmt.Errorf("found %v, want %v", tok, want)
	}
	return nil
}

// event is an event of any kind as it stands in the file.
type event struct {
	Name   *string        `json:"name"`
	Cat    *string        `json:"cat"`
	Ph     *string        `json:"ph"`
	Cname  *string        `json:"cname"`
	BP     *string        `json:"bp"`
	PID    *integer       `json:"pid"`
	TID    *integer       `json:"tid"`
	TS     *number        `json:"ts"`
	Dur    *number        `json:"dur"`
	ID     *ident         `json:"id"`
	BindID *ident         `json:"bind_id"`
	In     *number        `json:"input_task_count"`
	Out    *number        `json:"output_task_count"`
	Args   map[string]any `json:"args"`
}

// integer is an integer literal; strings and fractions are refused.
type integer int64

func (i *integer) UnmarshalJSON(data []byte) error {
	n, err := strconv.ParseInt(string(data), 10, 64)
	if err != nil {
		return fmt.Errorf("%s is not an integer", data)
	}
	*i = integer(n)
	return nil
}

// number is a number literal in canonical form; strings are refused, which
// json.Number would accept.
type number string

func (n *number) UnmarshalJSON(data []byte) error {
	if len(data) == 0 || (data[0] != '-' && (data[0] < '0' || data[0] > '9')) {
		return fmt.Errorf("%s is not a number", data)
	}
	*n = number(canonicalNumber(string(data)))
	return nil
}

// ident is an id: an integer of up to 64 bits in canonical form, or a string,
// which keeps its quotes.
type ident string

func (i *ident) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		*i = ident(data)
		return nil
	}
	if _, err := strconv.ParseUint(string(data), 10, 64); err != nil {
		return fmt.Errorf("%s is not an id", data)
	}
	*i = ident(data)
	return nil
}

// float returns the value of a number as a time.
func (n number) float() float64 {
	f, err := parseFloat(string(n))
	if err != nil {
		return 0
	}
	return f
}
