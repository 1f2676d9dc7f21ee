// Package scenes holds example scenes. Each proves its numbers: its golden values
// are computed in another way than its kernels do.
package scenes

import "swimlane/scene"

// All are the scenes, in the order in which they are listed.
func All() []*scene.Scene {
	return []*scene.Scene{
		VectorExample(), PagedAttention(), PagedAttentionUnroll(), BlockMatmul(), SpmdBasic(), SpmdMultiblockAiv(), SpmdMultiblockMix(),
		SyncStartDrainPhases(), SpmdSyncStartEarlyDispatch(), MixedExample(), DummyTask(), PredicatedDispatch(), AllocAccumulate(), ManualScope(), FaninLookupPerf(),
		EarlyDispatchChain(), TaskTimingSlots(),
		HostVectorExample(), HostPagedAttention(), HostPagedAttentionUnroll(), HostPredicatedDispatch(), HostDummyTask(), HostGraphExecution(), HostAsyncWait(),
		L3Vectors(), L3Group(), L3Chain(), HostL3Vectors(),
	}
}

// simulators are the platforms that need no hardware.
var simulators = []string{scene.A2A3Sim, scene.A5Sim}
