package doctor_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"swimlane/internal/console"
	"swimlane/internal/doctor"
	"swimlane/internal/parity"
)

// files are what a directory holds, by relative path. A name that ends in a slash is
// a directory, a content like -> a link, pipe a pipe.
type files map[string]string

const (
	recordsName = "chip_swimlane_records.json"
	depsName    = "deps.json"
	mapName     = "name_map_small.json"
	sidecarName = "dispatch_identity.json"
)

// small is the capture of testdata, in which nothing is missing, with edits of its
// files: file, old, new, …
func small(t testing.TB, edits ...string) files {
	t.Helper()
	f := files{}
	for _, name := range []string{recordsName, depsName, mapName} {
		f[name] = string(parity.Unpacked(t, filepath.Join(parity.Root(t), "testdata", "small", name)))
	}
	for ; len(edits) > 0; edits = edits[3:] {
		name, from, to := edits[0], edits[1], edits[2]
		if !strings.Contains(f[name], from) {
			t.Fatalf("%s has no %q", name, from)
		}
		f[name] = strings.Replace(f[name], from, to, 1)
	}
	return f
}

// meta adds fields to the metadata of the small capture.
func meta(t testing.TB, fields string) files {
	return small(t, recordsName, `"metadata": {`, `"metadata": {`+fields+", ")
}

// and adds files; a content of "-" takes one away.
func (f files) and(more ...string) files {
	out := files{}
	for name, text := range f {
		out[name] = text
	}
	for ; len(more) > 0; more = more[2:] {
		if more[1] == "-" {
			delete(out, more[0])
			continue
		}
		out[more[0]] = more[1]
	}
	return out
}

// in puts all files into a directory.
func (f files) in(dir string) files {
	out := files{}
	for name, text := range f {
		out[dir+"/"+name] = text
	}
	return out
}

// with puts files together.
func (f files) with(others ...files) files {
	out := f.and()
	for _, o := range others {
		for name, text := range o {
			out[name] = text
		}
	}
	return out
}

// write lays the files into a new directory.
func (f files) write(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range f {
		path := filepath.Join(dir, name)
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(path, 0o777); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if text == "pipe" {
			if err := syscall.Mkfifo(path, 0o666); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if target, ok := strings.CutPrefix(text, "-> "); ok {
			if err := os.Symlink(target, path); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// look examines a path.
func look(t testing.TB, path string) *doctor.Report {
	t.Helper()
	r, err := doctor.Look(path, console.NewProgress(io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// of are the findings of a code.
func of(r *doctor.Report, code string) (out []doctor.Finding) {
	for _, x := range r.Exams {
		for _, f := range x.Findings {
			if f.Code == code {
				out = append(out, f)
			}
		}
	}
	return out
}

// listed is all that was found, for messages.
func listed(r *doctor.Report) string {
	var out []string
	for _, x := range r.Exams {
		for _, f := range x.Findings {
			out = append(out, fmt.Sprintf("%s %s ×%d: %s", f.Severity, f.Code, f.Count, f.Found))
		}
	}
	return strings.Join(out, "\n")
}

// records is a records file of a level with more sections; metadata has a clock.
func records(level int, sections ...string) string {
	return fmt.Sprintf(`{"chip_swimlane_level":%d,"metadata":{"clock_freq_hz":50000000}%s}`, level, strings.Join(append([]string{""}, sections...), ","))
}

func scheduler(rows string) string {
	return `"scheduler_tasks":{"schema_version":1,"producer":"aicpu","records":[` + rows + `]}`
}

func phase(kind string, start, end int, task string) string {
	return fmt.Sprintf(`{"start_cycles":%d,"end_cycles":%d,"loop_iter":0,"kind":%q,"tasks_processed":1,"task_id":%s}`, start, end, kind, task)
}

func streams(list ...string) string {
	return `"scheduler_records":{"schema_version":1,"streams":[` + strings.Join(list, ",") + `]}`
}

func stream(id int, records ...string) string {
	return fmt.Sprintf(`{"producer":"aicpu","scheduler_id":%d,"records":[%s],"metrics":[]}`, id, strings.Join(records, ","))
}

// span is a line of a host's log.
func span(pid, inv int, name string, ts, dur int, more string) string {
	return fmt.Sprintf("[mono_ns=%d][T0x7f28][TIMING] emit_host_span: [STRACE] v=1 pid=%d tid=%d inv=%d hid=0 depth=0 name=%s ts=%d dur=%d %s\n", ts+dur, pid, pid, inv, name, ts, dur, more)
}

func anchor(pid int) string {
	return fmt.Sprintf("[mono_ns=10][T0x7f28][TIMING] clock_anchor: [CLOCK_ANCHOR] v=1 pid=%d mono_ns=10 wall_ns=1700000000000000000\n", pid)
}

// run is what a host's log says of a run on a chip that the small capture, 8.6 µs
// long, fits into.
func run(pid, inv, ts int) string {
	return span(pid, inv, "chip.run", ts, 30000, "run_id=17 dispatch_id=1 slot_id=0 generation=1") + span(pid, inv, "chip.run.runner_run", ts+100, 20000, "") +
		span(pid, inv, "chip.run.runner_run.device_wall", 0, 12000, "clk=dev")
}

// sidecar is the sidecar of rankR/dD. The process R + 1 served it.
func sidecar(rank, d, slot, index, size int) string {
	return fmt.Sprintf(`{"schema_version":1,"run_id":17,"task_slot":%d,"group_index":%d,"group_size":%d,"host_pid":%d,"chip_rank":%d,"local_capture_index":%d,`+
		`"endpoint_dispatch_id":1,"pipeline_slot":0,"pipeline_generation":1,"callable_digest":%q}`, slot, index, size, rank+1, rank, d, strings.Repeat("ab", 32))
}

const domain = `"host_clock_domain_id": "linux-boot-id:a"`

// rank is the directory of a rank, with one capture and its sidecar.
func rank(t testing.TB, n, index, size int) files {
	return meta(t, domain).and(sidecarName, sidecar(n, 0, 5, index, size)).in(fmt.Sprintf("rank%d/d0", n))
}

// node is a tree of two ranks that can be merged.
func node(t testing.TB) files {
	return rank(t, 0, 0, 2).with(rank(t, 1, 1, 2)).and("host.1.log", anchor(1)+run(1, 1, 1000), "host.2.log", anchor(2)+run(2, 1, 1000))
}

func gzipped(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(text))
	z.Close()
	return b.String()
}

func accounts(kind string, total, collected, dropped, hostLost, unflushed int) string {
	return fmt.Sprintf(`"capture_accounting": {"policy": "block", "kinds": {%q: {"total": %d, "collected": %d, "dropped": %d, "host_lost": %d, "unflushed": %d}}}`,
		kind, total, collected, dropped, hostLost, unflushed)
}

func touch(t testing.TB, path string, at time.Time) {
	t.Helper()
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

// hoursAgo is a whole second, which all file systems can keep.
func hoursAgo(n int) time.Time {
	return time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC).Add(-time.Duration(n) * time.Hour)
}
