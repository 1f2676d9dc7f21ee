// Package collector is the host's half of the capture protocol: it gives the
// device empty buffers, takes the full ones while the kernels run, and accounts
// for every record (spec/collector.md §3–§9).
//
// The calls of a host, in their order; the example has them all:
//
//  1. [New] allocates the region and the buffers. DataBase and RotationTable of
//     what it returns go into the device's kernel arguments.
//  2. [Swimlane.Begin] arms a run. With clock anchors, Open them now.
//  3. Start. Only then the device may be launched.
//  4. The device runs, flushes, and ends. Close the anchors.
//  5. Stalled, once for each device that knows what it waited, or the file says
//     that nothing did.
//  6. Stop, and Outcome, which settles the run: what came, what was lost and where,
//     and the [Capture].
//  7. Host and Sections of the capture, where the runtime records something of
//     its own: of AICore schedulers a [SchedulerBlock] makes the sections. Then
//     [Capture.Export].
//  8. Begin again for the next run, or Finalize.
//
// [NewDepGen] collects what tasks were submitted with, by the same calls.
package collector
