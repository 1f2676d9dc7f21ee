package ranks

import (
	"bufio"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"swimlane/capture"
	"swimlane/internal/hostlog"
	"swimlane/internal/parity"
)

// values are spans by what they are, and not by where they are kept.
func values(all []*hostlog.Span) (out []hostlog.Span) {
	for _, s := range all {
		out = append(out, *s)
	}
	return out
}

// seen is all of a plan that comes out of its logs.
func seen(p *Plan) (out []any) {
	for _, d := range p.dispatchers {
		out = append(out, d.pid, d.label, d.lanes, d.on, values(d.spans))
	}
	for _, m := range p.Members {
		w := *m.Pair.Window
		out = append(out, values(m.spans), values(w.spans))
		w.spans = nil
		out = append(out, w)
	}
	return append(out, p.Origin, p.layout, p.Warnings)
}

// TestManySpans: logs of which only a part is kept give what logs that are kept whole
// give: the same windows, and around any of them the same picture.
func TestManySpans(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	drawn, placed := 0, 0
	for round := range 600 {
		dir := t.TempDir()
		var paths, before []string
		for n := range 1 + random.IntN(3) {
			var text strings.Builder
			for range random.IntN(60) {
				line := ""
				if len(before) > 0 && random.IntN(4) == 0 { // what another line had, with another thread and other attributes
					line = before[random.IntN(len(before))]
				} else {
					names := []string{outerSpan, wallSpan, outerSpan, wallSpan, rootSpan, launchSpan, phaseHead + "sched", phaseHead + "task_slot_1", warmUp, "chip.other", "node.submit", "node.dispatch", "ext.a.b", "odd"}
					if random.IntN(2) == 0 {
						names = names[:6]
					}
					line = fmt.Sprintf("inv=%d hid=0 depth=%d name=%s ts=%d dur=%d", random.IntN(4), random.IntN(2), names[random.IntN(len(names))], 1+random.IntN(100), random.IntN(15))
					line = fmt.Sprintf("pid=%d tid=%%d ", 1+random.IntN(4)) + line
					before = append(before, line)
				}
				attrs := []string{"", "", "", "clk=dev", "run_id=1 dispatch_id=1 slot_id=2 generation=3", "run_id=0 dispatch_id=0 slot_id=2 generation=3 run_epoch=7", "slot_id=1"}
				fmt.Fprintf(&text, "[STRACE] v=1 "+line+" %s\n", random.IntN(3), attrs[random.IntN(len(attrs))])
			}
			paths = append(paths, filepath.Join(dir, fmt.Sprintf("host.%d.log", n)))
			put(t, paths[n], text.String())
		}
		chosen := random.Uint64()
		plan := func(most int64) (all []Window, out []any) {
			l := logReader{paths: paths, most: most}
			if err := l.read(); err != nil {
				t.Fatal(err)
			}
			windows, err := l.windows()
			if err != nil {
				return nil, []any{err.Error()}
			}
			p := &Plan{Choice: &Choice{}}
			for i := range windows {
				if len(p.Members) == 0 || chosen>>i&1 > 0 {
					w := &windows[(i+int(chosen>>40))%len(windows)]
					p.Members = append(p.Members, &Member{Capture: Capture{Rank: i}, Pair: Pair{Window: w}, Placement: &Placement{low: w.Start + 1}})
				}
			}
			spans, err := l.around(p.Members)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.setAxis(spans); err != nil {
				return nil, []any{err.Error()}
			}
			drawn += len(p.dispatchers)
			placed++
			all = append(all, windows...)
			for i := range all {
				all[i].spans = nil
				if len(all[i].Phases) == 0 {
					all[i].Phases = nil
				}
			}
			return all, seen(p)
		}
		wantAll, want := plan(1 << 40)
		for _, most := range []int64{0, 1000} {
			gotAll, got := plan(most)
			if !reflect.DeepEqual(gotAll, wantAll) {
				t.Fatalf("round %d: windows\n%+v, want\n%+v", round, gotAll, wantAll)
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("round %d:\n%+v, want\n%+v", round, got, want)
			}
		}
	}
	if drawn < 500 || placed < 500 {
		t.Errorf("%d dispatchers of %d pictures: this proves nothing", drawn, placed)
	}
}

