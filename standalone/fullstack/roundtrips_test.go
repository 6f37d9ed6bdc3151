package fullstack

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/standalone/stacktest"
	"github.com/palaver-chat/palaver/testkit/dbtest/pgtest"
)

// notOfATurn are statements that run independently of turns: drafts, polling
// followers, and the repair sweep.
var notOfATurn = []string{"Draft", "SaveDraft", "OpenThreads", "ProcessingDocuments", "UnacceptedTurns", "UnfinishedImports", "Claims", "-- ping"}

// ofATurn returns the round trips of a turn and the names of their statements.
// Begin and commit do not count: they are sent with other statements.
func ofATurn(trips []pgtest.Trip) (of []pgtest.Trip, names []string) {
	for _, trip := range trips {
		var asked []string
		for _, sql := range trip.Statements {
			if name := pgtest.StatementName(sql); !slices.Contains(notOfATurn, name) {
				asked = append(asked, name)
			}
		}
		if len(asked) == 0 {
			continue
		}
		of = append(of, trip)
		for _, name := range asked {
			if !strings.HasPrefix(name, "BEGIN") && name != "COMMIT" && !strings.HasPrefix(name, "SELECT set_config") {
				names = append(names, name[:min(len(name), 20)])
			}
		}
	}
	return of, names
}

func TestTurnCostsFewDatabaseRoundTrips(t *testing.T) {
	meter := pgtest.NewMeter(t, pgtest.Database(t), 10*time.Millisecond)
	s, _ := apart(t, []stacktest.Option{stacktest.Flag("database-url", meter.URL)})
	s.Worker()
	api := s.API()
	c := newTalk(t, func() string { return api.URL }, s.NewUser())
	tags := object{"tagged_doc_ids": []string{c.upload("Liquidity circular", circular)}, "action": "inquire"}
	require.Equal(t, "response", last(c.ask("What is the ratio?", tags)).Type) // opens the connections

	meter.Reset()
	sent := c.send("What is the ratio?", tags)
	sent.until(isType("token"))
	first := time.Now()
	require.Equal(t, "response", sent.until(terminal).Type)
	trips, names := ofATurn(meter.Trips())
	before := slices.DeleteFunc(slices.Clone(trips), func(trip pgtest.Trip) bool { return trip.End.After(first) })
	t.Logf("%d round trips one after another before the first token, %d statements: %v", pgtest.Sequential(before), len(names), names)
	require.LessOrEqual(t, pgtest.Sequential(before), 12)
	require.LessOrEqual(t, len(names), 15)
}
