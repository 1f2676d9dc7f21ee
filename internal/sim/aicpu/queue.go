package aicpu

import "slices"

// Passes over the ready queues (spec/collector.md §12.6).
const (
	syncPass   = iota // tasks that must start together
	normalPass        // the others
	passes
)

// pass is in which a task is dispatched.
func (t *Task) pass() int {
	if t.sync() {
		return syncPass
	}
	return normalPass
}

// Queue holds tasks in the order in which they came.
type Queue struct {
	tasks []*Task
	head  int
	kept  int // by keep, the last time
}

// Len is how many there are.
func (q *Queue) Len() int { return len(q.tasks) - q.head }

// Push puts a task behind the others.
func (q *Queue) Push(t *Task) { q.tasks = append(q.tasks, t) }

// keep drops all candidates but those that a test names.
func (q *Queue) keep(test func(*Task) bool) {
	n := 0
	for _, t := range q.tasks[q.head:] {
		if test(t) {
			q.tasks[n] = t
			n++
		} else {
			t.early.queued = false
		}
	}
	clear(q.tasks[n:])
	q.tasks, q.head, q.kept = q.tasks[:n], 0, n
}

// first is the first task, nil if there is none.
func (q *Queue) first() *Task {
	if q.Len() == 0 {
		return nil
	}
	return q.tasks[q.head]
}

// Pop takes the first task, nil if there is none.
func (q *Queue) Pop() *Task {
	if q.Len() == 0 {
		return nil
	}
	t := q.tasks[q.head]
	q.tasks[q.head] = nil
	if q.head++; q.head == len(q.tasks) {
		q.tasks, q.head = q.tasks[:0], 0
	} else if q.head >= 1024 && q.head*2 >= len(q.tasks) {
		n := copy(q.tasks, q.tasks[q.head:])
		clear(q.tasks[n:])
		q.tasks, q.head = q.tasks[:n], 0
	}
	return t
}

// alive tells whether there are candidates. Those at the front that are none any
// more are dropped.
func (q *Queue) alive() bool {
	for {
		t := q.first()
		if t == nil || t.waits() {
			return t != nil
		}
		q.Pop().early.queued = false
	}
}

// take takes the first candidate that a test likes, nil if there is none.
func (q *Queue) take(test func(*Task) bool) *Task {
	for i, t := range q.tasks[q.head:] {
		if t.waits() && test(t) {
			copy(q.tasks[q.head+1:], q.tasks[q.head:q.head+i])
			q.tasks[q.head] = t
			return q.Pop()
		}
	}
	return nil
}

// Remove takes a task out of the queue, and tells whether it was there.
func (q *Queue) Remove(t *Task) bool {
	i := slices.Index(q.tasks[q.head:], t)
	if i >= 0 {
		q.tasks = slices.Delete(q.tasks, q.head+i, q.head+i+1)
	}
	return i >= 0
}
