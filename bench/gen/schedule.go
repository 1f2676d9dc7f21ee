package gen

import "slices"

// The machine.
const (
	numCores   = 24
	numAIC     = 8 // cores 0…7 are aic, the others aiv
	numThreads = 3
	groupSize  = 4 // tasks that one dispatch record publishes and one complete record retires
)

// coreToThread is the assignment that real captures of this machine show.
var coreToThread = [numCores]int{0, 1, 2, 0, 1, 2, 0, 1, 0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2, 0, 0, 1, 1}

// The timetable, in cycles. A core starts a task every roundCycles. The tasks
// of one thread start evenly spread over the round, so that groups of four
// follow each other at a fixed distance (3200 cycles for a thread of nine
// cores, 4800 for the one of six) and a dispatch and a complete record of a
// thread never meet:
//
//	dispatch record  [-1000, -300] about the nominal start of a group
//	its kernels      [0, 3·step + 3960]   = [0, 6360] or [0, 7560]
//	complete record  [7650, 8450]
//	next dispatches  [8600, 9300] at the nearest, for either thread
//
// A core gets its next task about one round after the last, 7200 cycles, which
// is before that one's complete record: the next task is dispatched ahead, as
// on the real machine, and the Scheduler View overlaps a little.
const (
	baseCycles       = 84_118_000_000
	roundCycles      = 7200
	completeLag      = 7650
	orchestratorLead = 20_000 // submits run this far ahead of the kernels
)

// firstDependent is the first task with predecessors. Predecessors are at
// least two rounds back, as a task completes (8450 cycles after its start) less
// than two rounds before the earliest dispatch of a successor (4600 before).
const firstDependent = 2 * numCores

// taskIDBase is ring 2, where the real captures have their kernel tasks.
const taskIDBase = 2 << 32

// slot is the place of a task within a round: the thread that schedules it and
// its rank among the tasks of that thread.
type slot struct{ thread, rank, core, offset int }

// schedule knows when each task of a capture runs. Task i is in round
// i / numCores and in slot i % numCores of it; slots are in order of start, so
// task ids ascend with time as the ids of real captures do.
type schedule struct {
	tasks  int
	seed   uint64
	domain string
	slots  [numCores]slot
	byRank [numThreads][]int // slot of each rank of a thread
	counts [numThreads]int   // tasks of each thread
	groups [numThreads]int   // groups of each thread
}

func newSchedule(tasks int, seed uint64) *schedule {
	s := &schedule{tasks: tasks, seed: seed}
	all := s.slots[:0]
	for t := range numThreads {
		cores := threadCores(t)
		for r, c := range cores {
			all = append(all, slot{t, r, c, t*267 + r*roundCycles/len(cores)})
		}
		s.byRank[t] = make([]int, len(cores))
	}
	slices.SortFunc(all, func(a, b slot) int { return a.offset - b.offset })
	for i, sl := range s.slots {
		s.byRank[sl.thread][sl.rank] = i
		s.counts[sl.thread] += tasks / numCores
		if i < tasks%numCores {
			s.counts[sl.thread]++
		}
	}
	s.divide()
	return s
}

// threadCores lists the cores of a thread, one aic core before every two aiv
// cores, so that a group has both.
func threadCores(thread int) []int {
	var aic, aiv, list []int
	for c, t := range coreToThread {
		switch {
		case t != thread:
		case c < numAIC:
			aic = append(aic, c)
		default:
			aiv = append(aiv, c)
		}
	}
	for i, c := range aic {
		list = append(list, c)
		list = append(list, aiv[2*i:2*i+2]...)
	}
	return list
}

// divide sets the number of groups per thread so that there are tasks/4 in
// all. What is left of a thread's tasks joins its last group, except where
// that would lose a group: there it is a group of its own.
func (s *schedule) divide() {
	missing := s.tasks / groupSize
	for t, n := range s.counts {
		s.groups[t] = n / groupSize
		missing -= n / groupSize
	}
	for left := groupSize - 1; left > 0 && missing > 0; left-- {
		for t, n := range s.counts {
			if n%groupSize == left && missing > 0 {
				s.groups[t]++
				missing--
			}
		}
	}
}

// task returns the index of the k-th task of a thread.
func (s *schedule) task(thread, k int) int {
	n := len(s.byRank[thread])
	return k/n*numCores + s.byRank[thread][k%n]
}

// place returns the slot of task i and its number k among the tasks of the
// slot's thread.
func (s *schedule) place(i int) (sl slot, k int) {
	sl = s.slots[i%numCores]
	return sl, i/numCores*len(s.byRank[sl.thread]) + sl.rank
}

