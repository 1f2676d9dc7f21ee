package graphviz_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"swimlane/internal/graphviz"
)

var translated = sync.OnceValues(func() (*graphviz.Graphviz, error) { return graphviz.New(context.Background(), false) })

func program(t *testing.T) *graphviz.Graphviz {
	t.Helper()
	g, err := translated()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

const triangle = `digraph{rankdir=LR;nodesep=0.5;ranksep=0.5;edge[dir=none]node[shape=box,fixedsize=true,label="",width=1,height=0.5]0;1;2;0->1;1->2;0->2}`

// In layers of a width of 72 pt, 36 pt apart, the middles are 108 pt apart.
func TestDotPlaces(t *testing.T) {
	for _, c := range []struct {
		direction string
		along     func(graphviz.Point) float64
	}{
		{"LR", func(p graphviz.Point) float64 { return p.X }},
		{"RL", func(p graphviz.Point) float64 { return -p.X }},
	} {
		l, err := program(t).Layout(t.Context(), "dot", []byte(strings.Replace(triangle, "LR", c.direction, 1)), true)
		if err != nil {
			t.Fatal(err)
		}
		if len(l.Nodes) != 3 || len(l.Curves) != 3 {
			t.Fatalf("%s: %d nodes, %d curves", c.direction, len(l.Nodes), len(l.Curves))
		}
		for n := 1; n < 3; n++ {
			if d := c.along(l.Nodes[n]) - c.along(l.Nodes[n-1]); math.Abs(d-108) > 0.01 {
				t.Errorf("%s: node %d is %v pt behind the one before, want 108", c.direction, n, d)
			}
		}
		for _, curve := range l.Curves {
			a, b := l.Nodes[curve.Tail], l.Nodes[curve.Head]
			first, last := curve.Points[0], curve.Points[len(curve.Points)-1]
			// A line goes from border to border; the text it is read from has 5 digits.
			if !onBorder(a, first) || !onBorder(b, last) {
				t.Errorf("%s: the line %d→%d goes from %v to %v, its nodes are at %v and %v", c.direction, curve.Tail, curve.Head, first, last, a, b)
			}
		}
	}
}

func onBorder(middle, p graphviz.Point) bool {
	dx, dy := math.Abs(p.X-middle.X), math.Abs(p.Y-middle.Y)
	return dx <= 36.5 && dy <= 18.5 && (dx >= 35.5 || dy >= 17.5)
}

// A chain of 4,000 tasks is 432,000 pt long: places must have more digits than Graphviz
// writes into texts.
func TestLongChain(t *testing.T) {
	var dot strings.Builder
	dot.WriteString(`digraph{rankdir=LR;splines=false;ranksep=0.5;edge[dir=none]node[shape=box,fixedsize=true,label="",width=1,height=0.5]0;`)
	for n := 1; n < 4000; n++ {
		fmt.Fprintf(&dot, "%d->%d;", n-1, n)
	}
	dot.WriteString("}")
	l, err := program(t).Layout(t.Context(), "dot", []byte(dot.String()), false)
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n < len(l.Nodes); n++ {
		if d := l.Nodes[n].X - l.Nodes[n-1].X; math.Abs(d-108) > 1e-6 {
			t.Fatalf("node %d is %v pt behind the one before, want 108", n, d)
		}
	}
}

// Every engine gives the same places again, translated and interpreted.
func TestEngines(t *testing.T) {
	interpreted, err := graphviz.New(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	defer interpreted.Close()
	for _, engine := range graphviz.Engines {
		want, err := program(t).Layout(t.Context(), engine, []byte(triangle), true)
		if err != nil {
			t.Fatal(err)
		}
		apart := map[graphviz.Point]bool{}
		for _, p := range want.Nodes {
			apart[graphviz.Point{X: math.Round(p.X), Y: math.Round(p.Y)}] = true
		}
		if len(apart) != 3 {
			t.Errorf("%s: three nodes at %v", engine, want.Nodes)
		}
		for _, g := range []*graphviz.Graphviz{program(t), interpreted} {
			if got, err := g.Layout(t.Context(), engine, []byte(triangle), true); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %v (%v), before %v", engine, got, err, want)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct{ engine, dot, want string }{
		{"dot", "digraph{0->", "syntax error"},
		{"dot", "digraph{1;0}", `node "1" where "0" is expected`},
		{"nothing", triangle, "no layout"},
	} {
		_, err := program(t).Layout(t.Context(), c.engine, []byte(c.dot), false)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s of %q: %v, want %q", c.engine, c.dot, err, c.want)
		}
	}
}

// A layout that would take minutes stops when its time is over, and the program works on.
func TestStops(t *testing.T) {
	var dot strings.Builder
	dot.WriteString(`digraph{node[fixedsize=true,label=""]0;`)
	for n := 1; n < 3000; n++ {
		fmt.Fprintf(&dot, "%d;", n)
	}
	for n := range 3000 { // a dense web over hundreds of layers
		for _, d := range []int{1, 7, 61, 419} {
			if n+d < 3000 {
				fmt.Fprintf(&dot, "%d->%d;", n, n+d)
			}
		}
	}
	dot.WriteString("}")
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := program(t).Layout(ctx, "dot", []byte(dot.String()), false); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want one of the deadline", err)
	}
	if _, err := program(t).Layout(t.Context(), "dot", []byte(triangle), false); err != nil {
		t.Error(err)
	}
}

// The file is the one that NOTICE.md describes.
func TestNotice(t *testing.T) {
	wasm, err := os.ReadFile("graphviz.wasm")
	if err != nil {
		t.Fatal(err)
	}
	notice, err := os.ReadFile("NOTICE.md")
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(wasm)
	if s := hex.EncodeToString(sum[:]); !strings.Contains(string(notice), s) {
		t.Errorf("graphviz.wasm has the SHA-256 %s, which NOTICE.md does not say", s)
	}
}
