package check_test

import (
	"fmt"
	"strings"
	"testing"
)

// perfetto-facts §1 Time, and field reports 5, 6, 7, 11, 12 and 99.
func TestTimes(t *testing.T) {
	ev := func(ts, dur string) string { return onLanes(x("a", 10, ts, dur)) }
	runRules(t, []ruleTest{
		{"three decimals", ev("0.000", "0.250"), "", true},
		{"noise of a float", ev("493.34000000000003", "1109.5800000000001"), "", true},
		{"string", ev(`"1.5"`, `"2"`), "", true},
		{"ts missing", onLanes(`{"ph":"X","name":"a","pid":1,"tid":10,"dur":1}`), "ts-missing:1", false},
		{"counter without ts", onLanes(`{"ph":"C","name":"a","pid":1,"args":{"v":1}}`), "ts-missing:1", false},
		{"ts negative", ev("-1.000", "3"), "ts-negative:1", false},
		{"ts a hair below 0 rounds to 0", ev("-0.0001", "3"), "", true},
		{"ts far below", ev("-1e30", "3"), "ts-negative:1", false},
		{"ts null", ev("null", "3"), "ts-not-number:1", false},
		{"ts text", ev(`"soon"`, "3"), "ts-not-number:1", false},
		{"ts object", ev(`{"a":1}`, "3"), "ts-not-number:1", false},
		{"ts beyond", ev("99999999999999999", "3"), "ts-range:1", false},
		{"ts beyond as a float", ev("1e300", "3"), "ts-range:1", false},
		{"dur missing", onLanes(`{"ph":"X","name":"a","pid":1,"tid":10,"ts":1}`), "dur-missing:1", false},
		{"dur negative", ev("5", "-1"), "dur-negative:1", false},
		{"dur text", ev("5", `"long"`), "dur-not-number:1", false},
		{"dur beyond", ev("9223372036854775", "9223372036854775"), "dur-range:1", false},
		{"dur 0 is a slice", ev("5", "0"), "zero-length:1", true},
		// 88932781237285536 cycles at 50 MHz: one step of a float64 is 0.25 us.
		{"epoch value", ev("1778655624745710.72", "5.16"), "time-precision:1", false},
		{"below 2^43", ev("8796093022207.123", "1"), "", true},
		{"above 2^43", ev("8796093022209.123", "1"), "time-precision:1", false},
		{"integers are exact above it", ev("8796093022209000", "1"), "", true},
		{"exponent that keeps its digits", ev("1e3", "1"), "time-exponent:1", true},
		{"exponent of field report 7", ev("1.6921085481321545e+15", "1"), "time-exponent:1 time-precision:1", false},
	})
}

// perfetto-facts §1 pid/tid, and field report 89.
func TestPlaces(t *testing.T) {
	ev := func(pid, tid string) string {
		return fmt.Sprintf(`{"ph":"X","name":"a","pid":%s,"tid":%s,"ts":0,"dur":1}`, pid, tid)
	}
	runRules(t, []ruleTest{
		{"biggest", events(ev("4294967295", "4294967294")), "lane-unnamed:1 process-unnamed:1", true},
		{"pid negative", events(ev("-1", "7")), "lane-unnamed:1 pid-range:1 process-unnamed:1", false},
		{"pid too big", events(ev("4294967296", "7")), "lane-unnamed:1 pid-range:1 process-unnamed:1", false},
		{"pid fraction", events(ev("1.5", "7")), "lane-unnamed:1 pid-range:1 process-unnamed:1", false},
		{"pid null", events(ev("null", "7")), "lane-unnamed:1 pid-range:1 process-unnamed:1", false},
		{"pid missing", events(`{"ph":"X","name":"a","tid":7,"ts":0,"dur":1}`), "lane-unnamed:1 pid-missing:1 process-unnamed:1", false},
		{"tid negative", onLanes(ev("1", "-1")), "lane-unnamed:1 tid-range:1 tid-zero:1", false},
		{"tid too big", onLanes(ev("1", "4294967296")), "lane-unnamed:1 tid-range:1 tid-zero:1", false},
		{"tid 0", onLanes(ev("1", "0")), "lane-unnamed:1 tid-zero:1", false},
		{"tid 0 twice is one lane", onLanes(ev("1", "0"), ev("1", "0")), "lane-unnamed:1 tid-zero:1", false},
		{"tid missing", onLanes(`{"ph":"X","name":"a","pid":1,"ts":0,"dur":1}`), "lane-unnamed:1 tid-zero:1", false},
		{"tid equal to pid alone", onLanes(ev("1", "1")), "lane-unnamed:1", true},
		{"field report 89", events(
			`{"ph":"M","name":"process_name","pid":4,"args":{"name":"P"}}`,
			`{"ph":"M","name":"thread_name","pid":4,"tid":0,"args":{"name":"AIC_0"}}`,
			`{"ph":"M","name":"thread_name","pid":4,"tid":4,"args":{"name":"AIC_4"}}`,
			ev("4", "0"), ev("4", "4")), "lane-renamed:1 tid-collision:1 tid-zero:1", false},
		{"strings", events(ev(`"12"`, `"13"`)), "lane-unnamed:1 pid-string:2 process-unnamed:1", true},
		{"texts", events(ev(`"rank"`, `"aic"`)), "lane-unnamed:1 pid-string:2 process-unnamed:1", true},
	})
}

