//go:build unix

package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"swimlane/bench/gen"
)

// child runs the program in a process of its own; TestMain put it in the path.
func child(t *testing.T, dir string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	return cmd, &stderr
}

// namesIn lists a directory.
func namesIn(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return strings.Join(out, " ")
}

// until waits for something that takes milliseconds.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 3000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s: not within 30 s", what)
}

func exitCode(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	return -1
}

// heeds makes children heed a signal that is ignored here, as in a job that a
// shell put in the background: they would ignore it too, and rightly go on. A
// signal that is caught is the default again behind exec.
func heeds(t *testing.T, sig os.Signal) {
	t.Helper()
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, sig)
	t.Cleanup(func() { signal.Stop(caught) })
}

// TestSignalsWhileReading stops a conversion that waits for its input. Nothing
// unfinished stays, what was there before does.
func TestSignalsWhileReading(t *testing.T) {
	for sig, code := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143, syscall.SIGHUP: 129} {
		for _, command := range []string{"convert", "read"} {
			t.Run(sig.String()+"/"+command, func(t *testing.T) {
				t.Parallel()
				heeds(t, sig)
				dir := t.TempDir()
				if err := os.WriteFile(filepath.Join(dir, "out.json"), []byte("old"), 0o644); err != nil {
					t.Fatal(err)
				}
				fifo := filepath.Join(dir, "records")
				if err := syscall.Mkfifo(fifo, 0o644); err != nil {
					t.Fatal(err)
				}
				cmd, stderr := child(t, dir, "swimlane", command, "records", "-o", "out.json")
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				// Opens when the other side reads, and keeps it waiting for more.
				w, err := os.OpenFile(fifo, os.O_WRONLY, 0)
				if err != nil {
					t.Fatal(err)
				}
				defer w.Close()
				if _, err := io.WriteString(w, `{"chip_swimlane_level":`); err != nil {
					t.Fatal(err)
				}
				if !strings.Contains(namesIn(t, dir), ".tmp") {
					t.Errorf("files %q, want an unfinished one, or this test shows nothing", namesIn(t, dir))
				}
				if err := cmd.Process.Signal(sig); err != nil {
					t.Fatal(err)
				}
				if got := exitCode(cmd.Wait()); got != code {
					t.Errorf("exit code %d, want %d", got, code)
				}
				if got := stderr.String(); got != "Error: interrupted\n" {
					t.Errorf("stderr %q", got)
				}
				if got := namesIn(t, dir); got != "out.json records" {
					t.Errorf("files %q", got)
				}
				if data, _ := os.ReadFile(filepath.Join(dir, "out.json")); string(data) != "old" {
					t.Errorf("the old output has become %q", data)
				}
			})
		}
	}
}

// TestSignalWhileWriting stops a conversion in the middle of a large trace.
func TestSignalWhileWriting(t *testing.T) {
	heeds(t, syscall.SIGINT)
	dir := t.TempDir()
	if err := gen.Write(dir, gen.Options{Tasks: 100_000}); err != nil {
		t.Fatal(err)
	}
	before := namesIn(t, dir)
	output := filepath.Join(dir, "merged_swimlane.json")
	done(t, "convert", dir)
	whole, err := os.ReadFile(output)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if err := os.Remove(output); err != nil {
			t.Fatal(err)
		}
		cmd, stderr := child(t, dir, "swimlane", "convert", ".")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		until(t, "a part of the output, or all of it", func() bool {
			st, err := os.Stat(output)
			if found, _ := filepath.Glob(filepath.Join(dir, ".*.tmp")); err != nil && len(found) > 0 {
				st, err = os.Stat(found[0])
			}
			return err == nil && st.Size() > 0
		})
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		got := exitCode(cmd.Wait())
		if text, err := os.ReadFile(output); err == nil && bytes.Equal(text, whole) {
			continue // it was through before anybody looked
		}
		if got != 130 {
			t.Errorf("exit code %d, want 130", got)
		}
		if got := stderr.String(); !strings.HasSuffix(got, "Error: interrupted\n") {
			t.Errorf("stderr %q", got)
		}
		if got := namesIn(t, dir); got != before {
			t.Errorf("files %q, want %q", got, before)
		}
		return
	}
	t.Error("each of 20 conversions was through before it was interrupted")
}

// TestSignalWhilePiping stops a conversion whose reader does not read.
func TestSignalWhilePiping(t *testing.T) {
	heeds(t, syscall.SIGINT)
	dir := t.TempDir()
	if err := gen.Write(dir, gen.Options{Tasks: 10_000}); err != nil {
		t.Fatal(err)
	}
	cmd, _ := child(t, dir, "swimlane", "convert", ".", "-o", "-")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if got := exitCode(cmd.Wait()); got != 130 {
		t.Errorf("exit code %d, want 130", got)
	}
}

// TestHangUpIgnored: under nohup the end of a terminal is no reason to stop.
func TestHangUpIgnored(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "records")
	if err := syscall.Mkfifo(fifo, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd, stderr := child(t, dir, "sh", "-c", `trap "" HUP; exec swimlane read records -o out.json`)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w, err := os.OpenFile(fifo, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, `{"chip_swimlane_level":1,"metadata":{"clock_freq_hz":1}}`); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if got := exitCode(cmd.Wait()); got != 0 {
		t.Errorf("exit code %d: %s", got, stderr)
	}
	if got := namesIn(t, dir); got != "out.json records" {
		t.Errorf("files %q", got)
	}
}

