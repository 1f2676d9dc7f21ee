// Package hbg is the runtime host_build_graph on a simulated chip: the host builds
// the whole graph before the device begins (spec/collector.md §13, §14).
//
// [Build] runs an orchestration on the host, in the host's own virtual time: it
// finds dependencies as tmr does, and records parts of the orchestration as graphs
// that are submitted again with other tensors. [Graph] is what the host has built.
// [Run] lets AICPU threads run it: schedulers, and one that resolves what they have
// seen to finish. [RunAicore] lets the AICores of an a5 run it by themselves.
package hbg
