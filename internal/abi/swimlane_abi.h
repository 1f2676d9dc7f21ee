/*
 * The memory that a device and the host share while a chip swimlane is captured.
 *
 * Generated from the Go code of internal/abi by "go generate ./internal/abi".
 * Do not edit. What the structures mean, who writes which word and in which
 * order: docs/formats/device-abi.md.
 *
 * For C11 and C++11, little-endian, no other headers of ours. Every size,
 * alignment and offset is asserted below, so a compiler that lays a structure
 * out in another way refuses the file.
 *
 * One file holds both architectures, so that host tools can use both: what
 * differs between them, or exists on one only, has "a2a3" or "a5" in its name. An
 * image is built for one of them: define SWL_ARCH_A2A3 or SWL_ARCH_A5 before
 * including this file, and what both have also has a name without the
 * architecture (swl_data_header, SWL_MAX_CORES), so that one source serves both.
 *
 * SWL_PUBLISHED marks publishing words: one side stores them to hand over what
 * it wrote before, the other side polls them. volatile keeps the compiler from
 * caching them and is no barrier: place the barriers of the memory-ordering
 * contract. Define SWL_PUBLISHED as nothing, before including this file, if you
 * access these words by atomic operations anyway.
 */
#ifndef SWIMLANE_ABI_H
#define SWIMLANE_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifndef SWL_PUBLISHED
#define SWL_PUBLISHED volatile
#endif

#ifdef __cplusplus
#define SWL_ALIGNAS(n) alignas(n)
#define SWL_ALIGNOF(type) alignof(type)
#define SWL_ASSERT(condition, text) static_assert(condition, text)
#else
#define SWL_ALIGNAS(n) _Alignas(n)
#define SWL_ALIGNOF(type) _Alignof(type)
#define SWL_ASSERT(condition, text) _Static_assert(condition, text)
#endif

