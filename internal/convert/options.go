package convert

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"swimlane/capture"
	"swimlane/internal/console"
	"swimlane/internal/ranks"
)

// Input says which files a command reads, and what it wants of them. All
// commands that read a capture share it.
type Input struct {
	FuncNames    string // name map; "": looked for
	KernelConfig string // Python file with function names; "": none
	DepsJSON     string // task graph; "": deps.json beside the records
	Verbose      bool   // print what is read and found
	Nameless     bool   // names are not wanted
	Extras       bool   // what only the model shows is wanted
	KeepRecords  bool   // Capture.Original is wanted
	Pops         bool   // what schedulers took out of the ready queues is wanted
	OneRun       bool   // the command goes by task ids, which start again with every run: it takes the records of one
	RunEpoch     string // which run; "": all, with OneRun the only one
	NeedGraph    bool   // there is nothing to do without a graph: Capture.GraphError says why there is none
	Analysis     bool   // found and refused as the ecosystem's analyses do (spec/sched-overhead.md §2)
	NewestNames  bool   // of several name maps beside the records the newest counts, instead of none

	streamOrder *console.Choice // nil: id
	merged      bool            // one of several captures that are merged, which take no options for names
	mayLackDeps bool            // a graph that was named may be missing
}

// Flags adds the options, and the argument CAPTURE. A command that is Nameless
// has no options for names.
func (o *Input) Flags(cmd *cobra.Command) {
	o.flags(cmd)
	o.streamOrder = console.Choose(cmd, "stream-order", "place scheduler streams by their scheduler id, or by appearance in the file", "id", "appearance")
}

// RunFlag adds the choice of a run, for analyses (spec/newest.md §14).
func (o *Input) RunFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.RunEpoch, "run-epoch", "", "take only the records of the run EPOCH, of a file that holds several runs or kernel launches; 'none': of the run that is not named")
	console.Word(cmd, "run-epoch", "EPOCH")
}

// runsError says that the choice of a run does not fit the file, which could be read.
type runsError struct{ text string }

func (e runsError) Error() string { return e.text }

// chooseRun leaves of the records those of the run that is wanted.
func (o *Input) chooseRun(rec *capture.Records) error {
	n, file := len(rec.Runs), rec.Source
	switch i := rec.RunOf(o.RunEpoch); {
	case o.RunEpoch == "" && (n == 1 || !o.OneRun):
	case o.RunEpoch == "":
		return runsError{fmt.Sprintf("%s: records hold %d runs (epochs %s); select one with --run-epoch", file, n, rec.Epochs())}
	case i >= 0:
		rec.Only(i)
	case n == 1 && !rec.Runs[0].Known:
		return runsError{fmt.Sprintf("%s: records name no run, and --run-epoch asks for %q; leave it out", file, o.RunEpoch)}
	default:
		return runsError{fmt.Sprintf("%s: no run has the epoch %q; records hold %s (epochs %s)", file, o.RunEpoch, console.Count(int64(n), "run"), rec.Epochs())}
	}
	return nil
}

// locate finds the records file.
func (o *Input) locate(arg string) (path string, auto bool, err error) {
	if !o.Analysis {
		return capture.Locate(arg)
	}
	if arg == "" {
		path, err = capture.NewestAnywhere()
		return path, true, err
	}
	if _, err := os.Stat(arg); errors.Is(err, fs.ErrNotExist) {
		return "", false, errors.New("Perf JSON not found: " + arg) //lint:ignore ST1005 in the words of spec/sched-overhead.md §2
	}
	return capture.Locate(arg)
}

// reading is how records are read.
func (o *Input) reading() capture.Options {
	return capture.Options{StreamsByAppearance: o.streamOrder != nil && o.streamOrder.Value == "appearance", Extras: o.Extras, Pops: o.Pops}
}

// flags adds those that the ecosystem's tool has too.
func (o *Input) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	if !o.Nameless {
		f.Var(console.File(&o.FuncNames), "func-names", "name map FILE (name_map_*.json); wins over everything else")
		f.VarP(console.File(&o.KernelConfig), "kernel-config", "k", "kernel_config.py or SceneTest FILE to take function names from; it is parsed, never run")
		cmd.MarkFlagFilename("func-names", "json")
		cmd.MarkFlagFilename("kernel-config", "py")
	}
	f.Var(console.File(&o.DepsJSON), "deps-json", "task graph FILE (default: deps.json beside the records)")
	f.BoolVarP(&o.Verbose, "verbose", "v", false, "print what is read and found")
	cmd.MarkFlagFilename("deps-json", "json", "gz")
	cmd.Args = console.AtMostOne("CAPTURE", "leave it out to take the newest capture below outputs/")
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return []string{"json", "gz"}, cobra.ShellCompDirectiveFilterFileExt
	}
}

