package ranks

import (
	"fmt"
	"strconv"

	"swimlane/internal/jsonscan"
	"swimlane/trace"
)

// Metadata describes the picture as a whole (spec/l3.md §10.10): the list of ranks has
// those that are drawn, all else is about all of them. All members must have been drawn.
func (p *Plan) Metadata() []trace.Field {
	var out []trace.Field
	add := func(key string, json []byte) { out = append(out, trace.Field{Key: key, JSON: json}) }
	status := complete
	var slacks []int64
	for _, m := range p.All {
		if !m.whole {
			status = `"partial"`
		}
		slacks = append(slacks, m.Placement.Slack())
	}
	uncertainty := []byte(null)
	if ns, ok := Uncertainty(slacks); ok {
		uncertainty = strconv.AppendInt(nil, ns, 10)
	}
	pids := []byte{'['}
	for i, d := range p.dispatchers {
		if i > 0 {
			pids = append(pids, ',')
		}
		pids = strconv.AppendInt(pids, int64(d.pid), 10)
	}
	logs := []byte{'['}
	for i, path := range p.Logs {
		if i > 0 {
			logs = append(logs, ',')
		}
		logs = jsonscan.AppendString(logs, path)
	}
	if p.runtime != "" { // spec/newest.md §10.2
		add("runtime", optional(p.runtime))
	}
	add("layout", []byte(`"containment_spliced_multi_rank"`))
	add("dispatch", optional(p.Dispatch))
	add("dispatch_id", optional(p.DispatchID))
	add("host_clock_domain_id", optional(p.domain))
	add("host_logs", append(logs, ']'))
	add("global_origin_ns", strconv.AppendInt(nil, p.Origin, 10))
	add("dispatcher_pids", append(pids, ']'))
	add("rank_count", strconv.AppendInt(nil, int64(len(p.All)), 10))
	out = append(out, p.pairing...)
	add("trace_status", []byte(status))
	ranks := []byte{'['}
	for i, m := range p.Members {
		if i > 0 {
			ranks = append(ranks, ',')
		}
		ranks = append(append(ranks, '\n'), m.describe()...)
	}
	add("ranks", append(ranks, ']'))
	add("cross_rank_uncertainty_ns", uncertainty)
	if len(p.Members) < len(p.All) {
		add("selection", p.selection())
	}
	return out
}

// selection names the ranks that are drawn.
func (p *Plan) selection() []byte {
	b := []byte(`{"ranks":[`)
	for i, m := range p.Members {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(m.Rank), 10)
	}
	return append(b, `]}`...)
}

const (
	complete = `"complete"`
	null     = "null"
)

func optional(text string) []byte {
	if text == "" {
		return []byte(null)
	}
	return jsonscan.AppendString(nil, text)
}

// viewField is what the metadata of the rank's own picture says.
func (m *Member) viewField(key string) []byte {
	for _, f := range m.view {
		if f.Key == key {
			return f.JSON
		}
	}
	return nil
}

// status is the JSON text of the rank's trace_status.
func (m *Member) status() string {
	if s := m.viewField("trace_status"); s != nil {
		return string(s)
	}
	return complete
}

// describe is the entry of a rank.
func (m *Member) describe() []byte {
	or := func(json []byte, otherwise string) []byte {
		if json == nil {
			return []byte(otherwise)
		}
		return json
	}
	b := fmt.Appendf(nil, `{"rank":%d,"input":%s,"trace_status":%s,"source_timeline_origin_ns":%s,"placement":{`,
		m.Rank, jsonscan.AppendString(nil, m.Records), m.status(), or(m.viewField("source_timeline_origin_ns"), "0"))
	for i, f := range m.Placement.fields() {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, `"%s":%s`, f[0], f[1])
	}
	b = append(append(b, `},"host_pairing":`...), m.Pair.describe()...)
	b = append(append(b, `,"host_capture":`...), or(m.viewField("host_capture"), null)...)
	b = append(b, `,"dispatch_identity":`...)
	if m.Identity == nil {
		return append(b, null+"}"...)
	}
	return append(append(b, m.Identity.JSON...), '}')
}

// describe is the host_pairing of a rank (spec/l3.md §8.4).
func (p *Pair) describe() []byte {
	b := fmt.Appendf(nil, `{"pid":%d,"inv":%d,"source":"%s","sidecar_keys":`, p.Window.PID, p.Window.Inv, p.Source)
	if p.Source == bySidecar {
		b = append(b, '[')
		for i, key := range p.Keys {
			if i > 0 {
				b = append(b, ',')
			}
			b = jsonscan.AppendString(b, key)
		}
		b = append(b, ']')
	} else {
		b = append(b, null...)
	}
	b = append(b, `,"window_excess_ns":`...)
	if p.Source == byFit {
		b = strconv.AppendInt(b, round(p.Excess), 10)
	} else {
		b = append(b, null...)
	}
	b = append(b, `,"assignment_margin_ns":`...)
	if finite(p.Margin) {
		b = strconv.AppendInt(b, round(p.Margin), 10)
	} else {
		b = append(b, null...)
	}
	return append(b, '}')
}
