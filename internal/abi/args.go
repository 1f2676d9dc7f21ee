package abi

// KernelArgs are the launch arguments that lead a device image to its
// diagnostics, as offsets of fields (spec/device-abi.md §8). The structure has
// more fields than these, and they differ by architecture: see [Structs].
type KernelArgs struct {
	Regs                            uint64 // u64, address of the cores' register bases
	ChipSwimlaneDataBase            uint64 // u64, address of the swimlane's region
	ChipSwimlaneAicoreRotationTable uint64 // u64, address of a table of one u64 per core: the head of its AicoreTask pool
	DepGenDataBase                  uint64 // u64, address of dep_gen's region
	EnableProfilingFlag             uint64 // u32, see EnableSwimlane
	Size                            int
}

// NewKernelArgs lays out the arguments of an architecture.
func NewKernelArgs(a *Arch) *KernelArgs {
	s := kernelArgsFields(a)
	return &KernelArgs{
		Regs:                            s.offset("regs"),
		ChipSwimlaneDataBase:            s.offset("chip_swimlane_data_base"),
		ChipSwimlaneAicoreRotationTable: s.offset("chip_swimlane_aicore_rotation_table"),
		DepGenDataBase:                  s.offset("dep_gen_data_base"),
		EnableProfilingFlag:             s.offset("enable_profiling_flag"),
		Size:                            s.Size,
	}
}

// kernelArgsFields is the whole structure. An image is compiled against it, so a
// host keeps the fields that it does not use.
func kernelArgsFields(a *Arch) Struct {
	addresses, words := []string{
		"runtime_args", "regs", "ffts_base_addr", "dump_data_base", "chip_swimlane_data_base", "pmu_data_base", "pmu_reg_addrs",
		"dep_gen_data_base", "scope_stats_data_base", "chip_swimlane_aicore_rotation_table", "device_wall_data_base",
	}, []string{"enable_profiling_flag"}
	if a == A5 {
		addresses, words = []string{
			"runtime_args", "regs", "dump_data_base", "chip_swimlane_data_base", "pmu_data_base", "dep_gen_data_base",
			"chip_swimlane_aicore_rotation_table", "aicore_pmu_ring_addrs", "scope_stats_data_base", "device_wall_data_base",
		}, []string{"enable_profiling_flag", "force_simt_anchor"}
	}
	b := builder{Struct{Name: a.cName("kernel_args"), Doc: "Arguments of a launch. Addresses are device addresses."}}
	for _, name := range addresses {
		b.field(name, "uint64_t")
	}
	for _, name := range words {
		b.field(name, "uint32_t")
	}
	return b.padTo(8)
}