func TestNames(t *testing.T) {
	thread := func(tid int, args string) string {
		return fmt.Sprintf(`{"ph":"M","name":"thread_name","pid":1,"tid":%d,"args":%s}`, tid, args)
	}
	sorted := func(what string, pid, tid int, index string) string {
		return fmt.Sprintf(`{"ph":"M","name":"%s_sort_index","pid":%d,"tid":%d,"args":{"sort_index":%s}}`, what, pid, tid, index)
	}
	runRules(t, []ruleTest{
		{"named twice alike", onLanes(thread(10, `{"name":"L10"}`)), "", true},
		{"named twice", onLanes(thread(10, `{"name":"other"}`)), "lane-renamed:1", false},
		{"process named twice", onLanes(`{"ph":"M","name":"process_name","pid":1,"args":{"name":"Q"}}`), "process-renamed:1", false},
		{"name is a number", onLanes(thread(20, `{"name":7}`)), "metadata-unread:1", false},
		{"no args", onLanes(`{"ph":"M","name":"process_name","pid":9}`), "metadata-unread:1", false},
		{"lane without a name", onLanes(x("a", 20, "0", "1")), "lane-unnamed:1", true},
		{"process without a name", onLanes(`{"ph":"C","name":"q","pid":2,"ts":0,"args":{"v":1}}`), "process-unnamed:1", true},
		{"nothing on the lane", onLanes(`{"ph":"M","name":"x","pid":5,"tid":5}`), "", true},
		{"slice without a name", onLanes(x("", 10, "0", "1")), "name-missing:1", true},
		{"sort index", onLanes(sorted("process", 1, 0, "3"), sorted("thread", 1, 10, "-1"), sorted("thread", 1, 11, "5"), sorted("thread", 1, 12, "6")), "", true},
		{"sort index as a string (field report 19)", onLanes(sorted("process", 1, 10, `"0"`)), "sort-index-unread:1", false},
		{"sort index as a fraction", onLanes(sorted("thread", 1, 10, `1.5`)), "sort-index-unread:1", false},
		{"no sort index", onLanes(`{"ph":"M","name":"thread_sort_index","pid":1,"tid":10}`), "sort-index-unread:1", false},
		{"another order than the tids", onLanes(sorted("thread", 1, 10, "2"), sorted("thread", 1, 11, "1"), sorted("thread", 1, 12, "3")), "sort-order:1", true},
		{"another order than the pids", onLanes(sorted("process", 1, 0, "2"), sorted("process", 2, 0, "1")), "sort-order:1", true},
		{"\\u0000 cuts", onLanes(x("ab\\u0000c", 10, "0", "1")), "string-nul:1", false},
		{"\\u0000 in args", onLanes(with(x("a", 10, "0", "1"), `"args":{"a":"\u0000"}`)), "string-nul:1", false},
		{"escapes of the BMP", onLanes(x("\\u4e2d\\n\\\"", 10, "0", "1")), "", true},
		{"raw UTF-8", onLanes(x("注意力😀", 10, "0", "1")), "", true},
	})
}

