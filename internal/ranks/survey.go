package ranks

import (
	"fmt"
	"os"
	"path/filepath"

	"swimlane/capture"
)

// Directory is a directory rankN/dK of a tree, as it lies there.
type Directory struct {
	Rank     int
	Path     string
	Dispatch string    // name of the directory
	Records  string    // "" if there are none, or it is not clear which
	Sidecar  string    // path, "" if there is none
	Identity *Identity // what it says; nil if it is invalid
	Err      error     // what is wrong with the sidecar, or with the directory
}

func (d *Directory) look() {
	var err error
	d.Records, d.Err = recordsOf(d.Path)
	records := d.Records
	if records == "" {
		records = filepath.Join(d.Path, capture.FileName)
	}
	if path := capture.Beside(records, IdentityFile); isFile(path) {
		d.Sidecar = path
	}
	if !dispatchName.MatchString(d.Dispatch) {
		d.Err = fmt.Errorf("invalid capture directory name: %s (expected dN)", d.Path)
		return
	}
	if d.Identity, err = readIdentity(records); d.Err == nil {
		d.Err = err
	}
}

func isFile(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular()
}

// Survey is what lies in a tree, whether it can be merged or not.
type Survey struct {
	Ranks       []string // names of the directories of ranks that have none below them
	Directories []Directory
	Nodes       []string // directories of nodes, if that is what the tree has instead of ranks
}

// Look lists what lies in a tree. The error says that the directories of the ranks
// make no sense (spec/l3.md §4.1); what they hold is not looked at then.
func Look(root string) (*Survey, error) {
	out := &Survey{}
	found, err := discover(root)
	if err != nil {
		out.Nodes = nodes(root)
		return out, err
	}
	for _, r := range found {
		list := dispatches(filepath.Join(root, r.name))
		if len(list) == 0 {
			out.Ranks = append(out.Ranks, r.name)
		}
		for _, d := range list {
			x := Directory{Rank: r.rank, Path: filepath.Join(root, r.name, d.name), Dispatch: d.name}
			x.look()
			out.Directories = append(out.Directories, x)
		}
	}
	return out, nil
}
