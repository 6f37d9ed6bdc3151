package offline

import "strings"

// docNouns are what people call documents.
var docNouns = set(`document documents doc docs file files paper papers pdf text texts one ones it
policy policies circular circulars contract contracts agreement agreements guideline guidelines guidance report reports
memo memos memorandum handbook manual regulation regulations rule rules act directive notice letter letters email emails
standard standards code lease terms procedure procedures charter statement version versions draft`)

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}
