package console

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// screenText is a terminal that several goroutines draw on.
type screenText struct {
	mu sync.Mutex
	b  strings.Builder
}

func (s *screenText) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(b)
}

func (s *screenText) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// TestStagesFollowEachOther: a stage of unknown size draws nothing once the next
// one has begun.
func TestStagesFollowEachOther(t *testing.T) {
	var out screenText
	p := &Progress{w: &out, started: time.Now().Add(-time.Minute)}
	p.Stage("reading", 0)
	p.Part()(100)
	if !strings.Contains(out.text(), "reading") {
		t.Fatalf("nothing is shown: %q", out.text())
	}
	p.Stage("writing", 100)
	before := len(out.text())
	p.drawn = time.Time{}
	p.Part()(50)
	time.Sleep(350 * time.Millisecond) // spinners turn every 100 ms
	after := out.text()[before:]
	if strings.Contains(after, "reading") || !strings.Contains(after, "writing") {
		t.Errorf("behind the next stage's begin: %q", after)
	}
	p.Done()
	before = len(out.text())
	time.Sleep(250 * time.Millisecond)
	if rest := out.text()[before:]; rest != "" {
		t.Errorf("behind the end: %q", rest)
	}
}

// TestShowsAfterASecond: what takes no longer than a second draws nothing.
func TestShowsAfterASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out screenText
		p := &Progress{w: &out, started: time.Now()}
		p.Stage("reading", 100)
		part := p.Part()
		time.Sleep(time.Second - time.Nanosecond)
		part(50)
		if out.text() != "" {
			t.Errorf("before a second has passed: %q", out.text())
		}
		time.Sleep(time.Nanosecond)
		part(51)
		if !strings.Contains(out.text(), "reading") {
			t.Errorf("after a second: %q", out.text())
		}
		p.Done()
	})
}
