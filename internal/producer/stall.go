package producer

import "time"

// Cause is what a writer waited for.
type Cause uint8

// The causes of a stall.
const (
	ReadyQueue Cause = iota // an entry of the ready queue
	FreeQueue               // an empty buffer
	PushGate                // the end of a freeze, with nothing in hand
)

var causes = [...]string{"ready queue", "free queue", "push gate"}

func (c Cause) String() string { return causes[c] }

// Stall is one wait, in real time.
type Stall struct {
	Cause  Cause
	Start  time.Time
	Length time.Duration
	GaveUp bool // a limit ended it
}

// MaxStalls is how many stalls a writer keeps one by one.
const MaxStalls = 256

// Stalls are the waits of a writer.
type Stalls struct {
	Count int
	Total time.Duration
	Kept  []Stall // the first MaxStalls; Count - len(Kept) were not kept
}

func (s *Stalls) add(one Stall) {
	s.Count++
	s.Total += one.Length
	if len(s.Kept) < MaxStalls {
		s.Kept = append(s.Kept, one)
	}
}