func TestKinds(t *testing.T) {
	ev := func(ph string) string { return fmt.Sprintf(`{"ph":%s,"name":"a","pid":1,"tid":10,"ts":0}`, ph) }
	runRules(t, []ruleTest{
		{"no ph", onLanes(`{"name":"a","pid":1,"tid":10,"ts":0}`), "ph-missing:1", false},
		{"ph is a number", onLanes(ev("1")), "ph-missing:1", false},
		{"unknown", onLanes(ev(`"Z"`)), "ph-unknown:1", false},
		{"two letters", onLanes(ev(`"XX"`)), "ph-unknown:1", false},
		{"object event", onLanes(ev(`"N"`)), "ph-unknown:1", false},
		{"async", onLanes(ev(`"b"`), ev(`"e"`)), "ph-unreplayed:2", true},
		{"instants", onLanes(ev(`"i"`), ev(`"I"`), with(ev(`"i"`), `"s":"g"`)), "", true},
		{"ph as an escape", onLanes(with(ev(`"\u0058"`), `"dur":1`)), "", true},
	})
}

// perfetto-facts §1 Overlap on one tid and Order of equal timestamps, and
// field reports 1 and 4.
func TestSlices(t *testing.T) {
	nest := func(n int) string {
		var evs []string
		for i := range n {
			evs = append(evs, x("a", 10, fmt.Sprint(i), fmt.Sprint(2000-2*i)))
		}
		return onLanes(evs...)
	}
	b := func(name, ts string) string {
		return fmt.Sprintf(`{"ph":"B","name":%q,"pid":1,"tid":10,"ts":%s}`, name, ts)
	}
	e := func(ts string) string { return fmt.Sprintf(`{"ph":"E","pid":1,"tid":10,"ts":%s}`, ts) }
	runRules(t, []ruleTest{
		{"field report 1", onLanes(x("a", 10, "2", "2"), x("b", 10, "3", "2")), "slice-overlap:1", false},
		{"field report 1 in the other order of the file", onLanes(x("b", 10, "3", "2"), x("a", 10, "2", "2")), "slice-overlap:1", false},
		{"two lanes", onLanes(x("a", 10, "2", "2"), x("b", 11, "3", "2")), "", true},
		{"closed left, open right", onLanes(x("a", 10, "0", "10"), x("b", 10, "10", "10")), "", true},
		{"nested", onLanes(x("a", 10, "0", "10"), x("b", 10, "2", "8"), x("c", 10, "2", "1")), "", true},
		{"equal", onLanes(x("a", 10, "0", "10"), x("b", 10, "0", "10")), "", true},
		{"the longer of two that start together comes first", onLanes(x("a", 10, "0", "5"), x("b", 10, "0", "10")), "", true},
		{"out of one, not out of the other", onLanes(x("a", 10, "0", "20"), x("b", 10, "1", "5"), x("c", 10, "4", "5")), "slice-overlap:1", false},
		{"by one nanosecond", onLanes(x("a", 10, "0", "1.001"), x("b", 10, "1.000", "1")), "slice-overlap:1", false},
		{"the spilled one is not in the way", onLanes(x("a", 10, "0", "10"), x("b", 10, "5", "10"), x("c", 10, "12", "10")), "slice-overlap:1", false},
		{"512 deep", nest(512), "", true},
		{"513 deep", nest(513), "slice-too-deep:1", false},
		{"pairs", onLanes(b("a", "0"), b("b", "1"), e("2"), e("3")), "", true},
		{"end before begin at one time", onLanes(b("a", "0"), b("b", "2"), e("2"), e("3")), "", true},
		{"end without begin", onLanes(e("2")), "end-without-begin:1", false},
		{"end of a lane with only an X", onLanes(x("a", 10, "0", "9"), e("2")), "end-without-begin:1", false},
		{"begin without end", onLanes(b("a", "0"), b("b", "1"), e("2")), "begin-unclosed:1", false},
		{"pair of length 0", onLanes(b("a", "1"), e("1")), "begin-unclosed:1 end-without-begin:1", false},
		// Field report 4: 0-5 and 3-7 come out as 0-7 and 3-5.
		{"crossed pairs", onLanes(b("a", "0"), b("b", "3"), with(e("5"), `"name":"a"`), with(e("7"), `"name":"b"`)), "end-mismatch:2", false},
		{"begin inside an X that ends first", onLanes(x("a", 10, "0", "5"), b("b", "3"), e("7")), "begin-cut:1 end-without-begin:1", false},
		{"X inside a pair that ends first", onLanes(b("a", "0"), x("b", 10, "3", "5"), e("5")), "slice-overlap:1", false},
		{"X inside a pair inside an X", onLanes(x("a", 10, "0", "10"), b("b", "2"), x("c", 10, "3", "9"), e("4")), "slice-overlap:1", false},
	})
}

