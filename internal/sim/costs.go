package sim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"swimlane/internal/abi"
)

// Cost names a duration of the model.
type Cost int

// The costs. Those from CoreRecord on are what profiling itself takes; a run
// without it pays none of them.
const (
	CoreReceive         Cost = iota // a token is written → the core has seen it
	CorePayload                     // reads the payload and acknowledges
	CoreStart                       // ACK → the kernel starts
	CoreFinish                      // the kernel ends → FIN is written
	CoreDoorbell                    // a doorbell is written → the gated core goes on
	CoreKilocycle                   // 1000 cycles of a core's clock, in which kernels count
	SchedLoop                       // an iteration, beside what is in it
	SchedPoll                       // reads COND of a core
	SchedComplete                   // a subtask that has finished
	SchedResolve                    // a consumer on the walk of a finished task
	SchedRelease                    // a slot on the deferred-release list
	SchedPop                        // a look into a queue
	SchedPush                       // a task into a queue
	SchedPrepare                    // the payload of a subtask
	SchedPublish                    // writes a token to a core, or a doorbell
	SchedDrain                      // a step of the handshake of a sync-start drain
	SchedGraphNode                  // expands a node of a graph task
	SchedGraphActivate              // lets the nodes of a graph task begin
	OrchSubmit                      // a submit, beside what is in it
	OrchArg                         // an argument
	OrchEntry                       // an entry of the tensor map that is compared
	OrchEdge                        // an edge that is wired
	OrchAlloc                       // the storage of an output, or of an alloc
	OrchScope                       // begins or ends a scope
	Preamble                        // launch → the AICPU's program
	ConfigValidate                  // the orchestrator checks its configuration
	ArenaWire                       // wires its memory
	SmReset                         // resets what it shares with the schedulers
	PostOrch                        // after orchestration
	HostArg                         // the host binds a tensor of the run
	HostBind                        // beside that
	HostArenaBuild                  // a host that builds the graph: makes the image of its memory
	HostStaticArena                 // and the part of it that does not change
	HostHeap                        // finds the heap of outputs
	HostInit                        // initialises the runtime
	HostSubmit                      // a submit, an alloc or a node, beside what is in it
	HostSubmitArg                   // an argument
	HostEntry                       // an entry of the tensor map that is compared
	HostEdge                        // a dependency
	HostScope                       // begins or ends a scope
	HostGraphSubmit                 // a graph task, beside what is in a submit
	HostWorker                      // a graph is submitted → a thread begins to record it
	HostRecordNode                  // a node, beside what is in a submit
	HostBuildDefinition             // a node, when the definition of its graph is made
	HostImageLine                   // 64 bytes of the image
	HostUpload                      // a copy to the device
	HostUploadLine                  // 64 bytes of it
	HostViewClose                   // lets go of the image
	HostPrepare                     // bound → the run of the device begins
	HostLaunch                      // → the AICPU's program is launched
	HostComplete                    // the device has ended → the host has seen it
	HostClaim                       // lets a successor launch
	HostValidate                    // checks how the run ended
	CoreSchedBoot                   // an AICore scheduler begins, beside its tasks
	CoreSchedClassify               // a task that it classifies then
	CoreSchedLoop                   // an iteration: it looks at its slots and inboxes
	CoreSchedComplete               // takes a slot that has finished
	CoreSchedResolve                // a task that is complete, beside its waiters
	CoreSchedWaiter                 // a waiter on the wake list of one
	CoreSchedProbe                  // claims a ready task and decides where it goes
	CoreSchedSteal                  // from the inbox of another scheduler, beside that
	CoreSchedDispatch               // fills a slot
	CoreSchedGang                   // a step of the handshake for tasks that start together
	CoreSlotObserve                 // a slot is published → its core has seen it
	CoreSlotStart                   // → the kernel starts
	CoreSlotFinish                  // the kernel ends → the slot shows it
	LifeHandshake                   // an AICPU thread greets a core
	LifeTopology                    // the first one works out who schedules whom
	LifeContext                     // gives a core its context
	LifeRelease                     // releases the registers of a core
	LifeExit                        // tells a core to leave
	LifeExitWait                    // a core that was told so has left
	CoreRecord                      // an AicoreTask record, between two tasks of a core
	SchedSample                     // reads the system counter
	SchedTaskRecord                 // an AicpuTask record
	SchedPhaseRecord                // a phase record
	SchedDepth                      // samples the depths of the shared queues
	SchedRotate                     // changes the buffer that a core fills
	OrchRecord                      // a submit record
	HostRecord                      // a record of a host phase
	DepGenSubmit                    // a dep_gen record, beside its arguments
	DepGenArg                       // an argument of it
	ClockAnchor                     // an anchor that ties the device's clock to the host's
	HostCollect                     // the host stops its collector
	CoreStage                       // what a core notes of a task in its slot
	CoreSample                      // an AICore reads the system counter
	CoreSchedRecord                 // a line of the trace of a task, or an idle record, by an AICore
	costCount
)

