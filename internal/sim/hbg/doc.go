// Package hbg is the runtime host_build_graph on a simulated chip: the host builds
// the whole graph before the device begins (spec/collector.md §13, §14).
//
// [Graph] is what the host has built. It is run by AICPU scheduler threads and one
// that resolves, or on a5 by AICore schedulers.
package hbg
