package ranks

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"swimlane/capture"
	"swimlane/internal/jsonscan"
)

// IdentityFile is the name of the sidecar that says which dispatch a capture is of.
const IdentityFile = "dispatch_identity.json"

// Identity is the sidecar of a capture (spec/l3.md §2.1).
type Identity struct {
	RunID, TaskSlot       int64
	GroupIndex, GroupSize int64 // a size of 1 is an individual submission
	HostPID               int64 // process that served the dispatch, 0 if it is not stated
	Dispatch              Dispatch
	Digest                string // of the callable
	JSON                  []byte // the whole document
}

// Dispatch says which dispatch of a worker a run was. The host's log names it in
// the attributes of chip.run.
type Dispatch struct {
	Run, ID, Slot, Generation int64
}

func (d *Dispatch) String() string {
	return fmt.Sprintf("run %d dispatch %d slot %d generation %d", d.Run, d.ID, d.Slot, d.Generation)
}

// Parent is the submission that the dispatches of a group belong to.
type Parent struct{ Run, Slot int64 }

func (p Parent) String() string { return fmt.Sprintf("%d:%d", p.Run, p.Slot) }

// Parent is the submission that the capture belongs to.
func (id *Identity) Parent() Parent { return Parent{id.RunID, id.TaskSlot} }

var digestText = regexp.MustCompile(`^[0-9a-f]{64}$`)

// identityFields are the integers of a sidecar in the order in which they are checked.
var identityFields = []string{"run_id", "task_slot", "group_index", "group_size", "chip_rank",
	"local_capture_index", "endpoint_dispatch_id", "pipeline_slot", "pipeline_generation"}

// readIdentity reads the sidecar of a records file in rankN/dN, nil if there is
// none. That of a retained run lies beside the records or one directory above.
func readIdentity(records string) (*Identity, error) {
	path := capture.Beside(records, IdentityFile)
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("cannot read %w", err)
	}
	return parseIdentity(path, data)
}

// sidecar is a sidecar while it is checked.
type sidecar struct {
	object bool
	ints   map[string]int64 // what is an integer
	has    map[string]bool
	digest string
	text   []byte
}

func scanSidecar(path string, data []byte) (*sidecar, error) {
	s := jsonscan.New(bytes.NewReader(data))
	c := &sidecar{ints: map[string]int64{}, has: map[string]bool{}}
	c.object = s.Peek() == jsonscan.Object
	if !c.object {
		s.Skip()
	} else {
		c.text = append(c.text, '{')
		s.BeginObject()
		for key, ok := s.Key(); ok; key, ok = s.Key() {
			name := string(key)
			if len(c.text) > 1 {
				c.text = append(c.text, ',')
			}
			c.text = append(jsonscan.AppendString(c.text, name), ':')
			from := len(c.text)
			c.text = s.Raw(c.text)
			c.take(name, c.text[from:])
		}
		c.text = append(c.text, '}')
	}
	if err := s.End(); err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", path, err)
	}
	return c, nil
}

func (c *sidecar) take(name string, value []byte) {
	c.has[name] = true
	if v, ok := jsonscan.ParseInt(value); ok {
		if n, fits := v.Int64(); fits {
			c.ints[name] = n
		}
	}
	if name == "callable_digest" && len(value) > 1 && value[0] == '"' {
		c.digest = string(value[1 : len(value)-1])
	}
}

// parseIdentity checks a sidecar in the order of spec/l3.md §2.1.
func parseIdentity(path string, data []byte) (*Identity, error) {
	c, err := scanSidecar(path, data)
	if err != nil {
		return nil, err
	}
	refuse := func(format string, args ...any) (*Identity, error) {
		return nil, fmt.Errorf("%s: %s", fmt.Sprintf(format, args...), path)
	}
	if version, ok := c.ints["schema_version"]; !c.object || !ok || version != 1 {
		return refuse("unsupported dispatch identity schema")
	}
	for _, field := range identityFields {
		if _, ok := c.ints[field]; !ok {
			return refuse("dispatch identity %s must be an integer", field)
		}
	}
	v := c.ints
	id := &Identity{
		RunID: v["run_id"], TaskSlot: v["task_slot"], GroupIndex: v["group_index"], GroupSize: v["group_size"], HostPID: v["host_pid"],
		Dispatch: Dispatch{v["run_id"], v["endpoint_dispatch_id"], v["pipeline_slot"], v["pipeline_generation"]},
		Digest:   c.digest, JSON: c.text,
	}
	switch {
	case id.RunID <= 0 || id.TaskSlot < 0:
		return refuse("dispatch identity has an invalid parent key")
	case id.Dispatch.ID <= 0 || id.Dispatch.Slot < 0 || id.Dispatch.Generation <= 0:
		return refuse("dispatch identity has invalid endpoint diagnostics")
	case id.GroupSize <= 0 || id.GroupIndex < 0 || id.GroupIndex >= id.GroupSize:
		return refuse("dispatch identity has invalid group membership")
	case c.has["host_pid"] && id.HostPID <= 0:
		return refuse("dispatch identity host_pid must be a positive integer")
	case !digestText.MatchString(id.Digest):
		return refuse("dispatch identity has an invalid callable digest")
	}
	dir := filepath.Dir(path)
	if strings.HasPrefix(filepath.Base(dir), "swimlane-") {
		dir = filepath.Dir(dir)
	}
	rank := rankName.FindStringSubmatch(filepath.Base(filepath.Dir(dir)))
	index := dispatchName.FindStringSubmatch(filepath.Base(dir))
	if rank == nil || index == nil {
		return refuse("dispatch identity is not below rankN/dN")
	}
	if !sameNumber(rank[1], v["chip_rank"]) || !sameNumber(index[1], v["local_capture_index"]) {
		return refuse("dispatch identity disagrees with its rankN/dN path")
	}
	return id, nil
}

func sameNumber(digits string, n int64) bool {
	v, err := strconv.ParseInt(digits, 10, 64)
	return err == nil && v == n
}
