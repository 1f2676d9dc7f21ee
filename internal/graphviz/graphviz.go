// Package graphviz lays graphs out with Graphviz, which is part of the program:
// graphviz.wasm is Graphviz 12.1.2 compiled to WebAssembly, and wazero translates
// it to the machine's code when it is first needed. Nothing has to be installed,
// and nothing is written to disk.
//
// Graphviz runs in a sandbox of its own for each graph: it sees no files, a graph
// that makes it crash or use too much memory is an error, and it stops when the
// context ends, wherever it is. The same text gives the same places, on any machine.
//
// Where the file comes from and what its licence asks for: NOTICE.md.
package graphviz

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strconv"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

//go:embed graphviz.wasm
var program []byte

// memoryPages limits the memory of one layout to 1 GiB, in pages of 64 KiB.
const memoryPages = 1 << 14

// Engines are the layout engines.
var Engines = [...]string{"dot", "neato", "sfdp", "fdp", "circo", "twopi"}

// Graphviz is the translated program. It is safe for concurrent use.
type Graphviz struct {
	runtime wazero.Runtime
	module  wazero.CompiledModule
}

// New makes Graphviz ready. Translating it takes a second or two; interpreted it is ready
// at once, and then some fifty times slower. The results are the same.
func New(ctx context.Context, interpreted bool) (*Graphviz, error) {
	config := wazero.NewRuntimeConfig
	if interpreted {
		config = wazero.NewRuntimeConfigInterpreter
	}
	g := &Graphviz{runtime: wazero.NewRuntimeWithConfig(ctx, config().
		WithCloseOnContextDone(true).
		WithMemoryLimitPages(memoryPages))}
	if err := g.compile(ctx); err != nil {
		_ = g.Close() // nothing is lost: it has done nothing
		return nil, fmt.Errorf("graphviz: %w", err)
	}
	return g, nil
}

func (g *Graphviz) compile(ctx context.Context) error {
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, g.runtime); err != nil {
		return err
	}
	module, err := g.runtime.CompileModule(experimental.WithCompilationWorkers(ctx, runtime.GOMAXPROCS(0)), program)
	if err != nil {
		return err
	}
	g.module = module
	// The build asks for functions by which its host could replace parts of Graphviz.
	// None is called, as nothing is replaced.
	env := g.runtime.NewHostModuleBuilder("env")
	for _, f := range module.ImportedFunctions() {
		from, name, _ := f.Import()
		if from != "env" {
			continue
		}
		env.NewFunctionBuilder().WithGoFunction(api.GoFunc(func(context.Context, []uint64) {
			panic("graphviz: call of " + name) // wazero makes it the error of the call
		}), f.ParamTypes(), f.ResultTypes()).Export(name)
	}
	_, err = env.Instantiate(ctx)
	return err
}

// Close frees the translated program.
func (g *Graphviz) Close() error { return g.runtime.Close(context.Background()) }

// Point is a place in points of 1/72 inch; y grows upwards.
type Point struct{ X, Y float64 }

// Curve is an edge's line from tail to head: a cubic Bézier spline of 3n+1 points.
type Curve struct {
	Tail, Head int
	Points     []Point
}

// Layout is where things are.
type Layout struct {
	Nodes  []Point // centres, in the order in which the text first names the nodes
	Curves []Curve // in Graphviz's own order; empty unless asked for
}

// Layout lays out a graph in the language DOT. Nodes are to be named 0, 1, 2 … in the
// order of their first mention. With curves it also returns the lines of the edges.
//
// When ctx ends the error is that of ctx.
func (g *Graphviz) Layout(ctx context.Context, engine string, dot []byte, curves bool) (*Layout, error) {
	m, err := g.runtime.InstantiateModule(ctx, g.module, wazero.NewModuleConfig().WithName(""))
	if err != nil {
		return nil, g.failed(ctx, engine, err)
	}
	defer m.Close(context.Background())
	r := &run{ctx: ctx, mod: m, mem: m.Memory()}
	l := r.layout(engine, dot, curves)
	if r.err != nil {
		return nil, g.failed(ctx, engine, r.err)
	}
	return l, nil
}

func (g *Graphviz) failed(ctx context.Context, engine string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("graphviz: %s: %w", engine, ctx.Err())
	}
	return &Failure{engine, err}
}

// Failure is the error of an engine that cannot lay a graph out, or has crashed at it.
type Failure struct {
	Engine string
	cause  error
}

// Error says what failed in one line, without the trace of a crash.
func (f *Failure) Error() string {
	text, _, _ := strings.Cut(f.cause.Error(), "\n")
	return "graphviz: " + f.Engine + ": " + text
}

func (f *Failure) Unwrap() error { return f.cause }

// run is one use of the program. The first error sticks.
type run struct {
	ctx context.Context
	mod api.Module
	mem api.Memory
	err error
}

var errMemory = errors.New("an address outside its memory")

func (r *run) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// call calls a C function and returns its result, 0 for none.
func (r *run) call(name string, args ...uint32) uint32 {
	if r.err != nil {
		return 0
	}
	f := r.mod.ExportedFunction(name)
	if f == nil {
		r.fail(fmt.Errorf("it has no function %s", name))
		return 0
	}
	stack := make([]uint64, max(len(args), 1))
	for i, a := range args {
		stack[i] = uint64(a)
	}
	if err := f.CallWithStack(r.ctx, stack); err != nil {
		r.fail(fmt.Errorf("%s: %w", name, err))
		return 0
	}
	if len(f.Definition().ResultTypes()) == 0 {
		return 0
	}
	return uint32(stack[0])
}

func (r *run) u32(at uint32) uint32 {
	v, ok := r.mem.ReadUint32Le(at)
	if !ok {
		r.fail(errMemory)
	}
	return v
}