// group returns the tasks [first, last) of group g of a thread.
func (s *schedule) group(thread, g int) (first, last int) {
	first, last = g*groupSize, (g+1)*groupSize
	if g == s.groups[thread]-1 {
		last = s.counts[thread]
	}
	return first, last
}

// nominal returns the start of the slot of task i.
func (s *schedule) nominal(i int) uint64 {
	return baseCycles + uint64(i/numCores*roundCycles+s.slots[i%numCores].offset)
}

// kernel returns when task i starts and ends, and the receive-to-start time.
func (s *schedule) kernel(i int) (start, end, setup uint64) {
	h := s.random(rKernel, i)
	start = s.nominal(i) + h%400
	end = start + 2160 + h>>16%1400
	return start, end, 2 + h>>32%40
}

// dispatchRecord returns the interval of the record that publishes group g.
func (s *schedule) dispatchRecord(thread, g int) (start, end uint64) {
	h := s.random(rDispatch, g*numThreads+thread)
	start = s.nominal(s.task(thread, g*groupSize)) - 1000 + h%200
	return start, start + 300 + h>>16%200
}

// completeRecord returns the interval of the record that retires group g. The
// last group of a thread may be longer than the others and then ends later.
func (s *schedule) completeRecord(thread, g int) (start, end uint64) {
	h := s.random(rComplete, g*numThreads+thread)
	first, last := s.group(thread, g)
	start = s.nominal(s.task(thread, first)) + completeLag + h%300
	if _, lastEnd, _ := s.kernel(s.task(thread, last-1)); last-first > groupSize {
		// A task that starts earlier than the last one can end later only by
		// the random parts of a kernel, which are below 1800 cycles.
		start = max(start, lastEnd+1800)
	}
	return start, start + 200 + h>>16%300
}

// scheduled returns when task i was dispatched and when it was finished: inside
// the two records of its group, one task after the other.
func (s *schedule) scheduled(i int) (dispatch, finish uint64) {
	sl, k := s.place(i)
	g := min(k/groupSize, s.groups[sl.thread]-1)
	first, last := s.group(sl.thread, g)
	at := func(start, end uint64) uint64 {
		return start + (end-start)*uint64(k-first+1)/uint64(last-first+1)
	}
	return at(s.dispatchRecord(sl.thread, g)), at(s.completeRecord(sl.thread, g))
}

// submit returns the interval of the orchestrator's submit of task i.
func (s *schedule) submit(i int) (start, end uint64) {
	const distance = roundCycles / numCores
	start = baseCycles - orchestratorLead + uint64(i)*distance
	return start, start + 100 + s.random(rSubmit, i)%150
}

// taskID returns the id of task i.
func taskID(i int) uint64 { return taskIDBase + uint64(i) }

// function returns the kernel of task i: an aic core runs 0 or 2, an aiv core 1
// or 3.
func (s *schedule) function(i int) int {
	f := int(s.random(rFunction, i)&1) * 2
	if s.slots[i%numCores].core >= numAIC {
		f++
	}
	return f
}

// preds returns the two predecessors of task i, or ok false for the tasks that
// have none. Most are far enough back to have completed when task i is
// dispatched. One first predecessor in 128 is closer and may still run when its
// successor starts: real graphs with a data race look like that, and a
// converter has to mark such edges.
func (s *schedule) preds(i int) (a, b int, ok bool) {
	if i < firstDependent {
		return 0, 0, false
	}
	h := s.random(rEdge, i)
	a = i - firstDependent - int(h>>8%numCores)
	if h%128 == 0 {
		a = i - 1 - int(h>>8%(numCores-1))
	}
	b = i - firstDependent - int(h>>32%2000)
	if a = max(a, 0); b < 0 {
		b = int(h >> 32 % uint64(i-firstDependent+1))
	}
	if a == b {
		b = (b + 1) % (i - firstDependent + 2) // the neighbour; the tasks wrap round
	}
	return a, b, true
}

// The kinds of random numbers, so that no two share a sequence.
const (
	rKernel = iota + 1
	rDispatch
	rComplete
	rSubmit
	rFunction
	rEdge
	rQueue
)

// random returns the i-th random number of a kind (the finaliser of splitmix64
// over a counter: no state, so any section can ask for any number again).
func (s *schedule) random(kind, i int) uint64 {
	z := s.seed*0xd1342543de82ef95 + uint64(kind)<<56 + uint64(i)*0x9e3779b97f4a7c15 + 0x632be59bd9b4e019
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
