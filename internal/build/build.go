// Package build says which build of Palaver runs.
package build

import (
	"cmp"
	"fmt"
	"runtime/debug"
	"strings"
)

// Set by the linker (scripts/release, Dockerfile): -X …/internal/build.version=v1.2.3.
var version, commit, date string

// Info describes a build. An unknown field is "unknown".
type Info struct {
	Version string
	Commit  string // of the source, with "+changes" if there were uncommitted changes
	Date    string // of the commit, RFC 3339
}

// Read returns the values that the linker set, else those that the Go toolchain recorded.
func Read() Info {
	recorded, _ := debug.ReadBuildInfo()
	return read(Info{version, commit, date}, recorded)
}

func read(linked Info, recorded *debug.BuildInfo) Info {
	var found Info
	if recorded != nil {
		changed := ""
		for _, s := range recorded.Settings {
			switch s.Key {
			case "vcs.revision":
				found.Commit = s.Value
			case "vcs.time":
				found.Date = s.Value
			case "vcs.modified":
				if s.Value == "true" {
					changed = "+changes"
				}
			}
		}
		if found.Commit != "" {
			found.Commit += changed
		}
		found.Version = strings.Trim(recorded.Main.Version, "()") // (devel)
	}
	return Info{
		Version: cmp.Or(linked.Version, found.Version, "unknown"),
		Commit:  cmp.Or(linked.Commit, found.Commit, "unknown"),
		Date:    cmp.Or(linked.Date, found.Date, "unknown"),
	}
}

// String is the line that palaver version prints.
func (i Info) String() string {
	return fmt.Sprintf("palaver %s (commit %s, %s)", i.Version, i.Commit, i.Date)
}
