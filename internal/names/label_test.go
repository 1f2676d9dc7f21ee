package names_test

import (
	"strings"
	"testing"

	"swimlane/capture"
	"swimlane/internal/names"
)

// The examples of spec/converter.md §2.1 and spec/newest.md §4.2, and the ends of
// the fields.
func TestAppendTaskID(t *testing.T) {
	for _, tt := range []struct {
		ids  capture.IDLayout
		id   uint64
		want string
	}{
		{capture.HighLow, 7, "t7"},
		{capture.HighLow, 1<<33 + 5, "r2t5"},
		{capture.HighLow, 1<<32 | 3073, "r1t3073"},
		{capture.HighLow, 0, "t0"},
		{capture.HighLow, 1<<32 - 1, "t4294967295"},
		{capture.HighLow, 1 << 32, "r1t0"},
		{capture.HighLow, 0xff<<32 | 1, "r255t1"},
		{capture.HighLow, 0x100<<32 | 5, "t5"}, // the ring is the low byte of the high word
		{capture.HighLow, 0x102<<32 | 5, "r2t5"},
		{capture.HighLow, 1<<64 - 1, "r255t4294967295"}, // −1

		{capture.Rings, 7, "r0t7"},
		{capture.Rings, 1<<33 + 5, "r2t5"},
		{capture.Rings, 1<<32 | 9, "r1t9"},
		{capture.Rings, 1<<40 - 1, "r255t4294967295"},

		{capture.Spaces, 12, "t12"},
		{capture.Spaces, 1<<32 | 9, "t9"}, // only a sub-task has a parent
		{capture.Spaces, 4611686031312289792, "g3t0"},
		{capture.Spaces, 4611686048492158981, "g7t5"},
		{capture.Spaces, 1<<62 | 0xfffff<<32 | 1, "g1048575t1"},
		{capture.Spaces, 9223372036854775810, "p2"},
	} {
		if got := string(names.AppendTaskID(nil, tt.ids, tt.id)); got != tt.want {
			t.Errorf("layout %d, %#x: %q, want %q", tt.ids, tt.id, got, tt.want)
		}
	}
	if got := string(names.AppendTaskID([]byte("QK("), capture.HighLow, 7)); got != "QK(t7" {
		t.Errorf("appended: %q", got)
	}
}

// spec/converter.md §2.2.
func TestLetters(t *testing.T) {
	for n, want := range map[int64]string{
		-2: "", -1: "", 0: "a", 1: "b", 25: "z", 26: "aa", 27: "ab", 51: "az", 52: "ba",
		701: "zz", 702: "aaa", 18277: "zzz", 18278: "aaaa", 1<<31 - 1: "fxshrxx",
	} {
		if got := names.Letters(n); got != want {
			t.Errorf("Letters(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestFunction(t *testing.T) {
	m := names.NewMap("", map[int64]string{0: "QK", 2: ""})
	for id, want := range map[int64]string{0: "QK", 1: "func_1_b", 2: "", 26: "func_26_aa", -1: "func_-1_"} {
		if got := m.Function(id); got != want {
			t.Errorf("Function(%d) = %q, want %q", id, got, want)
		}
	}
	var none *names.Map
	if got := none.Function(0); got != "func_0_a" {
		t.Errorf("without a map: %q", got)
	}
	// Only the decimal text of an id is its key.
	if got := mustParse(t, `{"callable_id_to_name":{"01":"x","+1":"y","1.0":"z"}}`).Function(1); got != "func_1_b" {
		t.Errorf("other spellings of the key: %q", got)
	}
}

// The tables of spec/converter.md §2.3 and spec/name-map.md §4.3.
func TestTaskLabel(t *testing.T) {
	const (
		t0    = 0
		r2t5  = 2<<32 | 5
		r2t18 = 2<<32 | 18
	)
	for _, tt := range []struct {
		fn    int64
		names ids
		id    uint64
		spmd  bool
		want  string
	}{
		{16, ids{16: "fa_fused_aic"}, r2t18, true, "fa_fused_aic_spmd(r2t18)"},
		{16, ids{16: "fa_fused_aic"}, r2t18, false, "fa_fused_aic(r2t18)"},
		{-1, nil, r2t18, true, "task_spmd(r2t18)"},
		{-1, nil, r2t18, false, "task(r2t18)"},
		{0, ids{0: "spmd_write_aiv"}, t0, true, "spmd_write_aiv(t0)"},
		{0, ids{0: "SPMDKernel"}, t0, true, "SPMDKernel(t0)"},
		{0, ids{0: "my_SpMd"}, t0, true, "my_SpMd(t0)"},
		{1, ids{0: "QK"}, r2t5, true, "func_1_b_spmd(r2t5)"},
		{0, nil, t0, false, "func_0_a(t0)"},
		{26, nil, t0, false, "func_26_aa(t0)"},
		// A name for −1 names nothing: the function is unknown.
		{-1, ids{-1: "x"}, t0, false, "task(t0)"},
		// The mark stands in front of the first parenthesis, and only what is
		// in front of it can hold the mark already.
		{0, ids{0: "f(x)(y)"}, t0, true, "f_spmd(x)(y)(t0)"},
		{0, ids{0: "f(x)"}, t0, false, "f(x)(t0)"},
		{0, ids{0: "f(spmd)"}, t0, true, "f_spmd(spmd)(t0)"},
		{0, ids{0: "spmd(x)"}, t0, true, "spmd(x)(t0)"},
		{0, ids{0: ""}, t0, true, "_spmd(t0)"},
	} {
		label := []byte(names.NewMap("", tt.names).TaskFunction(tt.fn, tt.spmd) + "(")
		label = append(names.AppendTaskID(label, capture.HighLow, tt.id), ')')
		if string(label) != tt.want {
			t.Errorf("function %d of %v, spmd %v: %q, want %q", tt.fn, tt.names, tt.spmd, label, tt.want)
		}
		// It is the rule for whole labels, applied to the part in front of the id.
		if head, _, _ := strings.Cut(string(label), "("); tt.spmd && !strings.Contains(strings.ToLower(head), "spmd") {
			t.Errorf("%q lacks the mark in front of its first parenthesis", label)
		}
	}
	var none *names.Map
	if got := none.TaskFunction(3, true); got != "func_3_d_spmd" {
		t.Errorf("without a map: %q", got)
	}
}
