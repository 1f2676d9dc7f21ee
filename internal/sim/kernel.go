package sim

import (
	"fmt"

	"swimlane/internal/abi"
)

// Kernel is what a core runs for a subtask.
type Kernel struct {
	ID   int32 // func_id
	Name string
	Type abi.CoreType
	Run  func(*Call) uint64 // computes, and tells how many cycles of the chip's counter that takes
}

// Call is one run of a kernel: a block of a task on a core.
type Call struct {
	Task    uint64 // its id
	Args    []abi.Tensor
	Scalars []uint64
	Block   int // of Blocks
	Blocks  int
	Lane    int // of the AIVs of a cluster: 0 or 1
	Space   abi.Space
}

// Use is an argument as a matrix of rows. An argument that is none of that type
// ends the run with an error.
func Use[E Element](c *Call, arg int) View[E] {
	if arg < 0 || arg >= len(c.Args) {
		panic(fmt.Sprintf("the kernel uses argument %d of %d", arg, len(c.Args)))
	}
	v, err := ViewOf[E](c.Space, &c.Args[arg])
	if err != nil {
		panic(fmt.Sprintf("argument %d: %v", arg, err))
	}
	return v
}
