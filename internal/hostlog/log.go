package hostlog

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// Level is how important a record is.
type Level int8

// The levels, the least important first. A log writes records of its threshold and
// above; with the threshold Nothing it writes none.
const (
	Debug   Level = iota - 2
	Info          // −1
	Timing        // 0: spans, and the clock anchor
	Warn          // 1
	Error         // 2
	Nothing       // 3
)

// levels are their names, from Debug on.
var levels = [...]string{"DEBUG", "INFO", "TIMING", "WARN", "ERROR", "NUL"}

func (l Level) String() string { return levels[min(max(l, Debug), Nothing)-Debug] }

// ParseLevel is the level of a name as it stands in records.
func ParseLevel(name string) (Level, error) {
	for l, s := range levels {
		if s == name {
			return Debug + Level(l), nil
		}
	}
	return 0, fmt.Errorf("%q is no level of the host's log, expected one of %s", name, strings.Join(levels[:], ", "))
}

// Clock gives a process's times in ns: of a monotonic clock, which all processes of
// a host share, and of the wall.
type Clock interface {
	Mono() int64
	Wall() int64
}

// SystemClock are the clocks of this system.
func SystemClock() Clock { return systemClock{} }

// Options of a Log. What is left out is that of this process and this system. A
// simulated process sets all of them, and then its log holds the same bytes every
// time.
type Options struct {
	Output io.Writer // for records before a directory is bound; nil: standard error
	PID    int       // 0: that of this process
	Clock  Clock     // nil: the system's
	// Thread is the id of the calling thread. It may be called by several goroutines
	// at once. nil: the system's.
	Thread func() int64
	// Handle is what an envelope calls a thread. nil: its id.
	Handle func(tid int64) uint64
	// Threshold is the least level that is written. Above Timing no spans are.
	Threshold Level
}

// Log writes the host's log of one process. Its methods may be called by several
// goroutines at once. A nil Log writes nothing.
type Log struct {
	*shared
	threshold Level
}

// shared is what all views of a log have in common.
type shared struct {
	pid    int
	clock  Clock
	thread func() int64
	handle func(int64) uint64

	mu       sync.Mutex
	out      io.Writer
	file     *os.File // nil: not open
	path     string   // of the file, "" until a directory is bound
	anchored bool     // what is written to now has its anchor
	closed   bool
	inv      uint64
	drops    Drops
	err      error // of the first record that was dropped
	buf      []byte
}

// New makes a log. Nothing is written until the first record.
func New(o Options) *Log {
	l := &Log{&shared{pid: o.PID, clock: o.Clock, thread: o.Thread, handle: o.Handle, out: o.Output}, o.Threshold}
	if l.out == nil {
		l.out = os.Stderr
	}
	if l.pid <= 0 {
		l.pid = os.Getpid()
	}
	if l.clock == nil {
		l.clock = systemClock{}
	}
	if l.thread == nil {
		l.thread = systemThread
	}
	if l.handle == nil {
		l.handle = func(tid int64) uint64 { return uint64(tid) }
	}
	l.drops.PID = l.pid
	return l
}

// At is the same log for records of another level and above.
func (l *Log) At(threshold Level) *Log {
	if l == nil {
		return nil
	}
	return &Log{l.shared, threshold}
}

// FileName is the name of the log of a process.
func FileName(pid int) string { return "host." + strconv.Itoa(pid) + ".log" }

