package gen

// records writes chip_swimlane_records.json.
func (s *schedule) records(t *text) {
	t.s("{\n  \"chip_swimlane_level\": 4,\n")
	s.metadata(t)
	t.s(",\n  \"aicore_tasks\": [")
	s.aicoreTasks(t)
	t.s("\n  ],\n  \"scheduler_tasks\": {\n    \"schema_version\": 1,\n    \"producer\": \"aicpu\",\n    \"records\": [")
	s.schedulerTasks(t)
	t.s("\n    ]\n  },\n  \"scheduler_records\": {\n    \"schema_version\": 1,\n    \"streams\": [")
	for thread := range numThreads {
		s.stream(t.row(thread == 0, "      "), thread)
	}
	t.s("\n    ]\n  },\n  \"aicpu_orchestrator_phases\": [\n    [")
	s.orchestrator(t)
	t.s("\n    ]\n  ]\n}\n")
}

func (s *schedule) metadata(t *text) {
	t.s("  \"metadata\": {\n    \"clock_freq_hz\": 50000000,\n    \"num_cores\": ").n(numCores)
	if s.domain != "" {
		t.s(",\n    \"host_clock_domain_id\": \"", s.domain, "\"")
	}
	t.s(",\n    \"core_types\": [")
	for c := range numCores {
		if c > 0 {
			t.s(", ")
		}
		if c < numAIC {
			t.s(`"aic"`)
		} else {
			t.s(`"aiv"`)
		}
	}
	t.s("],\n    \"core_to_thread\": [")
	for c, thread := range coreToThread {
		if c > 0 {
			t.s(", ")
		}
		t.n(uint64(thread))
	}
	t.s("]\n  }")
}

// eachByCore calls row for every task, core by core as the collector writes
// them, with the task's core and its dispatch token on that core.
func (s *schedule) eachByCore(row func(i, core, token int)) {
	for c := range numCores {
		i := 0
		for s.slots[i].core != c {
			i++
		}
		for ; i < s.tasks; i += numCores {
			row(i, c, i/numCores+1)
		}
	}
}

func (s *schedule) aicoreTasks(t *text) {
	first := true
	s.eachByCore(func(i, core, token int) {
		start, end, setup := s.kernel(i)
		t.row(first, "    [").n(uint64(core)).s(", ").n(taskID(i)).s(", ").n(uint64(token))
		t.s(", ").n(start).s(", ").n(end).s(", ").n(setup).s("]")
		first = false
	})
}

func (s *schedule) schedulerTasks(t *text) {
	first := true
	s.eachByCore(func(i, core, token int) {
		dispatch, finish := s.scheduled(i)
		t.row(first, "    [").n(uint64(core)).s(", ").n(uint64(token))
		t.s(", ").n(dispatch).s(", ").n(finish).s("]")
		first = false
	})
}

func (s *schedule) stream(t *text, thread int) {
	id := uint64(thread)
	t.s(`{"platform": "a2a3", "runtime": "tensormap_and_ringbuffer", "producer": "aicpu", "scheduler_id": `).n(id)
	t.s(`, "worker_id": `).n(id).s(`, "core_type": "aicpu", "physical_core_id": null, "capture": {"committed": `)
	t.n(uint64(2 * s.groups[thread])).s(`, "dropped": 0, "truncated": false}, "records": [`)
	n := 0
	s.eachPhase(thread, func(g int, complete bool) {
		start, end := s.dispatchRecord(thread, g)
		kind := "dispatch"
		if complete {
			start, end = s.completeRecord(thread, g)
			kind = "complete"
		}
		first, last := s.group(thread, g)
		t.row(n == 0, "        ").s(`{"start_cycles": `).n(start).s(`, "end_cycles": `).n(end)
		t.s(`, "loop_iter": `).n(uint64(n/2+1)).s(`, "kind": "`, kind, `", "tasks_processed": `).n(uint64(last - first))
		t.s(`, "task_id": null}`)
		n++
	})
	t.s("\n      ], \"metrics\": [")
	n = 0
	s.eachPhase(thread, func(g int, complete bool) {
		t.row(n == 0, "        ").s(`{"record_index": `).n(uint64(n))
		if !complete {
			first, last := s.group(thread, g)
			t.s(`, "pop_hit": `).n(uint64(last - first)).s(`, "pop_miss": `).n(s.random(rQueue, g) >> 48 % 20)
		}
		// The depths at the end of one record are those at the start of the next.
		s.depths(t.s(`, "shared_at_start": `), thread, n)
		s.depths(t.s(`, "shared_at_end": `), thread, n+1)
		t.s("}")
		n++
	})
	t.s("\n      ]}")
}

// eachPhase calls record for the records of a thread in order of time: from
// the third group on, one is published between the retirements of two others.
func (s *schedule) eachPhase(thread int, record func(g int, complete bool)) {
	d, c, n := 0, 0, s.groups[thread]
	for c < n {
		if d < n {
			ds, _ := s.dispatchRecord(thread, d)
			if cs, _ := s.completeRecord(thread, c); ds < cs {
				record(d, false)
				d++
				continue
			}
		}
		record(c, true)
		c++
	}
}

// depths writes the lengths of the three ready queues at one moment.
func (s *schedule) depths(t *text, thread, n int) {
	h := s.random(rQueue, n*numThreads+thread)
	t.s("[").n(h % 1500).s(",").n(h >> 16 % 64).s(",0]")
}

func (s *schedule) orchestrator(t *text) {
	for i := range s.tasks {
		start, end := s.submit(i)
		t.row(i == 0, "      ").s(`{"submit_idx": `).n(uint64(i)).s(`, "task_id": `).n(taskID(i))
		t.s(`, "start_cycles": `).n(start).s(`, "end_cycles": `).n(end).s("}")
	}
}