#define SWL_CHECK_TYPE(type, size, alignment) \
	SWL_ASSERT(sizeof(type) == (size) && SWL_ALIGNOF(type) == (alignment), #type " has another size or alignment")
#define SWL_CHECK_FIELD(type, field, offset) \
	SWL_ASSERT(offsetof(type, field) == (offset), #type "." #field " has another offset")

/* ======================================================================== */
/* Both architectures                                                       */
/* ======================================================================== */

/* Sizes and times. */
#define SWL_CORES_PER_BLOCKDIM            3       /* a cluster is one AIC and two AIV */
#define SWL_PROF_BUFFER_SIZE              1000    /* records of a swl_aicpu_task_buffer */
#define SWL_AICORE_BUFFER_SIZE            1024    /* records of a swl_aicore_task_buffer */
#define SWL_PHASE_RECORDS_PER_THREAD      16384   /* records of a phase buffer */
#define SWL_PROF_SLOT_COUNT               4       /* slots of a free queue */
#define SWL_PROF_BUFFERS_PER_CORE         8       /* AicpuTask buffers per core */
#define SWL_AICORE_BUFFERS_PER_CORE       4       /* AicoreTask buffers per core */
#define SWL_SCHED_BUFFERS_PER_THREAD      6       /* SchedPhase buffers per thread */
#define SWL_ORCH_BUFFERS_PER_THREAD       8       /* OrchPhase buffers of the one pool that has any */
#define SWL_READYQUEUE_BUFFERS_PER_THREAD 16      /* a factor in READYQUEUE_SIZE, and no limit */
#define SWL_HOST_PHASE_RECORDS_PER_BUFFER 512
#define SWL_HOST_PHASE_BUFFERS            24
#define SWL_POOL_SIZE                     192     /* stride of every array of pools */
#define SWL_PROF_TIMEOUT_SECONDS          30      /* after which the host reports an idle collector */
#define SWL_UPTIME_HZ                     1000000 /* clock of event timestamps on a board */

/* Registers of a core, and the tokens in them. */
#define SWL_REG_DATA_MAIN_BASE  0                    /* AICPU to AICore: a token */
#define SWL_REG_COND            1                    /* AICore to AICPU: SWL_ACK or SWL_FIN of it */
#define SWL_TASK_ID_MASK        UINT32_C(0x7FFFFFFF)
#define SWL_STATE_MASK          UINT32_C(0x80000000) /* set: finished */
#define SWL_TOKEN_MAX           UINT32_C(0x7FFFFFEF) /* the largest that names a task */
#define SWL_TOKEN_EXIT          UINT32_C(0x7FFFFFF0) /* in DATA_MAIN_BASE: leave */
#define SWL_TOKEN_AICPU_IDLE    UINT32_C(0x7FFFFFFD)
#define SWL_TOKEN_AICORE_EXITED UINT32_C(0x7FFFFFFE)
#define SWL_TOKEN_AICORE_IDLE   UINT32_C(0x7FFFFFFF)
#define SWL_EMPTY_SLOT          (-1)                 /* a slot without a task */

/* Bits of swl_*_kernel_args.enable_profiling_flag. */
#define SWL_ENABLE_ARGS_DUMP   UINT32_C(0x1)
#define SWL_ENABLE_SWIMLANE    UINT32_C(0x2)
#define SWL_ENABLE_PMU         UINT32_C(0x4)
#define SWL_ENABLE_DEP_GEN     UINT32_C(0x8)
#define SWL_ENABLE_SCOPE_STATS UINT32_C(0x10)

/* Types of cores. */
enum swl_core_type {
	SWL_CORE_AIC = 0,
	SWL_CORE_AIV = 1
};

/* Indices of swl_sched_phase.shared_depth_at_*. */
enum swl_shape {
	SWL_SHAPE_AIC   = 0,
	SWL_SHAPE_AIV   = 1,
	SWL_SHAPE_MIX   = 2,
	SWL_SHAPE_COUNT = 3  /* QUEUE_SHAPES */
};

/* How much is recorded: swl_*_data_header.chip_swimlane_level. */
enum swl_level {
	SWL_LEVEL_DISABLED        = 0,
	SWL_LEVEL_TASK_TIMING     = 1, /* AicoreTask records */
	SWL_LEVEL_SCHEDULE_TIMING = 2, /* and AicpuTask records */
	SWL_LEVEL_SCHED_PHASES    = 3, /* and SchedPhase records */
	SWL_LEVEL_ORCH_PHASES     = 4  /* and OrchPhase records */
};

/* Kinds of buffers: swl_ready_entry.kind. */
enum swl_kind {
	SWL_KIND_AICPU_TASK  = 0,
	SWL_KIND_SCHED_PHASE = 1,
	SWL_KIND_ORCH_PHASE  = 2,
	SWL_KIND_AICORE_TASK = 3
};

/* Kinds of phases: swl_sched_phase.kind. */
enum swl_phase_kind {
	SWL_PHASE_COMPLETE           = 0,
	SWL_PHASE_DISPATCH           = 1,  /* phase_data: pops that found a task, pops that did not */
	SWL_PHASE_RELEASE            = 2,
	SWL_PHASE_DUMMY              = 4,
	SWL_PHASE_EARLY_DISPATCH     = 5,
	SWL_PHASE_RESOLVE            = 6,
	SWL_PHASE_DUMMY_TASK         = 7,  /* phase_data: local id, ring id */
	SWL_PHASE_DRAIN              = 8,
	SWL_PHASE_DRAIN_PREPARE      = 9,
	SWL_PHASE_DRAIN_PUBLISH      = 10,
	SWL_PHASE_ASYNC_POLL         = 11,
	SWL_PHASE_PREDICATED_SKIP    = 12, /* phase_data: local id, ring id */
	SWL_PHASE_GRAPH_PREPARE      = 13, /* phase_data: local id, ring id */
	SWL_PHASE_RESOLVE_STANDALONE = 14
};

/* Capacities of dep_gen. */
#define SWL_DEP_GEN_READYQUEUE_SIZE        8    /* entries of a ready queue; one stays empty */
#define SWL_DEP_GEN_INSTANCES              1    /* states behind the header */
#define SWL_DEP_GEN_BUFFERS_PER_INSTANCE   4
#define SWL_DEP_GEN_RECORDS_PER_BUFFER     1024
#define SWL_DEP_GEN_INLINE_DEPS            64   /* dependencies in a swl_dep_gen_record */
#define SWL_DEP_GEN_OVERFLOW_DEPS          524  /* in a swl_dep_gen_overflow */
#define SWL_DEP_GEN_NO_KINDS_OVERFLOW_DEPS 582  /* in a swl_dep_gen_no_kinds_overflow */
#define SWL_DEP_GEN_MAX_TENSORS            32   /* arguments of a task */

/* Bits of flags in the records of dep_gen. */
#define SWL_DEP_GEN_MANUAL_SCOPE   UINT32_C(0x1)  /* submitted in a manual scope */
#define SWL_DEP_GEN_HAS_OVERFLOW   UINT32_C(0x2)  /* a record that overflow records follow */
#define SWL_DEP_GEN_OVERFLOWED     UINT32_C(0x4)  /* this is an overflow record */
#define SWL_DEP_GEN_LAST_OVERFLOW  UINT32_C(0x8)  /* and the last one of its task */
#define SWL_DEP_GEN_EARLY_DISPATCH UINT32_C(0x10) /* may be staged before its producers end */

/* Bits of the kind of a dependency. */
#define SWL_DEP_WAIT   UINT32_C(0x1) /* the producer has completed */
#define SWL_DEP_RETAIN UINT32_C(0x2) /* the producer's outputs stay */

/* Uses of an argument: swl_dep_gen_record.arg_types. */
enum swl_arg_type {
	SWL_ARG_INPUT           = 0,
	SWL_ARG_OUTPUT          = 1,
	SWL_ARG_INOUT           = 2,
	SWL_ARG_OUTPUT_EXISTING = 3,
	SWL_ARG_NO_DEP          = 4
};

/* Types of elements: swl_tensor.dtype. */
enum swl_dtype {
	SWL_DTYPE_FLOAT32   = 0,
	SWL_DTYPE_FLOAT16   = 1,
	SWL_DTYPE_INT32     = 2,
	SWL_DTYPE_INT16     = 3,
	SWL_DTYPE_INT8      = 4,
	SWL_DTYPE_UINT8     = 5,
	SWL_DTYPE_BFLOAT16  = 6,
	SWL_DTYPE_INT64     = 7,
	SWL_DTYPE_UINT64    = 8,
	SWL_DTYPE_UINT16    = 9,
	SWL_DTYPE_UINT32    = 10,
	SWL_DTYPE_BOOL      = 11,
	SWL_DTYPE_FP8E4M3FN = 12,
	SWL_DTYPE_FP8E8M0   = 13,
	SWL_DTYPE_FP4E2M1   = 14
};

/* swl_tensor.owner_task_id of a tensor that no task made. */
#define SWL_NO_OWNER UINT64_C(18446744073709551615) /* all ones */

/* What COND holds when a core takes a task, and when it has finished it. */
#define SWL_ACK(token) ((uint32_t)(token) & SWL_TASK_ID_MASK)
#define SWL_FIN(token) (((uint32_t)(token) & SWL_TASK_ID_MASK) | SWL_STATE_MASK)

/* The scheduler's view of a task on a core. Written by the AICPU. 32 B. */
typedef struct swl_aicpu_task {
	/*       0 */ SWL_ALIGNAS(32) uint64_t dispatch_time;
	/*       8 */ uint64_t finish_time;
	/*      16 */ uint32_t reg_task_id;
	/*      20 */ uint8_t reserved[12];
} swl_aicpu_task;
SWL_CHECK_TYPE(swl_aicpu_task, 32, 32);
SWL_CHECK_FIELD(swl_aicpu_task, dispatch_time, 0);
SWL_CHECK_FIELD(swl_aicpu_task, finish_time, 8);
SWL_CHECK_FIELD(swl_aicpu_task, reg_task_id, 16);
SWL_CHECK_FIELD(swl_aicpu_task, reserved, 20);

/* The core's own view of a task. Written by the AICore; start_time 0 is a slot never written. 32 B. */
typedef struct swl_aicore_task {
	/*       0 */ SWL_ALIGNAS(32) uint64_t start_time;
	/*       8 */ uint64_t end_time;
	/*      16 */ uint64_t task_token_raw;
	/*      24 */ uint32_t reg_task_id;
	/*      28 */ uint32_t receive_to_start_cycles;
} swl_aicore_task;
SWL_CHECK_TYPE(swl_aicore_task, 32, 32);
SWL_CHECK_FIELD(swl_aicore_task, start_time, 0);
SWL_CHECK_FIELD(swl_aicore_task, end_time, 8);
SWL_CHECK_FIELD(swl_aicore_task, task_token_raw, 16);
SWL_CHECK_FIELD(swl_aicore_task, reg_task_id, 24);
SWL_CHECK_FIELD(swl_aicore_task, receive_to_start_cycles, 28);

/* A phase of a scheduler thread. phase_data is not 8-aligned: read it as two words, low first. 64 B. */
typedef struct swl_sched_phase {
	/*       0 */ uint64_t start_time;
	/*       8 */ uint64_t end_time;
	/*      16 */ uint32_t loop_iter;
	/*      20 */ uint32_t kind;
	/*      24 */ uint32_t tasks_processed;
	/*      28 */ uint32_t phase_data[2];
	/*      36 */ int16_t shared_depth_at_start[3];
	/*      42 */ int16_t shared_depth_at_end[3];
	/*      48 */ uint8_t reserved[16];
} swl_sched_phase;
SWL_CHECK_TYPE(swl_sched_phase, 64, 8);
SWL_CHECK_FIELD(swl_sched_phase, start_time, 0);
SWL_CHECK_FIELD(swl_sched_phase, end_time, 8);
SWL_CHECK_FIELD(swl_sched_phase, loop_iter, 16);
SWL_CHECK_FIELD(swl_sched_phase, kind, 20);
SWL_CHECK_FIELD(swl_sched_phase, tasks_processed, 24);
SWL_CHECK_FIELD(swl_sched_phase, phase_data, 28);
SWL_CHECK_FIELD(swl_sched_phase, shared_depth_at_start, 36);
SWL_CHECK_FIELD(swl_sched_phase, shared_depth_at_end, 42);
SWL_CHECK_FIELD(swl_sched_phase, reserved, 48);

/* A submit of the orchestrator on the device. 32 B. */
typedef struct swl_orch_phase {
	/*       0 */ uint64_t start_time;
	/*       8 */ uint64_t end_time;
	/*      16 */ uint64_t task_id;
	/*      24 */ uint32_t submit_idx;
	/*      28 */ uint32_t reserved;
} swl_orch_phase;
SWL_CHECK_TYPE(swl_orch_phase, 32, 8);
SWL_CHECK_FIELD(swl_orch_phase, start_time, 0);
SWL_CHECK_FIELD(swl_orch_phase, end_time, 8);
SWL_CHECK_FIELD(swl_orch_phase, task_id, 16);
SWL_CHECK_FIELD(swl_orch_phase, submit_idx, 24);
SWL_CHECK_FIELD(swl_orch_phase, reserved, 28);

/* A span of the host's orchestrator. In host memory only. 40 B. */
typedef struct swl_host_phase {
	/*       0 */ uint64_t start_ns;
	/*       8 */ uint64_t end_ns;
	/*      16 */ uint64_t payload;
	/*      24 */ uint32_t kind;
	/*      28 */ uint32_t index;
	/*      32 */ uint32_t thread_id;
	/*      36 */ uint32_t reserved;
} swl_host_phase;
SWL_CHECK_TYPE(swl_host_phase, 40, 8);
SWL_CHECK_FIELD(swl_host_phase, start_ns, 0);
SWL_CHECK_FIELD(swl_host_phase, end_ns, 8);
SWL_CHECK_FIELD(swl_host_phase, payload, 16);
SWL_CHECK_FIELD(swl_host_phase, kind, 24);
SWL_CHECK_FIELD(swl_host_phase, index, 28);
SWL_CHECK_FIELD(swl_host_phase, thread_id, 32);
SWL_CHECK_FIELD(swl_host_phase, reserved, 36);

/* The AICPU writes count after every record. 32064 B. */
typedef struct swl_aicpu_task_buffer {
	/*       0 */ SWL_ALIGNAS(64) swl_aicpu_task records[1000];
	/*   32000 */ uint32_t count;
} swl_aicpu_task_buffer;
SWL_CHECK_TYPE(swl_aicpu_task_buffer, 32064, 64);
SWL_CHECK_FIELD(swl_aicpu_task_buffer, records, 0);
SWL_CHECK_FIELD(swl_aicpu_task_buffer, count, 32000);

/* The AICore fills it; the AICPU writes count just before it hands the buffer over. 32832 B. */
typedef struct swl_aicore_task_buffer {
	/*       0 */ SWL_ALIGNAS(64) swl_aicore_task records[1024];
	/*   32768 */ uint32_t count;
} swl_aicore_task_buffer;
SWL_CHECK_TYPE(swl_aicore_task_buffer, 32832, 64);
SWL_CHECK_FIELD(swl_aicore_task_buffer, records, 0);
SWL_CHECK_FIELD(swl_aicore_task_buffer, count, 32768);

/* The AICPU writes count before the fields of the record that it takes. 1048640 B. */
typedef struct swl_sched_phase_buffer {
	/*       0 */ SWL_ALIGNAS(64) swl_sched_phase records[16384];
	/* 1048576 */ uint32_t count;
} swl_sched_phase_buffer;
SWL_CHECK_TYPE(swl_sched_phase_buffer, 1048640, 64);
SWL_CHECK_FIELD(swl_sched_phase_buffer, records, 0);
SWL_CHECK_FIELD(swl_sched_phase_buffer, count, 1048576);

/* As swl_sched_phase_buffer. 524352 B. */
typedef struct swl_orch_phase_buffer {
	/*       0 */ SWL_ALIGNAS(64) swl_orch_phase records[16384];
	/*  524288 */ uint32_t count;
} swl_orch_phase_buffer;
SWL_CHECK_TYPE(swl_orch_phase_buffer, 524352, 64);
SWL_CHECK_FIELD(swl_orch_phase_buffer, records, 0);
SWL_CHECK_FIELD(swl_orch_phase_buffer, count, 524288);

/* In host memory only. 20544 B. */
typedef struct swl_host_phase_buffer {
	/*       0 */ SWL_ALIGNAS(64) swl_host_phase records[512];
	/*   20480 */ uint32_t count;
} swl_host_phase_buffer;
SWL_CHECK_TYPE(swl_host_phase_buffer, 20544, 64);
SWL_CHECK_FIELD(swl_host_phase_buffer, records, 0);
SWL_CHECK_FIELD(swl_host_phase_buffer, count, 20480);

/* The buffer that a pool fills; one cache line. Written by the AICPU. 64 B. */
typedef struct swl_active_head {
	/*       0 */ SWL_ALIGNAS(64) SWL_PUBLISHED uint64_t current_buf_ptr;
	/*       8 */ SWL_PUBLISHED uint32_t current_buf_seq;
	/*      12 */ uint32_t total_record_count;
	/*      16 */ uint32_t dropped_record_count;
	/*      20 */ uint8_t reserved[44];
} swl_active_head;
SWL_CHECK_TYPE(swl_active_head, 64, 64);
SWL_CHECK_FIELD(swl_active_head, current_buf_ptr, 0);
SWL_CHECK_FIELD(swl_active_head, current_buf_seq, 8);
SWL_CHECK_FIELD(swl_active_head, total_record_count, 12);
SWL_CHECK_FIELD(swl_active_head, dropped_record_count, 16);
SWL_CHECK_FIELD(swl_active_head, reserved, 20);

/* Empty buffers, host to device; free-running indices, slot = index mod 4. 128 B. */
typedef struct swl_free_queue {
	/*       0 */ SWL_ALIGNAS(64) SWL_PUBLISHED uint64_t buffer_ptrs[4];
	/*      32 */ SWL_PUBLISHED uint32_t head;
	/*      36 */ SWL_PUBLISHED uint32_t tail;
	/*      40 */ uint8_t reserved[88];
} swl_free_queue;
SWL_CHECK_TYPE(swl_free_queue, 128, 64);
SWL_CHECK_FIELD(swl_free_queue, buffer_ptrs, 0);
SWL_CHECK_FIELD(swl_free_queue, head, 32);
SWL_CHECK_FIELD(swl_free_queue, tail, 36);
SWL_CHECK_FIELD(swl_free_queue, reserved, 40);

/* The state of one core or thread for one kind of record. 192 B. */
typedef struct swl_pool {
	/*       0 */ SWL_ALIGNAS(64) swl_active_head head;
	/*      64 */ swl_free_queue free;
} swl_pool;
SWL_CHECK_TYPE(swl_pool, 192, 64);
SWL_CHECK_FIELD(swl_pool, head, 0);
SWL_CHECK_FIELD(swl_pool, free, 64);

/* A full buffer, device to host. 32 B. */
typedef struct swl_ready_entry {
	/*       0 */ SWL_ALIGNAS(32) uint32_t core_index;
	/*       4 */ uint32_t kind;
	/*       8 */ uint64_t buffer_ptr;
	/*      16 */ uint32_t buffer_seq;
	/*      20 */ uint32_t reserved0;
	/*      24 */ uint8_t reserved1[8];
} swl_ready_entry;
SWL_CHECK_TYPE(swl_ready_entry, 32, 32);
SWL_CHECK_FIELD(swl_ready_entry, core_index, 0);
SWL_CHECK_FIELD(swl_ready_entry, kind, 4);
SWL_CHECK_FIELD(swl_ready_entry, buffer_ptr, 8);
SWL_CHECK_FIELD(swl_ready_entry, buffer_seq, 16);
SWL_CHECK_FIELD(swl_ready_entry, reserved0, 20);
SWL_CHECK_FIELD(swl_ready_entry, reserved1, 24);

/* Flags, 0 or 1. Freezes are the host's; contended flags are the device's, cleared by the host. 16 B. */
typedef struct swl_backpressure {
	/*       0 */ SWL_PUBLISHED uint32_t rq_freeze_active;
	/*       4 */ SWL_PUBLISHED uint32_t rq_contended;
	/*       8 */ SWL_PUBLISHED uint32_t fq_freeze_active;
	/*      12 */ SWL_PUBLISHED uint32_t fq_contended;
} swl_backpressure;
SWL_CHECK_TYPE(swl_backpressure, 16, 4);
SWL_CHECK_FIELD(swl_backpressure, rq_freeze_active, 0);
SWL_CHECK_FIELD(swl_backpressure, rq_contended, 4);
SWL_CHECK_FIELD(swl_backpressure, fq_freeze_active, 8);
SWL_CHECK_FIELD(swl_backpressure, fq_contended, 12);

/* The state of dep_gen. Unlike in a swl_pool, the free queue comes first. 192 B. */
typedef struct swl_dep_gen_state {
	/*       0 */ SWL_ALIGNAS(64) swl_free_queue free;
	/*     128 */ SWL_PUBLISHED uint64_t current_buf_ptr;
	/*     136 */ SWL_PUBLISHED uint32_t current_buf_seq;
	/*     140 */ uint32_t dropped_record_count;
	/*     144 */ uint32_t total_record_count;
	/*     148 */ uint32_t total_overflow_record_count;
	/*     152 */ uint8_t reserved[40];
} swl_dep_gen_state;
SWL_CHECK_TYPE(swl_dep_gen_state, 192, 64);
SWL_CHECK_FIELD(swl_dep_gen_state, free, 0);
SWL_CHECK_FIELD(swl_dep_gen_state, current_buf_ptr, 128);
SWL_CHECK_FIELD(swl_dep_gen_state, current_buf_seq, 136);
SWL_CHECK_FIELD(swl_dep_gen_state, dropped_record_count, 140);
SWL_CHECK_FIELD(swl_dep_gen_state, total_record_count, 144);
SWL_CHECK_FIELD(swl_dep_gen_state, total_overflow_record_count, 148);
SWL_CHECK_FIELD(swl_dep_gen_state, reserved, 152);

/* An argument: the view of a buffer, in elements from start_offset on. All zero for an OUTPUT. 128 B. */
typedef struct swl_tensor {
	/*       0 */ SWL_ALIGNAS(64) uint64_t buffer_addr;
	/*       8 */ uint64_t buffer_size;
	/*      16 */ uint64_t owner_task_id;
	/*      24 */ uint64_t start_offset;
	/*      32 */ int32_t version;
	/*      36 */ uint32_t ndims;
	/*      40 */ uint8_t dtype;
	/*      41 */ uint8_t manual_dep;
	/*      42 */ uint8_t is_contiguous;
	/*      43 */ uint8_t address_space;
	/*      44 */ uint32_t shapes[5];
	/*      64 */ uint64_t extent;
	/*      72 */ uint32_t strides[5];
	/*      92 */ uint8_t reserved[36];
} swl_tensor;
SWL_CHECK_TYPE(swl_tensor, 128, 64);
SWL_CHECK_FIELD(swl_tensor, buffer_addr, 0);
SWL_CHECK_FIELD(swl_tensor, buffer_size, 8);
SWL_CHECK_FIELD(swl_tensor, owner_task_id, 16);
SWL_CHECK_FIELD(swl_tensor, start_offset, 24);
SWL_CHECK_FIELD(swl_tensor, version, 32);
SWL_CHECK_FIELD(swl_tensor, ndims, 36);
SWL_CHECK_FIELD(swl_tensor, dtype, 40);
SWL_CHECK_FIELD(swl_tensor, manual_dep, 41);
SWL_CHECK_FIELD(swl_tensor, is_contiguous, 42);
SWL_CHECK_FIELD(swl_tensor, address_space, 43);
SWL_CHECK_FIELD(swl_tensor, shapes, 44);
SWL_CHECK_FIELD(swl_tensor, extent, 64);
SWL_CHECK_FIELD(swl_tensor, strides, 72);
SWL_CHECK_FIELD(swl_tensor, reserved, 92);

/* A submitted task, with its first dependencies. 4736 B. */
typedef struct swl_dep_gen_record {
	/*       0 */ SWL_ALIGNAS(64) uint64_t task_id;
	/*       8 */ uint32_t flags;
	/*      12 */ uint16_t tensor_count;
	/*      14 */ uint16_t explicit_dep_count;
	/*      16 */ uint64_t explicit_deps[64];
	/*     528 */ uint8_t explicit_dep_kinds[64];
	/*     592 */ uint8_t arg_types[32];
	/*     624 */ int32_t kernel_id[3];
	/*     636 */ uint32_t block_num;
	/*     640 */ swl_tensor tensors[32];
} swl_dep_gen_record;
SWL_CHECK_TYPE(swl_dep_gen_record, 4736, 64);
SWL_CHECK_FIELD(swl_dep_gen_record, task_id, 0);
SWL_CHECK_FIELD(swl_dep_gen_record, flags, 8);
SWL_CHECK_FIELD(swl_dep_gen_record, tensor_count, 12);
SWL_CHECK_FIELD(swl_dep_gen_record, explicit_dep_count, 14);
SWL_CHECK_FIELD(swl_dep_gen_record, explicit_deps, 16);
SWL_CHECK_FIELD(swl_dep_gen_record, explicit_dep_kinds, 528);
SWL_CHECK_FIELD(swl_dep_gen_record, arg_types, 592);
SWL_CHECK_FIELD(swl_dep_gen_record, kernel_id, 624);
SWL_CHECK_FIELD(swl_dep_gen_record, block_num, 636);
SWL_CHECK_FIELD(swl_dep_gen_record, tensors, 640);

/* More dependencies of the task before it; lies in the slot of a record. 4736 B. */
typedef struct swl_dep_gen_overflow {
	/*       0 */ SWL_ALIGNAS(64) uint64_t task_id;
	/*       8 */ uint32_t flags;
	/*      12 */ uint16_t dep_count;
	/*      14 */ uint16_t reserved;
	/*      16 */ uint64_t deps[524];
	/*    4208 */ uint8_t dep_kinds[524];
} swl_dep_gen_overflow;
SWL_CHECK_TYPE(swl_dep_gen_overflow, 4736, 64);
SWL_CHECK_FIELD(swl_dep_gen_overflow, task_id, 0);
SWL_CHECK_FIELD(swl_dep_gen_overflow, flags, 8);
SWL_CHECK_FIELD(swl_dep_gen_overflow, dep_count, 12);
SWL_CHECK_FIELD(swl_dep_gen_overflow, reserved, 14);
SWL_CHECK_FIELD(swl_dep_gen_overflow, deps, 16);
SWL_CHECK_FIELD(swl_dep_gen_overflow, dep_kinds, 4208);

/* The AICPU raises count after all records of a task. 4849728 B. */
typedef struct swl_dep_gen_buffer {
	/*       0 */ SWL_ALIGNAS(64) uint32_t count;
	/*       4 */ uint8_t reserved[60];
	/*      64 */ swl_dep_gen_record records[1024];
} swl_dep_gen_buffer;
SWL_CHECK_TYPE(swl_dep_gen_buffer, 4849728, 64);
SWL_CHECK_FIELD(swl_dep_gen_buffer, count, 0);
SWL_CHECK_FIELD(swl_dep_gen_buffer, reserved, 4);
SWL_CHECK_FIELD(swl_dep_gen_buffer, records, 64);

/* A submitted task, with its first dependencies. 4672 B. */
typedef struct swl_dep_gen_no_kinds_record {
	/*       0 */ SWL_ALIGNAS(64) uint64_t task_id;
	/*       8 */ uint32_t flags;
	/*      12 */ uint16_t tensor_count;
	/*      14 */ uint16_t explicit_dep_count;
	/*      16 */ uint64_t explicit_deps[64];
	/*     528 */ uint8_t arg_types[32];
	/*     560 */ int32_t kernel_id[3];
	/*     572 */ uint32_t block_num;
	/*     576 */ swl_tensor tensors[32];
} swl_dep_gen_no_kinds_record;
SWL_CHECK_TYPE(swl_dep_gen_no_kinds_record, 4672, 64);
SWL_CHECK_FIELD(swl_dep_gen_no_kinds_record, task_id, 0);
SWL_CHECK_FIELD(swl_dep_gen_no_kinds_record, flags, 8);
SWL_CHECK_FIELD(swl_dep_gen_no_kinds_record, tensor_count, 12);
SWL_CHECK_FIELD(swl_dep_gen_no_kinds_record, explicit_dep_count, 14);
SWL_CHECK_FIELD(swl_dep_gen_no_kinds_record, explicit_deps, 16);
SWL_CHECK_FIELD(swl_dep_gen_no_kinds_record, arg_types, 528);
SWL_CHECK_FIELD(swl_dep_gen_no_kinds_record, kernel_id, 560);
SWL_CHECK_FIELD(swl_dep_gen_no_kinds_record, block_num, 572);
SWL_CHECK_FIELD(swl_dep_gen_no_kinds_record, tensors, 576);

/* More dependencies of the task before it; lies in the slot of a record. 4672 B. */
typedef struct swl_dep_gen_no_kinds_overflow {
	/*       0 */ SWL_ALIGNAS(64) uint64_t task_id;
	/*       8 */ uint32_t flags;
	/*      12 */ uint16_t dep_count;
	/*      14 */ uint16_t reserved;
	/*      16 */ uint64_t deps[582];
} swl_dep_gen_no_kinds_overflow;
SWL_CHECK_TYPE(swl_dep_gen_no_kinds_overflow, 4672, 64);
SWL_CHECK_FIELD(swl_dep_gen_no_kinds_overflow, task_id, 0);
SWL_CHECK_FIELD(swl_dep_gen_no_kinds_overflow, flags, 8);
SWL_CHECK_FIELD(swl_dep_gen_no_kinds_overflow, dep_count, 12);
SWL_CHECK_FIELD(swl_dep_gen_no_kinds_overflow, reserved, 14);
SWL_CHECK_FIELD(swl_dep_gen_no_kinds_overflow, deps, 16);

/* The AICPU raises count after all records of a task. 4784192 B. */
typedef struct swl_dep_gen_no_kinds_buffer {
	/*       0 */ SWL_ALIGNAS(64) uint32_t count;
	/*       4 */ uint8_t reserved[60];
	/*      64 */ swl_dep_gen_no_kinds_record records[1024];
} swl_dep_gen_no_kinds_buffer;
SWL_CHECK_TYPE(swl_dep_gen_no_kinds_buffer, 4784192, 64);
SWL_CHECK_FIELD(swl_dep_gen_no_kinds_buffer, count, 0);
SWL_CHECK_FIELD(swl_dep_gen_no_kinds_buffer, reserved, 4);
SWL_CHECK_FIELD(swl_dep_gen_no_kinds_buffer, records, 64);

/* ======================================================================== */
/* a2a3                                                                     */
/* ======================================================================== */

/* Constants of a2a3. */
#define SWL_A2A3_MAX_BLOCKDIM          24                   /* clusters */
#define SWL_A2A3_MAX_CORES             72
#define SWL_A2A3_MAX_AICPU_THREADS     4                    /* stride of every array per thread */
#define SWL_A2A3_DEFAULT_AICPU_THREADS 4
#define SWL_A2A3_MAX_LAUNCH_THREADS    6
#define SWL_A2A3_MAX_CORES_PER_THREAD  72
#define SWL_A2A3_READYQUEUE_SIZE       992                  /* entries of a ready queue; one stays empty */
#define SWL_A2A3_SYS_CNT_FREQ          UINT64_C(50000000)   /* Hz of the system counter */
#define SWL_A2A3_BACKPRESSURE_TIMEOUT  UINT64_C(1500000000) /* cycles: 30 s */
#define SWL_A2A3_SIM_REGISTER_BYTES    5120                 /* register block of a simulated core */

/* The start of the swimlane's region; the pools follow. 127168 B. */
typedef struct swl_a2a3_data_header {
	/*       0 */ SWL_ALIGNAS(64) swl_ready_entry queues[4][992];
	/*  126976 */ SWL_PUBLISHED uint32_t queue_heads[4];
	/*  126992 */ SWL_PUBLISHED uint32_t queue_tails[4];
	/*  127008 */ uint32_t num_cores;
	/*  127012 */ uint32_t chip_swimlane_level;
	/*  127016 */ SWL_PUBLISHED uint32_t num_sched_phase_threads;
	/*  127020 */ SWL_PUBLISHED uint32_t num_orch_phase_threads;
	/*  127024 */ uint32_t num_phase_cores;
	/*  127028 */ int8_t core_to_thread[72];
	/*  127100 */ swl_backpressure backpressure;
} swl_a2a3_data_header;
SWL_CHECK_TYPE(swl_a2a3_data_header, 127168, 64);
SWL_CHECK_FIELD(swl_a2a3_data_header, queues, 0);
SWL_CHECK_FIELD(swl_a2a3_data_header, queue_heads, 126976);
SWL_CHECK_FIELD(swl_a2a3_data_header, queue_tails, 126992);
SWL_CHECK_FIELD(swl_a2a3_data_header, num_cores, 127008);
SWL_CHECK_FIELD(swl_a2a3_data_header, chip_swimlane_level, 127012);
SWL_CHECK_FIELD(swl_a2a3_data_header, num_sched_phase_threads, 127016);
SWL_CHECK_FIELD(swl_a2a3_data_header, num_orch_phase_threads, 127020);
SWL_CHECK_FIELD(swl_a2a3_data_header, num_phase_cores, 127024);
SWL_CHECK_FIELD(swl_a2a3_data_header, core_to_thread, 127028);
SWL_CHECK_FIELD(swl_a2a3_data_header, backpressure, 127100);

/* The start of dep_gen's region; one swl_dep_gen_state follows. In ready entries core_index and kind are 0. 1088 B. */
typedef struct swl_a2a3_dep_gen_data_header {
	/*       0 */ SWL_ALIGNAS(64) swl_ready_entry queues[4][8];
	/*    1024 */ SWL_PUBLISHED uint32_t queue_heads[4];
	/*    1040 */ SWL_PUBLISHED uint32_t queue_tails[4];
	/*    1056 */ uint32_t num_instances;
	/*    1060 */ swl_backpressure backpressure;
} swl_a2a3_dep_gen_data_header;
SWL_CHECK_TYPE(swl_a2a3_dep_gen_data_header, 1088, 64);
SWL_CHECK_FIELD(swl_a2a3_dep_gen_data_header, queues, 0);
SWL_CHECK_FIELD(swl_a2a3_dep_gen_data_header, queue_heads, 1024);
SWL_CHECK_FIELD(swl_a2a3_dep_gen_data_header, queue_tails, 1040);
SWL_CHECK_FIELD(swl_a2a3_dep_gen_data_header, num_instances, 1056);
SWL_CHECK_FIELD(swl_a2a3_dep_gen_data_header, backpressure, 1060);

/* Arguments of a launch. Addresses are device addresses. 96 B. */
typedef struct swl_a2a3_kernel_args {
	/*       0 */ uint64_t runtime_args;
	/*       8 */ uint64_t regs;
	/*      16 */ uint64_t ffts_base_addr;
	/*      24 */ uint64_t dump_data_base;
	/*      32 */ uint64_t chip_swimlane_data_base;
	/*      40 */ uint64_t pmu_data_base;
	/*      48 */ uint64_t pmu_reg_addrs;
	/*      56 */ uint64_t dep_gen_data_base;
	/*      64 */ uint64_t scope_stats_data_base;
	/*      72 */ uint64_t chip_swimlane_aicore_rotation_table;
	/*      80 */ uint64_t device_wall_data_base;
	/*      88 */ uint32_t enable_profiling_flag;
} swl_a2a3_kernel_args;
SWL_CHECK_TYPE(swl_a2a3_kernel_args, 96, 8);
SWL_CHECK_FIELD(swl_a2a3_kernel_args, runtime_args, 0);
SWL_CHECK_FIELD(swl_a2a3_kernel_args, regs, 8);
SWL_CHECK_FIELD(swl_a2a3_kernel_args, ffts_base_addr, 16);
SWL_CHECK_FIELD(swl_a2a3_kernel_args, dump_data_base, 24);
SWL_CHECK_FIELD(swl_a2a3_kernel_args, chip_swimlane_data_base, 32);
SWL_CHECK_FIELD(swl_a2a3_kernel_args, pmu_data_base, 40);
SWL_CHECK_FIELD(swl_a2a3_kernel_args, pmu_reg_addrs, 48);
SWL_CHECK_FIELD(swl_a2a3_kernel_args, dep_gen_data_base, 56);
SWL_CHECK_FIELD(swl_a2a3_kernel_args, scope_stats_data_base, 64);
SWL_CHECK_FIELD(swl_a2a3_kernel_args, chip_swimlane_aicore_rotation_table, 72);
SWL_CHECK_FIELD(swl_a2a3_kernel_args, device_wall_data_base, 80);
SWL_CHECK_FIELD(swl_a2a3_kernel_args, enable_profiling_flag, 88);

/*
 * Offsets of pool i in the region, and the region's size. Each array begins where
 * the one before it ends. grid_cores is how many pools the arrays per core have:
 * host and device must use the same number. The arrays per thread always have
 * SWL_A2A3_MAX_AICPU_THREADS, however many threads run.
 */
#define SWL_A2A3_AICPU_TASK_POOL(grid_cores, i) (sizeof(swl_a2a3_data_header) + SWL_POOL_SIZE * (uint64_t)(i))
#define SWL_A2A3_AICORE_TASK_POOL(grid_cores, i) (SWL_A2A3_AICPU_TASK_POOL(grid_cores, grid_cores) + SWL_POOL_SIZE * (uint64_t)(i))
#define SWL_A2A3_SCHED_PHASE_POOL(grid_cores, i) (SWL_A2A3_AICORE_TASK_POOL(grid_cores, grid_cores) + SWL_POOL_SIZE * (uint64_t)(i))
#define SWL_A2A3_ORCH_PHASE_POOL(grid_cores, i) (SWL_A2A3_SCHED_PHASE_POOL(grid_cores, SWL_A2A3_MAX_AICPU_THREADS) + SWL_POOL_SIZE * (uint64_t)(i))
#define SWL_A2A3_REGION_SIZE(grid_cores) SWL_A2A3_ORCH_PHASE_POOL(grid_cores, SWL_A2A3_MAX_AICPU_THREADS)

/* ======================================================================== */
/* a5                                                                       */
/* ======================================================================== */

/* Constants of a5. */
#define SWL_A5_MAX_BLOCKDIM          36                    /* clusters */
#define SWL_A5_MAX_CORES             108
#define SWL_A5_MAX_AICPU_THREADS     5                     /* stride of every array per thread */
#define SWL_A5_DEFAULT_AICPU_THREADS 5
#define SWL_A5_MAX_LAUNCH_THREADS    14
#define SWL_A5_MAX_CORES_PER_THREAD  108
#define SWL_A5_READYQUEUE_SIZE       1456                  /* entries of a ready queue; one stays empty */
#define SWL_A5_SYS_CNT_FREQ          UINT64_C(1000000000)  /* Hz of the system counter */
#define SWL_A5_BACKPRESSURE_TIMEOUT  UINT64_C(30000000000) /* cycles: 30 s */
#define SWL_A5_SIM_REGISTER_BYTES    16384                 /* register block of a simulated core */

/* The start of the swimlane's region; the pools follow. 233152 B. */
typedef struct swl_a5_data_header {
	/*       0 */ SWL_ALIGNAS(64) swl_ready_entry queues[5][1456];
	/*  232960 */ SWL_PUBLISHED uint32_t queue_heads[5];
	/*  232980 */ SWL_PUBLISHED uint32_t queue_tails[5];
	/*  233000 */ uint32_t num_cores;
	/*  233004 */ uint32_t chip_swimlane_level;
	/*  233008 */ SWL_PUBLISHED uint32_t num_sched_phase_threads;
	/*  233012 */ SWL_PUBLISHED uint32_t num_orch_phase_threads;
	/*  233016 */ uint32_t num_phase_cores;
	/*  233020 */ int8_t core_to_thread[108];
	/*  233128 */ swl_backpressure backpressure;
} swl_a5_data_header;
SWL_CHECK_TYPE(swl_a5_data_header, 233152, 64);
SWL_CHECK_FIELD(swl_a5_data_header, queues, 0);
SWL_CHECK_FIELD(swl_a5_data_header, queue_heads, 232960);
SWL_CHECK_FIELD(swl_a5_data_header, queue_tails, 232980);
SWL_CHECK_FIELD(swl_a5_data_header, num_cores, 233000);
SWL_CHECK_FIELD(swl_a5_data_header, chip_swimlane_level, 233004);
SWL_CHECK_FIELD(swl_a5_data_header, num_sched_phase_threads, 233008);
SWL_CHECK_FIELD(swl_a5_data_header, num_orch_phase_threads, 233012);
SWL_CHECK_FIELD(swl_a5_data_header, num_phase_cores, 233016);
SWL_CHECK_FIELD(swl_a5_data_header, core_to_thread, 233020);
SWL_CHECK_FIELD(swl_a5_data_header, backpressure, 233128);

/* The start of dep_gen's region; one swl_dep_gen_state follows. In ready entries core_index and kind are 0. 1344 B. */
typedef struct swl_a5_dep_gen_data_header {
	/*       0 */ SWL_ALIGNAS(64) swl_ready_entry queues[5][8];
	/*    1280 */ SWL_PUBLISHED uint32_t queue_heads[5];
	/*    1300 */ SWL_PUBLISHED uint32_t queue_tails[5];
	/*    1320 */ uint32_t num_instances;
	/*    1324 */ swl_backpressure backpressure;
} swl_a5_dep_gen_data_header;
SWL_CHECK_TYPE(swl_a5_dep_gen_data_header, 1344, 64);
SWL_CHECK_FIELD(swl_a5_dep_gen_data_header, queues, 0);
SWL_CHECK_FIELD(swl_a5_dep_gen_data_header, queue_heads, 1280);
SWL_CHECK_FIELD(swl_a5_dep_gen_data_header, queue_tails, 1300);
SWL_CHECK_FIELD(swl_a5_dep_gen_data_header, num_instances, 1320);
SWL_CHECK_FIELD(swl_a5_dep_gen_data_header, backpressure, 1324);

/* Arguments of a launch. Addresses are device addresses. 88 B. */
typedef struct swl_a5_kernel_args {
	/*       0 */ uint64_t runtime_args;
	/*       8 */ uint64_t regs;
	/*      16 */ uint64_t dump_data_base;
	/*      24 */ uint64_t chip_swimlane_data_base;
	/*      32 */ uint64_t pmu_data_base;
	/*      40 */ uint64_t dep_gen_data_base;
	/*      48 */ uint64_t chip_swimlane_aicore_rotation_table;
	/*      56 */ uint64_t aicore_pmu_ring_addrs;
	/*      64 */ uint64_t scope_stats_data_base;
	/*      72 */ uint64_t device_wall_data_base;
	/*      80 */ uint32_t enable_profiling_flag;
	/*      84 */ uint32_t force_simt_anchor;
} swl_a5_kernel_args;
SWL_CHECK_TYPE(swl_a5_kernel_args, 88, 8);
SWL_CHECK_FIELD(swl_a5_kernel_args, runtime_args, 0);
SWL_CHECK_FIELD(swl_a5_kernel_args, regs, 8);
SWL_CHECK_FIELD(swl_a5_kernel_args, dump_data_base, 16);
SWL_CHECK_FIELD(swl_a5_kernel_args, chip_swimlane_data_base, 24);
SWL_CHECK_FIELD(swl_a5_kernel_args, pmu_data_base, 32);
SWL_CHECK_FIELD(swl_a5_kernel_args, dep_gen_data_base, 40);
SWL_CHECK_FIELD(swl_a5_kernel_args, chip_swimlane_aicore_rotation_table, 48);
SWL_CHECK_FIELD(swl_a5_kernel_args, aicore_pmu_ring_addrs, 56);
SWL_CHECK_FIELD(swl_a5_kernel_args, scope_stats_data_base, 64);
SWL_CHECK_FIELD(swl_a5_kernel_args, device_wall_data_base, 72);
SWL_CHECK_FIELD(swl_a5_kernel_args, enable_profiling_flag, 80);
SWL_CHECK_FIELD(swl_a5_kernel_args, force_simt_anchor, 84);

/*
 * Offsets of pool i in the region, and the region's size. Each array begins where
 * the one before it ends. grid_cores is how many pools the arrays per core have:
 * host and device must use the same number. The arrays per thread always have
 * SWL_A5_MAX_AICPU_THREADS, however many threads run.
 */
#define SWL_A5_AICPU_TASK_POOL(grid_cores, i) (sizeof(swl_a5_data_header) + SWL_POOL_SIZE * (uint64_t)(i))
#define SWL_A5_AICORE_TASK_POOL(grid_cores, i) (SWL_A5_AICPU_TASK_POOL(grid_cores, grid_cores) + SWL_POOL_SIZE * (uint64_t)(i))
#define SWL_A5_SCHED_PHASE_POOL(grid_cores, i) (SWL_A5_AICORE_TASK_POOL(grid_cores, grid_cores) + SWL_POOL_SIZE * (uint64_t)(i))
#define SWL_A5_ORCH_PHASE_POOL(grid_cores, i) (SWL_A5_SCHED_PHASE_POOL(grid_cores, SWL_A5_MAX_AICPU_THREADS) + SWL_POOL_SIZE * (uint64_t)(i))
#define SWL_A5_REGION_SIZE(grid_cores) SWL_A5_ORCH_PHASE_POOL(grid_cores, SWL_A5_MAX_AICPU_THREADS)

/* Capacities and sizes of the state of AICores that schedule. */
#define SWL_A5_SCHEDULER_STATE_ALIGN  128
#define SWL_A5_WORKER_CAPACITY        108
#define SWL_A5_PENDING_SLOTS          2
#define SWL_A5_CALLABLE_CAPACITY      1024
#define SWL_A5_CORE_TYPES             2
#define SWL_A5_CLUSTER_CAPACITY       36
#define SWL_A5_SCHEDULER_CAPACITY     36
#define SWL_A5_GANG_COHORTS           2
#define SWL_A5_ACTIVITY_CAPACITY      1024
#define SWL_A5_COMPLETION_INBOX_SIZE  64   /* bytes, as below */
#define SWL_A5_READY_INBOX_SIZE       128
#define SWL_A5_READY_OWNER_STATE_SIZE 128
#define SWL_A5_READY_DIRECTORY_SIZE   1664
#define SWL_A5_GANG_COORDINATOR_SIZE  256
#define SWL_A5_GANG_COHORT_SIZE       128
#define SWL_A5_GANG_PARTICIPANT_SIZE  128
#define SWL_A5_GANG_COMMAND_SIZE      128

/* State of a swl_a5_dispatch_slot, in its publication. */
enum swl_a5_publication {
	SWL_A5_PUBLICATION_EMPTY   = 0,
	SWL_A5_PUBLICATION_FREE    = 1,
	SWL_A5_PUBLICATION_FILLING = 2,
	SWL_A5_PUBLICATION_READY   = 3,
	SWL_A5_PUBLICATION_GATED   = 4
};

/* Bits of swl_a5_task_metadata.flags. */
#define SWL_A5_TASK_FLAG_EXECUTABLE 1
#define SWL_A5_TASK_FLAG_HAS_FANIN  2
#define SWL_A5_TASK_FLAG_MIX        4
#define SWL_A5_TASK_FLAG_SPMD       8
#define SWL_A5_TASK_FLAG_SYNC_START 16
#define SWL_A5_TASK_FLAG_INLINE     32
#define SWL_A5_TASK_FLAG_PREDICATE  64

/* swl_a5_task_control.state. */
enum swl_a5_task_state {
	SWL_A5_TASK_BLOCKED     = 0,
	SWL_A5_TASK_READY       = 1,
	SWL_A5_TASK_DONE        = 2,
	SWL_A5_TASK_DISPATCHING = 3
};

/* swl_a5_task_control.wake_list_head, where it names no waiter. */
#define SWL_A5_WAKE_LIST_OPEN   (-1)
#define SWL_A5_WAKE_LIST_CLOSED (-2)

/* swl_a5_task_trace.ready_source. */
enum swl_a5_ready_source {
	SWL_A5_READY_LOCAL  = 0,
	SWL_A5_READY_STOLEN = 1
};

/* swl_a5_task_trace.publication_mode. */
enum swl_a5_publication_mode {
	SWL_A5_PUBLISHED_BY_DISPATCH = 0,
	SWL_A5_PUBLISHED_BY_REFILL   = 1
};

/* The state of a run that AICores schedule. 384 B. */
typedef struct swl_a5_run_control {
	/*       0 */ SWL_ALIGNAS(128) uint64_t aic_task_count;
	/*       8 */ uint64_t aiv_task_count;
	/*      16 */ uint64_t active_worker_count;
	/*      24 */ uint64_t expected_task_count;
	/*      32 */ uint64_t inline_completed_count;
	/*      40 */ uint8_t reserved0[80];
	/*     120 */ uint64_t scheduler_count;
	/*     128 */ uint64_t executed_task_count;
	/*     136 */ uint64_t resolved_task_count;
	/*     144 */ uint64_t bootstrap_arrived_count;
	/*     152 */ uint64_t bootstrap_complete;
	/*     160 */ uint8_t reserved1[64];
	/*     224 */ uint64_t bootstrap_scan_complete;
	/*     232 */ uint64_t scheduler_timeout_cycles;
	/*     240 */ uint64_t chip_swimlane_level;
	/*     248 */ uint8_t reserved2[8];
	/*     256 */ uint64_t error_claimed;
	/*     264 */ uint64_t scheduler_error;
	/*     272 */ uint64_t error_task_id;
	/*     280 */ uint64_t error_core_id;
	/*     288 */ uint8_t reserved3[40];
	/*     328 */ uint64_t error_site;
	/*     336 */ uint8_t reserved4[48];
} swl_a5_run_control;
SWL_CHECK_TYPE(swl_a5_run_control, 384, 128);
SWL_CHECK_FIELD(swl_a5_run_control, aic_task_count, 0);
SWL_CHECK_FIELD(swl_a5_run_control, aiv_task_count, 8);
SWL_CHECK_FIELD(swl_a5_run_control, active_worker_count, 16);
SWL_CHECK_FIELD(swl_a5_run_control, expected_task_count, 24);
SWL_CHECK_FIELD(swl_a5_run_control, inline_completed_count, 32);
SWL_CHECK_FIELD(swl_a5_run_control, reserved0, 40);
SWL_CHECK_FIELD(swl_a5_run_control, scheduler_count, 120);
SWL_CHECK_FIELD(swl_a5_run_control, executed_task_count, 128);
SWL_CHECK_FIELD(swl_a5_run_control, resolved_task_count, 136);
SWL_CHECK_FIELD(swl_a5_run_control, bootstrap_arrived_count, 144);
SWL_CHECK_FIELD(swl_a5_run_control, bootstrap_complete, 152);
SWL_CHECK_FIELD(swl_a5_run_control, reserved1, 160);
SWL_CHECK_FIELD(swl_a5_run_control, bootstrap_scan_complete, 224);
SWL_CHECK_FIELD(swl_a5_run_control, scheduler_timeout_cycles, 232);
SWL_CHECK_FIELD(swl_a5_run_control, chip_swimlane_level, 240);
SWL_CHECK_FIELD(swl_a5_run_control, reserved2, 248);
SWL_CHECK_FIELD(swl_a5_run_control, error_claimed, 256);
SWL_CHECK_FIELD(swl_a5_run_control, scheduler_error, 264);
SWL_CHECK_FIELD(swl_a5_run_control, error_task_id, 272);
SWL_CHECK_FIELD(swl_a5_run_control, error_core_id, 280);
SWL_CHECK_FIELD(swl_a5_run_control, reserved3, 288);
SWL_CHECK_FIELD(swl_a5_run_control, error_site, 328);
SWL_CHECK_FIELD(swl_a5_run_control, reserved4, 336);

/* When an AICPU thread reached each step; 0 is a step not taken. 128 B. */
typedef struct swl_a5_aicpu_thread_lifecycle_trace {
	/*       0 */ SWL_ALIGNAS(128) uint64_t aicpu_thread_id;
	/*       8 */ uint64_t handshake_start;
	/*      16 */ uint64_t handshake_complete;
	/*      24 */ uint64_t config_start;
	/*      32 */ uint64_t topology_complete;
	/*      40 */ uint64_t context_publish_start;
	/*      48 */ uint64_t context_publish_complete;
	/*      56 */ uint64_t bootstrap_wait_start;
	/*      64 */ uint64_t bootstrap_complete;
	/*      72 */ uint64_t register_release_start;
	/*      80 */ uint64_t register_release_end;
	/*      88 */ uint64_t exit_signal_start;
	/*      96 */ uint64_t exit_signal_end;
	/*     104 */ uint64_t exit_wait_start;
	/*     112 */ uint64_t exit_wait_end;
	/*     120 */ uint8_t reserved[8];
} swl_a5_aicpu_thread_lifecycle_trace;
SWL_CHECK_TYPE(swl_a5_aicpu_thread_lifecycle_trace, 128, 128);
SWL_CHECK_FIELD(swl_a5_aicpu_thread_lifecycle_trace, aicpu_thread_id, 0);
SWL_CHECK_FIELD(swl_a5_aicpu_thread_lifecycle_trace, handshake_start, 8);
SWL_CHECK_FIELD(swl_a5_aicpu_thread_lifecycle_trace, handshake_complete, 16);
SWL_CHECK_FIELD(swl_a5_aicpu_thread_lifecycle_trace, config_start, 24);
SWL_CHECK_FIELD(swl_a5_aicpu_thread_lifecycle_trace, topology_complete, 32);
SWL_CHECK_FIELD(swl_a5_aicpu_thread_lifecycle_trace, context_publish_start, 40);
SWL_CHECK_FIELD(swl_a5_aicpu_thread_lifecycle_trace, context_publish_complete, 48);
SWL_CHECK_FIELD(swl_a5_aicpu_thread_lifecycle_trace, bootstrap_wait_start, 56);
SWL_CHECK_FIELD(swl_a5_aicpu_thread_lifecycle_trace, bootstrap_complete, 64);
SWL_CHECK_FIELD(swl_a5_aicpu_thread_lifecycle_trace, register_release_start, 72);
SWL_CHECK_FIELD(swl_a5_aicpu_thread_lifecycle_trace, register_release_end, 80);
SWL_CHECK_FIELD(swl_a5_aicpu_thread_lifecycle_trace, exit_signal_start, 88);
SWL_CHECK_FIELD(swl_a5_aicpu_thread_lifecycle_trace, exit_signal_end, 96);
SWL_CHECK_FIELD(swl_a5_aicpu_thread_lifecycle_trace, exit_wait_start, 104);
SWL_CHECK_FIELD(swl_a5_aicpu_thread_lifecycle_trace, exit_wait_end, 112);
SWL_CHECK_FIELD(swl_a5_aicpu_thread_lifecycle_trace, reserved, 120);

/* What a core knows of itself and of the block. 1024 B. */
typedef struct swl_a5_worker_context {
	/*       0 */ SWL_ALIGNAS(128) int32_t core_type;
	/*       4 */ int32_t physical_core_id;
	/*       8 */ int32_t type_rank;
	/*      12 */ int32_t active;
	/*      16 */ uint64_t run_control_offset;
	/*      24 */ uint64_t task_controls_offset;
	/*      32 */ uint8_t reserved0[16];
	/*      48 */ uint64_t scheduler_state_base_address;
	/*      56 */ uint8_t reserved1[8];
	/*      64 */ uint64_t trace_cells_offset;
	/*      72 */ uint8_t reserved2[8];
	/*      80 */ uint64_t graph_task_count;
	/*      88 */ uint64_t worker_index;
	/*      96 */ uint8_t reserved3[24];
	/*     120 */ uint64_t aicpu_lifecycle_traces_offset;
	/*     128 */ uint8_t reserved4[24];
	/*     152 */ uint64_t activity_buffers_offset;
	/*     160 */ uint64_t worker_contexts_offset;
	/*     168 */ uint8_t reserved5[40];
	/*     208 */ uint64_t target_bootstrap_start;
	/*     216 */ uint64_t target_bootstrap_end;
	/*     224 */ uint8_t reserved6[64];
	/*     288 */ uint64_t scheduler_count;
	/*     296 */ uint64_t cluster_count;
	/*     304 */ uint64_t cluster_index;
	/*     312 */ uint64_t scheduler_index;
	/*     320 */ uint64_t scheduler_worker_id;
	/*     328 */ uint64_t is_scheduler;
	/*     336 */ uint64_t cluster_worker_ids[3];
	/*     360 */ uint64_t profiling_loop_iter;
	/*     368 */ uint8_t reserved7[16];
	/*     384 */ uint64_t bootstrap_task_count;
	/*     392 */ uint8_t reserved8[104];
	/*     496 */ uint64_t idle_iteration_count;
	/*     504 */ uint8_t reserved9[144];
	/*     648 */ uint64_t bootstrap_start_cycles;
	/*     656 */ uint8_t reserved10[368];
} swl_a5_worker_context;
SWL_CHECK_TYPE(swl_a5_worker_context, 1024, 128);
SWL_CHECK_FIELD(swl_a5_worker_context, core_type, 0);
SWL_CHECK_FIELD(swl_a5_worker_context, physical_core_id, 4);
SWL_CHECK_FIELD(swl_a5_worker_context, type_rank, 8);
SWL_CHECK_FIELD(swl_a5_worker_context, active, 12);
SWL_CHECK_FIELD(swl_a5_worker_context, run_control_offset, 16);
SWL_CHECK_FIELD(swl_a5_worker_context, task_controls_offset, 24);
SWL_CHECK_FIELD(swl_a5_worker_context, reserved0, 32);
SWL_CHECK_FIELD(swl_a5_worker_context, scheduler_state_base_address, 48);
SWL_CHECK_FIELD(swl_a5_worker_context, reserved1, 56);
SWL_CHECK_FIELD(swl_a5_worker_context, trace_cells_offset, 64);
SWL_CHECK_FIELD(swl_a5_worker_context, reserved2, 72);
SWL_CHECK_FIELD(swl_a5_worker_context, graph_task_count, 80);
SWL_CHECK_FIELD(swl_a5_worker_context, worker_index, 88);
SWL_CHECK_FIELD(swl_a5_worker_context, reserved3, 96);
SWL_CHECK_FIELD(swl_a5_worker_context, aicpu_lifecycle_traces_offset, 120);
SWL_CHECK_FIELD(swl_a5_worker_context, reserved4, 128);
SWL_CHECK_FIELD(swl_a5_worker_context, activity_buffers_offset, 152);
SWL_CHECK_FIELD(swl_a5_worker_context, worker_contexts_offset, 160);
SWL_CHECK_FIELD(swl_a5_worker_context, reserved5, 168);
SWL_CHECK_FIELD(swl_a5_worker_context, target_bootstrap_start, 208);
SWL_CHECK_FIELD(swl_a5_worker_context, target_bootstrap_end, 216);
SWL_CHECK_FIELD(swl_a5_worker_context, reserved6, 224);
SWL_CHECK_FIELD(swl_a5_worker_context, scheduler_count, 288);
SWL_CHECK_FIELD(swl_a5_worker_context, cluster_count, 296);
SWL_CHECK_FIELD(swl_a5_worker_context, cluster_index, 304);
SWL_CHECK_FIELD(swl_a5_worker_context, scheduler_index, 312);
SWL_CHECK_FIELD(swl_a5_worker_context, scheduler_worker_id, 320);
SWL_CHECK_FIELD(swl_a5_worker_context, is_scheduler, 328);
SWL_CHECK_FIELD(swl_a5_worker_context, cluster_worker_ids, 336);
SWL_CHECK_FIELD(swl_a5_worker_context, profiling_loop_iter, 360);
SWL_CHECK_FIELD(swl_a5_worker_context, reserved7, 368);
SWL_CHECK_FIELD(swl_a5_worker_context, bootstrap_task_count, 384);
SWL_CHECK_FIELD(swl_a5_worker_context, reserved8, 392);
SWL_CHECK_FIELD(swl_a5_worker_context, idle_iteration_count, 496);
SWL_CHECK_FIELD(swl_a5_worker_context, reserved9, 504);
SWL_CHECK_FIELD(swl_a5_worker_context, bootstrap_start_cycles, 648);
SWL_CHECK_FIELD(swl_a5_worker_context, reserved10, 656);

/* What an executor notes of a task. 128 B. */
typedef struct swl_a5_staged_trace {
	/*       0 */ SWL_ALIGNAS(128) uint64_t generation;
	/*       8 */ uint64_t kernel_start;
	/*      16 */ uint64_t kernel_end;
	/*      24 */ uint64_t ready_scan_start;
	/*      32 */ uint64_t ready_observe;
	/*      40 */ uint8_t reserved[88];
} swl_a5_staged_trace;
SWL_CHECK_TYPE(swl_a5_staged_trace, 128, 128);
SWL_CHECK_FIELD(swl_a5_staged_trace, generation, 0);
SWL_CHECK_FIELD(swl_a5_staged_trace, kernel_start, 8);
SWL_CHECK_FIELD(swl_a5_staged_trace, kernel_end, 16);
SWL_CHECK_FIELD(swl_a5_staged_trace, ready_scan_start, 24);
SWL_CHECK_FIELD(swl_a5_staged_trace, ready_observe, 32);
SWL_CHECK_FIELD(swl_a5_staged_trace, reserved, 40);

/* A place for one task at a core. publication is a state combined with the generation. 256 B. */
typedef struct swl_a5_dispatch_slot {
	/*       0 */ SWL_ALIGNAS(128) int64_t task_id;
	/*       8 */ uint8_t reserved0[32];
	/*      40 */ uint16_t kernel_id;
	/*      42 */ uint8_t subtask_slot;
	/*      43 */ uint8_t reserved1[2];
	/*      45 */ uint8_t pending_slot;
	/*      46 */ uint16_t block_num;
	/*      48 */ uint32_t generation;
	/*      52 */ uint32_t block_idx;
	/*      56 */ uint8_t reserved2[8];
	/*      64 */ uint64_t publication;
	/*      72 */ uint8_t reserved3[56];
	/*     128 */ swl_a5_staged_trace staged;
} swl_a5_dispatch_slot;
SWL_CHECK_TYPE(swl_a5_dispatch_slot, 256, 128);
SWL_CHECK_FIELD(swl_a5_dispatch_slot, task_id, 0);
SWL_CHECK_FIELD(swl_a5_dispatch_slot, reserved0, 8);
SWL_CHECK_FIELD(swl_a5_dispatch_slot, kernel_id, 40);
SWL_CHECK_FIELD(swl_a5_dispatch_slot, subtask_slot, 42);
SWL_CHECK_FIELD(swl_a5_dispatch_slot, reserved1, 43);
SWL_CHECK_FIELD(swl_a5_dispatch_slot, pending_slot, 45);
SWL_CHECK_FIELD(swl_a5_dispatch_slot, block_num, 46);
SWL_CHECK_FIELD(swl_a5_dispatch_slot, generation, 48);
SWL_CHECK_FIELD(swl_a5_dispatch_slot, block_idx, 52);
SWL_CHECK_FIELD(swl_a5_dispatch_slot, reserved2, 56);
SWL_CHECK_FIELD(swl_a5_dispatch_slot, publication, 64);
SWL_CHECK_FIELD(swl_a5_dispatch_slot, reserved3, 72);
SWL_CHECK_FIELD(swl_a5_dispatch_slot, staged, 128);

/* What a task is. 16 B. */
typedef struct swl_a5_task_metadata {
	/*       0 */ SWL_ALIGNAS(16) uint16_t kernel_ids[3];
	/*       6 */ uint8_t active_mask;
	/*       7 */ uint8_t flags;
	/*       8 */ uint16_t block_num;
	/*      10 */ uint16_t required_subtasks;
	/*      12 */ int32_t timing_slot;
} swl_a5_task_metadata;
SWL_CHECK_TYPE(swl_a5_task_metadata, 16, 16);
SWL_CHECK_FIELD(swl_a5_task_metadata, kernel_ids, 0);
SWL_CHECK_FIELD(swl_a5_task_metadata, active_mask, 6);
SWL_CHECK_FIELD(swl_a5_task_metadata, flags, 7);
SWL_CHECK_FIELD(swl_a5_task_metadata, block_num, 8);
SWL_CHECK_FIELD(swl_a5_task_metadata, required_subtasks, 10);
SWL_CHECK_FIELD(swl_a5_task_metadata, timing_slot, 12);

/* The state of a task and its waiting consumers. 128 B. */
typedef struct swl_a5_task_control {
	/*       0 */ SWL_ALIGNAS(128) int64_t state;
	/*       8 */ int64_t wake_list_head;
	/*      16 */ uint8_t reserved0[48];
	/*      64 */ int64_t next_waiter;
	/*      72 */ int32_t next_fanin_index;
	/*      76 */ int32_t waiting_producer;
	/*      80 */ uint64_t completion_resolve_start;
	/*      88 */ uint64_t completion_resolve_end;
	/*      96 */ uint64_t ready_publish;
	/*     104 */ uint64_t scheduler_worker_id;
	/*     112 */ uint64_t completion_resolve_loop_iter;
	/*     120 */ uint8_t reserved1[8];
} swl_a5_task_control;
SWL_CHECK_TYPE(swl_a5_task_control, 128, 128);
SWL_CHECK_FIELD(swl_a5_task_control, state, 0);
SWL_CHECK_FIELD(swl_a5_task_control, wake_list_head, 8);
SWL_CHECK_FIELD(swl_a5_task_control, reserved0, 16);
SWL_CHECK_FIELD(swl_a5_task_control, next_waiter, 64);
SWL_CHECK_FIELD(swl_a5_task_control, next_fanin_index, 72);
SWL_CHECK_FIELD(swl_a5_task_control, waiting_producer, 76);
SWL_CHECK_FIELD(swl_a5_task_control, completion_resolve_start, 80);
SWL_CHECK_FIELD(swl_a5_task_control, completion_resolve_end, 88);
SWL_CHECK_FIELD(swl_a5_task_control, ready_publish, 96);
SWL_CHECK_FIELD(swl_a5_task_control, scheduler_worker_id, 104);
SWL_CHECK_FIELD(swl_a5_task_control, completion_resolve_loop_iter, 112);
SWL_CHECK_FIELD(swl_a5_task_control, reserved1, 120);

/* When each step of a task happened; a start of 0 is a step not taken. 384 B. */
typedef struct swl_a5_task_trace {
	/*       0 */ SWL_ALIGNAS(128) uint64_t valid;
	/*       8 */ uint64_t ready_source;
	/*      16 */ uint64_t worker_id;
	/*      24 */ uint64_t task_id;
	/*      32 */ uint64_t state_probe_scheduler_worker_id;
	/*      40 */ uint64_t state_probe_start;
	/*      48 */ uint64_t state_probe_end;
	/*      56 */ uint64_t publication_mode;
	/*      64 */ uint64_t kernel_start;
	/*      72 */ uint64_t kernel_end;
	/*      80 */ uint64_t completion_end;
	/*      88 */ uint64_t ready_scan_start;
	/*      96 */ uint64_t ready_observe;
	/*     104 */ uint64_t completion_bookkeeping_end;
	/*     112 */ uint64_t completion_id;
	/*     120 */ uint64_t completion_inbox_index;
	/*     128 */ uint64_t ready_transition;
	/*     136 */ uint8_t reserved0[32];
	/*     168 */ uint64_t aicore_entry;
	/*     176 */ uint64_t handshake_publish;
	/*     184 */ uint64_t register_release;
	/*     192 */ uint64_t dispatch_start;
	/*     200 */ uint64_t dispatch_end;
	/*     208 */ uint64_t dispatch_scheduler_worker_id;
	/*     216 */ uint64_t dispatch_loop_iter;
	/*     224 */ uint64_t complete_start;
	/*     232 */ uint64_t complete_end;
	/*     240 */ uint64_t complete_scheduler_worker_id;
	/*     248 */ uint64_t complete_loop_iter;
	/*     256 */ uint64_t refill_scheduler_worker_id;
	/*     264 */ uint64_t refill_start;
	/*     272 */ uint64_t refill_end;
	/*     280 */ uint64_t refill_task_id;
	/*     288 */ uint64_t refill_loop_iter;
	/*     296 */ uint8_t reserved1[24];
	/*     320 */ uint64_t descriptor_cache_observed;
	/*     328 */ uint8_t reserved2[56];
} swl_a5_task_trace;
SWL_CHECK_TYPE(swl_a5_task_trace, 384, 128);
SWL_CHECK_FIELD(swl_a5_task_trace, valid, 0);
SWL_CHECK_FIELD(swl_a5_task_trace, ready_source, 8);
SWL_CHECK_FIELD(swl_a5_task_trace, worker_id, 16);
SWL_CHECK_FIELD(swl_a5_task_trace, task_id, 24);
SWL_CHECK_FIELD(swl_a5_task_trace, state_probe_scheduler_worker_id, 32);
SWL_CHECK_FIELD(swl_a5_task_trace, state_probe_start, 40);
SWL_CHECK_FIELD(swl_a5_task_trace, state_probe_end, 48);
SWL_CHECK_FIELD(swl_a5_task_trace, publication_mode, 56);
SWL_CHECK_FIELD(swl_a5_task_trace, kernel_start, 64);
SWL_CHECK_FIELD(swl_a5_task_trace, kernel_end, 72);
SWL_CHECK_FIELD(swl_a5_task_trace, completion_end, 80);
SWL_CHECK_FIELD(swl_a5_task_trace, ready_scan_start, 88);
SWL_CHECK_FIELD(swl_a5_task_trace, ready_observe, 96);
SWL_CHECK_FIELD(swl_a5_task_trace, completion_bookkeeping_end, 104);
SWL_CHECK_FIELD(swl_a5_task_trace, completion_id, 112);
SWL_CHECK_FIELD(swl_a5_task_trace, completion_inbox_index, 120);
SWL_CHECK_FIELD(swl_a5_task_trace, ready_transition, 128);
SWL_CHECK_FIELD(swl_a5_task_trace, reserved0, 136);
SWL_CHECK_FIELD(swl_a5_task_trace, aicore_entry, 168);
SWL_CHECK_FIELD(swl_a5_task_trace, handshake_publish, 176);
SWL_CHECK_FIELD(swl_a5_task_trace, register_release, 184);
SWL_CHECK_FIELD(swl_a5_task_trace, dispatch_start, 192);
SWL_CHECK_FIELD(swl_a5_task_trace, dispatch_end, 200);
SWL_CHECK_FIELD(swl_a5_task_trace, dispatch_scheduler_worker_id, 208);
SWL_CHECK_FIELD(swl_a5_task_trace, dispatch_loop_iter, 216);
SWL_CHECK_FIELD(swl_a5_task_trace, complete_start, 224);
SWL_CHECK_FIELD(swl_a5_task_trace, complete_end, 232);
SWL_CHECK_FIELD(swl_a5_task_trace, complete_scheduler_worker_id, 240);
SWL_CHECK_FIELD(swl_a5_task_trace, complete_loop_iter, 248);
SWL_CHECK_FIELD(swl_a5_task_trace, refill_scheduler_worker_id, 256);
SWL_CHECK_FIELD(swl_a5_task_trace, refill_start, 264);
SWL_CHECK_FIELD(swl_a5_task_trace, refill_end, 272);
SWL_CHECK_FIELD(swl_a5_task_trace, refill_task_id, 280);
SWL_CHECK_FIELD(swl_a5_task_trace, refill_loop_iter, 288);
SWL_CHECK_FIELD(swl_a5_task_trace, reserved1, 296);
SWL_CHECK_FIELD(swl_a5_task_trace, descriptor_cache_observed, 320);
SWL_CHECK_FIELD(swl_a5_task_trace, reserved2, 328);

/* An idle interval of a scheduler. 24 B. */
typedef struct swl_a5_activity_record {
	/*       0 */ uint64_t start;
	/*       8 */ uint64_t end;
	/*      16 */ uint32_t loop_iter;
	/*      20 */ uint32_t reserved;
} swl_a5_activity_record;
SWL_CHECK_TYPE(swl_a5_activity_record, 24, 8);
SWL_CHECK_FIELD(swl_a5_activity_record, start, 0);
SWL_CHECK_FIELD(swl_a5_activity_record, end, 8);
SWL_CHECK_FIELD(swl_a5_activity_record, loop_iter, 16);
SWL_CHECK_FIELD(swl_a5_activity_record, reserved, 20);

/* The idle intervals of a scheduler; when it is full, only dropped counts. 24640 B. */
typedef struct swl_a5_activity_buffer {
	/*       0 */ SWL_ALIGNAS(64) uint32_t committed;
	/*       4 */ uint32_t dropped;
	/*       8 */ uint8_t reserved0[8];
	/*      16 */ swl_a5_activity_record records[1024];
	/*   24592 */ uint8_t reserved1[48];
} swl_a5_activity_buffer;
SWL_CHECK_TYPE(swl_a5_activity_buffer, 24640, 64);
SWL_CHECK_FIELD(swl_a5_activity_buffer, committed, 0);
SWL_CHECK_FIELD(swl_a5_activity_buffer, dropped, 4);
SWL_CHECK_FIELD(swl_a5_activity_buffer, reserved0, 8);
SWL_CHECK_FIELD(swl_a5_activity_buffer, records, 16);
SWL_CHECK_FIELD(swl_a5_activity_buffer, reserved1, 24592);

/* ======================================================================== */
/* Names without the architecture                                           */
/* ======================================================================== */

#if defined(SWL_ARCH_A2A3) && defined(SWL_ARCH_A5)
#error "define one of SWL_ARCH_A2A3 and SWL_ARCH_A5: an image is built for one architecture"
#endif

#ifdef SWL_ARCH_A2A3
typedef swl_a2a3_data_header swl_data_header;
typedef swl_a2a3_dep_gen_data_header swl_dep_gen_data_header;
typedef swl_a2a3_kernel_args swl_kernel_args;
#define SWL_MAX_BLOCKDIM SWL_A2A3_MAX_BLOCKDIM
#define SWL_MAX_CORES SWL_A2A3_MAX_CORES
#define SWL_MAX_AICPU_THREADS SWL_A2A3_MAX_AICPU_THREADS
#define SWL_DEFAULT_AICPU_THREADS SWL_A2A3_DEFAULT_AICPU_THREADS
#define SWL_MAX_LAUNCH_THREADS SWL_A2A3_MAX_LAUNCH_THREADS
#define SWL_MAX_CORES_PER_THREAD SWL_A2A3_MAX_CORES_PER_THREAD
#define SWL_READYQUEUE_SIZE SWL_A2A3_READYQUEUE_SIZE
#define SWL_SYS_CNT_FREQ SWL_A2A3_SYS_CNT_FREQ
#define SWL_BACKPRESSURE_TIMEOUT SWL_A2A3_BACKPRESSURE_TIMEOUT
#define SWL_SIM_REGISTER_BYTES SWL_A2A3_SIM_REGISTER_BYTES
#define SWL_AICPU_TASK_POOL(grid_cores, i) SWL_A2A3_AICPU_TASK_POOL(grid_cores, i)
#define SWL_AICORE_TASK_POOL(grid_cores, i) SWL_A2A3_AICORE_TASK_POOL(grid_cores, i)
#define SWL_SCHED_PHASE_POOL(grid_cores, i) SWL_A2A3_SCHED_PHASE_POOL(grid_cores, i)
#define SWL_ORCH_PHASE_POOL(grid_cores, i) SWL_A2A3_ORCH_PHASE_POOL(grid_cores, i)
#define SWL_REGION_SIZE(grid_cores) SWL_A2A3_REGION_SIZE(grid_cores)
#endif

#ifdef SWL_ARCH_A5
typedef swl_a5_data_header swl_data_header;
typedef swl_a5_dep_gen_data_header swl_dep_gen_data_header;
typedef swl_a5_kernel_args swl_kernel_args;
#define SWL_MAX_BLOCKDIM SWL_A5_MAX_BLOCKDIM
#define SWL_MAX_CORES SWL_A5_MAX_CORES
#define SWL_MAX_AICPU_THREADS SWL_A5_MAX_AICPU_THREADS
#define SWL_DEFAULT_AICPU_THREADS SWL_A5_DEFAULT_AICPU_THREADS
#define SWL_MAX_LAUNCH_THREADS SWL_A5_MAX_LAUNCH_THREADS
#define SWL_MAX_CORES_PER_THREAD SWL_A5_MAX_CORES_PER_THREAD
#define SWL_READYQUEUE_SIZE SWL_A5_READYQUEUE_SIZE
#define SWL_SYS_CNT_FREQ SWL_A5_SYS_CNT_FREQ
#define SWL_BACKPRESSURE_TIMEOUT SWL_A5_BACKPRESSURE_TIMEOUT
#define SWL_SIM_REGISTER_BYTES SWL_A5_SIM_REGISTER_BYTES
#define SWL_AICPU_TASK_POOL(grid_cores, i) SWL_A5_AICPU_TASK_POOL(grid_cores, i)
#define SWL_AICORE_TASK_POOL(grid_cores, i) SWL_A5_AICORE_TASK_POOL(grid_cores, i)
#define SWL_SCHED_PHASE_POOL(grid_cores, i) SWL_A5_SCHED_PHASE_POOL(grid_cores, i)
#define SWL_ORCH_PHASE_POOL(grid_cores, i) SWL_A5_ORCH_PHASE_POOL(grid_cores, i)
#define SWL_REGION_SIZE(grid_cores) SWL_A5_REGION_SIZE(grid_cores)
#endif

#endif /* SWIMLANE_ABI_H */
