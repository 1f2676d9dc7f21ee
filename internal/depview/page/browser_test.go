//go:build browser

package page_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"swimlane/internal/depview"
	"swimlane/internal/depview/page"
)

// These tests drive pages in a browser without a window:
//
//	go test -tags browser ./internal/depview/page -run Browser
//
// With SWIMLANE_SCREENSHOTS=DIR they leave pictures of what they saw. They are not part
// of .ci/run, which has no browser.

var browsers = []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"}

// tab is a page in the browser.
type tab struct {
	*testing.T
	ctx context.Context

	mu     sync.Mutex
	errors []string
	loaded []string
}

func open(t *testing.T, html string) *tab {
	t.Helper()
	var program string
	for _, name := range browsers {
		if p, err := exec.LookPath(name); err == nil {
			program = p
			break
		}
	}
	if program == "" {
		t.Skipf("no browser: none of %s is installed (Debian: apt-get install chromium-headless-shell)", strings.Join(browsers, ", "))
	}
	file := filepath.Join(t.TempDir(), "deps_viewer.html")
	if err := os.WriteFile(file, []byte(html), 0o600); err != nil {
		t.Fatal(err)
	}
	alloc, done := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.WindowSize(1400, 900), chromedp.WSURLReadTimeout(time.Minute))...)
	t.Cleanup(done)
	ctx, done := chromedp.NewContext(alloc)
	t.Cleanup(done)
	ctx, done = context.WithTimeout(ctx, 90*time.Second)
	t.Cleanup(done)
	b := &tab{T: t, ctx: ctx}
	chromedp.ListenTarget(ctx, func(ev any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch ev := ev.(type) {
		case *runtime.EventExceptionThrown:
			b.errors = append(b.errors, ev.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			b.errors = append(b.errors, fmt.Sprint("console: ", ev.Type))
		case *network.EventRequestWillBeSent:
			b.loaded = append(b.loaded, ev.Request.URL)
		}
	})
	b.do(network.Enable(), emulation.SetDeviceMetricsOverride(1400, 900, 1, false), chromedp.Navigate("file://"+file), chromedp.WaitReady("body[data-ready]", chromedp.ByQuery))
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if len(b.errors) > 0 {
			t.Errorf("the page says %q", b.errors)
		}
		if len(b.loaded) != 1 {
			t.Errorf("loaded %q", b.loaded)
		}
	})
	return b
}

func (b *tab) do(actions ...chromedp.Action) {
	b.Helper()
	if err := chromedp.Run(b.ctx, actions...); err != nil {
		b.Fatal(err)
	}
}

// eval is the value of a JavaScript expression.
func eval[V any](b *tab, script string) V {
	b.Helper()
	var v V
	b.do(chromedp.Evaluate(script, &v))
	return v
}

// eval runs statements.
func (b *tab) eval(script string) {
	b.Helper()
	b.do(chromedp.Evaluate("(() => {"+script+"})()", nil))
}

// press clicks on a button.
func (b *tab) press(selector string) {
	b.Helper()
	b.eval(fmt.Sprintf("document.querySelector(%q).click()", selector))
	b.settle()
}

// want holds an expression against a value.
func (b *tab) want(script, value string) {
	b.Helper()
	if got := eval[any](b, script); fmt.Sprint(got) != value {
		b.Errorf("%s is %v, want %s", script, got, value)
	}
}

func (b *tab) text(selector string) string {
	b.Helper()
	return eval[string](b, fmt.Sprintf(`(document.querySelector(%q) || {innerText: ''}).innerText`, selector))
}

func (b *tab) shot(name string) {
	b.Helper()
	dir := os.Getenv("SWIMLANE_SCREENSHOTS")
	if dir == "" {
		return
	}
	var png []byte
	b.do(chromedp.Sleep(300*time.Millisecond), chromedp.CaptureScreenshot(&png))
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
		b.Fatal(err)
	}
}

