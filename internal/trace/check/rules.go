package check

import "fmt"

// maxExamples is how many places a finding names.
const maxExamples = 5

// A rule is an index into the table of rules.
type rule uint8

const (
	ruleEventNotObject rule = iota
	ruleEventCut
	rulePhMissing
	rulePhUnknown
	ruleTsMissing
	ruleTsNegative
	ruleTsNotNumber
	ruleTsRange
	ruleDurMissing
	ruleDurNegative
	ruleDurNotNumber
	ruleDurRange
	ruleOverlap
	ruleTooDeep
	ruleEndWithoutBegin
	ruleFlowIDInvalid
	ruleFlowArgs
	ruleCounterValue

	ruleStringNul
	ruleTimePrecision
	rulePidRange
	ruleTidRange
	rulePidMissing
	ruleTidZero
	ruleTidCollision
	ruleLaneRenamed
	ruleProcessRenamed
	ruleMetadataUnread
	ruleSortIndexUnread
	ruleEndMismatch
	ruleBeginCut
	ruleBeginUnclosed
	ruleCounterMerged

	ruleFlowDuplicateStart
	ruleFlowEndWithoutStart
	ruleFlowUnfinished
	ruleFlowNoBp
	ruleFlowNoSlice
	ruleFlowStaleSlice
	ruleFlowBindID
	ruleFlowReversed
	ruleFlowTurned
	ruleFlowToItself

	ruleArrayCut
	ruleTrailingComma
	ruleTimeExponent
	rulePidString
	ruleNameMissing
	ruleLaneUnnamed
	ruleProcessUnnamed
	ruleSortOrder
	rulePhUnreplayed
	ruleZeroLength
	ruleFlowIDString
	ruleFlowArgsRepeated
	ruleArgUint64
	ruleArgNull
	ruleCounterID
	ruleCounterEmpty
	ruleDuplicateID

	ruleCount
)

