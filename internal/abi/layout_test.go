package abi_test

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"swimlane/internal/abi"
)

// layout is a structure as spec/device-abi.md states it. A field is written
// "type name@offset", an array "type[n] name@offset"; padding is left out.
type layout struct {
	size, align int
	fields      string
	goType      reflect.Type // nil where the layout depends on the architecture
}

// commonLayouts are §2 to §6 and §10 of spec/device-abi.md, typed by hand.
var commonLayouts = map[string]layout{
	"swl_aicpu_task": {32, 32, `u64 dispatch_time@0, u64 finish_time@8, u32 reg_task_id@16`, reflect.TypeFor[abi.AicpuTask]()},
	"swl_aicore_task": {32, 32, `u64 start_time@0, u64 end_time@8, u64 task_token_raw@16, u32 reg_task_id@24, u32 receive_to_start_cycles@28`,
		reflect.TypeFor[abi.AicoreTask]()},
	"swl_sched_phase": {64, 8, `u64 start_time@0, u64 end_time@8, u32 loop_iter@16, u32 kind@20, u32 tasks_processed@24, u32[2] phase_data@28,
		i16[3] shared_depth_at_start@36, i16[3] shared_depth_at_end@42`, reflect.TypeFor[abi.SchedPhase]()},
	"swl_orch_phase": {32, 8, `u64 start_time@0, u64 end_time@8, u64 task_id@16, u32 submit_idx@24`, reflect.TypeFor[abi.OrchPhase]()},
	"swl_host_phase": {40, 8, `u64 start_ns@0, u64 end_ns@8, u64 payload@16, u32 kind@24, u32 index@28, u32 thread_id@32`,
		reflect.TypeFor[abi.HostPhase]()},

	"swl_aicpu_task_buffer":  {32064, 64, `swl_aicpu_task[1000] records@0, u32 count@32000`, reflect.TypeFor[abi.AicpuTaskBuffer]()},
	"swl_aicore_task_buffer": {32832, 64, `swl_aicore_task[1024] records@0, u32 count@32768`, reflect.TypeFor[abi.AicoreTaskBuffer]()},
	"swl_sched_phase_buffer": {1048640, 64, `swl_sched_phase[16384] records@0, u32 count@1048576`, reflect.TypeFor[abi.SchedPhaseBuffer]()},
	"swl_orch_phase_buffer":  {524352, 64, `swl_orch_phase[16384] records@0, u32 count@524288`, reflect.TypeFor[abi.OrchPhaseBuffer]()},
	"swl_host_phase_buffer":  {20544, 64, `swl_host_phase[512] records@0, u32 count@20480`, nil},

	"swl_active_head": {64, 64, `u64 current_buf_ptr@0, u32 current_buf_seq@8, u32 total_record_count@12, u32 dropped_record_count@16`,
		reflect.TypeFor[abi.ActiveHead]()},
	"swl_free_queue":   {128, 64, `u64[4] buffer_ptrs@0, u32 head@32, u32 tail@36`, reflect.TypeFor[abi.FreeQueue]()},
	"swl_pool":         {192, 64, `swl_active_head head@0, swl_free_queue free@64`, reflect.TypeFor[abi.Pool]()},
	"swl_ready_entry":  {32, 32, `u32 core_index@0, u32 kind@4, u64 buffer_ptr@8, u32 buffer_seq@16`, reflect.TypeFor[abi.ReadyEntry]()},
	"swl_backpressure": {16, 4, `u32 rq_freeze_active@0, u32 rq_contended@4, u32 fq_freeze_active@8, u32 fq_contended@12`, reflect.TypeFor[abi.Backpressure]()},

	"swl_dep_gen_state": {192, 64, `swl_free_queue free@0, u64 current_buf_ptr@128, u32 current_buf_seq@136, u32 dropped_record_count@140,
		u32 total_record_count@144, u32 total_overflow_record_count@148`, reflect.TypeFor[abi.DepGenState]()},
	"swl_tensor": {128, 64, `u64 buffer_addr@0, u64 buffer_size@8, u64 owner_task_id@16, u64 start_offset@24, i32 version@32, u32 ndims@36,
		u8 dtype@40, u8 manual_dep@41, u8 is_contiguous@42, u8 address_space@43, u32[5] shapes@44, u64 extent@64, u32[5] strides@72`,
		reflect.TypeFor[abi.Tensor]()},
	"swl_dep_gen_record": {4736, 64, `u64 task_id@0, u32 flags@8, u16 tensor_count@12, u16 explicit_dep_count@14, u64[64] explicit_deps@16,
		u8[64] explicit_dep_kinds@528, u8[32] arg_types@592, i32[3] kernel_id@624, u32 block_num@636, swl_tensor[32] tensors@640`, nil},
	"swl_dep_gen_overflow": {4736, 64, `u64 task_id@0, u32 flags@8, u16 dep_count@12, u64[524] deps@16, u8[524] dep_kinds@4208`, nil},
	"swl_dep_gen_buffer":   {4849728, 64, `u32 count@0, swl_dep_gen_record[1024] records@64`, nil},
	"swl_dep_gen_no_kinds_record": {4672, 64, `u64 task_id@0, u32 flags@8, u16 tensor_count@12, u16 explicit_dep_count@14, u64[64] explicit_deps@16,
		u8[32] arg_types@528, i32[3] kernel_id@560, u32 block_num@572, swl_tensor[32] tensors@576`, nil},
	"swl_dep_gen_no_kinds_overflow": {4672, 64, `u64 task_id@0, u32 flags@8, u16 dep_count@12, u64[582] deps@16`, nil},
	"swl_dep_gen_no_kinds_buffer":   {4784192, 64, `u32 count@0, swl_dep_gen_no_kinds_record[1024] records@64`, nil},
}

