package doctor

import (
	"cmp"
	"slices"
)

// Severity says how much a finding matters.
type Severity int

// Severities, the worst last. Notes are no findings for the verdict.
const (
	Note    Severity = iota // worth knowing; nothing is wrong
	Warning                 // can be drawn, but something is missing or misleads
	Error                   // cannot be drawn or merged as it is
)

func (s Severity) String() string { return [...]string{"note", "warning", "error"}[s] }

// MarshalText writes a severity by its name.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Finding is something about a capture that a user should know.
type Finding struct {
	Severity Severity `json:"severity"`
	Code     string   `json:"code"`              // stable
	File     string   `json:"file,omitempty"`    // path
	Section  string   `json:"section,omitempty"` // of the file
	Rows     []int    `json:"rows,omitempty"`    // the first few of the section
	Count    int64    `json:"count,omitempty"`   // of what the finding is about: rows, records, tasks, …
	Found    string   `json:"found"`
	Why      string   `json:"why"`
	Do       string   `json:"do"`
}

// Part is something that was looked at and is as it should be, in one line.
type Part struct {
	Name string `json:"part"`
	Text string `json:"text"`
}

// Exam is what was found about one capture, one tree of ranks, or one run
// without records.
type Exam struct {
	Path     string    `json:"path"` // a records file, or the directory of ranks or of the run
	Kind     string    `json:"kind"` // "capture", "ranks" or "run"
	Parts    []Part    `json:"parts"`
	Findings []Finding `json:"findings"` // the worst first

	drawn  bool   // the reader accepts the capture
	domain string // of its host's clock, "" if it does not say
	dir    string // that files are named in
	target string // what a command is given to read it, "": dir
}

// Kinds of exams.
const (
	OfCapture = "capture"
	OfRanks   = "ranks"
	OfRun     = "run"
)

// Worst is the worst severity of the findings, Note if there is none.
func (x *Exam) Worst() Severity {
	worst := Note
	for i := range x.Findings {
		worst = max(worst, x.Findings[i].Severity)
	}
	return worst
}

// Healthy reports whether there are only notes.
func (x *Exam) Healthy() bool { return x.Worst() == Note }

// ok notes a part that is as it should be.
func (x *Exam) ok(name, text string) { x.Parts = append(x.Parts, Part{name, text}) }

// find adds a finding with the advice of its code.
func (x *Exam) find(f Finding) *Finding {
	a, known := known[f.Code]
	if !known {
		// A code that is new elsewhere: what it found is said all the same.
		a = advice{severity: Warning, why: "this version has no more to say of it", do: "see the message"}
	}
	f.Severity = max(f.Severity, a.severity)
	if f.Why == "" {
		f.Why = a.why
	}
	if f.Do == "" {
		f.Do = a.do
	}
	target := x.target
	if target == "" {
		target = x.dir
	}
	f.Why, f.Do = fill(f.Why, target, f.File), fill(f.Do, target, f.File)
	x.Findings = append(x.Findings, f)
	return &x.Findings[len(x.Findings)-1]
}

// settle sorts the findings: the worst first, in the order they were made.
func (x *Exam) settle() {
	slices.SortStableFunc(x.Findings, func(a, b Finding) int { return cmp.Compare(b.Severity, a.Severity) })
	if x.Parts == nil {
		x.Parts = []Part{}
	}
	if x.Findings == nil {
		x.Findings = []Finding{}
	}
}

// Report is everything that was examined.
type Report struct {
	Root  string
	Exams []*Exam
}

// Count is the number of findings of a severity.
func (r *Report) Count(s Severity) int64 {
	n := int64(0)
	for _, x := range r.Exams {
		for i := range x.Findings {
			if x.Findings[i].Severity == s {
				n++
			}
		}
	}
	return n
}

// Healthy reports whether nothing worse than a note was found.
func (r *Report) Healthy() bool { return r.Count(Error)+r.Count(Warning) == 0 }
