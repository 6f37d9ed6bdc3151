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

const exampleAdvanced = `
# ---- Advanced ----

# Few installations set these. palaver --help says what they do:
`

// EnvExample returns the text of .env.example: the settings that people set with their
// help, and the names of the advanced ones.
func EnvExample() string {
	var b strings.Builder
	b.WriteString(exampleHead)
	group, advanced := "", ""
	for _, v := range append(variables(&Config{}), variables(&Embedded{})...) {
		if v.advanced() {
			advanced += fmt.Sprintf("# %s\n", v.env)
			continue
		}
		if v.group != group {
			group = v.group
			fmt.Fprintf(&b, "\n# ---- %s ----\n", group)
		}
		fmt.Fprintf(&b, "\n# %s\n#%s=%s\n", v.help, v.env, v.preset)
	}
	return b.String() + exampleAdvanced + advanced
}
