//go:build amd64 || arm64

package abi

import "unsafe"

//go:noescape
func prefetchWrite(p unsafe.Pointer)
