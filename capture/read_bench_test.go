package capture_test

import (
	"os"
	"path/filepath"
	"testing"

	"swimlane/capture"
	"swimlane/internal/parity"
)

// medium unpacks a file of a real capture of 8,192 kernels and returns its path.
func medium(b *testing.B, name string) string {
	dir := filepath.Join(parity.Shared(b), "captures", "a2a3sim_tmr_paged_attention_medium_l4_deps")
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		path += ".gz"
	}
	text := parity.Unpacked(b, path)
	plain := filepath.Join(b.TempDir(), name)
	write(b, plain, text)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	return plain
}

func BenchmarkRecords(b *testing.B) {
	path := medium(b, capture.FileName)
	for b.Loop() {
		if _, err := capture.Read(path, capture.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDeps(b *testing.B) {
	path := medium(b, capture.DepsFileName)
	for b.Loop() {
		if _, err := capture.ReadDeps(path, nil); err != nil {
			b.Fatal(err)
		}
	}
}