// perfetto-facts §1 Counters, Args, and field report 98.
func TestCountersAndArgs(t *testing.T) {
	c := func(members string) string { return `{"ph":"C","name":"ready","pid":1,"ts":0,` + members + `}` }
	a := func(args string) string { return onLanes(with(x("a", 10, "0", "1"), `"args":`+args)) }
	runRules(t, []ruleTest{
		{"numbers", onLanes(c(`"args":{"AIC":1,"AIV":-2.5,"MIX":"3"}`)), "", true},
		{"null", onLanes(c(`"args":{"AIC":null,"AIV":1}`)), "counter-value:1", false},
		{"text, bool, array", onLanes(c(`"args":{"a":"x","b":true,"c":[1]}`)), "counter-value:3", false},
		{"no args", onLanes(c(`"args":{}`)), "counter-empty:1", true},
		{"string id", onLanes(c(`"id":"q1","args":{"AIC":1}`)), "counter-id:1", true},
		{"integer id alone", onLanes(c(`"id":1,"args":{"AIC":1}`)), "", true},
		{"integer ids do not part counters", onLanes(c(`"id":1,"args":{"AIC":1}`), c(`"id":2,"args":{"AIC":1}`)), "counter-merged:1", false},
		{"tids do not part counters", onLanes(c(`"tid":5,"args":{"AIC":1}`), c(`"tid":6,"args":{"AIC":1}`)), "counter-merged:1", false},
		{"args keys do", onLanes(c(`"tid":5,"args":{"AIC":1}`), c(`"tid":6,"args":{"AIV":1}`)), "", true},
		{"string ids do", onLanes(c(`"tid":5,"id":"a","args":{"v":1}`), c(`"tid":6,"id":"b","args":{"v":1}`)), "counter-id:2", true},
		{"args", a(`{"i":9223372036854775807,"n":-9223372036854775808,"d":1.5,"b":true,"s":"x","o":{"l":[1,{}]}}`), "", true},
		{"above int64", a(`{"taskId":18446744073709551615}`), "arg-uint64:1", true},
		{"above int64, nested", a(`{"o":[9223372036854775808,{"p":99999999999999999999}]}`), "arg-uint64:2", true},
		{"null arg", a(`{"a":null,"b":[null]}`), "arg-null:2", true},
	})
}