// archLayouts are §7, KernelArgs of §8, §9, and the header of §10.
var archLayouts = map[string]map[string]layout{
	"a2a3": {
		"swl_a2a3_data_header": {127168, 64, `swl_ready_entry[4][992] queues@0, u32[4] queue_heads@126976, u32[4] queue_tails@126992, u32 num_cores@127008,
			u32 chip_swimlane_level@127012, u32 num_sched_phase_threads@127016, u32 num_orch_phase_threads@127020, u32 num_phase_cores@127024,
			i8[72] core_to_thread@127028, swl_backpressure backpressure@127100`, nil},
		"swl_a2a3_dep_gen_data_header": {1088, 64, `swl_ready_entry[4][8] queues@0, u32[4] queue_heads@1024, u32[4] queue_tails@1040,
			u32 num_instances@1056, swl_backpressure backpressure@1060`, nil},
		"swl_a2a3_kernel_args": {96, 8, `u64 runtime_args@0, u64 regs@8, u64 ffts_base_addr@16, u64 dump_data_base@24, u64 chip_swimlane_data_base@32,
			u64 pmu_data_base@40, u64 pmu_reg_addrs@48, u64 dep_gen_data_base@56, u64 scope_stats_data_base@64,
			u64 chip_swimlane_aicore_rotation_table@72, u64 device_wall_data_base@80, u32 enable_profiling_flag@88`, nil},
	},
	"a5": {
		"swl_a5_data_header": {233152, 64, `swl_ready_entry[5][1456] queues@0, u32[5] queue_heads@232960, u32[5] queue_tails@232980, u32 num_cores@233000,
			u32 chip_swimlane_level@233004, u32 num_sched_phase_threads@233008, u32 num_orch_phase_threads@233012, u32 num_phase_cores@233016,
			i8[108] core_to_thread@233020, swl_backpressure backpressure@233128`, nil},
		"swl_a5_dep_gen_data_header": {1344, 64, `swl_ready_entry[5][8] queues@0, u32[5] queue_heads@1280, u32[5] queue_tails@1300,
			u32 num_instances@1320, swl_backpressure backpressure@1324`, nil},
		"swl_a5_kernel_args": {88, 8, `u64 runtime_args@0, u64 regs@8, u64 dump_data_base@16, u64 chip_swimlane_data_base@24, u64 pmu_data_base@32,
			u64 dep_gen_data_base@40, u64 chip_swimlane_aicore_rotation_table@48, u64 aicore_pmu_ring_addrs@56, u64 scope_stats_data_base@64,
			u64 device_wall_data_base@72, u32 enable_profiling_flag@80, u32 force_simt_anchor@84`, nil},
		"swl_a5_run_control": {384, 128, `u64 aic_task_count@0, u64 aiv_task_count@8, u64 active_worker_count@16, u64 expected_task_count@24,
			u64 inline_completed_count@32, u64 scheduler_count@120, u64 executed_task_count@128, u64 resolved_task_count@136,
			u64 bootstrap_arrived_count@144, u64 bootstrap_complete@152, u64 bootstrap_scan_complete@224, u64 scheduler_timeout_cycles@232,
			u64 chip_swimlane_level@240, u64 error_claimed@256, u64 scheduler_error@264, u64 error_task_id@272, u64 error_core_id@280,
			u64 error_site@328`, reflect.TypeFor[abi.RunControl]()},
		"swl_a5_aicpu_thread_lifecycle_trace": {128, 128, `u64 aicpu_thread_id@0, u64 handshake_start@8, u64 handshake_complete@16, u64 config_start@24,
			u64 topology_complete@32, u64 context_publish_start@40, u64 context_publish_complete@48, u64 bootstrap_wait_start@56,
			u64 bootstrap_complete@64, u64 register_release_start@72, u64 register_release_end@80, u64 exit_signal_start@88,
			u64 exit_signal_end@96, u64 exit_wait_start@104, u64 exit_wait_end@112`, reflect.TypeFor[abi.AicpuThreadLifecycleTrace]()},
		"swl_a5_worker_context": {1024, 128, `i32 core_type@0, i32 physical_core_id@4, i32 type_rank@8, i32 active@12, u64 run_control_offset@16,
			u64 task_controls_offset@24, u64 scheduler_state_base_address@48, u64 trace_cells_offset@64, u64 graph_task_count@80, u64 worker_index@88,
			u64 aicpu_lifecycle_traces_offset@120, u64 activity_buffers_offset@152, u64 worker_contexts_offset@160, u64 target_bootstrap_start@208,
			u64 target_bootstrap_end@216, u64 scheduler_count@288, u64 cluster_count@296, u64 cluster_index@304, u64 scheduler_index@312,
			u64 scheduler_worker_id@320, u64 is_scheduler@328, u64[3] cluster_worker_ids@336, u64 profiling_loop_iter@360, u64 bootstrap_task_count@384,
			u64 idle_iteration_count@496, u64 bootstrap_start_cycles@648`, reflect.TypeFor[abi.WorkerContext]()},
		"swl_a5_staged_trace": {128, 128, `u64 generation@0, u64 kernel_start@8, u64 kernel_end@16, u64 ready_scan_start@24, u64 ready_observe@32`,
			reflect.TypeFor[abi.StagedTrace]()},
		"swl_a5_dispatch_slot": {256, 128, `i64 task_id@0, u16 kernel_id@40, u8 subtask_slot@42, u8 pending_slot@45, u16 block_num@46, u32 generation@48,
			u32 block_idx@52, u64 publication@64, swl_a5_staged_trace staged@128`, reflect.TypeFor[abi.DispatchSlot]()},
		"swl_a5_task_metadata": {16, 16, `u16[3] kernel_ids@0, u8 active_mask@6, u8 flags@7, u16 block_num@8, u16 required_subtasks@10, i32 timing_slot@12`,
			reflect.TypeFor[abi.TaskMetadata]()},
		"swl_a5_task_control": {128, 128, `i64 state@0, i64 wake_list_head@8, i64 next_waiter@64, i32 next_fanin_index@72, i32 waiting_producer@76,
			u64 completion_resolve_start@80, u64 completion_resolve_end@88, u64 ready_publish@96, u64 scheduler_worker_id@104,
			u64 completion_resolve_loop_iter@112`, reflect.TypeFor[abi.TaskControl]()},
		"swl_a5_task_trace": {384, 128, `u64 valid@0, u64 ready_source@8, u64 worker_id@16, u64 task_id@24, u64 state_probe_scheduler_worker_id@32,
			u64 state_probe_start@40, u64 state_probe_end@48, u64 publication_mode@56, u64 kernel_start@64, u64 kernel_end@72, u64 completion_end@80,
			u64 ready_scan_start@88, u64 ready_observe@96, u64 completion_bookkeeping_end@104, u64 completion_id@112, u64 completion_inbox_index@120,
			u64 ready_transition@128, u64 aicore_entry@168, u64 handshake_publish@176, u64 register_release@184, u64 dispatch_start@192,
			u64 dispatch_end@200, u64 dispatch_scheduler_worker_id@208, u64 dispatch_loop_iter@216, u64 complete_start@224, u64 complete_end@232,
			u64 complete_scheduler_worker_id@240, u64 complete_loop_iter@248, u64 refill_scheduler_worker_id@256, u64 refill_start@264,
			u64 refill_end@272, u64 refill_task_id@280, u64 refill_loop_iter@288, u64 descriptor_cache_observed@320`, reflect.TypeFor[abi.TaskTrace]()},
		"swl_a5_activity_record": {24, 8, `u64 start@0, u64 end@8, u32 loop_iter@16`, reflect.TypeFor[abi.ActivityRecord]()},
		"swl_a5_activity_buffer": {24640, 64, `u32 committed@0, u32 dropped@4, swl_a5_activity_record[1024] records@16`, reflect.TypeFor[abi.ActivityBuffer]()},
	},
}

