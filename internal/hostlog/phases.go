package hostlog

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"swimlane/internal/infile"
)

// Pass is a line of host_phase_records.jsonl: what a host did to prepare one run
// (spec/host-log.md §6.6).
type Pass struct {
	PID     int
	Inv     uint64
	Keyed   bool // PID and Inv are numbers that a span can have
	Records []PhaseRecord
}

// PhaseRecord is a step of a pass.
type PhaseRecord struct {
	Phase      string
	Start, End int64  // ns of the host's monotonic clock
	Detail     string // a number as it stands in the file, or text encoded as in a log; "0" if there is none
	TID        int64  // 0 if the record has none
}

// ReadPhases reads a host_phase_records.jsonl, packed with gzip or not, and calls
// pass with every line that is one. Lines and records that are of another form are
// passed over.
func ReadPhases(path string, pass func(*Pass)) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, firstBuffer)
	if magic, _ := in.Peek(3); bytes.Equal(magic, []byte{0x1f, 0x8b, 8}) {
		z, err := gzip.NewReader(in)
		if err != nil {
			return fmt.Errorf("cannot read %s: %w%s", path, err, infile.PackedHint(err))
		}
		in = bufio.NewReaderSize(z, firstBuffer)
	}
	for {
		line, err := in.ReadBytes('\n')
		if p := readPass(line); p != nil {
			pass(p)
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("cannot read %s: %w%s", path, err, infile.PackedHint(err))
		}
	}
}

// readPass reads a line, nil if it is no pass.
func readPass(line []byte) *Pass {
	var raw struct {
		PID     json.RawMessage `json:"pid"`
		Inv     json.RawMessage `json:"inv"`
		Records json.RawMessage `json:"records"`
	}
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] != '{' || json.Unmarshal(line, &raw) != nil {
		return nil
	}
	var records []json.RawMessage
	if len(raw.Records) > 0 && (raw.Records[0] != '[' || json.Unmarshal(raw.Records, &records) != nil) {
		return nil
	}
	pid, isPID := integer(raw.PID)
	inv, isInv := Value{string(raw.Inv)}.Uint()
	p := &Pass{PID: int(pid), Inv: inv, Keyed: isPID && isInv}
	for _, r := range records {
		if record, ok := readPhase(r); ok {
			p.Records = append(p.Records, record)
		}
	}
	return p
}

// readPhase reads a record. It needs a phase, a start and an end.
func readPhase(text []byte) (PhaseRecord, bool) {
	var raw struct {
		Phase  *string         `json:"phase"`
		Start  json.RawMessage `json:"start_ns"`
		End    json.RawMessage `json:"end_ns"`
		Detail json.RawMessage `json:"detail"`
		TID    json.RawMessage `json:"tid"`
	}
	if json.Unmarshal(text, &raw) != nil || raw.Phase == nil {
		return PhaseRecord{}, false
	}
	start, isStart := integer(raw.Start)
	end, isEnd := integer(raw.End)
	if !isStart || !isEnd || start < 0 {
		return PhaseRecord{}, false
	}
	r := PhaseRecord{Phase: *raw.Phase, Start: start, End: end, Detail: detail(raw.Detail)}
	if tid, ok := integer(raw.TID); ok && tid > 0 {
		r.TID = tid
	}
	return r, true
}

// integer reads a JSON value that is an integer of 64 bits.
func integer(text []byte) (int64, bool) { return Value{string(text)}.Int() }

// detail is a JSON value as the value of an attribute.
func detail(text []byte) string {
	var s string
	switch {
	case len(text) == 0 || strings.ContainsRune("nf[{", rune(text[0])): // null, false and what is no single value
		return "0"
	case text[0] == 't':
		return "1"
	case text[0] != '"':
		return string(text)
	case json.Unmarshal(text, &s) != nil || s == "":
		return "0"
	}
	f := newField(nil, 3*len(s))
	f.add(s, plainValue)
	return string(f.b)
}
