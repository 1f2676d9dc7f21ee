//go:build linux

// Package process is what the benchmarks share that measure whole processes: what
// one took, the binary, the real captures as plain files.
package process

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Sample is one run of a process.
type Sample struct {
	Wall float64 `json:"wall_s"`
	CPU  float64 `json:"cpu_s"` // user and system
	RSS  int64   `json:"peak_rss_bytes"`
}

// Measure runs a command from start to exit. The peak comes from the kernel's
// account of the process when it is waited for.
//
// That peak has a floor: a new process runs in its parent's memory until it
// executes its program, and the kernel keeps the highest value seen. The floor
// is the peak of this program, which should leave all work to children.
func Measure(ctx context.Context, argv ...string) (Sample, error) {
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stderr = &stderr
	s, err := Run(cmd)
	if err != nil {
		text := strings.TrimSpace(stderr.String())
		return Sample{}, fmt.Errorf("%s: %w\n%s", strings.Join(argv, " "), err, text[max(0, len(text)-2000):])
	}
	return s, nil
}

// Run is Measure for a command whose streams the caller has set.
func Run(cmd *exec.Cmd) (Sample, error) {
	start := time.Now()
	err := cmd.Run()
	wall := time.Since(start)
	if err != nil {
		return Sample{}, err
	}
	state := cmd.ProcessState
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return Sample{}, fmt.Errorf("no resource usage for %s", cmd.Path)
	}
	return Sample{
		Wall: wall.Seconds(),
		CPU:  (state.UserTime() + state.SystemTime()).Seconds(),
		RSS:  usage.Maxrss * 1024, // Linux counts in KiB
	}, nil
}

// Root returns the directory of the module that holds the working directory, or the
// working directory itself outside of any.
func Root(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if mod := strings.TrimSpace(string(out)); err == nil && filepath.Base(mod) == "go.mod" {
		return filepath.Dir(mod), nil
	}
	return os.Getwd()
}

// Build makes the binary to measure in a directory, as a release is made.
func Build(ctx context.Context, dir string) (string, error) {
	root, err := Root(ctx)
	if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, "swimlane")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", bin, "./cmd/swimlane")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("building ./cmd/swimlane: %w", err)
	}
	return bin, nil
}

// Median is 0 of nothing.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	v := slices.Sorted(slices.Values(values))
	n := len(v)
	return (v[(n-1)/2] + v[n/2]) / 2
}

// CopyPlain copies src, or src.gz unpacked, to dst.
func CopyPlain(src, dst string) error {
	in, err := os.Open(src)
	zipped := errors.Is(err, fs.ErrNotExist)
	if zipped {
		in, err = os.Open(src + ".gz")
	}
	if err != nil {
		return err
	}
	defer in.Close()
	var r io.Reader = in
	if zipped {
		if r, err = gzip.NewReader(in); err != nil {
			return err
		}
	}
	out, err := os.Create(dst)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, r)
	return errors.Join(err, out.Close())
}
