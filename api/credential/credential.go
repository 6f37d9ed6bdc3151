// Package credential has the kinds of credentials by which callers are identified.
package credential

import "strings"

// Kinds is a kind of credential, or a set of kinds.
type Kinds uint8

// Kinds of credentials.
const (
	Cookie Kinds = 1 << iota
	Token
	Key
	Proxy

	Any = Cookie | Token | Key | Proxy
)

var names = []string{"cookie", "token", "key", "proxy"}

// String lists the kinds of the set, such as "cookie, token".
func (k Kinds) String() string {
	var in []string
	for i, name := range names {
		if k&(1<<i) != 0 {
			in = append(in, name)
		}
	}
	return strings.Join(in, ", ")
}
