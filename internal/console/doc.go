// Package console is what every command of the program has in common: where it
// reads and writes, what its flags accept and say of a wrong value, its progress
// bar, its words for numbers, and its exit code.
//
// A command is one of cobra's whose RunE comes from RunE. Env.Run executes a
// command line, and Main does so as a whole process that heeds signals.
package console
