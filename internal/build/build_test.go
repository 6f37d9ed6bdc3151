package build

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLinkerOverridesWhatTheToolchainRecorded(t *testing.T) {
	recorded := &debug.BuildInfo{Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.time", Value: "2026-05-01T12:00:00Z"}, {Key: "vcs.modified", Value: "true"}}}
	recorded.Main.Version = "(devel)"
	linked := Info{"v1.2.3", "def", "2026-06-01T12:00:00Z"}

	require.Equal(t, linked, read(linked, recorded))
	require.Equal(t, "palaver v1.2.3 (commit def, 2026-06-01T12:00:00Z)", linked.String())
	require.Equal(t, Info{"devel", "abc+changes", "2026-05-01T12:00:00Z"}, read(Info{}, recorded))
	require.Equal(t, Info{"unknown", "unknown", "unknown"}, read(Info{}, nil))
}
