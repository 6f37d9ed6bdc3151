package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"
)

// line is one row of the table.
type line struct {
	what   string
	figure string
	unit   string
	less   func(system) float64 // subtracted: the model's own time
}

func own(s system) float64 { return ms(slow.FirstToken) * float64(s.waits) }

var loads = []struct {
	title string
	lines []line
}{
	{"model without latency, 50 tokens", loadLines("instant", "1", "32")},
	{"model with latency (300 ms structured, 300 ms to the first token, 15 ms a token, 100 tokens)", slowLines()},
	{"many", []line{
		{what: "1,000 streams of 100 answers, a token every 250 ms: it arrives within (p95)", figure: "streams token p95", unit: "ms"},
		{what: "1,000 streams: CPU", figure: "streams core", unit: "% of a core"},
		{what: "1,000 streams: memory without Postgres", figure: "streams memory", unit: "MiB"},
		{what: "10,000 idle threads: CPU", figure: "idle core", unit: "% of a core"},
		{what: "10,000 idle threads: memory without Postgres", figure: "idle memory", unit: "MiB"},
		{what: "50,000 passages, 8 clients: first token p95", figure: "passages 8 token p95", unit: "ms"},
	}},
}

func loadLines(name string, counts ...string) (all []line) {
	for _, n := range counts {
		key := name + " " + n + " "
		all = append(all,
			line{what: clients(n) + ": first status p50", figure: key + "status p50", unit: "ms"},
			line{what: clients(n) + ": first token p50", figure: key + "token p50", unit: "ms"},
			line{what: clients(n) + ": CPU a turn", figure: key + "cpu", unit: "ms"})
		if n != "1" {
			all = append(all, line{what: clients(n) + ": turns/s", figure: key + "turns/s"})
		}
	}
	return all
}

func slowLines() (all []line) {
	for _, n := range []string{"20", "64"} {
		key := "slow " + n + " "
		all = append(all,
			line{what: clients(n) + ": first token above the model's own, p50", figure: key + "token p50", unit: "ms", less: own},
			line{what: clients(n) + ": first token above the model's own, p95", figure: key + "token p95", unit: "ms", less: own},
			line{what: clients(n) + ": CPU a turn", figure: key + "cpu", unit: "ms"})
	}
	return all
}

func clients(n string) string {
	if n == "1" {
		return "1 client"
	}
	return n + " clients"
}

func (l line) of(f figures, s system) (float64, bool) {
	v, ok := f.median(s.name, l.figure)
	if ok && l.less != nil {
		v -= l.less(s)
	}
	return v, ok
}

// report returns the table, the goals and the curves.
func (b *bench) report(chosen []system, began time.Time) string {
	var out strings.Builder
	if others := slices.DeleteFunc(slices.Clone(chosen), func(s system) bool { return s.name == floor }); len(others) > 0 {
		chosen = others
	}
	fmt.Fprintf(&out, "On %d cores (%s). Rounds: %d; each figure is their median. In parentheses: the figure divided by that of `%s`.\n",
		runtime.NumCPU(), began.Format("2006-01-02"), b.figures.rounds(), chosen[0].name)
	out.WriteString("\n| name | system |\n| --- | --- |\n")
	for _, s := range chosen {
		fmt.Fprintf(&out, "| `%s` | %s |\n", s.name, s.what)
	}
	for _, load := range loads {
		measured := b.measured(load.lines, chosen)
		if len(measured) == 0 {
			continue
		}
		header(&out, load.title, measured)
		for _, l := range load.lines {
			out.WriteString("| " + l.what)
			first, _ := l.of(b.figures, measured[0])
			for i, s := range measured {
				v, ok := l.of(b.figures, s)
				out.WriteString(" | " + cell(v, ok, l.unit))
				if ok && i > 0 && first > 0 && v > 0 {
					fmt.Fprintf(&out, " (%.2g)", v/first)
				}
			}
			out.WriteString(" |\n")
		}
	}
	b.goals(&out)
	b.showParts(&out)
	b.showCurves(&out, chosen)
	return out.String()
}

