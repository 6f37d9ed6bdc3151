//go:build !linux || race

package extract

import "time"

// limitMemory does nothing: the system has no such limit, or the race detector maps more
// memory than it.
func limitMemory(int64) {}

// limitTime does nothing.
func limitTime(time.Duration) {}
