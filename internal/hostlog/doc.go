// Package hostlog writes and reads the host's log, host.<pid>.log: what the
// processes around a chip did, and when (spec/host-log.md §1–§5).
//
// Each process writes one file, the threads of a process into the same one. A
// span is a record of something that took time, written when it ends:
//
//	[mono_ns=…][T0x…][TIMING] emit_host_span: [STRACE] v=1 pid=… tid=… inv=… hid=… depth=… name=… ts=… dur=… key=value …
//
// Beside spans a log holds the clock anchor of its process, which gives wall time,
// reports of records that were lost, and lines for people.
//
// # Writing
//
// [New] makes a [Log]. Its records go to standard error, or to the Output of its
// [Options], until [Log.Bind] names the directory for the file. [Log.Span] and
// [Log.Message] write one record each with one call of Write, so records of several
// processes that share a pipe do not mix. [Log.ChipRun] writes all spans of one run
// of a chip in their order. Clocks, pid and thread can be set, and then the bytes
// depend on nothing else.
//
// Writing never fails for the caller, who has something else to do. What could not
// be written is counted, the log says so itself as soon as it can, and
// [Log.Close] returns the first cause.
//
// # Reading
//
// [ReadAll] reads files, directories and standard input into [Records]; a [Reader]
// hands out span after span and keeps only what the [Summary] needs. Nothing in a
// log is an error: noise is passed over, torn records are counted, and
// [Summary.Warnings] has the words for both. What can fail is only the reading
// itself: a file that is not there, a directory without logs, a damaged gzip
// stream.
//
// [Invocations] groups spans into runs, [Buckets] groups those by what they ran, and
// [Invocation.Tree] links the spans of a run by their names.
//
// All times are nanoseconds. The device's phases come in, too, as nanoseconds on
// an axis of the device's own: whoever has cycles asks who knows the rate first.
package hostlog