// measured returns the systems that have a figure of a table.
func (b *bench) measured(lines []line, chosen []system) []system {
	return slices.DeleteFunc(slices.Clone(chosen), func(s system) bool {
		return !slices.ContainsFunc(lines, func(l line) bool { _, ok := l.of(b.figures, s); return ok })
	})
}

func header(out *strings.Builder, title string, chosen []system) {
	out.WriteString("\n| " + title)
	for _, s := range chosen {
		out.WriteString(" | " + s.name)
	}
	out.WriteString(" |\n|" + strings.Repeat(" --- |", len(chosen)+1) + "\n")
}

func cell(v float64, ok bool, unit string) string {
	switch {
	case !ok:
		return "–"
	case v >= 100:
		return strings.TrimSpace(fmt.Sprintf("%.0f %s", v, unit))
	}
	return strings.TrimSpace(fmt.Sprintf("%.1f %s", v, unit))
}

// goal is a bound for Palaver's one command, or for its processes apart.
type goal struct {
	what   string
	apart  bool
	figure string
	less   float64 // subtracted
	bound  func(of func(system, figure string) float64) float64
	least  bool // a lower bound
}

func times(factor float64, system, figure string) func(func(string, string) float64) float64 {
	return func(of func(string, string) float64) float64 { return factor * of(system, figure) }
}

func fixed(v float64) func(func(string, string) float64) float64 {
	return func(func(string, string) float64) float64 { return v }
}

var goals = []goal{
	{what: "1 client, first status: that of langgraph-lean", figure: "instant 1 status p50", bound: times(1, "langgraph-lean", "instant 1 status p50")},
	{what: "1 client, first token: that of langgraph-lean", figure: "instant 1 token p50", bound: times(1, "langgraph-lean", "instant 1 token p50")},
	{what: "32 clients, turns/s: twice langgraph", figure: "instant 32 turns/s", bound: times(2, "langgraph", "instant 32 turns/s"), least: true},
	{what: "32 clients, turns/s: 1.5 times langgraph-lean", figure: "instant 32 turns/s", bound: times(1.5, "langgraph-lean", "instant 32 turns/s"), least: true},
	{what: "32 clients, first token: that of langgraph-lean", figure: "instant 32 token p50", bound: times(1, "langgraph-lean", "instant 32 token p50")},
	{what: "32 clients, CPU a turn: 0.6 of langgraph", figure: "instant 32 cpu", bound: times(0.6, "langgraph", "instant 32 cpu")},
	{what: "20 clients with latency, CPU a turn: 0.8 of langgraph", figure: "slow 20 cpu", bound: times(0.8, "langgraph", "slow 20 cpu")},
	{what: "20 clients with latency, CPU a turn: 1.8 of dbos", figure: "slow 20 cpu", bound: times(1.8, "dbos", "slow 20 cpu")},
	{what: "64 clients with latency, CPU a turn: 0.8 of langgraph", figure: "slow 64 cpu", bound: times(0.8, "langgraph", "slow 64 cpu")},
	{what: "64 clients with latency, first token above the model's own, p50", figure: "slow 64 token p50", less: own(systems[0]), bound: fixed(60)},
	{what: "64 clients with latency, first token above the model's own, p95", figure: "slow 64 token p95", less: own(systems[0]), bound: fixed(150)},
	{apart: true, what: "1 client, first token: 1.2 of langgraph-lean", figure: "instant 1 token p50", bound: times(1.2, "langgraph-lean", "instant 1 token p50")},
	{apart: true, what: "32 clients, turns/s: 1.5 times langgraph", figure: "instant 32 turns/s", bound: times(1.5, "langgraph", "instant 32 turns/s"), least: true},
	{apart: true, what: "32 clients, turns/s: 1.2 times langgraph-lean", figure: "instant 32 turns/s", bound: times(1.2, "langgraph-lean", "instant 32 turns/s"), least: true},
	{apart: true, what: "32 clients, CPU a turn: 0.9 of langgraph", figure: "instant 32 cpu", bound: times(0.9, "langgraph", "instant 32 cpu")},
	{apart: true, what: "20 clients with latency, CPU a turn: 0.9 of langgraph", figure: "slow 20 cpu", bound: times(0.9, "langgraph", "slow 20 cpu")},
	{apart: true, what: "64 clients with latency, CPU a turn: 0.9 of langgraph", figure: "slow 64 cpu", bound: times(0.9, "langgraph", "slow 64 cpu")},
	{apart: true, what: "64 clients with latency, first token above the model's own, p50", figure: "slow 64 token p50", less: own(systems[0]), bound: fixed(60)},
	{apart: true, what: "64 clients with latency, first token above the model's own, p95", figure: "slow 64 token p95", less: own(systems[0]), bound: fixed(150)},
}

