package mention

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
)

func TestNamesAreWrittenAsTitlesWriteThem(t *testing.T) {
	var docs []chat.Document
	for _, title := range []string{
		"CR-7 Change Request: Checkout", "SEC-POL-04 Information Security Policy.pdf", "Human Resources Handbook", "General Terms and Conditions",
		"Data Processing Agreement Contoso", "Mutual Non-Disclosure Agreement Northwind", "Annual Leave Policy 2030", "Annual Leave Policy 2031",
		"Services Contract v1", "Services Contract v2",
	} {
		docs = append(docs, chat.Document{ID: title, Title: title})
	}
	now := time.Date(2031, 5, 6, 0, 0, 0, 0, time.UTC)
	for in, want := range map[string]string{
		"summarize cr7":                      "summarize CR-7 Change Request: Checkout",
		"summarize CR-7, please":             "summarize CR-7 Change Request: Checkout, please",
		"summarize CR 7 change request":      "summarize CR-7 change request",
		"summarize CR-9":                     "summarize CR-9",
		"sec pol 4":                          "SEC-POL-04 Information Security Policy",
		"secpol04 about visitors":            "SEC-POL-04 Information Security Policy about visitors",
		"the HR handbook":                    "the Human Resources handbook",
		"the T&Cs":                           "the General Terms and Conditions",
		"the DPA and the NDA":                "the Data Processing Agreement Contoso and the Mutual Non-Disclosure Agreement Northwind",
		"the Contoso DPA":                    "the Contoso Data Processing Agreement",
		"the infosec policy":                 "the Information Security policy",
		"last year's leave policy":           "the 2030 leave policy",
		"what about last year's version":     "what about the 2030 version",
		"the first version":                  "the v1",
		"Is it fine to go as planned or not": "Is it fine to go as planned or not",
		"":                                   "",
	} {
		require.Equal(t, want, AsTitled(in, docs, nil, now), in)
	}
}

func TestLastYearsVersionIsThePreviousOneWhenNoTitleHasTheYear(t *testing.T) {
	now := time.Date(2031, 5, 6, 0, 0, 0, 0, time.UTC)
	docs := []chat.Document{{ID: "1", Title: "Leave Policy v1"}, {ID: "2", Title: "Leave Policy v2"}}
	for in, want := range map[string]string{
		"what about last year's version?": "what about the previous version?",
		"what about last year's profit?":  "what about last year's profit?",
		"what about this year's version?": "what about this year's version?",
	} {
		require.Equal(t, want, AsTitled(in, docs, nil, now), in)
	}
}

func TestYearOfAnotherTitleIsNotThatOfTheDocumentsMeant(t *testing.T) {
	now := time.Date(2031, 5, 6, 0, 0, 0, 0, time.UTC)
	docs := []chat.Document{{ID: "1", Title: "Leave Policy v1"}, {ID: "2", Title: "Leave Policy v2"}, {ID: "3", Title: "Budget 2030"}, {ID: "4", Title: "Budget 2031"},
		{ID: "5", Title: "Business Travel Policy 2030"}}
	leave, budget := docs[:2], docs[3:4]
	for _, c := range []struct {
		in    string
		about []chat.Document
		want  string
	}{
		{"what about last year's version?", leave, "what about the previous version?"},
		{"what about last year's version?", budget, "what about the 2030 version?"},
		{"what about last year's version?", slices.Concat(budget, leave), "what about the previous version?"}, // the latest counts
		{"and last year's?", budget, "and the 2030 version?"},
		{"and last year's?", leave, "and last year's?"},
		{"what about last year's budget?", leave, "what about the 2030 budget?"},
		{"what about last year's leave policy?", budget, "what about last year's leave policy?"},
		{"what about last year's version?", nil, "what about the 2030 version?"},
	} {
		require.Equal(t, c.want, AsTitled(c.in, docs, c.about, now), "%s, about %v", c.in, c.about)
	}
}
