// Package depview shows the task graph of a capture: which tasks there are, what they
// run, and why one needs another (spec/deps.md §6).
//
// Load reads a graph file and what lies beside it, and joins them into a Model: nodes
// in the order of their ids, edges by producer and consumer, and for every edge the
// rows of the file that say why it exists. Reduce finds the edges that other paths
// make redundant; a View is the model with some of its edges left out. Views are
// written as text and as JSON, as a whole or around one task, or along the paths
// between two.
//
// A Model and a View do not change once they are built.
package depview
