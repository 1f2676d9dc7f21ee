package abi_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"swimlane/internal/abi"
)

var update = flag.Bool("update", false, "write the C header")

const headerFile = "swimlane_abi.h"

func TestHeaderIsCurrent(t *testing.T) {
	var want bytes.Buffer
	if err := abi.WriteHeader(&want); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(headerFile, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(headerFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Errorf("%s is not what WriteHeader writes: run go generate ./internal/abi", headerFile)
	}
}

func TestHeaderIsASCII(t *testing.T) {
	for i, line := range strings.Split(header(t), "\n") {
		for _, r := range line {
			if r > '~' {
				t.Errorf("line %d: %q, which not every compiler takes", i+1, r)
			}
		}
	}
}

type failing struct{}

var errFull = errors.New("full")

func (failing) Write([]byte) (int, error) { return 0, errFull }

func TestWriteHeaderReportsErrors(t *testing.T) {
	if err := abi.WriteHeader(failing{}); !errors.Is(err, errFull) {
		t.Errorf("error %v, want %v", err, errFull)
	}
}

// header is the header as it would be written now.
func header(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	if err := abi.WriteHeader(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// compile runs a compiler over a source that may include the header, in a
// directory of its own, which it returns. Without the compiler it skips the test.
func compile(t *testing.T, compiler, source string, args ...string) string {
	t.Helper()
	path, err := exec.LookPath(compiler)
	if err != nil {
		t.Skipf("%s is not installed, so nothing compiles the header: %v", compiler, err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{headerFile: header(t), "main.c": source} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(path, append(args, "main.c")...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	return dir
}

// TestHeaderCompiles: the header's own assertions hold in both languages, with
// and without each of its options, and it is clean of warnings. Where only g++ is
// missing, C has to do.
func TestHeaderCompiles(t *testing.T) {
	strict := []string{"-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"}
	short := `#include "swimlane_abi.h"
		#include "swimlane_abi.h"
		SWL_ASSERT(sizeof(swl_data_header) == HEADER && SWL_MAX_CORES == CORES && sizeof(swl_kernel_args) == ARGS, "short names");
		SWL_ASSERT(sizeof(swl_dep_gen_data_header) == DEP_GEN, "short name of dep_gen's header");
		SWL_ASSERT(SWL_REGION_SIZE(SWL_MAX_CORES) == REGION && SWL_ORCH_PHASE_POOL(24, 0) == ORCH, "pools");
		uint32_t f(swl_free_queue *q);
		uint32_t f(swl_free_queue *q) { return q->tail; }
		uint64_t g(const swl_active_head *h);
		uint64_t g(const swl_active_head *h) { return h->current_buf_ptr; }`
	both := `#include "swimlane_abi.h"
		SWL_ASSERT(sizeof(swl_a2a3_data_header) != sizeof(swl_a5_data_header), "both at once");`
	for _, language := range [][]string{{"gcc", "-std=c11"}, {"g++", "-std=c++11", "-x", "c++"}} {
		t.Run(language[0], func(t *testing.T) {
			if _, err := exec.LookPath(language[0]); err != nil && language[0] != "gcc" {
				t.Logf("nothing compiles the header as C++: %v", err)
				return
			}
			args := append(language[1:], strict...)
			compile(t, language[0], both, args...)
			compile(t, language[0], both, append(args, "-DSWL_PUBLISHED=")...)
			compile(t, language[0], short, append(args, "-DSWL_ARCH_A2A3", "-DHEADER=127168", "-DCORES=72", "-DARGS=96", "-DREGION=156352", "-DORCH=137152", "-DDEP_GEN=1088")...)
			compile(t, language[0], short, append(args, "-DSWL_ARCH_A5", "-DHEADER=233152", "-DCORES=108", "-DARGS=88", "-DREGION=276544", "-DORCH=243328", "-DDEP_GEN=1344")...)
		})
	}
}

// TestCompiledLayout asks a C compiler for every size, alignment, offset and
// constant, and compares with the tables and with what Structs says.
func TestCompiledLayout(t *testing.T) {
	const line = "\tprintf(\"%%s %%llu\\n\", %q, (unsigned long long)(%s));\n"
	var program strings.Builder
	program.WriteString("#include <stdio.h>\n#include \"swimlane_abi.h\"\nint main(void) {\n")
	want := map[string]uint64{}
	ask := func(expression string, n uint64) {
		if w, ok := want[expression]; ok {
			if w != n {
				t.Errorf("%s is %d in the tables and %d in Structs", expression, w, n)
			}
			return
		}
		want[expression] = n
		fmt.Fprintf(&program, line, expression, expression)
	}
	for _, a := range []*abi.Arch{abi.A2A3, abi.A5} {
		for name, l := range layouts(a) {
			ask("sizeof("+name+")", uint64(l.size))
			ask("_Alignof("+name+")", uint64(l.align))
			for field, f := range l.list(t) {
				ask(fmt.Sprintf("offsetof(%s, %s)", name, field), uint64(f.offset))
			}
		}
		for _, s := range abi.Structs(a) {
			for _, f := range s.Fields {
				ask(fmt.Sprintf("offsetof(%s, %s)", s.Name, f.Name), uint64(f.Offset))
				ask(fmt.Sprintf("sizeof(((%s *)0)->%s)", s.Name, f.Name), uint64(f.Size))
			}
		}
	}
	for name, n := range cConstants {
		ask(name, uint64(n))
	}
	for _, r := range regions {
		prefix := "SWL_" + strings.ToUpper(r.arch.Name)
		ask(fmt.Sprintf("%s_AICPU_TASK_POOL(%d, 0)", prefix, r.cores), r.header)
		ask(fmt.Sprintf("%s_AICPU_TASK_POOL(%d, 2)", prefix, r.cores), r.header+384)
		ask(fmt.Sprintf("%s_AICORE_TASK_POOL(%d, 0)", prefix, r.cores), r.aicore)
		ask(fmt.Sprintf("%s_SCHED_PHASE_POOL(%d, 0)", prefix, r.cores), r.sched)
		ask(fmt.Sprintf("%s_ORCH_PHASE_POOL(%d, 1)", prefix, r.cores), r.orch+192)
		ask(fmt.Sprintf("%s_REGION_SIZE(%d)", prefix, r.cores), r.total)
	}
	ask("SWL_ACK(0x80000011u)", 0x11)
	ask("SWL_FIN(0x11)", 0x80000011)
	program.WriteString("\treturn 0;\n}\n")

	dir := compile(t, "gcc", program.String(), "-std=c11", "-Wall", "-Wextra", "-Werror", "-o", "layout")
	out, err := exec.Command(filepath.Join(dir, "layout")).Output()
	if err != nil {
		t.Fatal(err)
	}
	for text := range strings.Lines(string(out)) {
		text = strings.TrimSpace(text)
		i := strings.LastIndexByte(text, ' ')
		got, err := strconv.ParseUint(text[i+1:], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if w, ok := want[text[:i]]; !ok || got != w {
			t.Errorf("%s is %d in C, want %d", text[:i], got, w)
		}
		delete(want, text[:i])
	}
	for expression := range want {
		t.Errorf("the program does not print %s", expression)
	}
}

// cConstants are the constants of the header, typed by hand from
// spec/device-abi.md §1, §3, §4, §9 and §10.
var cConstants = map[string]int64{
	"SWL_CORES_PER_BLOCKDIM": 3, "SWL_PROF_BUFFER_SIZE": 1000, "SWL_AICORE_BUFFER_SIZE": 1024, "SWL_PHASE_RECORDS_PER_THREAD": 16384,
	"SWL_PROF_SLOT_COUNT": 4, "SWL_PROF_BUFFERS_PER_CORE": 8, "SWL_AICORE_BUFFERS_PER_CORE": 4, "SWL_SCHED_BUFFERS_PER_THREAD": 6,
	"SWL_ORCH_BUFFERS_PER_THREAD": 8, "SWL_READYQUEUE_BUFFERS_PER_THREAD": 16, "SWL_HOST_PHASE_RECORDS_PER_BUFFER": 512,
	"SWL_HOST_PHASE_BUFFERS": 24, "SWL_POOL_SIZE": 192, "SWL_PROF_TIMEOUT_SECONDS": 30, "SWL_UPTIME_HZ": 1000000,

	"SWL_REG_DATA_MAIN_BASE": 0, "SWL_REG_COND": 1, "SWL_TASK_ID_MASK": 0x7FFFFFFF, "SWL_STATE_MASK": 0x80000000,
	"SWL_TOKEN_MAX": 0x7FFFFFEF, "SWL_TOKEN_EXIT": 0x7FFFFFF0, "SWL_TOKEN_AICPU_IDLE": 0x7FFFFFFD, "SWL_TOKEN_AICORE_EXITED": 0x7FFFFFFE,
	"SWL_TOKEN_AICORE_IDLE": 0x7FFFFFFF, "SWL_EMPTY_SLOT": -1,

	"SWL_ENABLE_ARGS_DUMP": 1, "SWL_ENABLE_SWIMLANE": 2, "SWL_ENABLE_PMU": 4, "SWL_ENABLE_DEP_GEN": 8, "SWL_ENABLE_SCOPE_STATS": 16,
	"SWL_CORE_AIC": 0, "SWL_CORE_AIV": 1,
	"SWL_SHAPE_AIC": 0, "SWL_SHAPE_AIV": 1, "SWL_SHAPE_MIX": 2, "SWL_SHAPE_COUNT": 3,
	"SWL_LEVEL_DISABLED": 0, "SWL_LEVEL_TASK_TIMING": 1, "SWL_LEVEL_SCHEDULE_TIMING": 2, "SWL_LEVEL_SCHED_PHASES": 3, "SWL_LEVEL_ORCH_PHASES": 4,
	"SWL_KIND_AICPU_TASK": 0, "SWL_KIND_SCHED_PHASE": 1, "SWL_KIND_ORCH_PHASE": 2, "SWL_KIND_AICORE_TASK": 3,
	"SWL_PHASE_COMPLETE": 0, "SWL_PHASE_DISPATCH": 1, "SWL_PHASE_RELEASE": 2, "SWL_PHASE_DUMMY": 4, "SWL_PHASE_EARLY_DISPATCH": 5,
	"SWL_PHASE_RESOLVE": 6, "SWL_PHASE_DUMMY_TASK": 7, "SWL_PHASE_DRAIN": 8, "SWL_PHASE_DRAIN_PREPARE": 9, "SWL_PHASE_DRAIN_PUBLISH": 10,
	"SWL_PHASE_ASYNC_POLL": 11, "SWL_PHASE_PREDICATED_SKIP": 12, "SWL_PHASE_GRAPH_PREPARE": 13, "SWL_PHASE_RESOLVE_STANDALONE": 14,

	"SWL_DEP_GEN_READYQUEUE_SIZE": 8, "SWL_DEP_GEN_INSTANCES": 1, "SWL_DEP_GEN_BUFFERS_PER_INSTANCE": 4, "SWL_DEP_GEN_RECORDS_PER_BUFFER": 1024,
	"SWL_DEP_GEN_INLINE_DEPS": 64, "SWL_DEP_GEN_OVERFLOW_DEPS": 524, "SWL_DEP_GEN_NO_KINDS_OVERFLOW_DEPS": 582, "SWL_DEP_GEN_MAX_TENSORS": 32,
	"SWL_DEP_GEN_MANUAL_SCOPE": 1, "SWL_DEP_GEN_HAS_OVERFLOW": 2, "SWL_DEP_GEN_OVERFLOWED": 4, "SWL_DEP_GEN_LAST_OVERFLOW": 8,
	"SWL_DEP_GEN_EARLY_DISPATCH": 16, "SWL_DEP_WAIT": 1, "SWL_DEP_RETAIN": 2, "SWL_NO_OWNER": -1, // all ones
	"SWL_ARG_INPUT": 0, "SWL_ARG_OUTPUT": 1, "SWL_ARG_INOUT": 2, "SWL_ARG_OUTPUT_EXISTING": 3, "SWL_ARG_NO_DEP": 4,
	"SWL_DTYPE_FLOAT32": 0, "SWL_DTYPE_FLOAT16": 1, "SWL_DTYPE_INT32": 2, "SWL_DTYPE_INT16": 3, "SWL_DTYPE_INT8": 4, "SWL_DTYPE_UINT8": 5,
	"SWL_DTYPE_BFLOAT16": 6, "SWL_DTYPE_INT64": 7, "SWL_DTYPE_UINT64": 8, "SWL_DTYPE_UINT16": 9, "SWL_DTYPE_UINT32": 10, "SWL_DTYPE_BOOL": 11,
	"SWL_DTYPE_FP8E4M3FN": 12, "SWL_DTYPE_FP8E8M0": 13, "SWL_DTYPE_FP4E2M1": 14,

	"SWL_A2A3_MAX_BLOCKDIM": 24, "SWL_A2A3_MAX_CORES": 72, "SWL_A2A3_MAX_AICPU_THREADS": 4, "SWL_A2A3_DEFAULT_AICPU_THREADS": 4,
	"SWL_A2A3_MAX_LAUNCH_THREADS": 6, "SWL_A2A3_MAX_CORES_PER_THREAD": 72, "SWL_A2A3_READYQUEUE_SIZE": 992, "SWL_A2A3_SYS_CNT_FREQ": 50000000,
	"SWL_A2A3_BACKPRESSURE_TIMEOUT": 1500000000, "SWL_A2A3_SIM_REGISTER_BYTES": 0x1400,

	"SWL_A5_MAX_BLOCKDIM": 36, "SWL_A5_MAX_CORES": 108, "SWL_A5_MAX_AICPU_THREADS": 5, "SWL_A5_DEFAULT_AICPU_THREADS": 5,
	"SWL_A5_MAX_LAUNCH_THREADS": 14, "SWL_A5_MAX_CORES_PER_THREAD": 108, "SWL_A5_READYQUEUE_SIZE": 1456, "SWL_A5_SYS_CNT_FREQ": 1000000000,
	"SWL_A5_BACKPRESSURE_TIMEOUT": 30000000000, "SWL_A5_SIM_REGISTER_BYTES": 0x4000,

	"SWL_A5_SCHEDULER_STATE_ALIGN": 128, "SWL_A5_WORKER_CAPACITY": 108, "SWL_A5_PENDING_SLOTS": 2, "SWL_A5_CALLABLE_CAPACITY": 1024,
	"SWL_A5_CORE_TYPES": 2, "SWL_A5_CLUSTER_CAPACITY": 36, "SWL_A5_SCHEDULER_CAPACITY": 36, "SWL_A5_GANG_COHORTS": 2, "SWL_A5_ACTIVITY_CAPACITY": 1024,
	"SWL_A5_COMPLETION_INBOX_SIZE": 64, "SWL_A5_READY_INBOX_SIZE": 128, "SWL_A5_READY_OWNER_STATE_SIZE": 128, "SWL_A5_READY_DIRECTORY_SIZE": 1664,
	"SWL_A5_GANG_COORDINATOR_SIZE": 256, "SWL_A5_GANG_COHORT_SIZE": 128, "SWL_A5_GANG_PARTICIPANT_SIZE": 128, "SWL_A5_GANG_COMMAND_SIZE": 128,
	"SWL_A5_PUBLICATION_EMPTY": 0, "SWL_A5_PUBLICATION_FREE": 1, "SWL_A5_PUBLICATION_FILLING": 2, "SWL_A5_PUBLICATION_READY": 3, "SWL_A5_PUBLICATION_GATED": 4,
	"SWL_A5_TASK_FLAG_EXECUTABLE": 1, "SWL_A5_TASK_FLAG_HAS_FANIN": 2, "SWL_A5_TASK_FLAG_MIX": 4, "SWL_A5_TASK_FLAG_SPMD": 8,
	"SWL_A5_TASK_FLAG_SYNC_START": 16, "SWL_A5_TASK_FLAG_INLINE": 32, "SWL_A5_TASK_FLAG_PREDICATE": 64,
	"SWL_A5_TASK_BLOCKED": 0, "SWL_A5_TASK_READY": 1, "SWL_A5_TASK_DONE": 2, "SWL_A5_TASK_DISPATCHING": 3,
	"SWL_A5_WAKE_LIST_OPEN": -1, "SWL_A5_WAKE_LIST_CLOSED": -2, "SWL_A5_READY_LOCAL": 0, "SWL_A5_READY_STOLEN": 1,
	"SWL_A5_PUBLISHED_BY_DISPATCH": 0, "SWL_A5_PUBLISHED_BY_REFILL": 1,
}

var (
	// constant finds a constant of the header: a macro with a value of its own, or
	// an enumerator.
	constant  = regexp.MustCompile(`(?m)^(?:#define (SWL_\w+) +(?:\(-|\d|UINT)|\t(SWL_\w+) += )`)
	publisher = regexp.MustCompile(`\bSWL_PUBLISHED u`)
)

// TestEveryConstantIsChecked: the header has the constants of the table, each
// once, and no others.
func TestEveryConstantIsChecked(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range constant.FindAllStringSubmatch(header(t), -1) {
		name := m[1] + m[2]
		if seen[name] {
			t.Errorf("%s is defined twice", name)
		}
		seen[name] = true
		if _, ok := cConstants[name]; !ok {
			t.Errorf("%s is not in the table of constants", name)
		}
	}
	for name := range cConstants {
		if !seen[name] {
			t.Errorf("the header lacks %s", name)
		}
	}
	if got, want := len(publisher.FindAllString(header(t), -1)), len(published); got != want {
		t.Errorf("%d fields are marked as publishing words, want %d", got, want)
	}
}
