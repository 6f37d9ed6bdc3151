package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestGoalsCompareMediansOfRounds(t *testing.T) {
	b := &bench{figures: figures{}}
	for _, v := range []float64{100, 30, 20} { // one round was disturbed
		b.figures.add("palaver", "instant 32 turns/s", v)
	}
	b.figures.add("langgraph", "instant 32 turns/s", 15)
	b.figures.add("langgraph-lean", "instant 32 turns/s", 25)
	var out strings.Builder
	b.goals(&out)
	require.Contains(t, out.String(), "| `palaver`: 32 clients, turns/s: twice langgraph | at least 30.0 | 30.0 | holds |")
	require.Contains(t, out.String(), "| `palaver`: 32 clients, turns/s: 1.5 times langgraph-lean | at least 37.5 | 30.0 | missed |")
	require.NotContains(t, out.String(), "CPU", "goals without figures are not reported")
}

func TestFiguresOfSeveralRunsAreMerged(t *testing.T) {
	file := filepath.Join(t.TempDir(), "figures.json")
	for run := range 3 {
		f := figures{}
		require.NoError(t, f.load(file))
		f.add("palaver", "instant 1 cpu", float64(run))
		require.NoError(t, f.save(file))
		require.Equal(t, run+1, f.rounds())
	}
	f := figures{}
	require.NoError(t, f.load(file))
	median, ok := f.median("palaver", "instant 1 cpu")
	require.True(t, ok)
	require.InDelta(t, 1, median, 0)
}

func TestModelTimeIsSubtracted(t *testing.T) {
	b := &bench{figures: figures{}}
	b.figures.add("palaver", "slow 64 token p50", 650)
	b.figures.add("langgraph", "slow 64 token p50", 1000)
	text := b.report([]system{systems[0], systems[3]}, time.Now())
	require.Contains(t, text, "| 64 clients: first token above the model's own, p50 | 50.0 ms | 100 ms (2) |")
}

func TestFloorIsShownBesideThePartsOfATurn(t *testing.T) {
	b := &bench{figures: figures{}}
	b.figures.add("palaver-apart", "instant 32 cpu of API", 2)
	b.figures.add("palaver-apart", "instant 32 cpu", 30)
	b.figures.add("temporal", "instant 32 cpu", 12)
	b.figures.add("temporal", "instant 1 token p50", 15)
	text := b.report(systems, time.Now())
	require.Contains(t, text, "| API | 2.0 ms | – |")
	require.Contains(t, text, "| `temporal` | 12.0 ms | – |")
	require.Contains(t, text, "First token of `temporal` with 1 client: 15.0 ms.")
	require.NotContains(t, text, "| langgraph-parallel | dbos | temporal |")
}

func TestUnknownLoadsAndCurvesAreRefused(t *testing.T) {
	require.NoError(t, checkNames("curves", "", curveNames()))
	require.NoError(t, checkNames("curves", "workers,idle", curveNames()))
	require.ErrorContains(t, checkNames("loads", "instant 2", loadNames()), `-loads: there is no "instant 2"`)
}