// TestFullDisk writes to where only a little fits: to files that may not grow,
// and, where mounting is allowed, to a disk that is full.
func TestFullDisk(t *testing.T) {
	small, err := filepath.Abs("../../testdata/small/chip_swimlane_records.json")
	if err != nil {
		t.Fatal(err)
	}
	try := func(t *testing.T, shell, command, message string, dir string) {
		if err := os.WriteFile(filepath.Join(dir, "out.json"), []byte("old"), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd, stderr := child(t, dir, "sh", "-c", shell+`exec swimlane "$@"`, "sh", command, small, "-o", "out.json")
		var stdout bytes.Buffer
		cmd.Stdout = &stdout
		if got := exitCode(cmd.Run()); got != 1 {
			t.Errorf("exit code %d, want 1", got)
		}
		if got := stderr.String(); got != "Error: cannot write out.json: "+message+"\n" {
			t.Errorf("stderr %q", got)
		}
		if stdout.Len() > 0 {
			t.Errorf("stdout %q", stdout.String())
		}
		if got := namesIn(t, dir); got != "out.json" {
			t.Errorf("files %q", got)
		}
		if data, _ := os.ReadFile(filepath.Join(dir, "out.json")); string(data) != "old" {
			t.Errorf("the old output has become %q", data)
		}
	}
	for _, command := range []string{"convert", "read"} {
		t.Run(command+"/limit", func(t *testing.T) { try(t, "ulimit -f 1; ", command, "file too large", t.TempDir()) })
		t.Run(command+"/disk", func(t *testing.T) {
			dir := t.TempDir()
			if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=4096", "none", dir).CombinedOutput(); err != nil {
				t.Logf("no small disk, since mounting is not permitted here; the limit above is the test then: %v %s", err, out)
				return
			}
			defer exec.Command("umount", dir).Run()
			if err := os.WriteFile(filepath.Join(dir, "out.json"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
			try(t, "", command, "no space left on device", dir)
		})
	}
}

// TestInterruptedRun: what a run has captured when it is interrupted is kept, and says
// that it is not all; nothing half-written stays. How long a run takes to begin depends on
// the machine: one that was interrupted before it had recorded anything is followed by
// one that gets more time.
func TestInterruptedRun(t *testing.T) {
	for wait := 100 * time.Millisecond; ; wait *= 2 {
		dir := t.TempDir()
		cmd, stderr := child(t, dir, "swimlane", "run", "TestPagedAttention::large", "--manual", "include", "-p", "a2a3sim", "--enable-chip-swimlane", "--enable-dep-gen")
		var stdout bytes.Buffer
		cmd.Stdout = &stdout
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		until(t, "the log of the host", func() bool {
			found, _ := filepath.Glob(filepath.Join(dir, "outputs", "*", "host.*.log"))
			return len(found) == 1
		})
		time.Sleep(wait)
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if code := exitCode(cmd.Wait()); code != 130 || !strings.Contains(stderr.String(), "Error: interrupted") {
			t.Fatalf("after %v: exit code %d, want 130; %s", wait, code, stderr)
		}
		prefix, _ := filepath.Glob(filepath.Join(dir, "outputs", "*"))
		names := namesIn(t, prefix[0])
		if strings.Contains(names, ".tmp") || !strings.Contains(stdout.String(), "TestPagedAttention::large ... FAILED: interrupted\n") {
			t.Fatalf("after %v: it leaves %s and prints\n%s", wait, names, &stdout)
		}
		if strings.Contains(stderr.String(), "No performance data to export") {
			continue
		}
		if !strings.Contains(stdout.String(), "Next: 'swimlane convert ") || !strings.Contains(names, "chip_swimlane_records.json") {
			t.Errorf("it leaves %s and prints\n%s", names, &stdout)
		}
		convert, complaints := child(t, dir, "swimlane", "convert", "-q", prefix[0])
		if err := convert.Run(); err != nil || !strings.Contains(complaints.String(), "the capture is not complete: the run failed") {
			t.Errorf("%v, %s", err, complaints)
		}
		return
	}
}

// TestInterruptedNode: so do the chips of a node, and no worker stays.
func TestInterruptedNode(t *testing.T) {
	dir := t.TempDir()
	cmd, stderr := child(t, dir, "swimlane", "run", "TestL3Vectors::3x4", "-p", "a2a3sim", "--enable-chip-swimlane", "--costs", "-")
	cmd.Stdin = strings.NewReader(`{"core.start": 100000000}`) // 0.1 s a kernel, which workers wait for
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "a capture of a chip", func() bool {
		found, _ := filepath.Glob(filepath.Join(dir, "outputs", "*", "rank0", "d0", "chip_swimlane_records.json"))
		return len(found) == 1
	})
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := exitCode(cmd.Wait()); code != 130 || !strings.Contains(stderr.String(), "Error: interrupted") {
		t.Errorf("exit code %d, want 130; %s", code, stderr)
	}
	root, _ := filepath.Glob(filepath.Join(dir, "outputs", "*"))
	if names := namesIn(t, root[0]); !strings.Contains(names, "name_map_TestL3Vectors_3x4.json") {
		t.Errorf("the case root has %s, want the name map too", names)
	}
	if left, _ := filepath.Glob(filepath.Join(root[0], "rank*", "d*", ".*.tmp")); len(left) > 0 {
		t.Errorf("half-written files stay: %v", left)
	}
}
