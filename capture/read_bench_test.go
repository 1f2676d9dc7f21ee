package capture_test

import (
	"os"
	"testing"

	"swimlane/capture"
)

func BenchmarkRead(b *testing.B) {
	p := os.Getenv("REC")
	st, _ := os.Stat(p)
	b.SetBytes(st.Size())
	for b.Loop() {
		if _, err := capture.Read(p, capture.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
func BenchmarkDeps(b *testing.B) {
	p := os.Getenv("DEPS")
	st, _ := os.Stat(p)
	b.SetBytes(st.Size())
	for b.Loop() {
		if _, err := capture.ReadDeps(p, nil); err != nil {
			b.Fatal(err)
		}
	}
}