// Options are the options of a conversion. The zero value draws everything, to
// merged_swimlane.json beside the records.
type Options struct {
	Input
	Output   string // a file, console.Standard, or "": beside the records
	Overhead bool   // counter tracks of idle cores and ready tasks
	Idle     bool   // bars for the gaps of scheduler threads
	Quiet    bool   // print only warnings and errors
	// Alias has the options and words of the ecosystem's tool, whose name the
	// program was called by (spec/converter.md §8).
	Alias bool

	part  selectOptions
	ranks rankOptions
}

// rankOptions concern directories of several ranks.
type rankOptions struct {
	dispatch, dispatchID string
	hostLog, rankPID     []string
	only                 string // ranks that are drawn, "": all
}

// given reports whether there is any.
func (o *rankOptions) given() bool {
	return o.dispatch != "" || o.dispatchID != "" || len(o.hostLog) > 0 || len(o.rankPID) > 0 || o.only != ""
}

// Flags adds the options, and the argument CAPTURE. With Alias they are those of
// the ecosystem's tool only.
func (o *Options) Flags(cmd *cobra.Command) {
	f := cmd.Flags()
	if o.Alias {
		o.flags(cmd)
	} else {
		o.Input.Flags(cmd)
		o.part.flags(cmd)
		f.BoolVarP(&o.Quiet, "quiet", "q", false, "print only warnings and errors")
		f.BoolVar(&o.Idle, "idle", false, "draw the gaps between the work of a scheduler thread as idle bars")
	}
	f.VarP(console.File(&o.Output), "output", "o", "output FILE, - for standard output (default: merged_swimlane.json beside the input, of several ranks l3_swimlane.json)")
	f.BoolVar(&o.Overhead, "overhead", false, "add counter tracks: idle cores, ready tasks, and where both exist (needs deps.json)")
	f.StringVar(&o.ranks.dispatch, "dispatch", "", "several ranks: merge the captures in dN of every rank")
	f.StringVar(&o.ranks.dispatchID, "dispatch-id", "", "several ranks: merge the captures of one group, whatever their dN")
	f.StringArrayVar(&o.ranks.hostLog, "host-log", nil, "several ranks: read this host log and not those of the directory; may be repeated")
	f.StringArrayVar(&o.ranks.rankPID, "rank-pid", nil, "several ranks: the process of a rank's capture, and which of its runs; may be repeated")
	words := map[string]string{"dispatch": "dN", "dispatch-id": "RUN:SLOT", "host-log": "FILE", "rank-pid": "RANK=PID[:INV]"}
	if !o.Alias {
		f.StringVar(&o.ranks.only, "rank", "", "several ranks: draw only these, as 0,3-5, where they are in the whole picture")
		words["rank"] = "RANKS"
	}
	for name, word := range words {
		console.Word(cmd, name, word)
	}
	cmd.MarkFlagFilename("host-log", "log")
	cmd.MarkFlagFilename("output", "json", "gz")
}

// check refuses options that do not go with the input, or with each other.
func (o *Options) check(arg string) error {
	if err := o.part.check(); err != nil {
		return err
	}
	if o.Quiet && o.Verbose {
		return console.Usagef("--quiet and --verbose are both there: expected one of them")
	}
	if o.ranks.only != "" {
		if err := ranks.CheckList(o.ranks.only); err != nil {
			return console.Usagef("%w", err)
		}
	}
	if st, err := os.Stat(arg); !o.ranks.given() || arg != "" && err == nil && st.IsDir() {
		return nil
	}
	if o.ranks.dispatch == "" && o.ranks.dispatchID == "" {
		if o.Alias { // whose tool says nothing of them
			return nil
		}
		return errors.New("--host-log, --rank-pid and --rank are only valid when input is a directory of several ranks")
	}
	return errors.New("--dispatch and --dispatch-id are only valid when input is a dfx_outputs directory")
}

// ofRanks reports whether the input is a directory of several ranks, or is said to be one.
func (o *Options) ofRanks(arg string) bool {
	st, err := os.Stat(arg)
	return arg != "" && arg != console.Standard && err == nil && st.IsDir() && (o.ranks.given() || ranks.IsTree(arg))
}
