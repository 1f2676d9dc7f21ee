package collector

import (
	"fmt"

	"swimlane/internal/abi"
)

// Notice is something that a user should know of a run.
type Notice struct {
	Severity Severity
	Text     string
}

// notices collect what is said of a run.
type notices []Notice

func (n *notices) add(s Severity, format string, args ...any) {
	*n = append(*n, Notice{s, fmt.Sprintf(format, args...)})
}

// Bucket compares what the device counted with what came (spec/collector.md
// §6.3). It reports and decides nothing.
type Bucket struct {
	Name       string // PERF, SCHED_PHASE, ORCH_PHASE, AICORE
	Total      uint64 // attempts, by the device's counters
	Dropped    uint64 // by the device's counters
	Collected  uint64
	SilentLoss int64 // Total − (Collected + Dropped); below 0 where records count as dropped and came all the same
	Leftovers  int   // pools whose buffer holds records that were never handed over
}

// newBucket balances the figures of one kind.
func newBucket(name string, total, dropped, collected uint64, leftovers int) Bucket {
	return Bucket{
		Name: name, Total: total, Dropped: dropped, Collected: collected, Leftovers: leftovers,
		SilentLoss: int64(total - collected - dropped),
	}
}

// report says what the bucket shows. Unit is what it has pools of.
func (b *Bucket) report(n *notices, unit string) {
	const who = "ChipSwimlane reconcile: "
	if b.Dropped > 0 {
		n.add(Warning, who+"%d %s records dropped on device side.", b.Dropped, b.Name)
	}
	if b.SilentLoss != 0 {
		n.add(Warning, who+"%s count mismatch (collected=%d + dropped=%d != device_total=%d, silent_loss=%d)",
			b.Name, b.Collected, b.Dropped, b.Total, b.SilentLoss)
	} else {
		n.add(Info, who+"%s counts match (collected=%d, dropped=%d, device_total=%d)", b.Name, b.Collected, b.Dropped, b.Total)
	}
	if b.Leftovers > 0 {
		n.add(Error, who+"%d %s(s) had un-cleared %s current_buf_ptr — see prior errors", b.Leftovers, unit, b.Name)
	}
}

// buckets name the kinds in reports.
var buckets = [abi.Kinds]struct {
	name, unit string
	optional   bool // nothing is said of it where there is nothing
}{
	abi.KindAicpuTask:  {"PERF", "core", false},
	abi.KindSchedPhase: {"SCHED_PHASE", "thread", true},
	abi.KindOrchPhase:  {"ORCH_PHASE", "thread", true},
	abi.KindAicoreTask: {"AICORE", "core", true},
}

// poolCount is everything that is known of the records of one pool.
type poolCount struct {
	total, dropped uint64 // the device's counters
	collected      uint64
	hostLost       uint64 // of buffers that the host could not take
	mayHaveLost    uint64 // the most that buffers held whose count could not be read
	unflushed      uint64 // in the buffer that the device was filling
	active         bool   // the device still had a buffer
}

// balance settles a pool: the sum of the account's parts is its total, whatever
// the counters say.
//
// What is missing was lost by the host if it lost buffers of unknown contents;
// else it is in the device, which still has a buffer, or the device lost it
// without counting it. What is too much was counted as dropped and came all the
// same: after a full ready queue the device may give up waiting for a host that
// has the entry already.
func (p poolCount) balance() (a Account, contradiction bool) {
	a = Account{Total: p.total, Collected: p.collected, Dropped: p.dropped, HostLost: p.hostLost, Unflushed: p.unflushed}
	sum := a.Collected + a.Dropped + a.HostLost + a.Unflushed
	if missing := p.total - min(p.total, sum); missing > 0 {
		host := min(missing, p.mayHaveLost)
		a.HostLost += host
		if p.active {
			a.Unflushed += missing - host
		} else {
			a.Dropped += missing - host
		}
		return a, false
	}
	excess := sum - p.total
	for _, part := range []*uint64{&a.Dropped, &a.Unflushed, &a.HostLost} {
		n := min(excess, *part)
		*part -= n
		excess -= n
	}
	a.Total += excess // more came than the device says it made
	return a, excess > 0
}

func (a *Account) add(b Account) {
	a.Total += b.Total
	a.Collected += b.Collected
	a.Dropped += b.Dropped
	a.HostLost += b.HostLost
	a.Unflushed += b.Unflushed
}

// Lost is what was recorded and is not there.
func (a *Account) Lost() uint64 { return a.Dropped + a.HostLost + a.Unflushed }

// advise says what to change when records were lost, naming the option.
func (a *Account) advise(n *notices, kind string, policy abi.Policy, depth int, option string) {
	switch {
	case a.Dropped > 0 && policy == abi.Drop:
		n.add(Warning, "%d of %d %s records were dropped, because the device had no free buffer: raise %s (it is %d), or let the device wait (policy block)",
			a.Dropped, a.Total, kind, option, depth)
	case a.Dropped > 0:
		n.add(Warning, "%d of %d %s records were dropped although the device waits for buffers: the host was too slow or stood still; raise %s (it is %d)",
			a.Dropped, a.Total, kind, option, depth)
	}
	if a.HostLost > 0 {
		n.add(Warning, "%d of %d %s records reached the host and were lost there: see the errors before", a.HostLost, a.Total, kind)
	}
	if a.Unflushed > 0 {
		n.add(Warning, "%d of %d %s records were still in the device when the run ended: the device did not flush, or died", a.Unflushed, a.Total, kind)
	}
}
