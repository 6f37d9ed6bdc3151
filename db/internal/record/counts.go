package record

import (
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// Digest hashes a key that need not be readable.
func Digest(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// PruneCountsAfter is how long counts are kept after the end of their window. It is
// longer than the clocks of processes differ.
const PruneCountsAfter = time.Minute
