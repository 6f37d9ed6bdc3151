package embedded

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/log"
)

// docker/temporal/dynamicconfig.yaml, for an external server, has the same values as
// the embedded server. It lacks only those that suit a single shard.
func TestExternalAndEmbeddedServerHaveTheSameDynamicConfig(t *testing.T) {
	contents, err := os.ReadFile("../../docker/temporal/dynamicconfig.yaml")
	require.NoError(t, err)
	loaded := dynamicconfig.LoadYamlFile(contents)
	require.NoError(t, loaded.Err())
	require.Empty(t, loaded.Warnings, "every key must be a setting of the server")
	file := dynamicconfig.StaticClient{}
	for key, values := range loaded.Map {
		require.Len(t, values, 1, key)
		file[key] = values[0].Value
	}
	require.Len(t, file, 5)
	logger := log.NewNoopLogger()
	said, told := dynamicconfig.NewCollection(file, logger), dynamicconfig.NewCollection(tuned, logger)
	for name, value := range map[string]func(*dynamicconfig.Collection) any{
		"fairness": func(c *dynamicconfig.Collection) any { return dynamicconfig.MatchingEnableFairness.Get(c)("", "", 0) },
		"queries":  func(c *dynamicconfig.Collection) any { return dynamicconfig.MaxBufferedQueryCount.Get(c)() },
		"updates": func(c *dynamicconfig.Collection) any {
			return dynamicconfig.WorkflowExecutionMaxInFlightUpdates.Get(c)("")
		},
		"keep-alive":         func(c *dynamicconfig.Collection) any { return dynamicconfig.KeepAliveTime.Get(c)() },
		"keep-alive timeout": func(c *dynamicconfig.Collection) any { return dynamicconfig.KeepAliveTimeout.Get(c)() },
	} {
		require.Equal(t, value(told), value(said), name)
		require.NotEqual(t, value(dynamicconfig.NewNoopCollection()), value(said), name)
	}
}