// goals compares Palaver with the goals for which both sides were
// measured.
func (b *bench) goals(out *strings.Builder) {
	var rows strings.Builder
	for _, g := range goals {
		missing := false
		of := func(system, figure string) float64 {
			v, ok := b.figures.median(system, figure)
			missing = missing || !ok
			return v
		}
		name := systems[0].name
		if g.apart {
			name = systems[1].name
		}
		bound, measured := g.bound(of), of(name, g.figure)-g.less
		if missing {
			continue
		}
		holds, word := measured <= bound, "at most"
		if g.least {
			holds, word = measured >= bound, "at least"
		}
		verdict := "missed"
		if holds {
			verdict = "holds"
		}
		fmt.Fprintf(&rows, "| `%s`: %s | %s %.1f | %.1f | %s |\n", name, g.what, word, bound, measured, verdict)
	}
	if rows.Len() > 0 {
		out.WriteString("\n| goal | bound | measured | |\n| --- | --- | --- | --- |\n" + rows.String())
	}
}

// showParts shows which processes of palaver-apart take the CPU of a turn.
func (b *bench) showParts(out *strings.Builder) {
	s := systems[1]
	if _, ok := b.figures.median(s.name, "instant 32 cpu of API"); !ok {
		return
	}
	out.WriteString("\n| `" + s.name + "`: CPU a turn | 32 clients | 64 clients with latency |\n| --- | --- | --- |\n")
	for _, part := range []string{"Temporal and NATS", "API", "worker", "Postgres"} {
		out.WriteString("| " + part)
		for _, load := range []string{"instant 32", "slow 64"} {
			v, ok := b.figures.median(s.name, load+" cpu of "+part)
			out.WriteString(" | " + cell(v, ok, "ms"))
		}
		out.WriteString(" |\n")
	}
	atOnce, ok := b.figures.median(floor, "instant 32 cpu")
	late, also := b.figures.median(floor, "slow 64 cpu")
	if ok || also {
		out.WriteString("| `" + floor + "` | " + cell(atOnce, ok, "ms") + " | " + cell(late, also, "ms") + " |\n")
	}
	if token, ok := b.figures.median(floor, "instant 1 token p50"); ok {
		out.WriteString("\nFirst token of `" + floor + "` with 1 client: " + cell(token, true, "ms") + ".\n")
	}
}

func (b *bench) showCurves(out *strings.Builder, chosen []system) {
	for _, c := range []struct {
		title, figure, suffix, unit string
		points                      []int
	}{
		{"clients at once (model without latency): turns/s", "clients %d", "turns/s", "", curveClients},
		{"turn of one thread: done", "length %d", "done", "ms", curveLength},
		{"workers on one Temporal (32 clients, model without latency): turns/s without the CPU of clients and model", "workers %d", "alone", "", curveWorkers},
		{"the same: CPU a turn", "workers %d", "cpu", "ms", curveWorkers},
		{"viewers of a turn (model with latency): CPU a turn", "viewers %d", "cpu", "ms", curveViewers},
	} {
		measured := slices.DeleteFunc(slices.Clone(chosen), func(s system) bool {
			_, ok := b.figures.median(s.name, fmt.Sprintf(c.figure, c.points[0])+" "+c.suffix)
			return !ok
		})
		if len(measured) == 0 {
			continue
		}
		header(out, c.title, measured)
		for _, n := range c.points {
			fmt.Fprintf(out, "| %d", n)
			for _, s := range measured {
				v, ok := b.figures.median(s.name, fmt.Sprintf(c.figure, n)+" "+c.suffix)
				out.WriteString(" | " + cell(v, ok, c.unit))
			}
			out.WriteString(" |\n")
		}
	}
}
