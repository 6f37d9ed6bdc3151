package query

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/documents/tables"
)

var stock = tables.Find("Part | Warehouse | Stock | Price (EUR) | Since\nbolt | W1 | 1,200 | 0.10 | 2026-01-05\nnut | W3 | 40 | 0.05 | 2026-02-05\npump | W3 | 4 | 390.00 | 2025-03-01\nvalve | W2 | – | 28.90 | 2026-03-01\n\nWarehouse | Town\nW1 | Bonn\nW3 | Graz")

func TestSelectOverTables(t *testing.T) {
	for sql, want := range map[string]struct {
		rows    [][]string
		sources map[int][]int
	}{
		"SELECT count(*), sum(stock) FROM t1 WHERE warehouse = 'W3'":                                   {[][]string{{"2", "44"}}, map[int][]int{0: {1, 2}}},
		"select part from t1 where price_eur > 20 order by price_eur desc;":                            {[][]string{{"pump"}, {"valve"}}, map[int][]int{0: {2, 3}}},
		"SELECT max(stock) FROM t1":                                                                    {[][]string{{"1200"}}, map[int][]int{0: {0, 1, 2, 3}}},
		"SELECT part FROM t1 WHERE since >= '2026-02-01' AND part <> 'a; b'":                           {[][]string{{"nut"}, {"valve"}}, map[int][]int{0: {1, 3}}},
		"SELECT t1.part, t2.town FROM t1 JOIN t2 ON t1.warehouse = t2.warehouse WHERE t1.stock > 1000": {[][]string{{"bolt", "Bonn"}}, nil},
		"SELECT part FROM t1 ORDER BY stock DESC LIMIT 1":                                              {[][]string{{"bolt"}}, map[int][]int{0: {0}}},
		"SELECT part p FROM t1 WHERE stock > 5 ORDER BY 1 LIMIT 5; ":                                   {[][]string{{"bolt"}, {"nut"}}, map[int][]int{0: {0, 1}}},
		"SELECT warehouse, count(*) FROM t1 GROUP BY 1 ORDER BY 2 DESC LIMIT 1":                        {[][]string{{"W3", "2"}}, map[int][]int{0: {0, 1, 2, 3}}},
		"SELECT part FROM t1 LIMIT 1":                                                                  {[][]string{{"bolt"}}, map[int][]int{0: {0}}},
		"SELECT part FROM t1 WHERE stock IS NULL":                                                      {[][]string{{"valve"}}, map[int][]int{0: {3}}},
	} {
		got, err := Run(t.Context(), stock, sql)
		require.NoError(t, err)
		require.Empty(t, got.Refused, sql)
		require.Equal(t, want.rows, got.Rows, sql)
		require.Equal(t, want.sources, got.Sources, sql)
	}
}

func TestOnlyOneSelectThatReadsIsRun(t *testing.T) {
	for _, sql := range []string{
		"", "DELETE FROM t1", "SELECT 1; DELETE FROM t1", "PRAGMA query_only = OFF", "ATTACH '/etc/passwd' AS x", "SELECT load_extension('x')",
		"SELECT * FROM sqlite_master", "SELECT * FROM pragma_database_list", "WITH x AS (SELECT 1) DELETE FROM t1", "SELECT 1 -- x\n; DROP TABLE t1", "SELECT nothing FROM t1", "VACUUM INTO '/tmp/x'",
	} {
		got, err := Run(t.Context(), stock, sql)
		require.NoError(t, err)
		require.NotEmpty(t, got.Refused, sql)
	}
}

// A statement without an end, or with more memory than there is, ends.
func TestStatementIsBounded(t *testing.T) {
	for _, sql := range []string{
		"WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n",
		"WITH RECURSIVE n(x) AS (SELECT 'a' UNION ALL SELECT x || x FROM n) SELECT max(length(x)) FROM n",
	} {
		got, err := Run(t.Context(), stock, sql)
		require.NoError(t, err)
		require.NotEmpty(t, got.Refused, sql)
	}
	got, err := Run(t.Context(), stock, "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 5000) SELECT x FROM n")
	require.NoError(t, err)
	require.Len(t, got.Rows, MaxRows)
	require.True(t, got.More)
}

func TestNamesOfColumns(t *testing.T) {
	got := tables.Find("Price (EUR) | 2024 | Price EUR | Größe | \n1 | 2 | 3 | 4 | 5")
	require.Equal(t, []string{"price_eur", "c_2024", "price_eur_2", "größe", "column_5"}, Names(got[0]))
	require.False(t, strings.ContainsRune(Names(got[0])[0], ' '))
}

// A number with words beside it is a number and a text.
func TestColumnsOfNumbersKeepTheirWords(t *testing.T) {
	all := tables.Find("Version | Release | Eol | Eol text\n4.10 | 2004-10-20 | 2006-04-30 | a\n5.04 | 2005-04-08 | never | b\n5.10 | 2005-10-12 | 2007-04-13 | c\n6.10 | 2006-10-26 | 2008-04-25 | d\n6.06 LTS | 2006-06-01 | 2009-07-14 | e")
	columns, names := Written(all[0])
	require.Equal(t, []int{0, 2}, columns)
	require.Equal(t, []string{"version_text", "eol_text_2"}, names)
	for sql, want := range map[string]string{
		"SELECT count(*) FROM t1 WHERE version_text LIKE '%LTS'": "1",
		"SELECT version FROM t1 WHERE eol_text_2 = 'never'":      "5.04",
		"SELECT max(version) FROM t1":                            "6.1",
	} {
		got, err := Run(t.Context(), all, sql)
		require.NoError(t, err)
		require.Empty(t, got.Refused, sql)
		require.Equal(t, [][]string{{want}}, got.Rows, sql)
	}
}
