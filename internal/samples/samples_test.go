package samples_test

import (
	"context"
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/documents/chunk"
	"github.com/palaver-chat/palaver/documents/extract"
	"github.com/palaver-chat/palaver/internal/samples"
)

func TestEverySampleIsListedReadableAndCutIntoPassages(t *testing.T) {
	listed := map[string]bool{}
	for _, s := range samples.List() {
		listed[s.Name] = true
		raw, err := fs.ReadFile(samples.FS, s.Name)
		require.NoError(t, err)
		if kind, ok := extract.All().Detect(s.Name, "", raw); !ok || kind != s.Type {
			t.Errorf("%s is detected as %q, listed as %q", s.Name, kind, s.Type)
		}
		text, err := extract.All().Text(context.Background(), s.Type, raw)
		assert.NoError(t, err, s.Name)
		assert.True(t, len(chunk.Split(text)) != 0 && s.Title != "", "%s: no passages or no title", s.Name)
	}
	names, err := fs.Glob(samples.FS, "*")
	require.NoError(t, err)
	for _, n := range names {
		assert.True(t, listed[n], "%s is not listed", n)
	}
}

// The samples must have rules that the email breaks, and two versions of a policy that
// agree in some rules and differ in others.
func TestSamplesHaveSomethingToFind(t *testing.T) {
	read := func(name string) string {
		raw, err := fs.ReadFile(samples.FS, name)
		require.NoError(t, err)
		return strings.Join(strings.Fields(string(raw)), " ")
	}
	before, after, mail := read("remote-work-policy-2024.md"), read("remote-work-policy-2025.md"), read("email-customer-list.txt")
	for _, same := range []string{"Customer data shall not be sent to private electronic mail addresses.", "Customer data shall be sent outside the bank in encrypted form only."} {
		assert.True(t, strings.Contains(before, same) && strings.Contains(after, same), "not in both policies: %q", same)
	}
	for _, d := range [][2]string{{"up to two days per week", "up to three days per week"}, {"within 24 hours", "no later than four hours"}} {
		assert.True(t, strings.Contains(before, d[0]) && strings.Contains(after, d[1]) && !strings.Contains(after, d[0]), "not a difference: %q", d)
	}
	for _, breach := range []string{"my private address", "I have not encrypted the file"} {
		assert.True(t, strings.Contains(mail, breach), "not in the email: %q", breach)
	}
	if n := len(strings.Fields(read("circular-2025-04.md"))); n < 1200 {
		t.Errorf("the circular has %d words", n)
	}
}
