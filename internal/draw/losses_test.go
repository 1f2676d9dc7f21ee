package draw_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// marks lists the marks of lost records as `lane: name start+length args`.
func (d *drawn) marks() []string {
	var out []string
	for _, e := range d.slices(func(e *event) bool { return e.cat == "loss" }) {
		out = append(out, fmt.Sprintf("%d %s: %s %s+%s %s", e.pid, d.lane[e.lane], e.name, us(e.ts), us(e.dur), jsonText(d.t, e.args)))
	}
	slices.Sort(out)
	return out
}

// TestLossMarks: where records are missing a lane says so. 1 GHz: a cycle is 0.001 µs.
func TestLossMarks(t *testing.T) {
	const head = `{"chip_swimlane_level":%d,"metadata":{"clock_freq_hz":1000000000,"core_types":["aic","aiv"]%s},`
	capture := func(level int, meta, rest string) string { return fmt.Sprintf(head, level, meta) + rest + "}" }
	lost := func(kind string, n int) string {
		return fmt.Sprintf(`,"capture_accounting":{"policy":"drop","kinds":{"%s":{"total":9,"collected":1,"dropped":%d}}}`, kind, n)
	}
	sched := func(rows string) string {
		return `"scheduler_tasks":{"schema_version":1,"producer":"aicpu","records":` + rows + "}"
	}
	streams := func(list string) string { return `"scheduler_records":{"schema_version":1,"streams":[` + list + "]}" }
	const gapRows = `"aicore_tasks":[[0,8,1,1100,1200],[0,9,2,1300,1400],[0,7,5,1600,1700],[1,6,1,1100,1200],[1,5,3,1100,1900]],` +
		`"scheduler_tasks":{"schema_version":1,"producer":"aicpu","records":[[0,1,1000,1250],[0,2,1050,1450],[0,5,1500,1750],[1,1,1000,1250],[1,3,1010,1950]]}`
	for _, x := range []struct {
		name, text string
		want       []string
		metadata   string
	}{
		{
			// Example R8 of spec/records.md §7. Core 3 is in no kernel row; its rows lie
			// at 70–80, 20 cycles behind the base of 50. A mark has at least 20 ns.
			"scheduler rows without a kernel row",
			capture(2, "", `"aicore_tasks":[[0,7,7,120,180,10]],"aicpu_tasks":[[0,7,115,185],[0,9,50,60],[3,1,70,80],[3,2,70,80]]`),
			[]string{`4 AIC_0 (lost): 1 kernel row lost 0+0.02 {"lost":1,"place":"known"}`, `4 AIV_3 (lost): 2 kernel rows lost 0.02+0.02 {"lost":2,"place":"known"}`},
			`{"scheduler_rows_without_kernel_row":3}`,
		},
		{
			"a kernel row without a scheduler row",
			capture(2, lost("AICPU_TASK", 1), `"aicore_tasks":[[0,7,1,1100,1200,30],[0,8,2,1300,1400]],`+sched(`[[0,2,1250,1450]]`)),
			[]string{`3 AIC_0 (lost): 1 scheduler row lost 0+0.13 {"lost":1,"place":"known"}`},
			`{"AICPU_TASK":1,"kernel_rows_without_scheduler_row":1}`,
		},
		{
			// Tokens 3 and 4 of core 0 lie between the finish of token 2 and the dispatch
			// of token 5; token 2 of core 1 between the finish of 1 and the earlier dispatch of 3.
			"gaps in the tokens of a core", capture(2, lost("AICORE_TASK", 3), gapRows),
			[]string{
				`3 AIC_0 (lost): 2 scheduler rows lost 0.45+0.05 {"lost":2,"place":"known"}`, `3 AIV_1 (lost): 1 scheduler row lost 0.01+0.24 {"lost":1,"place":"known"}`,
				`4 AIC_0 (lost): 2 kernel rows lost 0.45+0.05 {"lost":2,"place":"known"}`, `4 AIV_1 (lost): 1 kernel row lost 0.01+0.24 {"lost":1,"place":"known"}`,
			},
			`{"AICORE_TASK":3}`,
		},
		{"gaps where nothing was lost", capture(2, "", gapRows), nil, ""},
		{"gaps where others were lost", capture(2, lost("SCHED_PHASE", 3), gapRows), nil, `{"SCHED_PHASE":3}`},
		{
			"tokens of an AICore scheduler are task ids",
			capture(2, lost("AICORE_TASK", 3), strings.Replace(gapRows, `"aicpu"`, `"aicore"`, 1)), nil, `{"AICORE_TASK":3}`,
		},
		{
			"gaps of level 1", capture(1, lost("AICORE_TASK", 3), `"aicore_tasks":[[0,8,1,1100,1200],[0,7,4,1300,1400]]`),
			[]string{`4 AIC_0 (lost): 2 kernel rows lost 0.1+0.1 {"lost":2,"place":"known"}`}, `{"AICORE_TASK":3}`,
		},
		{
			"gaps between runs are none",
			strings.NewReplacer(`"clock_freq_hz"`, `"runtime":"tensormap_and_ringbuffer","clock_freq_hz"`).Replace(
				capture(1, lost("AICORE_TASK", 3), `"aicore_tasks":[[0,8,1,1100,1200,0,1],[0,7,4,1300,1400,0,2]]`)), nil, `{"AICORE_TASK":3}`,
		},
		{
			// The scheduler's records reach from 100 to 160.
			"phase records of an AICPU thread, somewhere",
			capture(3, "", streams(`{"producer":"aicpu","scheduler_id":0,"capture":{"committed":2,"dropped":5,"truncated":true},"records":[`+
				`{"start_cycles":100,"end_cycles":110,"loop_iter":0,"kind":"dispatch","tasks_processed":1,"task_id":null},`+
				`{"start_cycles":140,"end_cycles":160,"loop_iter":0,"kind":"complete","tasks_processed":1,"task_id":null}]},`+
				`{"producer":"aicpu","scheduler_id":1,"capture":{"truncated":true},"records":[`+
				`{"start_cycles":120,"end_cycles":150,"loop_iter":0,"kind":"dispatch","tasks_processed":1,"task_id":null}]},`+
				`{"producer":"aicpu","scheduler_id":2,"capture":{"dropped":1},"records":[]}`)),
			[]string{`2 Sched_0 (lost): 5 phase records lost somewhere here 0+0.06 {"lost":5,"place":"unknown"}`,
				`2 Sched_1 (lost): some phase records lost somewhere here 0.02+0.03 {"lost":null,"place":"unknown"}`,
				`2 Sched_2 (lost): 1 phase record lost somewhere here 0+0.06 {"lost":1,"place":"unknown"}`},
			`{"SCHED_PHASE":6}`,
		},
		{
			// An AICore scheduler drops idle records once 1,024 are full: those that lack
			// lie behind the last one that is there (spec/device-abi.md §9).
			"idle records of an AICore scheduler, behind the last",
			capture(3, "", streams(`{"producer":"aicore","scheduler_id":0,"physical_core_id":4,"capture":{"committed":2,"dropped":5,"truncated":true},"records":[`+
				`{"start_cycles":100,"end_cycles":110,"loop_iter":0,"kind":"idle","tasks_processed":0,"task_id":null},`+
				`{"start_cycles":140,"end_cycles":160,"loop_iter":0,"kind":"complete","tasks_processed":1,"task_id":3}]}`)),
			[]string{`2 Scheduler_4 (lost): 5 phase records lost 0.01+0.05 {"lost":5,"place":"known"}`}, `{"SCHED_PHASE":5}`,
		},
		{
			"gaps in the numbers of submits",
			capture(4, lost("ORCH_PHASE", 4), `"aicpu_orchestrator_phases":[[{"submit_idx":0,"task_id":1,"start_cycles":100,"end_cycles":110},`+
				`{"submit_idx":1,"task_id":2,"start_cycles":120,"end_cycles":130},{"submit_idx":4,"task_id":3,"start_cycles":200,"end_cycles":210}]]`),
			[]string{`1 Orch_0 (lost): 2 submit records lost 0.03+0.07 {"lost":2,"place":"known"}`,
				`1 Orch_0 (lost): 2 submit records lost somewhere here 0+0.11 {"lost":2,"place":"unknown"}`},
			`{"ORCH_PHASE":4}`,
		},
		{
			// Numbers count from 0, in whatever order they stand.
			"submits without the first two, out of order",
			capture(4, "", `"aicpu_orchestrator_phases":[[{"submit_idx":2,"task_id":1,"start_cycles":100,"end_cycles":110},`+
				`{"submit_idx":5,"task_id":2,"start_cycles":300,"end_cycles":310},{"submit_idx":3,"task_id":3,"start_cycles":200,"end_cycles":210},`+
				`{"submit_idx":4,"task_id":4,"start_cycles":220,"end_cycles":230}]]`),
			[]string{`1 Orch_0 (lost): 2 submit records lost 0+0.02 {"lost":2,"place":"known"}`}, `{"submits_missing_in_their_numbers":2}`,
		},
		{
			"submits of the host", capture(4, `,"host_capture":{"status":"dropped","expected_records":4,"recorded_records":2,"dropped_records":2}`,
				`"host_orchestrator_phases":[[{"submit_idx":0,"task_id":1,"start_host_ns":5000,"end_host_ns":5100},`+
					`{"submit_idx":2,"task_id":2,"start_host_ns":5300,"end_host_ns":5400}]]`),
			[]string{`1 Host_0 (lost): 1 submit record lost 0.1+0.2 {"lost":1,"place":"known"}`, `1 Host_0 (lost): 1 submit record lost somewhere here 0+0.4 {"lost":1,"place":"unknown"}`},
			`{"host_submits":2}`,
		},
	} {
		t.Run(x.name, func(t *testing.T) {
			d := convert(t, x.text, settings{})
			equalSlices(t, "marks", d.marks(), x.want)
			got := ""
			if o, ok := d.metadata["records_lost"]; ok {
				got = jsonText(t, o)
			}
			equal(t, "records_lost", got, x.metadata)
			lanes := map[lane]bool{}
			for _, e := range d.slices(func(e *event) bool { return e.cat == "loss" }) {
				lanes[e.lane] = true
			}
			equal(t, "lanes reported", d.picture.Report.LossLanes, len(lanes))
		})
	}
}

