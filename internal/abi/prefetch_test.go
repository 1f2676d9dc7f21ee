package abi_test

import (
	"bytes"
	"testing"

	"swimlane/internal/abi"
)

// A prefetch changes no byte, wherever it reaches; beyond the memory too.
func TestPrefetchWrite(t *testing.T) {
	mem := abi.NewMem(8 * 32)
	for i := range mem {
		mem[i] = byte(i)
	}
	before := bytes.Clone(mem)
	tasks := abi.Views[abi.AicpuTask](mem, 0, 8)
	for i := range tasks {
		abi.PrefetchWrite(&tasks[i])
	}
	if !bytes.Equal(mem, before) {
		t.Error("a prefetch changed memory")
	}
}
