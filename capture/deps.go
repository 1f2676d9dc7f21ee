package capture

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"

	"swimlane/internal/infile"
	"swimlane/internal/jsonscan"
)

// Deps is the part of deps.json that pictures and figures need (spec/records.md
// §5, spec/deps.md §3), in file order.
type Deps struct {
	Source  string
	Runtime string // whose ids they are, "" if the file does not say

	Task   []uint64   // tasks with an id
	Kernel [][3]int32 // [aic, aiv0, aiv1], −1 = unused; valid with HasKernel
	Block  []int32    // block_num, ≥ 1
	Has    []uint8    // HasKernel, HasScope…

	Pred, Succ []uint64 // edges, repeated pairs included

	NoEdges bool // edges is there but no array, or missing
	Skipped int64
}

// HasKernel marks a task of deps.json whose kernel_ids has three entries.
const HasKernel uint8 = 1

// ReadDeps reads the task graph at path. A missing file is no error: both
// results are nil. One that is written to meanwhile is refused as ErrChanged.
func ReadDeps(path string, progress func(bytes int64)) (*Deps, error) {
	return readDepsFile(path, progress, ReadDepsFrom)
}

func readDepsFile[T any](path string, progress func(bytes int64), read func(io.Reader, string) (*T, error)) (*T, error) {
	in, err := open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer in.Close()
	var r io.Reader = in
	if progress != nil {
		r = &progressReader{r: r, report: progress}
	}
	d, err := read(r, path)
	if e := in.changed(); e != nil {
		return nil, e
	}
	return d, err
}

// ReadDepsFrom reads a task graph from r; name is what errors call it.
func ReadDepsFrom(r io.Reader, name string) (*Deps, error) { return readDepsFrom(r, name, nil) }

// readDepsFrom also reads the rest of the file if detail is not nil.
func readDepsFrom(r io.Reader, name string, detail *detailReader) (*Deps, error) {
	d := depsReader{s: jsonscan.New(r), noEdges: true, where: place{row: -1}, detail: detail}
	if detail != nil {
		detail.s = d.s
	}
	if k := d.s.Peek(); k != jsonscan.Object && d.s.Err() == nil {
		d.s.Fail("found %s, expected the object of a deps.json", k)
	}
	d.s.BeginObject()
	for {
		key, ok := d.s.Key()
		if !ok {
			break
		}
		d.where = place{section: string(key), list: -1, row: -1}
		switch string(key) {
		case "tasks":
			d.each(d.taskEntry)
		case "runtime":
			if d.s.Peek() == jsonscan.String {
				d.runtime = string(d.s.Text())
			} else {
				d.s.Skip()
			}
		case "tensors":
			if detail == nil {
				d.s.Skip()
			} else {
				d.each(detail.tensor)
			}
		case "edges":
			d.noEdges = d.s.Peek() != jsonscan.Array
			d.each(d.edge)
		default:
			d.s.Skip()
		}
		if d.s.Err() == nil { // an error keeps the place it happened at
			d.where = place{row: -1}
		}
	}
	if err := d.s.End(); err != nil {
		var at *jsonscan.Error
		if errors.As(err, &at) {
			text := at.Error()
			if in := d.where.String(); in != "" {
				text += " (" + in + ")"
			}
			return nil, &Error{File: name, Section: d.where.section, Row: d.where.row, Text: text, Hint: cutHint(at), Class: ErrSyntax, cause: err}
		}
		return nil, fmt.Errorf("cannot read %s: %w%s", name, err, infile.PackedHint(err))
	}
	return &Deps{
		Source: name, Runtime: d.runtime, NoEdges: d.noEdges, Skipped: d.skipped,
		Task: d.task.flat(), Kernel: d.kernel.flat(), Block: d.block.flat(), Has: d.has.flat(),
		Pred: d.pred.flat(), Succ: d.succ.flat(),
	}, nil
}

