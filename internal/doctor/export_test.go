package doctor

import (
	"swimlane/capture"
	"swimlane/internal/convert"
	"swimlane/internal/hostlog"
	"swimlane/internal/names"
)

// Refused is what is said of a file with that diagnosis.
func Refused(d *capture.Diagnosis) []Finding {
	x := &Exam{Path: d.File, dir: "."}
	x.diagnosed(d.File, d.Err, d)
	return x.Findings
}

// Warned is what is said of a warning of a capture whose names are not used for a reason.
func Warned(w capture.Warning, unused string) []Finding {
	x := &Exam{dir: "."}
	c := &convert.Examined{Capture: &convert.Capture{Records: "x.json", Names: names.Result{Unused: unused}}}
	x.warned(c, w)
	return x.Findings
}

// LogWarned is what is said of a warning of a host's log.
func LogWarned(w hostlog.Warning) []Finding {
	x := &Exam{dir: "."}
	x.logWarned("host.1.log", w)
	return x.Findings
}

// PoolOptions are the options that findings name, by the kind of records.
func PoolOptions() map[string]string {
	out := map[string]string{}
	for kind, p := range pools {
		out[kind] = p.option
	}
	return out
}

// PoolPresets are what findings say of these options' values.
func PoolPresets() map[string]int {
	out := map[string]int{}
	for kind, p := range pools {
		out[kind] = p.preset
	}
	return out
}