// perfetto-facts §1 Flows, and field reports 20, 26, 28, 30, 31, 95 and 96.
func TestFlowKeys(t *testing.T) {
	bars := strings.Join([]string{x("a", 10, "0", "4"), x("b", 11, "5", "4"), x("c", 12, "10", "4"), x("d", 10, "10", "4")}, ",\n")
	pair := func(s, f string) string { return onLanes(bars, s, f) }
	runRules(t, []ruleTest{
		{"an arrow", pair(start(1, 10, "0"), finish(1, 11, "5")), "", true},
		{"flow points before their bars in the file", onLanes(start(1, 10, "0"), finish(1, 11, "5"), bars), "", true},
		{"fan-out with one id", onLanes(bars, start(1, 10, "0"), finish(1, 11, "5"), finish(1, 12, "10")), "", true},
		{"a chain", onLanes(bars, start(1, 10, "0"),
			`{"ph":"t","id":1,"cat":"c","name":"d","pid":1,"tid":11,"ts":5}`, finish(1, 12, "10")), "", true},
		{"biggest id", pair(start("9223372036854775807", 10, "0"), finish("9223372036854775807", 11, "5")), "", true},
		{"hex id", pair(start(`"ff"`, 10, "0"), finish(255, 11, "5")), "flow-id-string:1", true},
		{"hex id with prefix", pair(start(`"0x1F"`, 10, "0"), finish(31, 11, "5")), "flow-id-string:1", true},
		{"\"10\" is not 10", pair(start(`"10"`, 10, "0"), finish(10, 11, "5")), "flow-end-without-start:1 flow-id-string:1 flow-unfinished:1", false},
		{"float id", pair(start("1.0", 10, "0"), finish("1.0", 11, "5")), "flow-id-invalid:2", false},
		{"id above int64", pair(start("9223372036854775808", 10, "0"), finish("9223372036854775808", 11, "5")), "flow-id-invalid:2", false},
		{"text id", pair(start(`"edge"`, 10, "0"), finish(`"edge"`, 11, "5")), "flow-id-invalid:2", false},
		{"id2 (field report 28)", pair(
			`{"ph":"s","id2":{"local":1},"cat":"c","name":"d","pid":1,"tid":10,"ts":0}`,
			`{"ph":"f","bp":"e","id2":{"local":1},"cat":"c","name":"d","pid":1,"tid":11,"ts":5}`), "flow-id-invalid:2", false},
		{"two ranks, one id (field report 28)", onLanes(bars,
			start(1, 10, "0"), finish(1, 11, "5"), start(1, 11, "5"), finish(1, 12, "10")), "flow-duplicate-start:1", false},
		{"reused id (field report 30)", onLanes(x("1", 10, "0", "1"), x("2", 10, "1", "1"), x("3", 11, "2", "1"), x("4", 11, "3", "1"),
			start(1, 10, "0"), finish(1, 10, "1"), start(1, 11, "2"), finish(1, 11, "3")), "flow-duplicate-start:1", false},
		{"differing name (field report 31)", pair(start(1, 10, "0"),
			strings.Replace(finish(1, 11, "5"), `"d"`, `"other"`, 1)), "flow-end-without-start:1 flow-unfinished:1", false},
		{"differing cat", pair(start(1, 10, "0"),
			strings.Replace(finish(1, 11, "5"), `"c"`, `"other"`, 1)), "flow-end-without-start:1 flow-unfinished:1", false},
		{"end before start (field report 20)", pair(start(1, 11, "5"), finish(1, 10, "0")), "flow-end-without-start:1 flow-unfinished:1", false},
		{"step without start", onLanes(bars, `{"ph":"t","id":1,"cat":"c","name":"d","pid":1,"tid":11,"ts":5}`), "flow-end-without-start:1", false},
		{"never finished", onLanes(bars, start(1, 10, "0")), "flow-unfinished:1", false},
		{"one time, s first (field report 96)", onLanes(bars, start(1, 12, "10"), finish(1, 10, "10")), "", true},
		{"one time, f first (field report 96)", onLanes(bars, finish(1, 10, "10"), start(1, 12, "10")), "flow-end-without-start:1 flow-unfinished:1", false},
		{"args", pair(with(start(1, 10, "0"), `"args":{"why":"x"}`), finish(1, 11, "5")), "flow-args:1", false},
		{"no bp (field report 95)", pair(start(1, 10, "0"), strings.Replace(finish(1, 10, "1"), `"bp":"e",`, "", 1)), "flow-no-bp:1", false},
		{"no bp and no next slice (field report 95)", pair(start(1, 10, "0"),
			strings.Replace(finish(1, 11, "5"), `"bp":"e",`, "", 1)), "flow-no-bp:1 flow-unfinished:1", false},
	})
}

