package collector

import (
	"runtime"
	"time"
)

const (
	spinFor   = 200 * time.Microsecond // a goroutine without work yields for this long before it sleeps
	sleepFor  = 10 * time.Microsecond  // as the protocol says; a sleep this short takes far longer on most machines
	idleLimit = 30 * time.Second       // abi.IdleSeconds
)

// idler is how a goroutine waits for work that nobody announces.
type idler struct{ since time.Time }

// worked says that there was work.
func (i *idler) worked() { i.since = time.Time{} }

// wait yields, or sleeps once there has been no work for a while.
func (i *idler) wait() {
	now := time.Now()
	if i.since.IsZero() {
		i.since = now
	}
	if now.Sub(i.since) < spinFor {
		runtime.Gosched()
		return
	}
	time.Sleep(sleepFor)
}
