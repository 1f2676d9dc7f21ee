package doctor

import "strings"

// ofRanks concern trees of several ranks.
var ofRanks = map[string]advice{
	"rank-directories":    {Error, "ranks are the directories rank0, rank1, …, each number once", "rename or remove what is called rank… and is none"},
	"node-directories":    {Error, "a run of several nodes has a directory of ranks for each, and only those of one node share a clock", "convert the directory of each node by itself"},
	"capture-directories": {Error, "below a rank captures lie in d0, d1, …", "rename or remove what is called d… and is none"},
	"rank-empty":          {Warning, "the rank has no capture, though others have: its process failed, or captured nothing", "look into the log of the rank's process; sets in which every rank must take part cannot be merged"},
	"sidecar-invalid": {Error, "the sidecar says which dispatch a capture is of; a wrong one could pair it with the wrong run, so nothing is merged with it",
		"remove it, from all ranks of the set, to pair by the shape of runs, or capture again"},
	"sidecar-missing": {Error, "captures of a set have a sidecar either all or none: those that have one can be paired exactly, those without only by their shape",
		"find the missing dispatch_identity.json, or remove those of the other ranks to pair by shape"},
	"ranks-asymmetric": {Error, "dK of one rank belongs to dK of another only if all ranks have the same captures; otherwise different dispatches would be merged",
		"find the missing captures; convert --dispatch dK merges one set that every rank has, and a records file can be drawn by itself"},
	"group-incomplete":   {Error, "a group needs the capture of each member: one is missing, or has lost its sidecar", "find the missing rankN/dK, or draw the records files one by one"},
	"group-inconsistent": {Error, "members of a group have one size and one callable: these sidecars are of different runs", "separate the runs into directories of their own"},
	"group-repeated":     {Error, "a rank takes part in a group once: captures of several runs lie in one directory", "separate the runs into directories of their own"},
	"log-missing": {Error, "each chip counts cycles of its own, and where they lie on the host's clock stands in the host's log only",
		"copy the host.*.log of the run there or name them with --host-log; if there are none run again with --log-level timing or finer"},
	"log-without-windows": {Error, "the log must have chip.run.runner_run with its device_wall of the run: it is of another run, or its threshold was above TIMING",
		"name the right logs with --host-log, or run again with --log-level timing or finer"},
	"log-of-rank-missing": {Error, "each capture needs a run of its own in the logs: the log of a chip's process is missing or lost its spans",
		"copy all host.*.log of the run there, or draw less ranks"},
	"clock-domains":        {Error, "hosts that were booted separately have clocks that cannot be compared", "merge the ranks of one host at a time"},
	"clock-domain-missing": {Note, "the capture does not say which host it was made on, so nobody can check that all ranks shared one clock; older runtimes never say it", "see that all ranks ran on one host; if not, their places mean nothing"},
	"pairing-ambiguous": {Error, "runs of the same shape fit equally well, and nothing else says which run a capture is of",
		"pin it, as swimlane convert {dir} --rank-pid RANK=PID:INV, or run again so that captures carry dispatch_identity.json with host_pid"},
	"sidecar-unmatched":   {Warning, "the run that the sidecar names is not in the logs, so the capture went where it fits best", "copy all host.*.log of the run there"},
	"capture-unplaceable": {Error, "a capture without any time of the device has no place on an axis", "draw the other ranks by themselves, or capture again"},
	"placement":           {Error, "the device's records are longer than the run that they are said to be of: the log is of another run, or the pairing is wrong", "copy the logs of this very run there, or pin the pairing with --rank-pid"},
	"merge-refused":       {Error, "the captures of the set cannot be put on one axis", "draw them one by one, as swimlane convert {dir}/rankN/dK"},
	"ranks-no-trace":      {Note, "nobody has merged these captures yet, or the output lies elsewhere (-o)", "swimlane convert {dir}, with --dispatch or --dispatch-id if it holds several sets"},
	"retained-several":    {Error, "a merge takes one capture of each rank, and of several runs that were kept nothing says which", "leave one of them there, or draw each by itself, as swimlane convert FILE"},
	"ranks-runtimes":      {Error, "task ids of different runtimes do not mean the same, and one picture has one meaning", "merge captures of one runtime"},
	"run-epochs":          {Error, "the process counts its runs, and the records are of another run than the log or the sidecar says", "copy the log of that run there or name it with --host-log, or pin the pairing with --rank-pid RANK=PID:INV"},
	"rank-of-runs":        {Error, "a merge places one run of each rank, and this capture holds several", "capture the runs one by one, or draw the records file by itself"},
	"residual-large":      {Note, "the log has no phases of the device to hold the records against, as those of host_build_graph never have, so they lie anywhere in the device's time", "take gaps between ranks as uncertain by that much, too"},
	"retained-unmerged":   {Note, "nothing says which rank these runs were of, so they are not merged", "move each below its rankN/dK, or draw it by itself, as swimlane convert FILE"},
	"several-sets":        {Note, "convert merges one set at a time", "choose one with --dispatch or --dispatch-id"},
}

// rankMessages find the code of what discovering, choosing and merging say, by words
// that spec/l3.md fixes.
var rankMessages = []struct{ words, code string }{
	{"invalid Rank directory name", "rank-directories"},
	{"duplicate Rank number", "rank-directories"},
	{"no rankN directories found", "rank-directories"},
	{"needs a node namespace", "node-directories"},
	{"invalid capture directory name", "capture-directories"},
	{"refusing to pair asymmetric", "ranks-asymmetric"},
	{"incomplete parent dispatch", "group-incomplete"},
	{"inconsistent metadata for parent dispatch", "group-inconsistent"},
	{"has several captures on the same Rank", "group-repeated"},
	{"has dispatch identity metadata for only", "sidecar-missing"},
	{"dispatch identity", "sidecar-invalid"},
	{"different Host clocks", "clock-domains"},
	{"predates metadata.host_clock_domain_id", "clock-domain-missing"},
	{"cross-Rank placement reads each Rank's device work", "log-missing"},
	{"nothing brackets the device work", "log-without-windows"},
	{"Host invocations to place them in", "log-of-rank-missing"},
	{"pair ambiguously", "pairing-ambiguous"},
	{"ways of matching them", "pairing-ambiguous"},
	{"no way of matching", "placement"},
	{"sidecar identity matches no logged invocation", "sidecar-unmatched"},
	{"a merge takes one capture of each rank", "retained-several"},
	{"name different runtimes", "ranks-runtimes"},
	{"the records are of run_epoch", "run-epochs"},
	{"a merge places one run of each rank", "rank-of-runs"},
	{"the slack is not the whole bound", "residual-large"},
	{"AICPU launch marker", "placement"},
	{"aicpu_launch marker", "placement"},
	{"no device-clock records to place", "capture-unplaceable"},
	{"cannot describe one run", "placement"},
	{"window is only", "placement"},
}

// rankCode is the code of a message, or the one given if it is none of those.
func rankCode(text, otherwise string) string {
	for _, m := range rankMessages {
		if strings.Contains(text, m.words) {
			return m.code
		}
	}
	return otherwise
}