// TestFlowFacts: args of arrows are lost, unless the slices that they bind to have them.
func TestFlowFacts(t *testing.T) {
	args := func(ev, args string) string { return with(ev, `"args":{`+args+`}`) }
	const both, more = `"rank":2,"slack_ns":60`, `"taskId":9,"slack_ns":60,"rank":2,"residual_ns":4`
	a, b := x("a", 10, "0", "9"), x("b", 11, "5", "4")
	s, f := start(1, 10, "0"), finish(1, 11, "5")
	noBp := func(ev string) string { return strings.Replace(ev, `"bp":"e",`, "", 1) }
	runRules(t, []ruleTest{
		{"slices have them", onLanes(args(a, more), args(b, both), args(s, both), args(f, both)), "flow-args-repeated:2", true},
		{"arrows first in the file", onLanes(args(s, both), args(f, both), args(a, both), args(b, more)), "flow-args-repeated:2", true},
		{"a launch", onLanes(args(a, `"launch_epoch":3`), args(b, `"launch_epoch":3`), args(s, `"launch_epoch":3`), f), "flow-args-repeated:1", true},
		{"one slice has another value", onLanes(args(a, both), args(b, `"rank":2,"slack_ns":61`), args(s, both), args(f, both)), "flow-args-repeated:1 flow-args:1", false},
		{"one slice lacks one", onLanes(args(a, `"rank":2`), args(b, both), args(s, both), args(f, both)), "flow-args-repeated:1 flow-args:1", false},
		{"slices without args", onLanes(a, b, args(s, both), args(f, both)), "flow-args:2", false},
		{"more than the slice has", onLanes(args(a, both), args(b, both), args(s, both+`,"why":1`), args(f, both)), "flow-args-repeated:1 flow-args:1", false},
		{"no number", onLanes(args(a, `"rank":"2"`), args(b, both), args(s, `"rank":"2"`), args(f, both)), "flow-args-repeated:1 flow-args:1", false},
		{"a key twice", onLanes(args(a, both), args(b, both), args(s, `"rank":3,"rank":2`), args(f, both)), "flow-args-repeated:1 flow-args:1", false},
		{"another slice lies on top", onLanes(args(a, both), x("top", 10, "1", "3"), args(b, both), args(start(1, 10, "2"), both), args(f, both)),
			"flow-args-repeated:1 flow-args:1", false},
		{"no slice", onLanes(args(b, both), args(s, both), args(f, both)), "flow-args-repeated:1 flow-args:1 flow-end-without-start:1 flow-no-slice:1", false},
		{"the next slice has them", onLanes(args(a, both), args(b, both), args(s, both), args(noBp(finish(1, 11, "4")), both)), "flow-args-repeated:2 flow-no-bp:1", false},
		{"no next slice", onLanes(args(a, both), args(b, both), args(s, both), args(noBp(finish(1, 11, "6")), both)),
			"flow-args-repeated:1 flow-args:1 flow-no-bp:1 flow-unfinished:1", false},
	})
}

