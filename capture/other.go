package capture

import (
	"io/fs"
	"os"

	"swimlane/internal/jsonscan"
)

// The kinds of files that lie beside each other and are mistaken for each other.
const (
	KindCapture   = "a capture"
	KindTrace     = "a trace"
	KindTaskGraph = "a task graph"
	KindNameMap   = "a name map"
)

// otherKind tells by its keys what a file is that states no level, "" if the
// keys do not show it.
func otherKind(has func(key string) bool) string {
	switch {
	case has("traceEvents"):
		return KindTrace
	case has("edges"):
		return KindTaskGraph
	case has("callable_id_to_name"), has("orchestrator_name"):
		return KindNameMap
	}
	return ""
}

// otherHint says what to do with a file that is no capture.
func otherHint(kind string) string {
	switch kind {
	case KindTrace:
		return "this is a trace (traceEvents), not a capture; open it in https://ui.perfetto.dev, or look at it with 'swimlane check'"
	case KindTaskGraph:
		return "this is a task graph (edges), not a capture; name the records file, and this one with --deps-json"
	case KindNameMap:
		return "this is a name map, not a capture; name the records file, and this one with --func-names"
	}
	return ""
}

// Sniff tells what a file is, "" if it cannot be told. It reads no further than
// it must.
func Sniff(path string) string {
	if st, err := os.Stat(path); err != nil || st.Mode()&fs.ModeType != 0 {
		return ""
	}
	in, err := open(path)
	if err != nil {
		return ""
	}
	defer in.Close()
	s := jsonscan.New(in)
	if s.Peek() != jsonscan.Object {
		return ""
	}
	s.BeginObject()
	for {
		key, ok := s.Key()
		if !ok {
			return ""
		}
		name := string(key)
		switch name {
		case "chip_swimlane_level", "l2_swimlane_level", "l2_perf_level", "aicore_tasks", "scheduler_tasks", "scheduler_records":
			return KindCapture
		}
		if kind := otherKind(func(k string) bool { return k == name }); kind != "" {
			return kind
		}
		s.Skip()
	}
}