type depsReader struct {
	s          *jsonscan.Scanner
	where      place // what is being read, for errors of the scanner
	task       column[uint64]
	kernel     column[[3]int32]
	block      column[int32]
	has        column[uint8]
	pred, succ column[uint64]
	noEdges    bool
	runtime    string
	skipped    int64         // edges without two ids
	detail     *detailReader // nil: what pictures do not need is passed over
}

// each walks an array; any other value is passed over.
func (d *depsReader) each(elem func()) {
	if d.s.Peek() != jsonscan.Array {
		d.s.Skip()
		return
	}
	d.s.BeginArray()
	for d.s.Elem() {
		d.where.row++
		elem()
	}
}

// id reads a task id: a number or a string of digits, negative values folded.
func (d *depsReader) id() (uint64, bool) {
	v, ok := d.s.TryInt()
	if !ok {
		d.s.Skip()
		return 0, false
	}
	return v.Wrap(), true
}

func (d *depsReader) taskEntry() {
	if d.s.Peek() != jsonscan.Object {
		if d.s.Skip(); d.detail != nil {
			d.detail.out.Nameless++
		}
		return
	}
	var id uint64
	named := false
	var kernel [3]int32
	var has uint8
	block := int32(1)
	d.s.BeginObject()
	for {
		key, ok := d.s.Key()
		if !ok {
			break
		}
		switch string(key) {
		case "task_id":
			id, named = d.id()
		case "kernel_ids":
			if d.kernelIDs(&kernel) {
				has |= HasKernel
			}
		case "block_num":
			v, ok := d.s.TryInt()
			if !ok {
				d.s.Skip()
			}
			if n, fits := v.Int64(); ok && fits && n >= 1 {
				block = int32(min(n, math.MaxInt32))
			}
		default:
			if d.detail != nil {
				d.detail.taskField(key)
			} else {
				d.s.Skip()
			}
		}
	}
	if d.detail != nil {
		has |= d.detail.endTask(named)
	}
	if named {
		d.task.add(id)
		d.kernel.add(kernel)
		d.block.add(block)
		d.has.add(has)
	}
}

func (d *depsReader) kernelIDs(out *[3]int32) bool {
	if d.s.Peek() != jsonscan.Array {
		d.s.Skip()
		return false
	}
	n, good := 0, true
	d.s.BeginArray()
	for ; d.s.Elem(); n++ {
		v, ok := d.s.TryInt()
		if !ok {
			d.s.Skip()
			good = false
			continue
		}
		i, fits := v.Int64()
		good = good && fits && i >= math.MinInt32 && i <= math.MaxInt32
		if n < 3 {
			out[n] = int32(i)
		}
	}
	return good && n == 3
}

// edge reads one edge: an object, or the [pred, succ] pair of the oldest files.
func (d *depsReader) edge() {
	var pred, succ uint64
	okP, okS := false, false
	if d.detail != nil {
		d.detail.beginEdge()
	}
	switch d.s.Peek() {
	case jsonscan.Object:
		d.s.BeginObject()
		for {
			key, ok := d.s.Key()
			if !ok {
				break
			}
			switch string(key) {
			case "pred":
				pred, okP = d.id()
			case "succ":
				succ, okS = d.id()
			default:
				if d.detail != nil {
					d.detail.edgeField(key)
				} else {
					d.s.Skip()
				}
			}
		}
	case jsonscan.Array:
		n := 0
		d.s.BeginArray()
		for ; d.s.Elem(); n++ {
			switch n {
			case 0:
				pred, okP = d.id()
			case 1:
				succ, okS = d.id()
			default:
				d.s.Skip()
			}
		}
		okP = okP && n == 2
	default:
		d.s.Skip()
	}
	if !okP || !okS {
		d.skipped++
		return
	}
	d.pred.add(pred)
	d.succ.add(succ)
	if d.detail != nil {
		d.detail.rows.add(d.detail.row)
	}
}
