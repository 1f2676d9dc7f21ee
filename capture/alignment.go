package capture

import (
	"errors"

	"swimlane/internal/jsonscan"
)

// Alignment maps device cycles to host time, as saved in
// metadata.clock_alignment (spec/newest.md §7.2). The anchor's true host time
// lies between HostMin and HostMax.
type Alignment struct {
	Bounded          bool // false: the two clocks could not be aligned
	Device           uint64
	Host             uint64 // ns
	HostMin, HostMax uint64
	Raw              []byte // the record's text, compact
}

// alignment is the record while it is being read.
type alignment struct {
	set       bool
	object    bool
	status    string
	fields    [4]OptInt
	malformed bool // a field that is no integer
	raw       []byte
}

var alignmentFields = [4]string{"device_anchor_cycles", "host_anchor_ns", "host_anchor_min_ns", "host_anchor_max_ns"}

func (d *reader) clockAlignment() {
	s, a := d.s, &d.aligned
	a.set = true
	if a.object = s.Peek() == jsonscan.Object; !a.object {
		s.Skip()
		return
	}
	a.raw = []byte{'{'}
	s.BeginObject()
	for {
		key, ok := s.Key()
		if !ok {
			break
		}
		if len(a.raw) > 1 {
			a.raw = append(a.raw, ',')
		}
		name := string(key)
		a.raw = append(jsonscan.AppendString(a.raw, name), ':')
		from := len(a.raw)
		a.raw = s.Raw(a.raw)
		value := a.raw[from:]
		if name == "status" && len(value) > 2 && value[0] == '"' {
			a.status = string(value[1 : len(value)-1])
		}
		for i, field := range alignmentFields {
			if name == field {
				v, ok := jsonscan.ParseInt(value)
				n, fits := v.Int64()
				a.fields[i] = OptInt{V: n, Set: ok && fits}
				a.malformed = a.malformed || !a.fields[i].Set
			}
		}
	}
	a.raw = append(a.raw, '}')
}

// settleAlignment checks the saved record. An invalid one is only a warning and
// counts as unavailable.
func (d *reader) settleAlignment() {
	a := &d.aligned
	if !a.set {
		return
	}
	out, err := a.check(d.out.Meta.ClockHz)
	if err != nil {
		d.warn("clock-alignment", 1, "ignoring saved clock alignment: %v", err)
		out = NoAlignment(err.Error())
	}
	d.out.Meta.Alignment = out
}

// NoAlignment is the record of clocks that could not be aligned.
func NoAlignment(reason string) *Alignment {
	raw := append([]byte(`{"status":"unavailable","reason":`), jsonscan.AppendString(nil, reason)...)
	return &Alignment{Raw: append(raw, '}')}
}

func (a *alignment) check(hz uint64) (*Alignment, error) {
	switch {
	case !a.object:
		return nil, errors.New("clock_alignment must be an object")
	case a.status == "unavailable":
		return &Alignment{Raw: a.raw}, nil
	case a.status != "bounded":
		return nil, errors.New("unsupported clock_alignment status")
	}
	for _, f := range a.fields {
		if !f.Set || a.malformed {
			return nil, errors.New("clock_alignment anchors and bounds must be integers")
		}
	}
	if hz == 0 {
		return nil, errors.New("capture metadata has no usable clock_freq_hz")
	}
	device, host, low, high := a.fields[0].V, a.fields[1].V, a.fields[2].V, a.fields[3].V
	if device <= 0 || low <= 0 || low > host || host > high {
		return nil, errors.New("invalid clock_alignment bounds")
	}
	return &Alignment{Bounded: true, Device: uint64(device), Host: uint64(host), HostMin: uint64(low), HostMax: uint64(high), Raw: a.raw}, nil
}

// Collection is what a run that was kept in memory and written in the background
// says about itself (spec/newest.md §9).
type Collection struct {
	RunEpoch    OptInt
	Verdict     string
	Incomplete  bool // host records or runtime sections were left out
	NotReceived int64
}

// Whole reports whether nothing is missing.
func (c *Collection) Whole() bool {
	return !c.Incomplete && (c.Verdict == "" || c.Verdict == "published")
}

func (d *reader) collection(text *[]byte) {
	if d.s.Peek() != jsonscan.Object {
		d.keep(text)
		return
	}
	c := &Collection{}
	d.keepObject(text, func(key string, text *[]byte) {
		switch key {
		case "run_epoch":
			c.RunEpoch = d.keepInt(text)
		case "verdict":
			c.Verdict = d.keepText(text)
		case "metadata_complete":
			c.Incomplete = d.s.Peek() == jsonscan.False
			d.keep(text)
		case "not_received_buffers":
			c.NotReceived = d.keepCount(text)
		default:
			d.keep(text)
		}
	})
	d.out.Meta.Collection = c
}

// warnCollection tells of a retained run that is not whole.
func (d *reader) warnCollection() {
	c := d.out.Meta.Collection
	if c == nil || c.Whole() {
		return
	}
	verdict, more := printable(c.Verdict), ""
	if verdict == "" {
		verdict = "not stated"
	}
	if c.Incomplete {
		more = ", metadata_complete=false"
	}
	d.warn("collection", 1, "%s: collection verdict %s (not_received_buffers=%d%s)", d.file, verdict, c.NotReceived, more)
}
