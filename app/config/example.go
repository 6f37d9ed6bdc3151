package config

import (
	"fmt"
	"strings"
)

//go:generate sh -c "go run ../../cmd/palaver env-example > ../../.env.example"

const exampleHead = `# Palaver's settings. Copy this file to .env and take the # off what you change.
# The environment goes before .env, and a flag before both.
# Made by "palaver env-example" from package config; do not edit.
`

// EnvExample returns the text of .env.example.
func EnvExample() string {
	var b strings.Builder
	b.WriteString(exampleHead)
	group := ""
	for _, v := range append(variables(&Config{}), variables(&Embedded{})...) {
		if v.group != group {
			group = v.group
			fmt.Fprintf(&b, "\n# ---- %s ----\n", group)
		}
		fmt.Fprintf(&b, "\n# %s\n#%s=%s\n", v.help, v.env, v.preset)
	}
	return b.String()
}
