package collector

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"swimlane/internal/abi"
)

// The vectors of spec/collector.md §6.3, and what is said of leftovers.
func TestBuckets(t *testing.T) {
	for _, v := range []struct {
		total, dropped, collected uint64
		leftovers                 int
		silent                    int64
		said                      []string
	}{
		{2500, 0, 2500, 0, 0, []string{
			"info: ChipSwimlane reconcile: PERF counts match (collected=2500, dropped=0, device_total=2500)"}},
		{10, 3, 7, 0, 0, []string{
			"warning: ChipSwimlane reconcile: 3 PERF records dropped on device side.",
			"info: ChipSwimlane reconcile: PERF counts match (collected=7, dropped=3, device_total=10)"}},
		{10, 0, 9, 0, 1, []string{
			"warning: ChipSwimlane reconcile: PERF count mismatch (collected=9 + dropped=0 != device_total=10, silent_loss=1)"}},
		{10, 2, 9, 0, -1, []string{
			"warning: ChipSwimlane reconcile: 2 PERF records dropped on device side.",
			"warning: ChipSwimlane reconcile: PERF count mismatch (collected=9 + dropped=2 != device_total=10, silent_loss=-1)"}},
		{10, 0, 4, 2, 6, []string{
			"warning: ChipSwimlane reconcile: PERF count mismatch (collected=4 + dropped=0 != device_total=10, silent_loss=6)",
			"error: ChipSwimlane reconcile: 2 core(s) had un-cleared PERF current_buf_ptr — see prior errors"}},
		{0, 0, 0, 0, 0, []string{
			"info: ChipSwimlane reconcile: PERF counts match (collected=0, dropped=0, device_total=0)"}},
	} {
		b := newBucket("PERF", v.total, v.dropped, v.collected, v.leftovers)
		if want := (Bucket{"PERF", v.total, v.dropped, v.collected, v.silent, v.leftovers}); b != want {
			t.Errorf("bucket %+v, want %+v", b, want)
		}
		var n notices
		b.report(&n, "core")
		var said []string
		for _, one := range n {
			said = append(said, fmt.Sprintf("%v: %s", one.Severity, one.Text))
		}
		if !slices.Equal(said, v.said) {
			t.Errorf("(%d, %d, %d): said %q, want %q", v.total, v.dropped, v.collected, said, v.said)
		}
	}
}

// What a balance must hold to, whatever the counters say.
func TestBalanceLaws(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	number := func() uint64 { return random.Uint64N(12) * random.Uint64N(2) }
	parts := func(a Account) [3]uint64 { return [3]uint64{a.Dropped, a.HostLost, a.Unflushed} }
	for range 200_000 {
		p := poolCount{
			total: number() * 3, dropped: number(), collected: number(), hostLost: number(), mayHaveLost: number(), unflushed: number(),
			active: random.IntN(2) == 0,
		}
		a, contradiction := p.balance()
		fail := func(law string) {
			t.Helper()
			t.Fatalf("%+v gives %+v (contradiction %v): %s", p, a, contradiction, law)
		}
		given := p.collected + p.dropped + p.hostLost + p.unflushed
		in := [3]uint64{p.dropped, p.hostLost, p.unflushed}
		switch {
		case a.Total != a.Collected+a.Dropped+a.HostLost+a.Unflushed:
			fail("the parts are not the total")
		case a.Collected != p.collected:
			fail("what came is not what came")
		case contradiction != (p.collected > p.total):
			fail("only more records than the device made contradict it")
		case a.Total != max(p.total, p.collected):
			fail("the total is the device's, unless more came")
		case given == p.total && parts(a) != in:
			fail("figures that add up have changed")
		case a.HostLost > p.hostLost+p.mayHaveLost:
			fail("the host lost more than it can have lost")
		case a.Unflushed > p.unflushed && !p.active:
			fail("a device without a buffer has records in it")
		case a.Dropped > p.dropped && p.active:
			fail("what may be in the device counts as dropped")
		case given < p.total && p.total-given <= p.mayHaveLost && (a.Dropped != p.dropped || a.Unflushed != p.unflushed):
			fail("what the host may have lost is not the device's loss")
		}
		for i, now := range parts(a) {
			if given < p.total && now < in[i] || given > p.total && now > in[i] {
				fail("a figure moved away from the total")
			}
		}
		more := p
		more.total++
		b, _ := more.balance()
		for i, now := range parts(b) {
			if now < parts(a)[i] {
				fail("one attempt more makes a loss smaller")
			}
		}
		more = p
		more.collected++
		b, _ = more.balance()
		for i, now := range parts(b) {
			if now > parts(a)[i] {
				fail("one record more makes a loss larger")
			}
		}
	}
}

// What is said of losses names the option that helps.
func TestAdvice(t *testing.T) {
	for _, v := range []struct {
		account Account
		policy  abi.Policy
		said    []string
	}{
		{Account{Total: 9, Collected: 9}, abi.Block, nil},
		{Account{Total: 9, Collected: 5, Dropped: 4}, abi.Drop, []string{
			"4 of 9 AICPU_TASK records were dropped, because the device had no free buffer: raise PROF_BUFFERS_PER_CORE (it is 8), or let the device wait (policy block)"}},
		{Account{Total: 9, Collected: 5, Dropped: 4}, abi.Block, []string{
			"4 of 9 AICPU_TASK records were dropped although the device waits for buffers: the host was too slow or stood still; raise PROF_BUFFERS_PER_CORE (it is 8)"}},
		{Account{Total: 9, HostLost: 4, Unflushed: 5}, abi.Block, []string{
			"4 of 9 AICPU_TASK records reached the host and were lost there: see the errors before",
			"5 of 9 AICPU_TASK records were still in the device when the run ended: the device did not flush, or died"}},
	} {
		var n notices
		v.account.advise(&n, "AICPU_TASK", v.policy, 8, "PROF_BUFFERS_PER_CORE")
		var said []string
		for _, one := range n {
			said = append(said, one.Text)
		}
		if !slices.Equal(said, v.said) {
			t.Errorf("%+v: said %q, want %q", v.account, said, v.said)
		}
	}
}
