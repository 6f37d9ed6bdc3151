package intent

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTextToAuditStandsBeforeAfterInQuotesOrInTheQuestion(t *testing.T) {
	for message, want := range map[string]string{
		`"I took cash from a supplier on Monday" - is that a breach of the gifts policy?`:                   "I took cash from a supplier on Monday",
		"We took cash from a supplier on Monday and told nobody. Is that in line with the gifts policy?":    "We took cash from a supplier on Monday and told nobody.",
		"Evaluate against the travel policy: I flew business class on a flight of two hours.":               "I flew business class on a flight of two hours.",
		"proofread this against the NDA: We may show the plans to our partner Globex.":                      "We may show the plans to our partner Globex.",
		"Would it be fine under the code of conduct to keep a tip of EUR 25 from a passenger?":              "to keep a tip of EUR 25 from a passenger?",
		"Are we violating the gifts policy if we give our client a bottle worth EUR 90?":                    "we give our client a bottle worth EUR 90?",
		`In line with SEC-POL-04? "We change our passwords every 36 months."`:                               "We change our passwords every 36 months.",
		"Our intern shared her password with the whole team. Which rules of the policy are broken by that?": "Our intern shared her password with the whole team.",
		"check against the fire rules: We lock all exits at night.":                                         "We lock all exits at night.",
		"check against the fire rules: the exits":                                                           "",
		`audit "Siemens framework contract" against the NDA`:                                                "",
		"Does the letter to Contoso comply with the general terms and conditions?":                          "",
		"is the letter in line with the terms?":                                                             "",
		"audit against the gifts policy":                                                                    "",
		`Audit "We pay cash." against Travel policy v3`:                                                     "We pay cash.",
		`Check "I booked business class" against Travel policy v3`:                                          "I booked business class",
		"audit this: We fly first class always. against travel policy v4":                                   "We fly first class always.",
	} {
		_, text := SplitAudit(message)
		require.Equal(t, want, text, message)
	}
}