func (r *run) f64(at uint32) float64 {
	v, ok := r.mem.ReadFloat64Le(at)
	if !ok {
		r.fail(errMemory)
	}
	return v
}

// text puts a C string into its memory.
func (r *run) text(s []byte) uint32 {
	p := r.call("malloc", uint32(len(s))+1)
	if r.err == nil && (p == 0 || !r.mem.Write(p, s) || !r.mem.WriteByte(p+uint32(len(s)), 0)) {
		r.fail(errors.New("its memory is full"))
	}
	return p
}

// cString reads a C string of at most limit bytes.
func (r *run) cString(p, limit uint32) string {
	if r.err != nil || p == 0 {
		return ""
	}
	b, ok := r.mem.Read(p, min(limit, r.mem.Size()-min(p, r.mem.Size())))
	if !ok {
		return ""
	}
	if end := bytes.IndexByte(b, 0); end >= 0 {
		b = b[:end]
	}
	return string(b)
}

func (r *run) layout(engine string, dot []byte, curves bool) *Layout {
	if len(dot) > math.MaxInt32 {
		r.fail(fmt.Errorf("a text of %d bytes is too long", len(dot)))
		return nil
	}
	const silent = 3 // AGMAX: messages are kept for aglasterr and not printed
	r.call("agseterr", silent)
	gvc := r.call("gvContextPlugins", r.plugins(), 0)
	graph := r.call("agmemread", r.text(dot))
	if r.err == nil && (gvc == 0 || graph == 0) {
		r.fail(fmt.Errorf("it cannot read its input: %s", r.lastMessage()))
	}
	if rc := r.call("gvLayout", gvc, graph, r.text([]byte(engine))); rc != 0 {
		r.fail(fmt.Errorf("no layout: %s", r.lastMessage()))
	}
	l := &Layout{Nodes: r.nodes(graph)}
	if curves {
		l.Curves = r.curves(gvc, graph)
	}
	return l
}

func (r *run) lastMessage() string { return strconv.Quote(r.cString(r.call("aglasterr"), 500)) }

// plugins is a list of the plugins in the build, ended by a zero entry, which the
// build's own list lacks. An entry is a name and an address.
func (r *run) plugins() uint32 {
	out := r.call("malloc", 4)
	r.call("wasm_bridge_SymList_default", out)
	slice := r.u32(out)
	n, data := r.u32(slice), r.u32(slice+4)
	if n > 64 {
		r.fail(fmt.Errorf("%d plugins", n))
	}
	if r.err != nil {
		return 0
	}
	list := r.call("malloc", (n+1)*8)
	var entries []byte
	for i := range n {
		entry := r.u32(data + 8*i)
		entries = binary.LittleEndian.AppendUint32(entries, r.u32(entry))
		entries = binary.LittleEndian.AppendUint32(entries, r.u32(entry+4))
	}
	entries = append(entries, make([]byte, 8)...)
	if r.err == nil && !r.mem.Write(list, entries) {
		r.fail(errMemory)
	}
	return list
}

// nodes reads the places of the nodes from its structures, where they are float64;
// the texts it writes have five digits, too few for a long chain of tasks.
func (r *run) nodes(graph uint32) []Point {
	const (
		dataOfNode  = 16 // Agobj_t.data, behind its tag
		coordOfData = 16 // Agnodeinfo_t.coord, behind the record's head, shape and shape_info
	)
	var at []Point
	for n := r.call("agfstnode", graph); n != 0 && r.err == nil; n = r.call("agnxtnode", graph, n) {
		if name, want := r.cString(r.call("agnameof", n), 20), strconv.Itoa(len(at)); name != want {
			r.fail(fmt.Errorf("node %q where %q is expected", name, want))
		}
		data := r.u32(n + dataOfNode)
		p := Point{r.f64(data + coordOfData), r.f64(data + coordOfData + 8)}
		if math.IsNaN(p.X+p.Y) || math.IsInf(p.X+p.Y, 0) {
			r.fail(fmt.Errorf("node %d has no place", len(at)))
		}
		at = append(at, p)
	}
	return at
}

// curves reads the lines of the edges from its output in the format plain, in inches.
func (r *run) curves(gvc, graph uint32) []Curve {
	const inch = 72
	out := r.call("malloc", 8)
	if rc := r.call("gvRenderData", gvc, graph, r.text([]byte("plain")), out, out+4); rc != 0 {
		r.fail(fmt.Errorf("no output: %s", r.lastMessage()))
	}
	at, size := r.u32(out), r.u32(out+4)
	if r.err != nil {
		return nil
	}
	text, ok := r.mem.Read(at, size)
	if !ok {
		r.fail(errMemory)
		return nil
	}
	var curves []Curve
	for line := range bytes.Lines(text) {
		if !bytes.HasPrefix(line, []byte("edge ")) {
			continue
		}
		field := bytes.Fields(line)
		var c Curve
		var err error
		bad := func(e error) {
			if err == nil {
				err = e
			}
		}
		number := func(i int) float64 {
			if i >= len(field) {
				bad(errors.New("too short"))
				return 0
			}
			v, e := strconv.ParseFloat(string(field[i]), 64)
			bad(e)
			return v
		}
		c.Tail, c.Head = int(number(1)), int(number(2))
		for i := range int(min(number(3), float64(len(field)/2))) {
			c.Points = append(c.Points, Point{number(4+2*i) * inch, number(5+2*i) * inch})
		}
		if err != nil || len(c.Points)%3 != 1 {
			r.fail(fmt.Errorf("an edge that cannot be read: %.80q", line))
			return nil
		}
		curves = append(curves, c)
	}
	return curves
}
