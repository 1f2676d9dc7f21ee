package scenes_test

import (
	"testing"

	"swimlane/scene/scenetest"
	"swimlane/scenes"
)

// The tests of single classes take flags: go test ./scenes -count=1 -run
// TestPagedAttention -platform a5sim -enable-chip-swimlane=3.

func TestMain(m *testing.M) { scenetest.Main(m, scenes.All()...) }

func TestVectorExample(t *testing.T)        { scenetest.Run(t, scenes.VectorExample()) }
func TestPagedAttention(t *testing.T)       { scenetest.Run(t, scenes.PagedAttention()) }
func TestPagedAttentionUnroll(t *testing.T) { scenetest.Run(t, scenes.PagedAttentionUnroll()) }
func TestBlockMatmul(t *testing.T)          { scenetest.Run(t, scenes.BlockMatmul()) }
func TestSpmdBasic(t *testing.T)            { scenetest.Run(t, scenes.SpmdBasic()) }
func TestSpmdMultiblockAiv(t *testing.T)    { scenetest.Run(t, scenes.SpmdMultiblockAiv()) }
func TestSpmdMultiblockMix(t *testing.T)    { scenetest.Run(t, scenes.SpmdMultiblockMix()) }
func TestSyncStartDrainPhases(t *testing.T) { scenetest.Run(t, scenes.SyncStartDrainPhases()) }
func TestSpmdSyncStartEarlyDispatch(t *testing.T) {
	scenetest.Run(t, scenes.SpmdSyncStartEarlyDispatch())
}
func TestMixedExample(t *testing.T)       { scenetest.Run(t, scenes.MixedExample()) }
func TestDummyTask(t *testing.T)          { scenetest.Run(t, scenes.DummyTask()) }
func TestPredicatedDispatch(t *testing.T) { scenetest.Run(t, scenes.PredicatedDispatch()) }
func TestAllocAccumulate(t *testing.T)    { scenetest.Run(t, scenes.AllocAccumulate()) }
func TestManualScope(t *testing.T)        { scenetest.Run(t, scenes.ManualScope()) }
func TestFaninLookupPerf(t *testing.T)    { scenetest.Run(t, scenes.FaninLookupPerf()) }
func TestEarlyDispatchChain(t *testing.T) { scenetest.Run(t, scenes.EarlyDispatchChain()) }
func TestTaskTimingSlots(t *testing.T)    { scenetest.Run(t, scenes.TaskTimingSlots()) }
func TestL3Vectors(t *testing.T)          { scenetest.Run(t, scenes.L3Vectors()) }
func TestL3Group(t *testing.T)            { scenetest.Run(t, scenes.L3Group()) }
func TestL3Chain(t *testing.T)            { scenetest.Run(t, scenes.L3Chain()) }

func TestVectorExampleHostBuildGraph(t *testing.T)  { scenetest.Run(t, scenes.HostVectorExample()) }
func TestPagedAttentionHostBuildGraph(t *testing.T) { scenetest.Run(t, scenes.HostPagedAttention()) }
func TestPagedAttentionUnrollHostBuildGraph(t *testing.T) {
	scenetest.Run(t, scenes.HostPagedAttentionUnroll())
}
func TestPredicatedDispatchHostBuildGraph(t *testing.T) {
	scenetest.Run(t, scenes.HostPredicatedDispatch())
}
func TestDummyTaskHostBuildGraph(t *testing.T)      { scenetest.Run(t, scenes.HostDummyTask()) }
func TestGraphExecutionHostBuildGraph(t *testing.T) { scenetest.Run(t, scenes.HostGraphExecution()) }
func TestAsyncWaitHostBuildGraph(t *testing.T)      { scenetest.Run(t, scenes.HostAsyncWait()) }
func TestL3VectorsHostBuildGraph(t *testing.T)      { scenetest.Run(t, scenes.HostL3Vectors()) }
