// Package doctor says what is wrong with a capture, or with a tree of captures, what is
// missing, why, and what to do.
//
// It knows no rule of its own about what a file means: the strict reader, the joins,
// the drawing and the merge of ranks find what is odd, and their words are what a
// [Finding] says was found. What it adds are a cause and a remedy for each code
// ([Explain]), what lies beside a capture, and, where the reader refuses a
// file, every rule that it breaks and what of it is whole ([capture.Diagnose]).
//
// Nothing is written, and nothing printed but what Text and JSON are given.
package doctor