// TestManySpansOfSlowWorkers: a run that dispatched the captures is kept whole if it
// began before their window and ended behind it, though none of its spans lies in it.
func TestManySpansOfSlowWorkers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "host.1.log")
	put(t, path, "[STRACE] v=1 pid=9 tid=1 inv=17 hid=0 depth=0 name=node.submit ts=500 dur=10\n"+
		"[STRACE] v=1 pid=9 tid=1 inv=18 hid=0 depth=0 name=node.submit ts=400 dur=10\n"+
		bracket(1, 2, 1000)+"[STRACE] v=1 pid=1 tid=1 inv=2 hid=0 depth=0 name=chip.run ts=900 dur=8200 run_id=17 dispatch_id=1 slot_id=0 generation=1\n"+
		"[STRACE] v=1 pid=9 tid=2 inv=0 hid=0 depth=0 name=node.idle ts=300 dur=250\n"+
		"[STRACE] v=1 pid=9 tid=1 inv=17 hid=0 depth=0 name=node.complete ts=9500 dur=10\n"+
		"[STRACE] v=1 pid=9 tid=1 inv=18 hid=0 depth=0 name=node.complete ts=9600 dur=10\n")
	l := logReader{paths: []string{path}}
	if err := l.read(); err != nil {
		t.Fatal(err)
	}
	windows, err := l.windows()
	if err != nil {
		t.Fatal(err)
	}
	spans, err := l.around([]*Member{{Pair: Pair{Window: &windows[0]}, Placement: &Placement{low: 1000}}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range spans {
		got = append(got, fmt.Sprint(s.Name, " ", s.Inv))
	}
	want := []string{"node.submit 17", outerSpan + " 2", wallSpan + " 2", "chip.run 2", "node.idle 0", "node.complete 17"}
	if !slices.Equal(got, want) {
		t.Errorf("kept %q, want %q", got, want)
	}
}

// TestManySpansOfTrees: the same with the logs of the stored trees.
func TestManySpansOfTrees(t *testing.T) {
	plans := 0
	err := filepath.WalkDir(filepath.Join(parity.Shared(t), "captures"), func(root string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() || !IsTree(root) {
			return err
		}
		found, err := FindTargets(root)
		if err != nil {
			return nil // TestTargetsOfTrees has those
		}
		for _, x := range found.Targets {
			plan := func(most int64) ([]any, string) {
				c, err := Choose(root, x.Dispatch, x.DispatchID)
				if err != nil {
					t.Fatal(err)
				}
				p, err := c.Plan(Options{most: most}, func(path string) (*capture.Records, error) {
					return capture.Read(path, capture.Options{Clockless: true})
				})
				if err != nil {
					return nil, err.Error()
				}
				plans++
				return seen(p), ""
			}
			want, wantErr := plan(0)
			got, gotErr := plan(1)
			if gotErr != wantErr || !reflect.DeepEqual(got, want) {
				t.Errorf("%s, %s:\n%+v %s, want\n%+v %s", root, x.Option(), got, gotErr, want, wantErr)
			}
		}
		return nil
	})
	if err != nil || plans < 20 {
		t.Errorf("%d plans, %v", plans, err)
	}
}

// bracket are the spans of a run that device work can be placed in.
func bracket(pid, inv int, ts int) string {
	return fmt.Sprintf("[STRACE] v=1 pid=%d tid=1 inv=%d hid=0 depth=1 name=chip.run.runner_run ts=%d dur=8000\n"+
		"[STRACE] v=1 pid=%[1]d tid=1 inv=%[2]d hid=0 depth=2 name=chip.run.runner_run.device_wall ts=0 dur=2000 clk=dev\n", pid, inv, ts)
}

// TestLogsThatChangeBetweenPasses: a log that is read again must be what it was; one that
// is read once may grow.
func TestLogsThatChangeBetweenPasses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "host.1.log")
	for what, change := range map[string]func() error{
		" bytes at first, ": func() error { return os.WriteFile(path, []byte(bracket(1, 2, 1000)+"x"), 0o666) },
		"written to meanwhile": func() error {
			return os.Chtimes(path, time.Time{}, time.Unix(1, 0))
		},
		"another file now": func() error {
			if err := os.WriteFile(path+".new", []byte(bracket(1, 2, 1000)), 0o666); err != nil {
				return err
			}
			return os.Rename(path+".new", path)
		},
	} {
		for _, most := range []int64{0, 1 << 20} {
			put(t, path, bracket(1, 2, 1000))
			l := logReader{paths: []string{path}, most: most}
			if err := l.read(); err != nil {
				t.Fatal(err)
			}
			windows, err := l.windows()
			if err != nil {
				t.Fatal(err)
			}
			if err := change(); err != nil {
				t.Fatal(err)
			}
			_, err = l.around([]*Member{{Pair: Pair{Window: &windows[0]}, Placement: &Placement{low: 1000}}})
			begin, end := path+" changed between two readings (", "); it is still being written: read it when it is complete"
			if most == 0 && (err == nil || !strings.HasPrefix(err.Error(), begin) || !strings.Contains(err.Error(), what) || !strings.HasSuffix(err.Error(), end)) || most > 0 && err != nil {
				t.Errorf("%s, kept up to %d bytes: %v", what, most, err)
			}
		}
	}
}

