package abi

import "unsafe"

// PrefetchWrite asks the processor for the 128 bytes from a structure on, which
// will be written soon. Buffers come back from the host's core, so the first
// store to each of their cache lines waits for it; a writer of many pools has too
// many streams for the processor to foresee. It changes nothing and never faults.
func PrefetchWrite[T any](v *T) { prefetchWrite(unsafe.Pointer(v)) }