func TestFlowBinding(t *testing.T) {
	bound := func(ev string, id any) string { return with(ev, fmt.Sprintf(`"bind_id":%v`, id)) }
	runRules(t, []ruleTest{
		// Field report 20: pred [100,300], succ [250,400] in cycles of 20 ns.
		{"field report 20 drawn right", onLanes(x("pred", 10, "2", "4"), x("succ", 11, "5", "3"), start(1, 10, "2"), finish(1, 11, "5")), "", true},
		{"source slice starts later (field report 20)", onLanes(x("pred", 10, "2", "4"), x("succ", 11, "1", "7"),
			start(1, 10, "2"), finish(1, 11, "3")), "flow-turned:1", true},
		{"a dependency turned round (field report 20)", onLanes(x("pred", 10, "2", "4"), x("succ", 11, "1", "7"),
			strings.Replace(start(1, 10, "2"), `"name":"d"`, `"name":"dependency"`, 1),
			strings.Replace(finish(1, 11, "3"), `"name":"d"`, `"name":"dependency"`, 1)), "flow-reversed:1", false},
		{"no slice at all", onLanes(x("a", 10, "0", "4"), start(1, 11, "0"), finish(1, 10, "1")), "flow-end-without-start:1 flow-no-slice:1", false},
		{"slice begins later", onLanes(x("a", 10, "0", "4"), x("b", 11, "5", "4"), start(1, 10, "0"), finish(1, 11, "4.999")), "flow-no-slice:1 flow-unfinished:1", false},
		{"last slice has ended", onLanes(x("a", 10, "0", "4"), x("b", 11, "5", "4"), start(1, 10, "4.5"), finish(1, 11, "5")), "flow-stale-slice:1", false},
		{"the end does not belong to it", onLanes(x("a", 10, "0", "4"), x("b", 11, "5", "4"), start(1, 10, "4"), finish(1, 11, "5")), "flow-stale-slice:1", false},
		{"a nanosecond before does", onLanes(x("a", 10, "0", "4"), x("b", 11, "5", "4"), start(1, 10, "3.999"), finish(1, 11, "5")), "", true},
		{"a child that has ended is still on top", onLanes(x("a", 10, "0", "9"), x("child", 10, "1", "1"), x("b", 11, "5", "4"),
			start(1, 10, "3"), finish(1, 11, "5")), "flow-stale-slice:1", false},
		{"zero length", onLanes(x("a", 10, "1", "0"), x("b", 11, "5", "4"), start(1, 10, "1"), finish(1, 11, "5")), "zero-length:1", true},
		{"zero length, later", onLanes(x("a", 10, "1", "0"), x("b", 11, "5", "4"), start(1, 10, "1.001"), finish(1, 11, "5")), "flow-stale-slice:1 zero-length:1", false},
		{"zero length after its flow in the file", onLanes(start(1, 10, "1"), x("a", 10, "1", "0"), x("b", 11, "5", "4"), finish(1, 11, "5")),
			"flow-end-without-start:1 flow-no-slice:1 zero-length:1", false},
		{"an instant on the lane takes the point", onLanes(x("a", 10, "0", "4"), `{"ph":"i","name":"i","pid":1,"tid":10,"ts":1}`, x("b", 11, "5", "4"),
			start(1, 10, "2"), finish(1, 11, "5")), "flow-stale-slice:1", false},
		{"open pair", onLanes(`{"ph":"B","name":"a","pid":1,"tid":10,"ts":0}`, x("b", 11, "5", "4"), start(1, 10, "3"), finish(1, 11, "5"),
			`{"ph":"E","pid":1,"tid":10,"ts":9}`), "", true},
		{"ended pair", onLanes(`{"ph":"B","name":"a","pid":1,"tid":10,"ts":0}`, x("b", 11, "5", "4"), start(1, 10, "3"), finish(1, 11, "5"),
			`{"ph":"E","pid":1,"tid":10,"ts":2}`), "flow-end-without-start:1 flow-no-slice:1", false},

		{"bind_id agrees", onLanes(xid(0, 10, "0", "4"), xid(1, 11, "5", "4"), bound(start(1, 10, "0"), 0), bound(finish(1, 11, "5"), 1)), "", true},
		{"bind_id of no slice", onLanes(xid(0, 10, "0", "4"), xid(1, 11, "5", "4"), bound(start(1, 10, "0"), 77), finish(1, 11, "5")), "", true},
		{"bind_id of another kind is no slice", onLanes(xid(0, 10, "0", "4"), xid(1, 11, "5", "4"), bound(start(1, 10, "0"), `"1"`), finish(1, 11, "5")), "", true},
		{"bind_id of another slice", onLanes(xid(0, 10, "0", "4"), xid(1, 10, "1", "1"), xid(2, 11, "5", "4"),
			bound(start(1, 10, "1"), 0), bound(finish(1, 11, "5"), 2)), "flow-bind-id:1", false},
		// Field report 26: report 1 plus a flow to the second task.
		{"raw overlap (field report 26)", onLanes(xid(0, 10, "2", "4"), xid(1, 10, "5", "4"), xid(2, 11, "0", "4"),
			bound(start(1, 11, "0"), 2), bound(finish(1, 10, "5"), 1)), "flow-bind-id:1 slice-overlap:1", false},
		{"both ends on one slice", onLanes(xid(0, 10, "2", "4"), xid(1, 10, "5", "4"), start(1, 10, "2"), finish(1, 10, "5")), "flow-to-itself:1 slice-overlap:1", false},
		{"ids twice", onLanes(xid(3, 10, "2", "4"), xid(3, 11, "5", "4"), xid(3, 12, "5", "4")), "duplicate-id:2", true},

		{"flows on the slices", onLanes(with(x("a", 10, "0", "4"), `"bind_id":"0x1","flow_out":true`),
			with(x("b", 11, "5", "4"), `"bind_id":"0x1","flow_in":true,"flow_out":true`), with(x("c", 12, "9", "4"), `"bind_id":"0x1","flow_in":true`)), "", true},
		{"flow on a slice without its end", onLanes(with(x("a", 10, "0", "4"), `"bind_id":1,"flow_out":true`)), "flow-unfinished:1", false},
		{"flow on a slice without its start", onLanes(with(x("a", 10, "0", "4"), `"bind_id":1,"flow_in":true`)), "flow-end-without-start:1", false},
	})
}
