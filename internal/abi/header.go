package abi

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

//go:generate go test -run ^TestHeaderIsCurrent$ . -update

// WriteHeader writes the C header of both architectures: swimlane_abi.h, for C11
// and C++11.
func WriteHeader(w io.Writer) error {
	h := &headerWriter{}
	h.WriteString(headerOpening)
	h.section("Both architectures")
	for _, d := range commonDefines() {
		h.defines(d)
	}
	h.WriteString(headerTokens)
	for _, s := range commonStructs() {
		h.structure(s)
	}
	for _, a := range []*Arch{A2A3, A5} {
		h.section(a.Name)
		h.defines(archDefines(a))
		for _, s := range archStructs(a) {
			h.structure(s)
		}
		h.pools(a)
		for _, d := range schedulerDefines(a) {
			h.defines(d)
		}
		for _, s := range schedulerStructs(a) {
			h.structure(s)
		}
	}
	h.section("Names without the architecture")
	h.shortNames()
	h.WriteString(headerClosing)
	_, err := w.Write(h.Bytes())
	return err
}

const headerOpening = `/*
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
`

const headerTokens = `
/* What COND holds when a core takes a task, and when it has finished it. */
#define SWL_ACK(token) ((uint32_t)(token) & SWL_TASK_ID_MASK)
#define SWL_FIN(token) (((uint32_t)(token) & SWL_TASK_ID_MASK) | SWL_STATE_MASK)
`

const headerClosing = `
#endif /* SWIMLANE_ABI_H */
`

type headerWriter struct{ bytes.Buffer }

func (h *headerWriter) printf(format string, args ...any) { fmt.Fprintf(h, format, args...) }

func (h *headerWriter) section(title string) {
	h.printf("\n/* %s */\n", strings.Repeat("=", 72))
	h.printf("/* %-72s */\n", title)
	h.printf("/* %s */\n", strings.Repeat("=", 72))
}

// defines writes constants of one subject, their values and notes in columns.
func (h *headerWriter) defines(d defines) {
	h.printf("\n/* %s. */\n", d.title)
	names, values := 0, 0
	for _, c := range d.list {
		names, values = max(names, len(d.prefix+c.name)), max(values, len(cValue(c.value)))
	}
	if d.enum != "" {
		h.printf("enum %s {\n", d.enum)
	}
	for i, c := range d.list {
		line := fmt.Sprintf("#define %-*s %s", names, d.prefix+c.name, cValue(c.value))
		width := len("#define ") + names + 1 + values
		if d.enum != "" {
			comma := ","
			if i == len(d.list)-1 {
				comma = ""
			}
			line = fmt.Sprintf("\t%-*s = %s%s", names, d.prefix+c.name, cValue(c.value), comma)
			width = len("\t = ,") + names + values
		}
		if c.note != "" {
			line = fmt.Sprintf("%-*s /* %s */", width, line, c.note)
		}
		h.printf("%s\n", line)
	}
	if d.enum != "" {
		h.printf("};\n")
	}
}

// cValue is a constant in C.
func cValue(v any) string {
	switch v := v.(type) {
	case uint32:
		return fmt.Sprintf("UINT32_C(0x%X)", v)
	case uint64:
		return fmt.Sprintf("UINT64_C(%d)", v)
	case int:
		if v < 0 {
			return fmt.Sprintf("(%d)", v)
		}
		return fmt.Sprint(v)
	}
	panic(fmt.Sprintf("abi: no form in C for a %T", v))
}

// structure declares a structure and asserts its layout.
func (h *headerWriter) structure(s Struct) {
	h.printf("\n/* %s %d B. */\n", s.Doc, s.Size)
	h.printf("typedef struct %s {\n", s.Name)
	for i, f := range s.Fields {
		h.printf("\t/* %7d */ ", f.Offset)
		if i == 0 && s.Align > 8 { // no field asks for more by itself
			h.printf("SWL_ALIGNAS(%d) ", s.Align)
		}
		if f.Shared {
			h.printf("SWL_PUBLISHED ")
		}
		h.printf("%s %s", f.Type, f.Name)
		for _, n := range f.Counts {
			h.printf("[%d]", n)
		}
		h.printf(";\n")
	}
	h.printf("} %s;\n", s.Name)
	h.printf("SWL_CHECK_TYPE(%s, %d, %d);\n", s.Name, s.Size, s.Align)
	for _, f := range s.Fields {
		h.printf("SWL_CHECK_FIELD(%s, %s, %d);\n", s.Name, f.Name, f.Offset)
	}
}

// poolArrays are the arrays of pools behind the header, in their order.
var poolArrays = [Kinds]string{"AICPU_TASK_POOL", "AICORE_TASK_POOL", "SCHED_PHASE_POOL", "ORCH_PHASE_POOL"}

// pools writes the offsets of the pools as macros: device compilers want marks of
// their own on functions.
func (h *headerWriter) pools(a *Arch) {
	prefix := archPrefix(a)
	h.printf(`
/*
 * Offsets of pool i in the region, and the region's size. Each array begins where
 * the one before it ends. grid_cores is how many pools the arrays per core have:
 * host and device must use the same number. The arrays per thread always have
 * %sMAX_AICPU_THREADS, however many threads run.
 */
`, prefix)
	begin := fmt.Sprintf("sizeof(%s)", a.cName("data_header"))
	for i, name := range poolArrays {
		h.printf("#define %s%s(grid_cores, i) (%s + SWL_POOL_SIZE * (uint64_t)(i))\n", prefix, name, begin)
		pools := "grid_cores"
		if i >= 2 {
			pools = prefix + "MAX_AICPU_THREADS"
		}
		begin = fmt.Sprintf("%s%s(grid_cores, %s)", prefix, name, pools)
	}
	h.printf("#define %sREGION_SIZE(grid_cores) %s\n", prefix, begin)
}

// shortNames gives the architecture that an image is built for to the names of
// what both have.
func (h *headerWriter) shortNames() {
	h.printf(`
#if defined(SWL_ARCH_A2A3) && defined(SWL_ARCH_A5)
#error "define one of SWL_ARCH_A2A3 and SWL_ARCH_A5: an image is built for one architecture"
#endif
`)
	for _, a := range []*Arch{A2A3, A5} {
		prefix := archPrefix(a)
		h.printf("\n#ifdef SWL_ARCH_%s\n", strings.ToUpper(a.Name))
		for _, s := range archStructs(a) {
			h.printf("typedef %s swl_%s;\n", s.Name, strings.TrimPrefix(s.Name, a.cName("")))
		}
		for _, c := range archDefines(a).list {
			h.printf("#define SWL_%s %s%s\n", c.name, prefix, c.name)
		}
		for _, name := range poolArrays {
			h.printf("#define SWL_%s(grid_cores, i) %s%s(grid_cores, i)\n", name, prefix, name)
		}
		h.printf("#define SWL_REGION_SIZE(grid_cores) %sREGION_SIZE(grid_cores)\n", prefix)
		h.printf("#endif\n")
	}
}
