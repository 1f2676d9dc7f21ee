package check_test

import (
	"bytes"
	"fmt"
	"testing"

	"swimlane/internal/trace/check"
)

// synthetic returns a clean trace of n tasks in two views, each with an arrow
// to the next, of the shape that the product writes.
func synthetic(n int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"traceEvents":[`)
	for _, pid := range []int{3, 4} {
		fmt.Fprintf(&b, `{"args":{"name":"View %d"},"cat":"__metadata","name":"process_name","ph":"M","pid":%d},`, pid, pid)
		for lane := range 72 {
			fmt.Fprintf(&b, `{"args":{"name":"AIC_%d"},"cat":"__metadata","name":"thread_name","ph":"M","pid":%d,"tid":%d},`, lane, pid, 10000+10*lane)
		}
	}
	for i := range n {
		for _, pid := range []int{3, 4} {
			fmt.Fprintf(&b, `{"args":{"event-hint":"Task:r1t%d, FuncId:3, CoreId:%d","fanout-hint":"1: [r1t%d]","duration-us":%d.5,"taskId":%d},"cat":"event","id":%d,"name":"QK(r1t%d)","ph":"X","pid":%d,"tid":%d,"ts":%d.020,"dur":%d.500},`,
				i, i%72, i+1, i%50+10, 1<<32+i, 2*i+pid-3, i, pid, 10000+10*(i%72), i, i%50+10)
		}
	}
	for i := range n - 1 {
		for k, pid := range []int{3, 4} {
			fmt.Fprintf(&b, `{"cat":"flow","id":%d,"name":"dependency","ph":"s","pid":%d,"tid":%d,"ts":%d.020,"bind_id":%d},`, 2*i+k, pid, 10000+10*(i%72), i, 2*i+k)
			fmt.Fprintf(&b, `{"cat":"flow","id":%d,"name":"dependency","ph":"f","bp":"e","pid":%d,"tid":%d,"ts":%d.020,"bind_id":%d},`, 2*i+k, pid, 10000+10*((i+1)%72), i+1, 2*i+2+k)
		}
	}
	b.WriteString(`{"args":{"n":1},"name":"end","ph":"i","s":"g","pid":3,"tid":10000,"ts":1}]}`)
	return b.Bytes()
}

func BenchmarkJSON(b *testing.B) {
	data := synthetic(100_000)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		rep, err := check.JSON(bytes.NewReader(data))
		if err != nil {
			b.Fatal(err)
		}
		if len(rep.Findings) > 0 {
			b.Fatal(rep.Findings)
		}
	}
}
