package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/palaver-chat/palaver/testkit/stack"
)

const (
	target = 10_000 // turns a second
	// The writes of a shard are sequential. This is the maximum planned utilization.
	shardBusy = 0.5
	// The latency of a commit on a network disk. It is assumed, because this machine's
	// local disk is faster than a cluster's.
	clusterCommit = 5 * time.Millisecond
)

// shardWrites are the database requests that hold a shard's lock.
var shardWrites = []string{"CreateWorkflowExecution", "UpdateWorkflowExecution", "ConflictResolveWorkflowExecution", "SetWorkflowExecution", "AddTasks", "UpdateShard"}

// internal requests come from the server itself, or are long polls.
var internal = []string{"PollWorkflowTaskQueue", "PollActivityTaskQueue", "PollNexusTaskQueue", "GetClusterInfo", "GetSystemInfo", "DescribeNamespace"}

func report(o options, r *stack.Results, h history, before, after counts) string {
	turns := float64(r.Turns)
	var out strings.Builder
	fmt.Fprintf(&out, "Counted over %d turns of the documents agent (action inferred, 50 tokens) on %d threads at once, %d history shards, %d cores (%s). At %d turns/s:\n",
		r.Turns, o.clients, o.shards, runtime.NumCPU(), time.Now().Format("2006-01-02"), target)
	out.WriteString("\n| what | a turn | at 10,000 turns/s |\n| --- | --- | --- |\n")
	row := func(what string, perTurn float64, unit string) {
		fmt.Fprintf(&out, "| %s | %s | %s a second |\n", what, amount(perTurn, unit), amount(perTurn*target, unit))
	}
	row("events of the thread's history", h.events, "")
	row("workflow tasks", h.tasks, "")
	row("activities through a task queue", h.activities, "")
	row("bytes of the thread's history", h.bytes, "B")
	statements := 0.0
	for _, name := range databases {
		ran := after.databases[name].Sub(before.databases[name])
		row(fmt.Sprintf("database `%s`: reads", name), float64(ran.Reads)/turns, "")
		row(fmt.Sprintf("database `%s`: writes", name), float64(ran.Writes)/turns, "")
		row(fmt.Sprintf("database `%s`: write-ahead log", name), float64(ran.WAL)/turns, "B")
		statements += float64(ran.Reads+ran.Writes) / turns
	}
	row("statements in all", statements, "")

	fmt.Fprint(&out, "\n| CPU | a turn | cores at 10,000 turns/s |\n| --- | --- | --- |\n")
	for _, name := range slices.Sorted(maps.Keys(after.cpu)) {
		perTurn := float64((after.cpu[name] - before.cpu[name]).Microseconds()) / 1000 / turns
		fmt.Fprintf(&out, "| %s | %.1f ms | %.0f |\n", name, perTurn, math.Ceil(perTurn*target/1000))
	}

	fmt.Fprint(&out, "\n| requests to Temporal's frontend | a turn |\n| --- | --- |\n")
	table(&out, difference(after.temporal.requests, before.temporal.requests, turns), internal)
	fmt.Fprint(&out, "\n| requests of Temporal to its database | a turn |\n| --- | --- |\n")
	stores := difference(after.temporal.stores, before.temporal.stores, turns)
	table(&out, stores, nil)

	writes, waited := 0.0, time.Duration(0)
	for _, operation := range shardWrites {
		writes += stores[operation]
		waited += after.temporal.waited[operation] - before.temporal.waited[operation]
	}
	fmt.Fprintf(&out, "\n**Shards.** A shard makes one write after another. A turn makes %.1f writes that hold its shard; here one took %.1f ms. "+
		"With %s a commit, and shards busy for %.0f %% of the time at most, %d turns/s need %.1f × %s × %d / %.1f = %.0f shards, so %d (a power of two; it cannot be changed later).\n",
		writes, float64(waited.Microseconds())/1000/max(writes*turns, 1), clusterCommit, 100*shardBusy, target,
		writes, clusterCommit, target, shardBusy, shards(writes), powerOfTwo(shards(writes)))
	return out.String()
}

func shards(writes float64) float64 {
	return math.Ceil(writes * clusterCommit.Seconds() * target / shardBusy)
}

func powerOfTwo(n float64) int { return int(math.Exp2(math.Ceil(math.Log2(max(n, 1))))) }

func difference(after, before map[string]float64, turns float64) map[string]float64 {
	d := map[string]float64{}
	for name, v := range after {
		d[name] = (v - before[name]) / turns
	}
	return d
}

// table lists the operations that occur at least once in twenty turns, most frequent
// first, except those in without.
func table(out *strings.Builder, perTurn map[string]float64, without []string) {
	names := slices.SortedFunc(maps.Keys(perTurn), func(a, b string) int {
		return cmp.Or(cmp.Compare(perTurn[b], perTurn[a]), cmp.Compare(a, b))
	})
	for _, name := range names {
		if perTurn[name] >= 0.05 && !slices.Contains(without, name) {
			fmt.Fprintf(out, "| %s | %.1f |\n", name, perTurn[name])
		}
	}
}

func amount(v float64, unit string) string {
	if unit == "" {
		if v >= 1000 {
			return fmt.Sprintf("%.0f", v)
		}
		return fmt.Sprintf("%.1f", v)
	}
	for _, u := range []string{"", "k", "M", "G"} {
		if v < 1000 || u == "G" {
			return fmt.Sprintf("%.3g %s%s", v, u, unit)
		}
		v /= 1000
	}
	return ""
}
