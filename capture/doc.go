// Package capture reads the files of one single-chip capture into typed
// columns: chip_swimlane_records.json (spec/records.md) and the task graph
// deps.json (spec/deps.md).
//
// Several generations of these files exist. They are told apart here, at the
// door: a Dialect holds the facts in which they differ, and nothing behind this
// package asks which generation a file was.
//
// Reading streams. Peak memory is a small multiple of the typed columns and
// does not depend on the length of the JSON text; no allocation is sized by a
// number found in a file. Every integer is exact over 64 bits.
//
// Times are raw: device cycles and host nanoseconds as they stand in the file.
// Package timeline puts them on one axis.
//
// A file is accepted whole or refused with one *Error that names file, section
// and row, what was found and what was expected; a file that cannot be read at
// all gives the error of the system. What is odd but readable ends in Warnings,
// which the caller prints; this package writes nothing.
package capture