// published are the words of both architectures that one side stores for the
// other to poll (spec/device-abi.md §4 to §7, §10, §12).
var published = map[string]bool{
	"swl_active_head.current_buf_ptr": true, "swl_active_head.current_buf_seq": true,
	"swl_free_queue.buffer_ptrs": true, "swl_free_queue.head": true, "swl_free_queue.tail": true,
	"swl_backpressure.rq_freeze_active": true, "swl_backpressure.rq_contended": true,
	"swl_backpressure.fq_freeze_active": true, "swl_backpressure.fq_contended": true,
	"swl_a2a3_data_header.num_sched_phase_threads": true, "swl_a2a3_data_header.num_orch_phase_threads": true,
	"swl_a5_data_header.num_sched_phase_threads": true, "swl_a5_data_header.num_orch_phase_threads": true,
	"swl_a2a3_data_header.queue_heads": true, "swl_a2a3_data_header.queue_tails": true,
	"swl_a5_data_header.queue_heads": true, "swl_a5_data_header.queue_tails": true,
	"swl_dep_gen_state.current_buf_ptr": true, "swl_dep_gen_state.current_buf_seq": true,
	"swl_a2a3_dep_gen_data_header.queue_heads": true, "swl_a2a3_dep_gen_data_header.queue_tails": true,
	"swl_a5_dep_gen_data_header.queue_heads": true, "swl_a5_dep_gen_data_header.queue_tails": true,
}

