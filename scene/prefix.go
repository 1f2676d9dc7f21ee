package scene

import (
	"fmt"
	"os"
	"path/filepath"

	"swimlane/internal/collector"
	"swimlane/internal/depgen"
)

// claimPrefix makes the directory of a run's artifacts, and keeps other runs out of it
// until it is freed. One that holds a capture belongs to the run that made it.
func claimPrefix(dir string) (free func(), err error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	free, err = lockDir(dir)
	if err != nil {
		return nil, err
	}
	for _, pattern := range []string{collector.RecordsFile, depgen.FileName, "rank[0-9]*"} {
		if found, _ := filepath.Glob(filepath.Join(dir, pattern)); len(found) > 0 {
			free()
			return nil, fmt.Errorf("%s is of an earlier run: expected a directory of its own for each run", found[0])
		}
	}
	return free, nil
}
