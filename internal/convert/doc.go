// Package convert turns a capture into a trace, as `swimlane convert` does: it
// finds the files of a capture, reads and joins them, chooses the part that is
// wanted, draws it, writes the trace and prints what was found. Run is all of it.
//
// Find and Capture.Read are its first half, for commands that show a capture in
// another way; they print the same warnings, once.
package convert
