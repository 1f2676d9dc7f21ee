package abi_test

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"swimlane/internal/abi"
)

var update = flag.Bool("update", false, "write the C header")

const headerFile = "swimlane_abi.h"

func TestHeaderIsCurrent(t *testing.T) {
	var want bytes.Buffer
	if err := abi.WriteHeader(&want); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(headerFile, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(headerFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Errorf("%s is not what WriteHeader writes: run go generate ./internal/abi", headerFile)
	}
}