// Bind makes the file host.<pid>.log of a directory the place of all further
// records. The first directory that is not "" is that of the log for good; other
// ones are passed over. If the file cannot be opened the error says why, and
// opening is tried again with each record: until it works records are dropped,
// never written anywhere else.
func (l *Log) Bind(dir string) error {
	if l == nil || dir == "" {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.path != "" || l.closed {
		return nil
	}
	l.path = filepath.Join(dir, FileName(l.pid))
	l.anchored = false
	return l.open()
}

// open opens the file that is bound, if it is not open.
func (l *Log) open() error {
	if l.path == "" || l.file != nil {
		return nil
	}
	f, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	l.file, l.out = f, f
	return nil
}

// Enabled tells whether records of a level are written.
func (l *Log) Enabled(level Level) bool {
	return l != nil && level < Nothing && level >= l.threshold
}

// NextInv counts the runs of chips of this process: 1 for the first.
func (l *Log) NextInv() uint64 {
	if l == nil {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inv++
	return l.inv
}

// Entry is a span to be written.
type Entry struct {
	TID   int64 // 0: the calling thread
	Inv   uint64
	HID   string // "" is 0
	Depth int
	Name  string
	TS    int64
	Dur   int64
	Attrs []Attr
}

// Span writes a span. Names and attributes that are too long are cut, and end
// with ~. A span that no reader would accept is dropped.
func (l *Log) Span(e Entry) {
	if !l.Enabled(Timing) {
		return
	}
	if e.TID == 0 {
		e.TID = l.thread()
	}
	if e.HID == "" {
		e.HID = "0"
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := check(&e); err != nil {
		l.drop(&l.drops.NotAdmitted, err)
		return
	}
	l.write(e.TID, func(b []byte) []byte { return l.appendSpan(b, &e) })
}

// check says why no reader would take a span for one, if so.
func check(s *Entry) error {
	hash := len(s.HID) <= 16
	for i := range len(s.HID) {
		hash = hash && unhex(s.HID[i]) >= 0
	}
	fault := ""
	switch {
	case s.Name == "":
		fault = "it has no name"
	case !hash:
		fault = fmt.Sprintf("the hash %q is not 1 to 16 hex digits", s.HID)
	case s.TID < 0 || s.Depth < 0 || s.TS < 0 || s.Dur < 0:
		fault = fmt.Sprintf("a number is negative (tid %d, depth %d, ts %d, dur %d)", s.TID, s.Depth, s.TS, s.Dur)
	case s.Dur > math.MaxInt64-s.TS:
		fault = fmt.Sprintf("it ends after 2⁶³ ns (ts %d, dur %d)", s.TS, s.Dur)
	default:
		return nil
	}
	return fmt.Errorf("span %.80q cannot be written: %s", s.Name, fault)
}

// Message writes a line for people. The function is named without what it belongs
// to. A line that is too long is cut, and ends with ~.
func (l *Log) Message(level Level, function, format string, args ...any) {
	if !l.Enabled(level) {
		return
	}
	l.MessageOf(l.thread(), level, function, fmt.Sprintf(format, args...))
}

// MessageOf is Message for another thread than the calling one.
func (l *Log) MessageOf(tid int64, level Level, function, text string) {
	if !l.Enabled(level) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.write(tid, func(b []byte) []byte {
		return append(l.appendEnvelope(b, tid, level, function), strings.TrimRight(text, "\r\n")...)
	})
}

// write writes a record, behind the anchor if it is the first one, and says what
// was lost before as soon as something could be written again.
func (l *Log) write(tid int64, record func([]byte) []byte) {
	if l.closed {
		l.drop(&l.drops.NotAdmitted, errors.New("a record came after Close"))
		return
	}
	if err := l.anchor(tid); err != nil {
		l.drop(&l.drops.OutputFailed, err)
		return
	}
	if err := l.put(record); err != nil {
		l.drop(&l.drops.OutputFailed, err)
		return
	}
	l.report(tid)
}

// Anchor writes the clock anchor now, if that is still to be done: only spans that
// begin after it have a wall time.
func (l *Log) Anchor() {
	if !l.Enabled(Timing) {
		return
	}
	tid := l.thread()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	if err := l.anchor(tid); err != nil {
		l.drop(&l.drops.OutputFailed, err)
	}
}

// anchor writes the clock anchor if that is still to be done.
func (l *Log) anchor(tid int64) error {
	if l.anchored || !l.Enabled(Timing) {
		return nil
	}
	mono, wall := l.clock.Mono(), l.clock.Wall()
	err := l.put(func(b []byte) []byte {
		b = append(l.appendEnvelope(b, tid, Timing, "clock_anchor"), anchorMark...)
		b = fmt.Appendf(b, " v=1 pid=%d mono_ns=%d wall_ns=%d", l.pid, mono, wall)
		return b
	})
	l.anchored = err == nil
	return err
}

// report writes how many records were dropped, if there are any that no report has
// counted yet.
func (l *Log) report(tid int64) {
	if l.drops.New == 0 || !l.Enabled(Error) {
		return
	}
	d := &l.drops
	err := l.put(func(b []byte) []byte {
		b = append(l.appendEnvelope(b, tid, Error, "host_log_drops"), dropsMark...)
		return fmt.Appendf(b, " v=1 pid=%d new=%d total=%d queue_full=%d claim_exhausted=%d output_failed=%d not_admitted=%d",
			d.PID, d.New, d.Total, d.QueueFull, d.ClaimExhausted, d.OutputFailed, d.NotAdmitted)
	})
	if err == nil {
		d.New = 0
	}
}

func (l *Log) drop(count *uint64, err error) {
	*count++
	l.drops.New++
	l.drops.Total++
	if l.err == nil {
		l.err = err
	}
}

// put writes one record with one call, at most maxRecord bytes of it.
func (l *Log) put(record func([]byte) []byte) error {
	if err := l.open(); err != nil {
		return err
	}
	b := record(l.buf[:0])
	if len(b) > maxRecord-1 {
		end := maxRecord - len("~\n")
		for back := 1; back < utf8.UTFMax && !utf8.RuneStart(b[end]); back++ {
			end-- // no character is cut, if these are characters
		}
		b = append(b[:end], '~')
	}
	b = append(b, '\n')
	l.buf = b
	n, err := l.out.Write(b)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	// Behind a part of a record the next one goes on with the line, as readers expect:
	// on a line of its own an anchor without its last digits would count.
	return err
}

// Drops is what was lost until now.
func (l *Log) Drops() Drops {
	if l == nil {
		return Drops{}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.drops
}

// Close ends the log: it says what was lost, closes the file, and returns why the
// first record was lost. Records that come later are dropped.
func (l *Log) Close() error {
	if l == nil {
		return nil
	}
	tid := l.thread()
	l.mu.Lock()
	defer l.mu.Unlock()
	var err error
	if !l.closed {
		l.report(tid)
		l.closed = true
		if l.file != nil {
			err = l.file.Close()
		}
	}
	if l.drops.Total > 0 {
		return fmt.Errorf("%d record(s) of the host's log were dropped, the first because: %w", l.drops.Total, l.err)
	}
	return err
}

// appendEnvelope appends what stands before the message of a record.
func (l *Log) appendEnvelope(b []byte, tid int64, level Level, function string) []byte {
	if colon := strings.LastIndexByte(function, ':'); colon >= 0 {
		function = function[colon+1:]
	}
	if function == "" {
		function = "log"
	}
	b = append(b, "[mono_ns="...)
	b = strconv.AppendInt(b, max(l.clock.Mono(), 0), 10)
	b = append(b, "][T0x"...)
	b = strconv.AppendUint(b, l.handle(tid), 16)
	b = append(b, "]["...)
	b = append(b, level.String()...)
	b = append(b, "] "...)
	b = append(b, function...)
	return append(b, ": "...)
}

// appendSpan appends the record of a span.
func (l *Log) appendSpan(b []byte, s *Entry) []byte {
	start := len(b)
	b = append(l.appendEnvelope(b, s.TID, Timing, "emit_host_span"), spanMark...)
	b = append(b, " v=1"...)
	b = strconv.AppendInt(append(b, " pid="...), int64(l.pid), 10)
	b = strconv.AppendInt(append(b, " tid="...), s.TID, 10)
	b = strconv.AppendUint(append(b, " inv="...), s.Inv, 10)
	b = append(append(b, " hid="...), strings.ToLower(s.HID)...)
	b = strconv.AppendInt(append(b, " depth="...), int64(s.Depth), 10)
	name := newField(append(b, " name="...), maxName)
	name.add(s.Name, plainName)
	b = strconv.AppendInt(append(name.b, " ts="...), s.TS, 10)
	b = strconv.AppendInt(append(b, " dur="...), s.Dur, 10)
	b = append(b, ' ')
	items := newField(b, min(maxAttrs, maxRecord-1-(len(b)-start)))
	for i, a := range s.Attrs {
		if i > 0 {
			items.add(" ", plain)
		}
		items.add(a.Key, plainName)
		items.add("=", plain)
		items.add(a.Value, plainValue)
	}
	return items.b
}

// Attr is an attribute to be written. A key should be plain text without blanks:
// it is encoded like a name, and readers do not decode keys.
type Attr struct{ Key, Value string }

// Int is an attribute with a number.
func Int[T ~int | ~int32 | ~int64 | ~uint | ~uint32 | ~uint64](key string, n T) Attr {
	if n < 0 {
		return Attr{key, strconv.FormatInt(int64(n), 10)}
	}
	return Attr{key, strconv.FormatUint(uint64(n), 10)}
}