// firstObserver is the first of the costs of profiling.
const firstObserver = CoreRecord

var costNames = [costCount]string{
	CoreReceive: "core.receive", CorePayload: "core.payload", CoreStart: "core.start", CoreFinish: "core.finish", CoreDoorbell: "core.doorbell", CoreKilocycle: "core.kilocycle",
	SchedLoop: "sched.loop", SchedPoll: "sched.poll", SchedComplete: "sched.complete", SchedResolve: "sched.resolve", SchedRelease: "sched.release",
	SchedPop: "sched.pop", SchedPush: "sched.push", SchedPrepare: "sched.prepare", SchedPublish: "sched.publish", SchedDrain: "sched.drain", SchedGraphNode: "sched.graph_node", SchedGraphActivate: "sched.graph_activate",
	OrchSubmit: "orch.submit", OrchArg: "orch.arg", OrchEntry: "orch.entry", OrchEdge: "orch.edge", OrchAlloc: "orch.alloc", OrchScope: "orch.scope",
	Preamble: "run.preamble", ConfigValidate: "run.config_validate", ArenaWire: "run.arena_wire", SmReset: "run.sm_reset", PostOrch: "run.post_orch",
	HostArg: "host.arg", HostBind: "host.bind",
	HostArenaBuild: "host.arena_build", HostStaticArena: "host.static_arena", HostHeap: "host.gm_heap", HostInit: "host.runtime_init",
	HostSubmit: "host.submit", HostSubmitArg: "host.submit_arg", HostEntry: "host.entry", HostEdge: "host.edge", HostScope: "host.scope",
	HostGraphSubmit: "host.graph_submit", HostWorker: "host.worker", HostRecordNode: "host.record_node", HostBuildDefinition: "host.build_definition",
	HostImageLine: "host.image_line", HostUpload: "host.upload", HostUploadLine: "host.upload_line", HostViewClose: "host.view_close",
	HostPrepare: "host.prepare", HostLaunch: "host.launch", HostComplete: "host.complete", HostClaim: "host.claim", HostValidate: "host.validate",
	CoreSchedBoot: "core.sched.boot", CoreSchedClassify: "core.sched.classify", CoreSchedLoop: "core.sched.loop", CoreSchedComplete: "core.sched.complete",
	CoreSchedResolve: "core.sched.resolve", CoreSchedWaiter: "core.sched.waiter", CoreSchedProbe: "core.sched.probe", CoreSchedSteal: "core.sched.steal",
	CoreSchedDispatch: "core.sched.dispatch", CoreSchedGang: "core.sched.gang",
	CoreSlotObserve: "core.slot.observe", CoreSlotStart: "core.slot.start", CoreSlotFinish: "core.slot.finish",
	LifeHandshake: "life.handshake", LifeTopology: "life.topology", LifeContext: "life.context", LifeRelease: "life.release", LifeExit: "life.exit", LifeExitWait: "life.exit_wait",
	CoreRecord: "profile.core_record", SchedSample: "profile.sched_sample", SchedTaskRecord: "profile.sched_task_record",
	SchedPhaseRecord: "profile.sched_phase_record", SchedDepth: "profile.sched_depth", SchedRotate: "profile.sched_rotate", OrchRecord: "profile.orch_record", HostRecord: "profile.host_record",
	DepGenSubmit: "profile.dep_gen_submit", DepGenArg: "profile.dep_gen_arg", ClockAnchor: "profile.clock_anchor",
	HostCollect: "profile.host_collect", CoreStage: "profile.core_stage", CoreSample: "profile.core_sample", CoreSchedRecord: "profile.core_sched_record",
}