// TestLossLanes: the lane of what was lost stands behind the sub-lanes of its
// lane, and takes no number of another.
func TestLossLanes(t *testing.T) {
	rows, sched := "", ""
	for k := range 9 { // nine sub-lanes: with the lane of the marks ten, with a tenth bar eleven
		rows += fmt.Sprintf(",[0,%d,%d,100,200]", k, k+1)
		sched += fmt.Sprintf(",[0,%d,90,210]", k+1)
	}
	text := func(more string) string {
		return fmt.Sprintf(`{"chip_swimlane_level":2,"metadata":{"clock_freq_hz":1000000000,"core_types":["aic","aic"]},
			"aicore_tasks":[[1,50,1,100,200]%s%s],"aicpu_tasks":[[0,99,120,130],[1,1,90,210]%s%s]}`,
			rows, strings.ReplaceAll(more, "#", "100,200"), sched, strings.ReplaceAll(strings.ReplaceAll(more, "40,", ""), "#", "90,210"))
	}
	for _, x := range []struct {
		more   string
		stride int64
		subs   int64
	}{{"", 10, 9}, {",[0,40,10,#]", 100, 10}} {
		d := convert(t, text(x.more), settings{})
		equal(t, "lane", d.lane[lane{4, 10000 + x.subs}], "AIC_0 (lost)")
		equal(t, "last sub-lane", d.lane[lane{4, 10000 + x.subs - 1}], fmt.Sprintf("AIC_0 (%d)", x.subs))
		equal(t, "next core", d.lane[lane{4, 10000 + x.stride}], "AIC_1")
	}
}
