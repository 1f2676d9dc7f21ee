package depgen

import "errors"

// Why there is no file. All but ErrNotClean are the return codes of the replay
// (spec/collector.md §10); −6, two passes that disagree, cannot happen, as there
// is one pass.
var (
	ErrNotClean = errors.New("the capture of dep_gen is not whole")
	ErrNoPath   = errors.New("no path is given (-1)")
	ErrInit     = errors.New("the tensor map cannot be made (-3)")
	ErrFanin    = errors.New("the fan-in of a task failed (-4)")
	ErrWrite    = errors.New("the file cannot be written (-5)")
	ErrRecord   = errors.New("a dep_gen record is broken (-5)")
	ErrKind     = errors.New("unknown bits in the kind of a dependency (-7)")
)

// codes are the numbers of the errors.
var codes = []struct {
	err  error
	code int
}{{ErrNoPath, -1}, {ErrInit, -3}, {ErrFanin, -4}, {ErrWrite, -5}, {ErrRecord, -5}, {ErrKind, -7}}

// Code is the return code of the replay: 0 without an error, and for an error
// of no replay.
func Code(err error) int {
	for _, c := range codes {
		if errors.Is(err, c.err) {
			return c.code
		}
	}
	return 0
}