// String is the name in files of costs.
func (c Cost) String() string { return costNames[c] }

// Observer tells whether the cost is one of profiling.
func (c Cost) Observer() bool { return c >= firstObserver }

// Row is one cost: how long, and where that comes from.
type Row struct {
	Ns     Time   `json:"ns"`
	Source string `json:"source"`
}

// Costs are the durations of a platform's model, by [Cost].
type Costs [costCount]Row

// Why a cost is what it is, where that is said more than once.
const (
	whyBus    = "chosen: a read or write of a register of another processor takes about that long over the chip's interconnect"
	whyWork   = "chosen: some tens of instructions and a cache miss or two of an AICPU at about 2 GHz"
	whyLine   = "chosen: a few stores to a cache line that the thread has at hand"
	whyRounds = "round 2 of the vector example without profiling, a2a3sim_tmr_strace_rounds20"
	whyBuild  = "real runs of the simulator's vector example, rounded: a2a3sim_hbg_vector_example_l4 and …_l4_deps"
	whyMedium = "a real run of the simulator's paged attention of 2056 submits, a2a3sim_hbg_paged_attention_medium_l4_deps"
	whySlack  = "of the 650 µs by which runner_run is longer than the device's part in " + whyRounds + ", nothing tells how much is before it: chosen, half of them"
	whyStart  = "chosen, half of receive → start, which takes 40 to 60 ns in the median where no task is gated and many run: a2a3sim_tmr_paged_attention_large_l4_deps, …medium_l4_deps, …spmd_multiblock_mix_l4_deps"
	whyGraph  = "real runs of the simulator's graph execution, a2a3sim_hbg_graph_execution_l4…"
	whyMade   = "as long as in the made capture gs_a5_hbg_aicore_medium_l3; no AICore scheduler was measured"
	whyLife   = "the lives of the threads in the captures gs_a5_hbg_aicore are that long with so many cores"
	whySwitch = "spec/sched-overhead.md §1: a switch of a core from one task to another that it has already takes about 0.8 µs in a capture at the full level, of which this is what core.finish, core.payload and core.start leave; a core does not know the level and writes the same record at each"
	whyCycle  = "one tick of the 50 MHz counter is 20 ns; at 1 GHz the same read is as long"
)

