package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

const maxToolName = 64 // what models take

// toolName is a server's tool as models and approvals know it. Other tools of
// the server never change it: a name that models would not take is changed and
// gets a fingerprint of the original, so that no two become one.
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