// layouts are all that an architecture has.
func layouts(a *abi.Arch) map[string]layout {
	all := map[string]layout{}
	for name, l := range commonLayouts {
		all[name] = l
	}
	for name, l := range archLayouts[a.Name] {
		all[name] = l
	}
	return all
}

// field is a field of a layout.
type field struct {
	typ    string // of an element, in C
	counts string // "[4][992]"
	offset int
}

// list reads the fields of a layout by name.
func (l layout) list(t *testing.T) map[string]field {
	t.Helper()
	short := map[string]string{
		"u8": "uint8_t", "i8": "int8_t", "u16": "uint16_t", "i16": "int16_t",
		"u32": "uint32_t", "i32": "int32_t", "u64": "uint64_t", "i64": "int64_t",
	}
	out := map[string]field{}
	for _, text := range strings.Split(l.fields, ",") {
		typ, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
		name, at, ok := strings.Cut(rest, "@")
		offset, err := strconv.Atoi(at)
		if !ok || err != nil {
			t.Fatalf("the test's own table holds %q", text)
		}
		counts := ""
		if i := strings.IndexByte(typ, '['); i >= 0 {
			typ, counts = typ[:i], typ[i:]
		}
		if full := short[typ]; full != "" {
			typ = full
		}
		out[name] = field{typ, counts, offset}
	}
	return out
}

