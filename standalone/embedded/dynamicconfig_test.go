package embedded

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/server/common/dynamicconfig"
)

// What an external server is told by docker/temporal/dynamicconfig.yaml is what
// the embedded one is told, where it is not about having one shard only.
func TestTheFileForAnExternalServerSaysWhatTheEmbeddedOneIsTold(t *testing.T) {
	contents, err := os.ReadFile("../../docker/temporal/dynamicconfig.yaml")
	require.NoError(t, err)
	loaded := dynamicconfig.LoadYamlFile(contents)
	require.NoError(t, loaded.Err())
	require.Empty(t, loaded.Warnings, "every name is a setting of the server")
	for _, key := range []dynamicconfig.Key{
		dynamicconfig.MatchingEnableFairness.Key(),
		dynamicconfig.MaxBufferedQueryCount.Key(),
		dynamicconfig.WorkflowExecutionMaxInFlightUpdates.Key(),
	} {
		values := loaded.Map[key]
		require.Len(t, values, 1, key)
		require.EqualValues(t, tuned[key], values[0].Value, key)
	}
	require.Len(t, loaded.Map, 3)
}
