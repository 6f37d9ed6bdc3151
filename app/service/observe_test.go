package service_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/app/service"
	"github.com/palaver-chat/palaver/app/telemetry"
	"github.com/palaver-chat/palaver/testkit/must"
)

// anyOfTemporal is a metric with the labels that all of Temporal's SDK have.
const anyOfTemporal = "temporal_any_total"

// exported returns the metrics of a process with API and worker, by name, with their labels.
func exported(t *testing.T) map[string]string {
	t.Helper()
	cfg := settings(t)
	parts := openParts(t, cfg)
	parts.Metrics = prometheus.NewRegistry()
	page := must.Have(service.Listen(cfg))(t)
	process := must.Have(service.Start(t.Context(), parts, service.Roles{API: page}))(t)
	t.Cleanup(process.Stop)

	telemetry.Temporal(parts.Metrics).Counter(strings.TrimSuffix(anyOfTemporal, "_total"))

	all := make(chan *prometheus.Desc)
	go func() {
		parts.Metrics.Describe(all)
		close(all)
	}()
	names := map[string]string{}
	described := regexp.MustCompile(`fqName: "([^"]+)".*constLabels: \{(.*)\}, variableLabels: \{(.*)\}`)
	for d := range all {
		if m := described.FindStringSubmatch(d.String()); m != nil {
			names[m[1]] = m[2] + "," + m[3]
		}
	}
	return names
}

// ofTemporal returns the names of the SDK's metrics without the suffix for their kind.
func ofTemporal(t *testing.T) string {
	t.Helper()
	dir := must.Have(exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "go.temporal.io/sdk").Output())(t)
	source := must.Have(os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "internal", "common", "metrics", "constants.go")))(t)
	return string(source)
}

const root = "../.."

func read(t *testing.T, path string) string {
	t.Helper()
	raw := must.Have(os.ReadFile(filepath.Join(root, path)))(t)
	return string(raw)
}

var (
	metricName = regexp.MustCompile(`\b(?:palaver|temporal)_[a-z0-9_]+`)
	suffix     = regexp.MustCompile(`_(bucket|count|sum)$`)
)

func TestDocsDashboardAndAlertsNameTheMetricsThatAreExported(t *testing.T) {
	names := exported(t)
	sdk := ofTemporal(t)
	var undocumented []string
	docs := read(t, "docs/observability.md")
	for name := range names {
		if strings.HasPrefix(name, "palaver_") && !strings.Contains(docs, "`"+name+"`") {
			undocumented = append(undocumented, name)
		}
	}
	slices.Sort(undocumented)
	require.Empty(t, undocumented, "metrics that docs/observability.md does not document")

	for _, path := range []string{"docs/observability.md", "docs/runbook.md", "deploy/prometheus/alerts.yaml", "deploy/grafana/palaver.json"} {
		found := metricName.FindAllString(read(t, path), -1)
		require.NotEmpty(t, found, path)
		for _, name := range found {
			if _, known := names[name]; known {
				continue
			}
			base := suffix.ReplaceAllString(name, "")
			if bare, ours := strings.CutPrefix(base, "temporal_"); ours {
				bare = strings.TrimSuffix(strings.TrimSuffix(bare, "_total"), "_seconds")
				require.Contains(t, sdk, `"`+bare+`"`, "%s: %s", path, name)
				continue
			}
			require.Contains(t, names, base, path)
		}
	}
}

func TestExpressionsUseLabelsThatTheirMetricsHave(t *testing.T) {
	names := exported(t)
	selector := regexp.MustCompile(`((?:palaver|temporal)_[a-z0-9_]+)\{([^}]*)\}`)
	label := regexp.MustCompile(`([a-z_]+)\s*(?:=|!=|=~|!~)"`)
	grouped := regexp.MustCompile(`by \(([a-z_, ]+)\) \([^)]*?((?:palaver|temporal)_[a-z0-9_]+)`)
	has := func(metric, label string) bool {
		base := suffix.ReplaceAllString(metric, "")
		switch {
		case label == "instance": // of every scrape
			return true
		case label == "le":
			return strings.HasSuffix(metric, "_bucket")
		case strings.HasPrefix(metric, "temporal_"):
			base = anyOfTemporal
		}
		return regexp.MustCompile(`\b` + label + `\b`).MatchString(names[base])
	}
	for _, path := range []string{"deploy/prometheus/alerts.yaml", "deploy/grafana/palaver.json", "docs/runbook.md"} {
		text := strings.ReplaceAll(read(t, path), `\"`, `"`)
		for _, m := range selector.FindAllStringSubmatch(text, -1) {
			for _, l := range label.FindAllStringSubmatch(m[2], -1) {
				require.True(t, has(m[1], l[1]), "%s: %s has no label %s", path, m[0], l[1])
			}
		}
		groups := grouped.FindAllStringSubmatch(text, -1)
		require.Len(t, groups, strings.Count(text, "by ("), "%s: an aggregation is written in another form", path)
		for _, m := range groups {
			for _, l := range strings.Split(m[1], ", ") {
				require.True(t, has(m[2], l), "%s: %s has no label %s", path, m[2], l)
			}
		}
	}
}

func TestEveryAlertHasAPageInTheRunbook(t *testing.T) {
	var rules struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr string
				Labels      map[string]string
				Annotations map[string]string
			}
		}
	}
	require.NoError(t, yaml.Unmarshal([]byte(read(t, "deploy/prometheus/alerts.yaml")), &rules))
	runbook := read(t, "docs/runbook.md")
	pages := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^## (\w+)$`).FindAllStringSubmatch(runbook, -1) {
		pages[m[1]] = true
	}
	require.NotEmpty(t, rules.Groups)
	for _, r := range rules.Groups[0].Rules {
		require.NotEmpty(t, r.Expr, r.Alert)
		require.Contains(t, []string{"page", "warn"}, r.Labels["severity"], r.Alert)
		require.Equal(t, "docs/runbook.md#"+strings.ToLower(r.Alert), r.Annotations["runbook"])
		require.True(t, pages[r.Alert], "%s has no page", r.Alert)
		_, page, _ := strings.Cut(runbook, "## "+r.Alert+"\n")
		page, _, _ = strings.Cut(page, "\n## ")
		for _, part := range []string{"**Meaning.**", "**Look.**", "**Do.**"} {
			require.Contains(t, page, part, r.Alert)
		}
		delete(pages, r.Alert)
	}
	require.Empty(t, slices.Collect(maps.Keys(pages)), "pages without an alert")
}

func TestDashboardHasOneDataSourceAndPanelsWithoutOverlap(t *testing.T) {
	var board struct {
		Panels []struct {
			ID      int
			Title   string
			GridPos struct{ X, Y, W, H int }
			Targets []struct{ Expr string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(read(t, "deploy/grafana/palaver.json")), &board))
	require.NotEmpty(t, board.Panels)
	places := map[string]string{}
	for _, p := range board.Panels {
		require.NotEmpty(t, p.Targets, p.Title)
		place := fmt.Sprint(p.GridPos.X, p.GridPos.Y)
		require.Empty(t, places[place], p.Title)
		places[place] = p.Title
	}
}