// rules is the taxonomy of findings; everything else is driven by it.
var rules = [ruleCount]struct {
	slug     string
	severity Severity
	explain  string
}{
	ruleEventNotObject:  {"event-not-object", Drop, "The viewer reads only objects in traceEvents; write nothing else there."},
	ruleEventCut:        {"event-cut", Drop, "The file ends inside an event, which the viewer drops; finish the file."},
	rulePhMissing:       {"ph-missing", Drop, "An event without a ph string is dropped; write one of X, B, E, i, s, t, f, C, M."},
	rulePhUnknown:       {"ph-unknown", Drop, "The viewer does not import this kind of event; write one of X, B, E, i, s, t, f, C, M."},
	ruleTsMissing:       {"ts-missing", Drop, "Only metadata may go without ts, any other event is dropped; write ts."},
	ruleTsNegative:      {"ts-negative", Drop, "Events before time 0 are dropped; let the zero be the least of all times drawn."},
	ruleTsNotNumber:     {"ts-not-number", Drop, "A ts that is no number drops the event; write microseconds with three decimals."},
	ruleTsRange:         {"ts-range", Drop, "The time does not fit into 63 bits of nanoseconds; write times relative to the capture's zero."},
	ruleDurMissing:      {"dur-missing", Drop, "An X without dur is dropped; write dur, 0.000 if need be."},
	ruleDurNegative:     {"dur-negative", Drop, "A slice that ends before it starts is dropped; write its end after its start."},
	ruleDurNotNumber:    {"dur-not-number", Drop, "A dur that is no number drops the slice; write microseconds with three decimals."},
	ruleDurRange:        {"dur-range", Drop, "The slice's end does not fit into 63 bits of nanoseconds; write a shorter dur."},
	ruleOverlap:         {"slice-overlap", Drop, "Of two slices of one lane that overlap without nesting, viewers v51-v56 drop the second and later ones move it to an unnamed track; put it on a lane of its own."},
	ruleTooDeep:         {"slice-too-deep", Drop, "Slices nested 512 deep on one lane have no room for another, it is dropped; use more lanes."},
	ruleEndWithoutBegin: {"end-without-begin", Drop, "An E with no open B on its lane is dropped (at one ts every E comes before any B); write an X instead of the pair."},
	ruleFlowIDInvalid:   {"flow-id-invalid", Drop, "A flow id is an integer of at most 63 bits or a string of hex digits, other flow points are dropped; write a small integer as id."},
	ruleFlowArgs:        {"flow-args", Drop, "The args of a flow point are dropped; put them on one of its slices."},
	ruleCounterValue:    {"counter-value", Drop, "A counter takes numbers only, other values are dropped; leave out what has no value."},

	ruleStringNul:       {"string-nul", Move, "A string ends at its first \\u0000, what follows is cut; replace the character."},
	ruleTimePrecision:   {"time-precision", Move, "Times pass through a float64 of microseconds, which is exact to the nanosecond only up to about 2^43 us; write times relative to the capture's zero."},
	rulePidRange:        {"pid-range", Move, "A pid that is no unsigned 32-bit integer becomes 0, which throws processes together; write small positive pids."},
	ruleTidRange:        {"tid-range", Move, "A tid that is no unsigned 32-bit integer becomes 0 and then the pid, which throws lanes together; write small positive tids."},
	rulePidMissing:      {"pid-missing", Move, "Without a pid an event lands in process 0; write pid on every event."},
	ruleTidZero:         {"tid-zero", Move, "A tid of 0 (or none) becomes the pid; give the lane a tid above 0."},
	ruleTidCollision:    {"tid-collision", Move, "The lane with tid 0 and the lane whose tid is the pid become one; use neither."},
	ruleLaneRenamed:     {"lane-renamed", Move, "Of several thread_names of one (pid, tid) the last wins; name each lane once."},
	ruleProcessRenamed:  {"process-renamed", Move, "Of several process_names of one pid the last wins; name each process once."},
	ruleMetadataUnread:  {"metadata-unread", Move, "A name that is not a string in args.name is not read, the lane or process shows its number; write args {\"name\": \"...\"}."},
	ruleSortIndexUnread: {"sort-index-unread", Move, "A sort_index that is not an integer is not read and the lane is placed elsewhere; write it as a plain integer."},
	ruleEndMismatch:     {"end-mismatch", Move, "An E closes the innermost open slice, which has another name here, so both get wrong ends; write X events."},
	ruleBeginCut:        {"begin-cut", Move, "A slice that was begun inside another one and is still open when that ends is cut there; nest them, or use another lane."},
	ruleBeginUnclosed:   {"begin-unclosed", Move, "A B without its E is drawn to the end of the trace; close it, or write an X."},
	ruleCounterMerged:   {"counter-merged", Move, "Counters of one pid, name and args key are one track whatever their tid or integer id; put the number into the name."},

	ruleFlowDuplicateStart:  {"flow-duplicate-start", Bind, "A second s with one (id, cat, name) is ignored and its f hangs on the first source; never use an id twice."},
	ruleFlowEndWithoutStart: {"flow-end-without-start", Bind, "No arrow is drawn to a t or f before which, in time and then in the file, no s with the same id, cat and name was bound; write s first, with the same three."},
	ruleFlowUnfinished:      {"flow-unfinished", Bind, "An s that no t or f follows draws nothing; write the f, or leave out the s."},
	ruleFlowNoBp:            {"flow-no-bp", Bind, "An f without \"bp\":\"e\" waits for the next slice of its lane, or for ever; write \"bp\":\"e\"."},
	ruleFlowNoSlice:         {"flow-no-slice", Bind, "There is no slice on the lane that the flow point could bind to, the arrow is lost; write its ts inside its slice and after any instant there."},
	ruleFlowStaleSlice:      {"flow-stale-slice", Bind, "A flow point binds to the slice started last on its lane, here one that does not contain the point's ts; write the ts of the slice's own start."},
	ruleFlowBindID:          {"flow-bind-id", Bind, "The viewer ignores bind_id on flow points and binds by lane and time, here to another slice than the one with that id; give the slices lanes without overlap and the point its slice's ts."},
	ruleFlowReversed:        {"flow-reversed", Bind, "A dependency runs from the slice that starts first, here that is its destination; write the start on the earlier slice and say the true direction in args."},
	ruleFlowTurned:          {"flow-turned", Note, "The viewer draws an arrow from the slice that starts first, and here that is its destination: both ends are right, the head is not. Nothing in the file can change that."},
	ruleFlowToItself:        {"flow-to-itself", Bind, "Both ends of the arrow bind to one slice; give the two bars lanes without overlap."},

	ruleArrayCut:         {"array-cut", Note, "The array form is not closed; the viewer reads it, other JSON readers do not."},
	ruleTrailingComma:    {"trailing-comma", Note, "A comma before the end of traceEvents is read by the viewer, but is not JSON; leave it out."},
	ruleTimeExponent:     {"time-exponent", Note, "Scientific notation in ts or dur tends to have lost digits; write plain decimals."},
	rulePidString:        {"pid-string", Note, "A string as pid or tid works in the viewer only by accident; write an integer."},
	ruleNameMissing:      {"name-missing", Note, "A slice without a name is drawn without a label; name it."},
	ruleLaneUnnamed:      {"lane-unnamed", Note, "A lane without thread_name shows its number; name it."},
	ruleProcessUnnamed:   {"process-unnamed", Note, "A process without process_name shows its number; name it."},
	ruleSortOrder:        {"sort-order", Note, "The sort indexes say another order than the pids or tids; viewers before v53 do not read them, so number both alike."},
	rulePhUnreplayed:     {"ph-unreplayed", Note, "The viewer imports this kind of event, but no rule for it is replayed here; look at it in the viewer."},
	ruleZeroLength:       {"zero-length", Note, "A slice of length 0 is drawn as an instant and hides under bars; give it a length or a lane of its own."},
	ruleFlowIDString:     {"flow-id-string", Note, "A string as flow id is read as hex, \"10\" is 16; write an integer."},
	ruleFlowArgsRepeated: {"flow-args-repeated", Note, "The args of a flow point are dropped; here the slice it binds to has the same, so nothing is lost."},
	ruleArgUint64:        {"arg-uint64", Note, "An integer beyond 64 bits with sign shows as -1.0 in the viewer; write it as a string too if it matters."},
	ruleArgNull:          {"arg-null", Note, "The viewer leaves out args that are null; leave them out."},
	ruleCounterID:        {"counter-id", Note, "A string id becomes part of the counter's name; put it into the name."},
	ruleCounterEmpty:     {"counter-empty", Note, "A counter without args draws nothing; leave it out."},
	ruleDuplicateID:      {"duplicate-id", Note, "Several slices have one id, so a bind_id does not say which is meant; number them apart."},
}

// findings counts hits by rule and keeps the first places.
type findings [ruleCount]hits

type hits struct {
	count    int64
	examples []string
}

// hit counts one hit and returns where to say more, or nil when enough places
// are known: texts are built only for those that are kept.
func (f *findings) hit(r rule) *hits {
	h := &f[r]
	h.count++
	if len(h.examples) >= maxExamples {
		return nil
	}
	return h
}

func (h *hits) say(where, format string, args ...any) {
	h.examples = append(h.examples, where+": "+fmt.Sprintf(format, args...))
}

// list returns what was found, worst first.
func (f *findings) list() []Finding {
	var out []Finding
	for sev := Drop; sev <= Note; sev++ {
		for r := range f {
			if f[r].count == 0 || rules[r].severity != sev {
				continue
			}
			out = append(out, Finding{
				Rule:     rules[r].slug,
				Severity: sev,
				Count:    f[r].count,
				Examples: f[r].examples,
				Explain:  rules[r].explain,
			})
		}
	}
	return out
}
