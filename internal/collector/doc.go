// Package collector is the host's half of the capture protocol: it gives the
// device empty buffers, takes the full ones while the kernels run, and accounts
// for every record (spec/collector.md §3–§9).
package collector
