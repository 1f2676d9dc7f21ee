// Package abi is the bytes that a device and its host share: every structure,
// constant and offset of the capture protocol, for both architectures, as typed
// views over raw memory (spec/device-abi.md).
//
// The structures are Go types whose fields carry the names that C code uses;
// [Structs] describes them, and [WriteHeader] writes the C header from that.
// What depends on the architecture (array lengths, and so the offsets behind
// them) is computed by [NewRegion] and [NewKernelArgs].
//
// Two kinds of words are shared. Publishing words (queue heads and tails, slots,
// the current buffer and its sequence, freeze and contended flags) are atomic
// and have atomic types. Everything else, the records above all, is written by
// its one owner with plain stores and becomes visible with the owner's next
// publishing store (spec/device-abi.md §12). Go's atomics are sequentially
// consistent, which is stronger than the protocol asks for.
//
// All integers are little-endian, and so must be the machine. No other package
// may import unsafe.
package abi
