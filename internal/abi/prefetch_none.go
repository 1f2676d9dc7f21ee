//go:build !amd64 && !arm64

package abi

import "unsafe"

func prefetchWrite(unsafe.Pointer) {}
