package scene_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"swimlane/scene"
)

// nodeUse is what a task of a random orchestration does with tensors, by number.
type nodeUse struct {
	reads, writes map[int]bool
	after         []int
}

// TestNodeTasksWait: a task waits, at once or for one that does, for every earlier task
// that writes what it uses, or uses what it writes; and for nothing else but what it
// declares. What must be ordered is found by comparing all pairs.
func TestNodeTasksWait(t *testing.T) {
	const tensors, tasks = 5, 40
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 3))
		sub := &scene.NodeCallable{Name: "sub", Sub: func(*scene.Case, []scene.Data) error { return nil }}
		chip := &scene.NodeCallable{Name: "chip", Chip: &scene.Callable{}}
		s := &scene.Scene{Node: &scene.Node{Callables: []*scene.NodeCallable{sub, chip}}, Cases: []scene.Case{{Config: scene.Config{DeviceCount: 2, SubWorkers: 1}}}}
		var uses []nodeUse
		waits := scene.WaitsOf(s, func(o *scene.NodeOrchestrator) {
			var all []scene.NodeTensor
			for range tensors {
				all = append(all, o.Alloc("x", scene.Int32, 1))
			}
			var ids []scene.NodeID
			for range tasks {
				u := nodeUse{map[int]bool{}, map[int]bool{}, nil}
				args := func(of []int) (list []scene.NodeArg) {
					for _, k := range of {
						a := all[k].In()
						switch rng.IntN(4) {
						case 0:
							a, u.writes[k] = all[k].Out(), true
						case 1:
							a, u.writes[k], u.reads[k] = all[k].InOut(), true, true
						default:
							u.reads[k] = true
						}
						list = append(list, a)
					}
					return list
				}
				pick := rng.Perm(tensors)
				task := scene.NodeTask{Callable: sub}
				if rng.IntN(3) == 0 { // a group, whose members use different ones
					task = scene.NodeTask{Callable: chip, Group: []scene.NodeMember{{Worker: 1, Args: args(pick[:1])}, {Worker: 0, Args: args(pick[1 : 1+rng.IntN(2)])}}}
				} else {
					task.Args = args(pick[:1+rng.IntN(2)])
				}
				if len(ids) > 0 && rng.IntN(6) == 0 {
					k := rng.IntN(len(ids))
					task.After, u.after = []scene.NodeID{ids[k]}, []int{k}
				}
				ids = append(ids, o.Submit(task))
				uses = append(uses, u)
			}
		})
		if len(waits) != tasks {
			t.Fatalf("seed %d: %d tasks are submitted, want %d", seed, len(waits), tasks)
		}
		before := make([]map[int]bool, tasks) // all that a task comes after
		for i, direct := range waits {
			before[i] = map[int]bool{}
			for _, p := range direct {
				before[i][p] = true
				for q := range before[p] {
					before[i][q] = true
				}
				if !conflict(uses[p], uses[i]) && !slices.Contains(uses[i].after, p) {
					t.Errorf("seed %d: task %d waits for task %d, with which it shares nothing that is written: %v, %v", seed, i, p, uses[i], uses[p])
				}
			}
			for p := range i {
				if (conflict(uses[p], uses[i]) || slices.Contains(uses[i].after, p)) && !before[i][p] {
					t.Errorf("seed %d: task %d does not wait for task %d: %v, %v", seed, i, p, uses[i], uses[p])
				}
			}
		}
	}
}

// conflict tells whether one of two writes what the other uses.
func conflict(a, b nodeUse) bool {
	for k := range a.writes {
		if b.reads[k] || b.writes[k] {
			return true
		}
	}
	for k := range b.writes {
		if a.reads[k] {
			return true
		}
	}
	return false
}
