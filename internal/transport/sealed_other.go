//go:build !linux

package transport

import (
	"fmt"
	"os"
	"runtime"

	"swimlane/internal/abi"
)

var errNoSeals = fmt.Errorf("processes share a device's memory only on linux, which can seal its size, and this is %s: keep the device in one process", runtime.GOOS)

func createSealed(int) (*os.File, error) { return nil, errNoSeals }

func mapSealed(*os.File, int) ([]byte, error) { return nil, errNoSeals }

func unmap([]byte) error { return errNoSeals }

func adviseHuge(abi.Mem) {}
