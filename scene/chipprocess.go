package scene

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"swimlane/internal/mailbox"
)

// How long a worker has to answer that it is there, and to end when it is told to.
const (
	workerStart = 60 * time.Second
	workerStop  = 10 * time.Second
)

// chipProcess is a chip worker as the dispatcher sees it.
type chipProcess struct {
	rank, device int
	cmd          *exec.Cmd
	to, from     *os.File
	gone         chan struct{} // closed when the process has been reaped
	last         farewell      // known then

	// Of the scheduler:
	dispatches uint64
	at         *flight // nil: idle
	dead       bool
	fault      error // why it was ended from here
}

// who names the worker in errors.
func (c *chipProcess) who() string {
	return fmt.Sprintf("rank %d (process %d, device %d)", c.rank, c.cmd.Process.Pid, c.device)
}

func (c *chipProcess) kill() { _ = c.cmd.Process.Kill() } // it may have ended already

// tell lets the worker end what it runs, as [Worker] does then.
func (c *chipProcess) tell() { _ = c.cmd.Process.Signal(syscall.SIGTERM) }

// lockedWriter lets several writers write to one, a write at a time.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

// startChip starts a worker, and waits for its answer.
func startChip(h *hello, stderr io.Writer) (c *chipProcess, err error) {
	self, err := program()
	if err != nil {
		return nil, err
	}
	hisFrom, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	from, hisTo, err := os.Pipe()
	if err != nil {
		to.Close()
		hisFrom.Close()
		return nil, err
	}
	c = &chipProcess{rank: h.Rank, device: h.Device, to: to, from: from, gone: make(chan struct{})}
	c.cmd = exec.Command(self)
	// The first word decides what some programs are; the rest is for who lists processes.
	c.cmd.Args = []string{os.Args[0], "chip-worker", fmt.Sprintf("%s::%s", h.Class, h.Case), fmt.Sprintf("rank%d", h.Rank)}
	c.cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", workerEnv, mailbox.Version))
	c.cmd.Stdout, c.cmd.Stderr = stderr, stderr
	c.cmd.ExtraFiles = []*os.File{workerFrom - 3: hisFrom, workerTo - 3: hisTo}
	c.cmd.WaitDelay = time.Second
	dieTogether(c.cmd)
	err = c.cmd.Start()
	// The worker has them now. What is open here too would never come to its end.
	hisFrom.Close()
	hisTo.Close()
	if err != nil {
		to.Close()
		from.Close()
		return nil, err
	}
	if err := c.greet(h); err != nil {
		end := c.reap(io.EOF)
		if !errors.Is(err, errRefused) {
			err = errors.Join(err, end)
		}
		return nil, err
	}
	return c, nil
}

// errRefused is the class of errors that a worker gives for why it will not serve.
var errRefused = errors.New("the worker refuses")

// greet tells the worker who it is.
func (c *chipProcess) greet(h *hello) error {
	limit := time.AfterFunc(workerStart, c.kill)
	defer limit.Stop()
	f, err := mailbox.New(kindHello, h, nil)
	if err != nil {
		return err
	}
	if err := mailbox.Write(c.to, f); err != nil {
		return fmt.Errorf("it does not listen: %w", err)
	}
	if f, err = mailbox.Read(c.from); err != nil {
		return fmt.Errorf("it does not answer: %w", err)
	}
	switch f.Kind {
	case kindRefused:
		var r refusal
		if err := f.Decode(&r); err != nil {
			return err
		}
		return fmt.Errorf("%w: %s", errRefused, r.Error)
	case kindReady:
		var r ready
		if err := f.Decode(&r); err != nil {
			return err
		}
		if r.Rank != c.rank || r.PID != c.cmd.Process.Pid {
			return fmt.Errorf("it answers as rank %d, process %d: expected %d and %d", r.Rank, r.PID, c.rank, c.cmd.Process.Pid)
		}
		return nil
	}
	return fmt.Errorf("it answers with a frame of kind %d: expected %d or %d", f.Kind, kindReady, kindRefused)
}

// listen passes on what the worker says until it has ended.
func (c *chipProcess) listen(tell func(arrival)) {
	for {
		f, err := mailbox.Read(c.from)
		if err != nil {
			tell(arrival{chip: c, err: c.reap(err)})
			return
		}
		if f.Kind == kindEnded {
			if err := f.Decode(&c.last); err != nil {
				tell(arrival{chip: c, err: c.reap(err)})
				return
			}
			continue
		}
		tell(arrival{chip: c, frame: f})
	}
}

// reap ends the process, if it has not ended yet, and says how it did.
func (c *chipProcess) reap(why error) error {
	if why != io.EOF {
		c.kill() // it may be at work and say nothing that can be read
	}
	defer time.AfterFunc(workerStop, c.kill).Stop() // or it has closed its pipe and goes on
	end := c.cmd.Wait()
	c.to.Close()
	c.from.Close()
	close(c.gone)
	if why != nil && why != io.EOF {
		return fmt.Errorf("what it says cannot be read: %w", why)
	}
	return fmt.Errorf("the process has ended: %v", c.cmd.ProcessState.String()+ifDelayed(end))
}

// ifDelayed says of a process that it left its standard error to others.
func ifDelayed(err error) string {
	if errors.Is(err, exec.ErrWaitDelay) {
		return ", and others hold its output"
	}
	return ""
}

// stop tells the worker to end, and ends it if it does not. A worker that had ended
// before, or did not end well, is an error.
func (c *chipProcess) stop() error {
	how := ""
	f, err := mailbox.New(kindStop, struct{}{}, nil)
	if err == nil && mailbox.Write(c.to, f) == nil {
		select {
		case <-c.gone:
		case <-time.After(workerStop):
			how = " because it did not end by itself"
		}
	}
	c.kill()
	<-c.gone
	if c.cmd.ProcessState.Success() {
		return nil
	}
	return fmt.Errorf("%s, told to end: the process has ended: %v%s", c.who(), c.cmd.ProcessState, how)
}
