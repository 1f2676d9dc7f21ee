// Package abi is the bytes that a device and its host share: every structure,
// constant and offset of the capture protocol, for both architectures, as typed
// views over raw memory (spec/device-abi.md).
//
// The structures are Go types whose fields carry the names that C code uses;
// [Structs] describes them, and the C header is written from that description.
// What depends on the architecture (array lengths, and so the offsets behind
// them) is computed by [Region] and [QueueHeader].
//
// Two kinds of words are shared. Publishing words (queue heads and tails, slots,
// the current buffer and its sequence, freeze and contended flags) are atomic
// and have atomic types. Everything else, the records above all, is written by
// its one owner with plain stores and becomes visible with the owner's next
// publishing store (spec/device-abi.md §12). Go's atomics are sequentially
// consistent, which is stronger than the protocol asks for.
//
// All integers are little-endian, and so must be the machine. This package and
// the transports are the only ones that may import unsafe.
package abi
