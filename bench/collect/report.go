//go:build linux

package main

import (
	"fmt"
	"os"
	"runtime/pprof"

	"swimlane/internal/abi"
)

// bars keeps the worst figure for each bar.
type bars struct {
	device  result // the slowest row
	shareNs float64
	rate    float64
	lost    uint64
	seen    bool

	export   float64 // MB/s
	retained float64
}

func (b *bars) add(r result) {
	if !b.seen || r.deviceNs() > b.device.deviceNs() {
		b.device = r
	}
	b.shareNs = max(b.shareNs, r.shareNs())
	if !b.seen || r.best < b.rate {
		b.rate = r.best
	}
	b.lost += r.lost
	b.seen = true
}

// print prints the bars and tells whether one was missed.
func (b *bars) print(cfg config) (missed bool) {
	line := func(what string, measured string, limit string, ok bool) {
		verdict := "pass"
		if !ok {
			verdict, missed = "MISSED", true
		}
		fmt.Printf("| %s | %s | %s | %s |\n", what, measured, limit, verdict)
	}
	fmt.Print("\n| Bar | Measured | Limit | |\n| --- | --- | --- | --- |\n")
	d := &b.device
	line(fmt.Sprintf("device, slowest row (%s, %s, %d pools)", d.transport, d.kind, d.pools),
		fmt.Sprintf("%.2f ns/record", d.deviceNs()), fmt.Sprintf("%d ns", maxProducerNs), d.deviceNs() <= maxProducerNs)
	line("AICPU share of a core's record, slowest row", fmt.Sprintf("%.2f ns", b.shareNs), fmt.Sprintf("%d ns", maxProducerNs), b.shareNs <= maxProducerNs)
	if cfg.policy == abi.Block {
		line(fmt.Sprintf("store to callback, %d shard, best run of the slowest row", cfg.shards), fmt.Sprintf("%.1f M records/s", b.rate/1e6), fmt.Sprintf("%.0f M/s", minRate/1e6), b.rate >= minRate)
		line("lost", fmt.Sprint(b.lost), "0", b.lost == 0)
	}
	if cfg.export {
		line("export", fmt.Sprintf("%.0f MB/s", b.export), fmt.Sprintf("%d MB/s", minExport), b.export >= minExport)
		line("memory of kept records / their bytes", fmt.Sprintf("%.3f", b.retained), fmt.Sprint(maxRetained), b.retained <= maxRetained)
	}
	return missed
}

// startProfile begins a CPU profile if a file is named.
func startProfile(path string) (stop func(), err error) {
	if path == "" {
		return func() {}, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, err
	}
	return func() { pprof.StopCPUProfile(); f.Close() }, nil
}