// settle waits until what was asked for is painted.
func (b *tab) settle() {
	b.Helper()
	b.do(chromedp.Evaluate(`new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => r(1))))`, nil, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
}

// place is where a node is on the screen.
func (b *tab) place(key string) (x, y float64) {
	b.Helper()
	at := eval[[]float64](b, fmt.Sprintf(`(() => { const s = swimlane, n = s.graph.byKey.get(%q), p = s.near() ? [s.painter.x[s.painter.at(n)], s.painter.y[s.painter.at(n)]] : [s.graph.x[n], s.graph.y[n]]; return [p[0] * s.view.k + s.view.x, p[1] * s.view.k + s.view.y]; })()`, key))
	return at[0], at[1]
}

func (b *tab) click(key string) {
	b.Helper()
	x, y := b.place(key)
	b.do(chromedp.MouseClickXY(x, y))
	b.settle()
}

func (b *tab) key(k string) {
	b.Helper()
	b.do(chromedp.KeyEvent(k))
	b.settle()
}

func (b *tab) view() (k, x, y float64) {
	b.Helper()
	v := eval[map[string]float64](b, "({k: swimlane.view.k, x: swimlane.view.x, y: swimlane.view.y})")
	return v["k"], v["x"], v["y"]
}

func near(a, b float64) bool { return a-b < 1e-6 && b-a < 1e-6 }

// The interaction table of spec/deps.md §6.6, on worked example 1.
func TestBrowserSmall(t *testing.T) {
	b := open(t, worked(t))
	b.want("document.title", "deps.json — 5 nodes, 6 edges")
	b.want("document.querySelectorAll('#graph .node').length", "5")
	b.want("document.querySelectorAll('#graph .edge').length", "6")
	if s := b.text("#counts"); s != "5 nodes · 6 edges" {
		t.Errorf("counts %q", s)
	}
	for _, s := range []string{"AIC (cube)", "AIV (vector)", "mix", "alloc", "SPMD block num", "= pred / succ"} {
		if !strings.Contains(b.text("#legend"), s) {
			t.Errorf("the legend lacks %q: %q", s, b.text("#legend"))
		}
	}
	b.shot("small")

	// Everything is in the window, and clear of the bar and the legend.
	for _, key := range []string{"T0_0", "T1_3"} {
		if x, y := b.place(key); x < 0 || x > 1400 || y < 0 || y > 900 {
			t.Errorf("%s is at %v, %v", key, x, y)
		}
	}

	// 1,2 needs 0,0 and both of the middle, and 1,3 needs it.
	b.click("T1_2")
	b.want("document.querySelector('#panel').hidden", "false")
	panel := b.text("#panel")
	for _, s := range []string{"(1, 2) · MUL", "↓2 predecessors · ↑1 successors", "needs 3 tasks in all · needed by 1", "Predecessors by name_hint (2)", "Successors by name_hint (1)", "ADD_SCALAR", "creator arg0"} {
		if !strings.Contains(panel, s) {
			t.Errorf("the panel lacks %q:\n%s", s, panel)
		}
	}
	b.want("[...document.querySelectorAll('.node.up')].map(n => n.id).sort().join()", "T0_0,T1_0,T1_1")
	b.want("[...document.querySelectorAll('.node.down')].map(n => n.id).join()", "T1_3")
	b.want("document.querySelectorAll('.edge.up').length", "4")
	b.want("document.querySelectorAll('.edge.down').length", "1")
	b.want("getComputedStyle(document.querySelector('.node.sel .shape')).stroke", "rgb(37, 99, 235)")
	b.want("getComputedStyle(document.querySelector('.node.sel .shape')).strokeWidth", "2.5px")
	b.shot("small-selected")
	b.press("#panel .peer") // the first neighbour
	if s := b.text("#panel h2"); s != "(1, 0) · ADD_SCALAR" {
		t.Errorf("the neighbour is %q", s)
	}
	b.key("\x1b")
	b.want("document.querySelector('#panel').hidden", "true")
	b.want("document.querySelectorAll('.node.sel, .node.up, .node.down').length", "0")

	b.key("r")
	if k, x, y := b.view(); k != 1 || x != 0 || y != 0 {
		t.Errorf("after r: %v, %v, %v", k, x, y)
	}
	b.wheel(700, 450, 30, 40, false)
	if k, x, y := b.view(); k != 1 || !near(x, -30) || !near(y, -40) {
		t.Errorf("after the wheel: %v, %v, %v", k, x, y)
	}
	b.key("r")
	b.wheel(700, 450, 0, -50, true) // exp(0.15) = 1.1618, about the cursor
	if k, x, y := b.view(); !near(k, 1.1618342427282831) || !near((700-x)/k, 700) || !near((450-y)/k, 450) {
		t.Errorf("after ctrl + wheel: %v, %v, %v", k, x, y)
	}
	for range 20 {
		b.wheel(700, 450, 0, -4000, true)
	}
	if k, _, _ := b.view(); k != 20 {
		t.Errorf("the largest scale is %v", k)
	}
	b.key("f")
	_, x0, y0 := b.view()
	x, y := b.place("T1_2")
	b.drag(x, y, x+60, y-45) // a drag is no click
	if _, x1, y1 := b.view(); !near(x1-x0, 60) || !near(y1-y0, -45) {
		t.Errorf("dragged by %v, %v", x1-x0, y1-y0)
	}
	b.want("document.querySelector('#panel').hidden", "true")
	x, y = b.place("T1_2")
	b.drag(x, y, x+2, y+1) // within 3 px it is one
	b.want("document.querySelector('#panel').hidden", "false")
	b.press("#panel .close")
	b.want("document.querySelector('#panel').hidden", "true")

	x, y = b.place("T1_1")
	b.do(chromedp.MouseEvent(input.MouseMoved, x, y))
	tip := b.text("#tip")
	for _, s := range []string{"(1, 1) · ADD_SCALAR ↓1 ↑1", "block_num 4", "func_id [-1,1,-1]"} {
		if !strings.Contains(strings.ReplaceAll(tip, "\u00a0", " "), s) {
			t.Errorf("the tip lacks %q: %q", s, tip)
		}
	}
	b.shot("small-tip")

	b.search("mul")
	if s := b.text("#panel h2"); s != "(1, 2) · MUL" {
		t.Errorf("found %q", s)
	}
	for _, id := range []string{"r1t3", "1:3", "(1, 3)", "4294967299", "T1_3", "t3"} {
		b.search(id)
		if s := b.text("#panel h2"); s != "(1, 3) · ADD" {
			t.Errorf("%s found %q", id, s)
		}
	}
	b.eval("document.activeElement.blur()")
	b.key("n")
	b.want("swimlane.painter.nodes.length", "5") // all of it is within two steps
	b.shot("small-near")
	b.key("n")
	b.want("swimlane.near()", "<nil>")
}

func (b *tab) wheel(x, y, dx, dy float64, ctrl bool) {
	b.Helper()
	p := input.DispatchMouseEvent(input.MouseWheel, x, y).WithDeltaX(dx).WithDeltaY(dy)
	if ctrl {
		p = p.WithModifiers(input.ModifierCtrl)
	}
	b.do(p)
	b.settle()
}

func (b *tab) drag(x, y, tox, toy float64) {
	b.Helper()
	b.do(chromedp.MouseEvent(input.MousePressed, x, y, chromedp.Button("left"), chromedp.ClickCount(1)),
		chromedp.MouseEvent(input.MouseMoved, (x+tox)/2, (y+toy)/2, chromedp.Button("left")),
		chromedp.MouseEvent(input.MouseMoved, tox, toy, chromedp.Button("left")),
		chromedp.MouseEvent(input.MouseReleased, tox, toy, chromedp.Button("left"), chromedp.ClickCount(1)))
	b.settle()
}

func (b *tab) search(text string) {
	b.Helper()
	b.eval(fmt.Sprintf(`const q = document.querySelector('#query'); q.focus(); q.value = %q; q.dispatchEvent(new Event('input'))`, text))
	b.key("\r")
}

// A page on a canvas answers as one of SVG does.
func TestBrowserLarge(t *testing.T) {
	b := open(t, plain(t, chains(900, 5), nil))
	b.want("document.querySelector('#counts').innerText.replace(/\\s/g, '')", "4500nodes·3600edges")
	b.want("JSON.stringify(swimlane.node('T0_7'))", `{"label":"7 ↓1 ↑1","name_hint":"f0","fanin":1,"fanout":1,"pred_by_hint":[["f0",1]],"succ_by_hint":[["f0",1]]}`)
	b.want("swimlane.node('T9_9') === undefined", "true")
	b.shot("chains")
	b.search("4442") // the third of a chain
	if s := b.text("#panel"); !strings.Contains(s, "4442 · f0") || !strings.Contains(s, "needs 2 tasks in all · needed by 2") {
		t.Errorf("the panel says %s", s)
	}
	x, y := b.place("T0_4442")
	if panel := eval[float64](b, "document.querySelector('#panel').offsetLeft"); !near(x, (panel-12)/2) || y != 450 {
		t.Errorf("what was found is at %v, %v, and not in the middle beside the panel", x, y)
	}
	// It is painted there, in the blue of AIC, above its text.
	b.want(fmt.Sprintf("Array.from(document.querySelector('#canvas').getContext('2d').getImageData(%d, 441, 1, 1).data).join()", int(x)), "102,163,255,255")
	b.shot("chains-found")
	b.click("T0_4443")
	if s := b.text("#panel h2"); s != "4443 · f0" {
		t.Errorf("clicked %q", s)
	}
}

// What has no layout opens on a neighbourhood that can be widened.
func TestBrowserNear(t *testing.T) {
	b := open(t, write(t, model(t, chains(500, 9), nil).View(depview.Full, nil), page.Options{Budget: time.Nanosecond}))
	if s := b.text("#reach"); s != "2 steps" {
		t.Errorf("it opens on %q", s)
	}
	b.want("[...swimlane.painter.nodes].join()", "0,1,2")
	b.search("4004") // the last of a chain of 9
	want := func(ids ...int) {
		t.Helper()
		text, _ := json.Marshal(ids)
		b.want("JSON.stringify([...swimlane.painter.nodes])", string(text))
	}
	want(4002, 4003, 4004)
	b.press("#more")
	want(4001, 4002, 4003, 4004)
	b.press("#fewer")
	b.press("#fewer")
	want(4003, 4004)
	b.want("document.querySelector('#fewer').disabled", "true")
	for range 10 {
		b.press("#more")
	}
	want(3996, 3997, 3998, 3999, 4000, 4001, 4002, 4003, 4004)
	b.want("document.querySelector('#more').disabled", "true")
	// From left to right.
	b.want("(() => { const x = [...swimlane.painter.x]; return x.every((v, i) => !i || v > x[i - 1]); })()", "true")
	b.shot("near")
}

// The real graphs, to look at.
func TestBrowserCaptures(t *testing.T) {
	for _, c := range []struct {
		dir, name, find string
		o               page.Options
		mode            depview.Mode
	}{
		{"a2a3sim_tmr_vector_example_l4_deps", "vector-tensors", "", page.Options{TensorInfo: true}, depview.Full},
		{"gs_a2a3_tmr_mix_spmd_l4", "mix-spmd", "", page.Options{}, depview.Full},
		{"a2a3sim_tmr_fanin_l4_deps", "fanin", "100", page.Options{}, depview.Full},
		{"a2a3sim_tmr_paged_attention_l4_deps", "paged-tb-reduced", "", page.Options{Direction: "TB"}, depview.ReducedDataflow},
		{"a2a3sim_hbg_paged_attention_medium_l4_deps", "2048", "1000", page.Options{}, depview.Full},
		{"a2a3sim_tmr_paged_attention_medium_l4_deps", "8192", "r2t4000", page.Options{}, depview.Full},
		{"a2a3sim_tmr_paged_attention_large_l4_deps", "102400", "r2t50000", page.Options{}, depview.Full},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := shared(t, c.dir)
			b := open(t, write(t, m.View(c.mode, nil), c.o))
			b.want("swimlane.graph.n", fmt.Sprint(m.Nodes()))
			b.settle()
			b.shot(c.name)
			if c.find == "" {
				return
			}
			b.search(c.find)
			if eval[bool](b, "document.querySelector('#panel').hidden") {
				t.Errorf("%s is not found", c.find)
			}
			b.shot(c.name + "-found")
			b.press("[data-heat='1']")
			b.shot(c.name + "-time")
			b.eval("document.activeElement.blur()")
			b.key("n")
			b.shot(c.name + "-near")
		})
	}
}