// A2A3Costs and A5Costs are the default costs. They are a model: sizes are right,
// digits are not. A reason that names no capture or specification is a choice: plausible, not measured.
var (
	A2A3Costs = Costs{
		CoreReceive:         {300, whyBus + "; captures do not tell, as cores are threads of a host there: 89 to 474 µs from dispatch to receive in the median"},
		CorePayload:         {30, whyStart},
		CoreStart:           {20, whyStart},
		CoreFinish:          {80, whyBus},
		CoreDoorbell:        {200, whyBus},
		CoreKilocycle:       {556, "a clock of 1.8 GHz"},
		SchedLoop:           {60, whyWork},
		SchedPoll:           {40, "a load of COND, which cores push to the AICPU's side; a loop over 24 cores is then about 1 µs"},
		SchedComplete:       {120, whyWork},
		SchedResolve:        {90, "an atomic decrement in a slot that another thread touched last"},
		SchedRelease:        {80, whyWork},
		SchedPop:            {60, "an atomic exchange on a shared queue"},
		SchedPush:           {60, "an atomic exchange on a shared queue"},
		SchedPrepare:        {180, "writes the payload of a subtask: two cache lines"},
		SchedPublish:        {90, whyBus + "; writes are posted"},
		SchedDrain:          {150, "an atomic handshake between all schedulers"},
		SchedGraphNode:      {450, whyGraph + ": 2 to 5 µs for four nodes"},
		SchedGraphActivate:  {200, whyWork},
		OrchSubmit:          {350, whyWork + "; a submit of a kernel with three arguments is then about 0.7 µs"},
		OrchArg:             {60, "copies a descriptor of 128 bytes"},
		OrchEntry:           {30, "compares two views of a buffer"},
		OrchEdge:            {70, "an atomic insertion into the producer's list"},
		OrchAlloc:           {60, "moves the end of a ring's heap"},
		OrchScope:           {80, whyWork},
		Preamble:            {8_000, "chosen: loads the program of the AICPU threads"},
		ConfigValidate:      {1_520, whyRounds},
		ArenaWire:           {1_780, whyRounds},
		SmReset:             {2_160, whyRounds},
		PostOrch:            {1_820, whyRounds},
		HostArg:             {700, whyRounds + ": 2.2 µs for three tensors"},
		HostBind:            {21_000, whyRounds + ": all of bind but args, 4 µs of which are its span prebuilt"},
		HostArenaBuild:      {16_000, whyBuild},
		HostStaticArena:     {15_000, whyBuild},
		HostHeap:            {400, whyBuild},
		HostInit:            {8_000, whyBuild},
		HostSubmit:          {350, whyMedium + ", 0.7 µs a submit at best, 1.8 µs in the mean"},
		HostSubmitArg:       {60, "copies a descriptor of 128 bytes"},
		HostEntry:           {20, "compares two views of a buffer, by a processor of the host"},
		HostEdge:            {50, "adds a number to the list of a task"},
		HostScope:           {40, "some tens of instructions of the host"},
		HostGraphSubmit:     {1_200, whyGraph + ": 1 to 7 µs, the first one more"},
		HostWorker:          {20_000, whyGraph + ": 18 to 55 µs, the wake-up of a thread"},
		HostRecordNode:      {600, whyGraph + ": 0.7 to 3 µs a node"},
		HostBuildDefinition: {1_100, whyGraph + ": 2.4 to 9 µs for five nodes"},
		HostImageLine:       {1, whyMedium + ", 23 µs for 1.9 MB"},
		HostUpload:          {1_000, whyBuild},
		HostUploadLine:      {45, whyMedium + ", 1.35 ms for 1.9 MB"},
		HostViewClose:       {1_000, whyBuild},
		HostPrepare:         {520_000, whyRounds + ": the gap between bind and runner_run"},
		HostLaunch:          {325_000, whySlack},
		HostComplete:        {325_000, whySlack},
		HostClaim:           {1_000, "chosen: a flag and the wake-up of who waits for it, by a processor of the host; no real log has the span"},
		HostValidate:        {1_900, whyRounds},
		CoreRecord:          {670, whySwitch},
		SchedSample:         {20, whyCycle},
		SchedTaskRecord:     {40, whyLine},
		SchedPhaseRecord:    {50, whyLine},
		SchedDepth:          {30, "three loads of counters that other threads write"},
		SchedRotate:         {400, "takes a buffer from the host, and three barriers"},
		OrchRecord:          {40, whyLine},
		HostRecord:          {60, "40 bytes of the host's own memory, and two looks at its clock"},
		DepGenSubmit:        {250, "a record of 4.7 KB, of which the base and the kernel ids are always written"},
		DepGenArg:           {60, "a descriptor of 128 bytes"},
		ClockAnchor:         {60, "rtt_ns of the simulator: 60 in the median of the 102 samples of all a2a3sim_hbg and a5sim_hbg captures, 50 to 742"},
		CoreSchedBoot:       {220, whyMade},
		CoreSchedClassify:   {15, whyMade + ": 0.6 µs for 25 tasks"},
		CoreSchedLoop:       {75, whyMade + ": 75 to 90 ns an iteration that finds nothing"},
		CoreSchedComplete:   {65, whyMade},
		CoreSchedResolve:    {35, whyMade},
		CoreSchedWaiter:     {15, whyMade},
		CoreSchedProbe:      {40, whyMade},
		CoreSchedSteal:      {15, whyMade},
		CoreSchedDispatch:   {45, whyMade},
		CoreSchedGang:       {60, "an atomic handshake between AICores, as long as a whole probe at least"},
		CoreSlotObserve:     {30, whyMade + ": kernels start 20 to 70 ns behind their dispatch"},
		CoreSlotStart:       {20, whyMade + ": receive to start is 10 to 40 ns"},
		CoreSlotFinish:      {10, whyMade},
		LifeHandshake:       {700, whyLife},
		LifeTopology:        {1_400, whyLife},
		LifeContext:         {60, whyLife},
		LifeRelease:         {30, whyLife},
		LifeExit:            {15, whyLife},
		LifeExitWait:        {350, whyLife},
		CoreStage:           {20, "a few stores to a line of the slot, which goes back to memory anyway"},
		CoreSample:          {5, "a register of the AICore"},
		CoreSchedRecord:     {10, "a few stores to a line of its own"},
		HostCollect:         {60_000_000, "real runs of the simulator: runner_run is 63 ms longer than the device's part in a2a3sim_tmr_chip_swimlane_l4, 62 in a2a3sim_hbg_vector_example_l4"},
	}
	A5Costs = derive(A2A3Costs, map[Cost]Row{
		CoreReceive:  {200, whyBus + "; a newer interconnect"},
		CoreFinish:   {50, whyBus + "; a newer interconnect"},
		CoreRecord:   {700, whySwitch},
		SchedPoll:    {30, "a load of COND, which cores push to the AICPU's side"},
		SchedPublish: {60, whyBus + "; writes are posted"},
		SchedSample:  {10, "a register of the AICPU"},
	})
)