// TestMemoryOfLogs: what is kept of a log does not grow with what other processes and
// other runs wrote into it.
func TestMemoryOfLogs(t *testing.T) {
	if testing.Short() {
		t.Skip("writes a log of 200 MB and reads it several times")
	}
	path := filepath.Join(t.TempDir(), "host.1.log")
	peak := func(size int64) uint64 {
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		w := bufio.NewWriterSize(f, 1<<20)
		n := int64(0)
		for i := 0; n < size; i++ {
			if i == 1000 {
				fmt.Fprint(w, bracket(1, 2, 1000*i))
			}
			k, err := fmt.Fprintf(w, "[mono_ns=%d][T0x1][TIMING] main: [STRACE] v=1 pid=2 tid=%d inv=%d hid=0 depth=0 name=ext.loader.read ts=%d dur=900 batch=%d\n", i, i%8, i, 1000*i, i)
			if n += int64(k); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		most, stop, stopped := uint64(0), make(chan bool), make(chan bool)
		look := func() {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
		}
		go func() {
			defer close(stopped)
			for {
				select {
				case <-stop:
					return
				case <-time.After(10 * time.Millisecond):
					look()
				}
			}
		}()
		l := logReader{paths: []string{path}, most: 1 << 20}
		if err := l.read(); err != nil {
			t.Fatal(err)
		}
		windows, err := l.windows()
		if err != nil || len(windows) != 1 {
			t.Fatal(len(windows), err)
		}
		spans, err := l.around([]*Member{{Pair: Pair{Window: &windows[0]}, Placement: &Placement{low: windows[0].Start}}})
		if err != nil || len(spans) != 10 { // of eight foreign ones each begins in the window of 8 µs
			t.Fatal(len(spans), err)
		}
		close(stop)
		<-stopped
		look()
		runtime.KeepAlive(&l)
		return most
	}
	small, large := peak(4<<20), peak(200<<20)
	t.Logf("in use at most: %d kB with 4 MB of logs, %d kB with 200 MB", small>>10, large>>10)
	if large > small+8<<20 {
		t.Errorf("in use at most: %d bytes with 4 MB of logs, %d with 200 MB", small, large)
	}
}
