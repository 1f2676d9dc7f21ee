// Package transport is the memory of a simulated device, and how a host reaches
// it: the two share it ([Mapped]), or the host keeps shadows and copies
// ([Shadow]). Device and host may be one process or two.
//
// # Copies beside a running device
//
// The device runs while the host copies. Aligned copies of up to 64 bytes move
// words with atomics; longer ones are plain. That is enough for every transfer
// of the protocol (spec/collector.md §8):
//
//   - Queue heads and tails, free queue heads, contended and freeze flags, slots
//     of free queues: one side stores the word at any time while the other loads
//     it. 4 or 8 bytes: atomic. A slot and the tail that publishes it are two copies, in this order.
//   - Ready entries, 32 bytes: the device writes them with plain stores before it
//     advances the tail, and not again before the head has passed them. The host
//     reads between the two. Ordered by tail and head.
//   - Record buffers: theirs is the order of the ready entry that brings them. A
//     core that stores its last record behind FIN (spec/collector.md §2.9) breaks
//     it; a simulated producer must wait for its core before it flushes.
//   - Zeros into a new buffer: the device learns of it later, from a slot.
//   - Counts of phase threads, 4 bytes: written before any thread of the device
//     can contend, and read by the host at a freeze, which a contended flag opened.
//   - The whole region to the device: before the launch. The whole region and the
//     active buffers from it: after the device has stopped. Ordered by those.
//
// A pull of the whole region from a running device is a plain copy over words and
// entries that are being written. Nothing orders it, and the race detector says
// so: take nothing from it that is not read again.
package transport
