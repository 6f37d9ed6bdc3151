package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

const maxToolName = 64 // the limit of models

// toolName returns the name of a server's tool for models and approvals. It does not depend on
// the server's other tools. An invalid name is rewritten with a fingerprint of the original, so
// that names stay unique.
func toolName(server, tool string) string {
	name := server + "__" + strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, tool)
	if name == server+"__"+tool && len(name) <= maxToolName {
		return name
	}
	sum := sha256.Sum256([]byte(tool))
	mark := "_" + hex.EncodeToString(sum[:4])
	return name[:min(len(name), maxToolName-len(mark))] + mark
}
