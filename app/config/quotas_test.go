package config_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/app/config"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/must"
)

func TestQuotaSettingReplacesOnlyTheNumbersThatItNames(t *testing.T) {
	g := must.Have(parse(t, map[string]string{"QUOTA_PER_CALLER": "off", "QUOTA_PER_ADDRESS": "documents=7, storage = 3MB,sets=0", "QUOTA_ANONYMOUS": "storage=0"}))(t)
	require.NoError(t, g.Config.Validate())
	caller, address, anonymous := g.Quotas()
	require.Zero(t, caller)
	require.Equal(t, db.Quota{Threads: 5000, Documents: 7, Pictures: 500, Boards: 200, Bytes: 3 << 20}, address)
	require.Equal(t, db.Quota{Threads: 100_000, Documents: 10_000, Sets: 5000, Pictures: 10_000, Boards: 5000}, anonymous)
}

func TestLimitsByDefault(t *testing.T) {
	g := must.Have(parse(t, nil))(t)
	require.NoError(t, g.Config.Validate())
	caller, address, anonymous := g.Quotas()
	require.Equal(t, db.Quota{Threads: 20_000, Documents: 5000, Sets: 1000, Pictures: 5000, Boards: 1000, Bytes: 8 << 30}, caller)
	require.Equal(t, db.Quota{Threads: 5000, Documents: 500, Sets: 200, Pictures: 500, Boards: 200, Bytes: 256 << 20}, address)
	require.Equal(t, int64(5<<30), anonymous.Bytes)
	require.Equal(t, 30*24*time.Hour, g.AnonymousRetention)
	require.Equal(t, 365*24*time.Hour, g.AuditRetention)
	uploads, ingests := g.IngestMemory()
	require.Equal(t, int64(512<<20), uploads+ingests)
	_, users, _, _ := g.Rates()
	require.Equal(t, config.Rate{N: 120, Per: time.Minute}, users)
	require.Zero(t, g.DailyTokens)
	require.Zero(t, g.DailyCostUSD)
}

func TestInvalidLimitIsRefusedWithItsName(t *testing.T) {
	for name, values := range map[string][]string{
		"QUOTA_PER_CALLER":    {"10", "documents", "documents=-1", "documents=x", "files=3", "storage=3", "storage=3TB"},
		"QUOTA_PER_ADDRESS":   {"on", "storage=MB"},
		"QUOTA_ANONYMOUS":     {"documents=99999999999"},
		"USER_RATE_LIMIT":     {"10", "0/minute"},
		"CHANGE_RATE_LIMIT":   {"many", "-1/second"},
		"DAILY_TOKENS":        {"-1"},
		"DAILY_COST_USD":      {"-0.5", "NaN"},
		"INGEST_MEMORY_MB":    {"63", "-1"},
		"ANONYMOUS_RETENTION": {"-1h"},
		"AUDIT_RETENTION":     {"-1h", "719h"},
	} {
		for _, value := range values {
			g, err := parse(t, map[string]string{name: value})
			if err == nil {
				err = g.Config.Validate()
			}
			require.ErrorContains(t, err, name, value)
		}
	}
}