func derive(c Costs, changed map[Cost]Row) Costs {
	for k, row := range changed {
		c[k] = row
	}
	return c
}

// DefaultCosts are the costs of an architecture.
func DefaultCosts(a *abi.Arch) Costs {
	if a == abi.A5 {
		return A5Costs
	}
	return A2A3Costs
}

// maxCost keeps a typing error from running out of time.
const maxCost = Time(1_000_000_000)

// ReadCosts replaces those costs that a JSON file names, by a number of ns or by
// that and its source, and tells which:
//
//	{"sched.poll": 55, "sched.loop": {"ns": 70, "source": "measured on board 7"}, …}
func (c Costs) ReadCosts(r io.Reader) (Costs, []string, error) {
	d := json.NewDecoder(r)
	var rows map[string]json.RawMessage
	if err := d.Decode(&rows); err != nil {
		return c, nil, fmt.Errorf("costs: %w: expected an object like {\"sched.poll\": 55} or {\"sched.poll\": {\"ns\": 55, \"source\": \"why\"}}", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return c, nil, errors.New("costs: there is more behind the object: expected one object")
	}
	names := slices.Sorted(maps.Keys(rows))
	for _, name := range names {
		k := slices.Index(costNames[:], name)
		if k < 0 {
			return c, nil, fmt.Errorf("costs: %q is no cost: expected one of %s", name, strings.Join(costNames[:], ", "))
		}
		row, err := readRow(rows[name])
		if err != nil {
			return c, nil, fmt.Errorf("costs: %s is %s: expected a whole number of ns, or {\"ns\": 55, \"source\": \"why\"}", name, rows[name])
		}
		if row.Ns < 0 || row.Ns > maxCost {
			return c, nil, fmt.Errorf("costs: %s takes %d ns: expected 0 to %d", name, row.Ns, maxCost)
		}
		c[k] = row
	}
	return c, names, nil
}

func readRow(text []byte) (Row, error) {
	row := Row{Source: "given without a source"}
	if json.Unmarshal(text, &row.Ns) == nil && string(text) != "null" {
		return row, nil
	}
	var whole struct {
		Ns     *Time
		Source string
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&whole); err != nil {
		return row, err
	}
	if whole.Ns == nil {
		return row, errors.New("no ns")
	}
	row.Ns = *whole.Ns
	if whole.Source != "" {
		row.Source = whole.Source
	}
	return row, nil
}

// WriteCosts writes all costs as ReadCosts reads them.
func (c Costs) WriteCosts(w io.Writer) error {
	var b strings.Builder
	for k, row := range c {
		text, err := json.Marshal(row)
		if err != nil {
			return err
		}
		open := ",\n "
		if k == 0 {
			open = "{"
		}
		fmt.Fprintf(&b, "%s%q: %s", open, Cost(k), text)
	}
	b.WriteString("}\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// Free is the model without the costs of profiling.
func (c Costs) Free() Costs {
	for k := firstObserver; k < costCount; k++ {
		c[k] = Row{Source: "profiling is free in this model"}
	}
	return c
}