func TestStructs(t *testing.T) {
	for _, a := range []*abi.Arch{abi.A2A3, abi.A5} {
		want := layouts(a)
		declared := map[string]abi.Struct{}
		for _, s := range abi.Structs(a) {
			l, ok := want[s.Name]
			if !ok {
				t.Errorf("%s: %s is in no table of this test", a.Name, s.Name)
				continue
			}
			if s.Size != l.size || s.Align != l.align {
				t.Errorf("%s has %d bytes, aligned to %d, want %d and %d", s.Name, s.Size, s.Align, l.size, l.align)
			}
			checkFields(t, s, l)
			for _, f := range s.Fields {
				if _, ok := declared[f.Type]; !ok && strings.HasPrefix(f.Type, "swl_") {
					t.Errorf("%s.%s is a %s, which is not declared before it", s.Name, f.Name, f.Type)
				}
			}
			if _, twice := declared[s.Name]; twice {
				t.Errorf("%s: %s is there twice", a.Name, s.Name)
			}
			declared[s.Name] = s
		}
		for name := range want {
			if _, ok := declared[name]; !ok {
				t.Errorf("%s lacks %s", a.Name, name)
			}
		}
	}
}

// checkFields compares fields with the table, and demands that they and the
// reserved ones leave no hole, except at the end where C pads by itself.
func checkFields(t *testing.T, s abi.Struct, l layout) {
	t.Helper()
	want, end := l.list(t), 0
	for _, f := range s.Fields {
		if f.Offset != end {
			t.Errorf("%s.%s is at %d, but the field before it ends at %d", s.Name, f.Name, f.Offset, end)
		}
		end = f.Offset + f.Size
		if f.Shared != published[s.Name+"."+f.Name] {
			t.Errorf("%s.%s: publishing word: %v", s.Name, f.Name, f.Shared)
		}
		if strings.HasPrefix(f.Name, "reserved") {
			continue
		}
		counts := ""
		for _, n := range f.Counts {
			counts += fmt.Sprintf("[%d]", n)
		}
		if got := (field{f.Type, counts, f.Offset}); got != want[f.Name] {
			t.Errorf("%s.%s is %+v, want %+v", s.Name, f.Name, got, want[f.Name])
		}
		delete(want, f.Name)
	}
	for name := range want {
		t.Errorf("%s has no field %s", s.Name, name)
	}
	if end > s.Size || s.Size-end >= s.Align {
		t.Errorf("%s ends at %d, its last field at %d", s.Name, s.Size, end)
	}
}

// TestGoLayout holds the Go types themselves against the tables: their views lie
// over the device's bytes.
func TestGoLayout(t *testing.T) {
	for name, l := range layouts(abi.A5) {
		if l.goType == nil {
			continue
		}
		if got := int(l.goType.Size()); got != l.size {
			t.Errorf("%s has %d bytes, want %d", l.goType, got, l.size)
		}
		if got := l.goType.Align(); l.align%got != 0 {
			t.Errorf("%s is aligned to %d, which %d is no multiple of", l.goType, got, l.align)
		}
		want := l.list(t)
		for i := range l.goType.NumField() {
			f := l.goType.Field(i)
			tag := f.Tag.Get("abi")
			if f.Name == "_" {
				if !strings.HasPrefix(tag, "reserved") {
					t.Errorf("%s has padding tagged %q", name, tag)
				}
				continue
			}
			w, ok := want[tag]
			if !ok || w.offset != int(f.Offset) {
				t.Errorf("%s.%s (%s) is at %d, want %d", l.goType, f.Name, tag, f.Offset, w.offset)
			}
			if plain := strings.ReplaceAll(tag, "_", ""); !strings.EqualFold(plain, f.Name) {
				t.Errorf("%s.%s has the C name %s", l.goType, f.Name, tag)
			}
			delete(want, tag)
		}
		for field := range want {
			t.Errorf("%s has no field %s", l.goType, field)
		}
	}
}
