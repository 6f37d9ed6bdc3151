package record

import (
	"strconv"
	"strings"
)

// MaxChunks is the most chunks of one document.
const MaxChunks = 1 << 20

// ChunkID is "<document id>.<ordinal>".
func ChunkID(docID string, ordinal int64) string { return docID + "." + strconv.FormatInt(ordinal, 10) }

// ParseChunkID reverses ChunkID.
func ParseChunkID(id string) (docID string, ordinal int64, ok bool) {
	i := strings.LastIndexByte(id, '.')
	if i < 0 {
		return "", 0, false
	}
	ordinal, err := strconv.ParseInt(id[i+1:], 10, 32)
	if err != nil || ordinal < 0 || ordinal >= MaxChunks || strconv.FormatInt(ordinal, 10) != id[i+1:] {
		return "", 0, false
	}
	return id[:i], ordinal, true
}

// A message's id is "<turn id>.m<n>": the same while its turn is open and after.
const messageMark = ".m"

// MessageID names the n-th message of a turn, the user's being 0.
func MessageID(turnID string, n int64) string { return turnID + messageMark + strconv.FormatInt(n, 10) }

// ParseMessageID reverses MessageID.
func ParseMessageID(id string) (turnID string, n int64, ok bool) {
	i := strings.LastIndex(id, messageMark)
	if i < 0 {
		return "", 0, false
	}
	n, err := strconv.ParseInt(id[i+len(messageMark):], 10, 64)
	return id[:i], n, err == nil
}
