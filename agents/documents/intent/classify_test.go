package intent

import (
	"slices"
	"testing"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/llm"
)

func TestIntentOfRealMessages(t *testing.T) {
	docs := []llm.Document{{ID: "1", Title: "BankNegara2024"}, {ID: "2", Title: "Notes about lending"}}
	for _, c := range []struct {
		message    string
		action     chat.Action
		confidence chat.Confidence
	}{
		{"Summarize BankNegara2024", chat.Summarize, chat.High},
		{"summarise this", chat.Summarize, chat.High},
		{"Can you give me a quick overview of the remote work policy?", chat.Summarize, chat.High},
		{"tl;dr please", chat.Summarize, chat.High},
		{"What are the key points of the contract?", chat.Summarize, chat.High},
		{"Summarize the key points of BankNegara2024 in five bullets", chat.Summarize, chat.High},
		{"Summarize Notes about lending", chat.Summarize, chat.High},
		{"Summarize the whole document in plain English", chat.Summarize, chat.High},
		{"Summarize the capital requirements in BankNegara2024", chat.Inquire, chat.High},
		{"Summarize BankNegara2024 about liquidity", chat.Inquire, chat.High},
		{"Summarise what the policy says regarding overtime", chat.Inquire, chat.High},
		{"Compare the 2023 and the 2024 policy", chat.Compare, chat.High},
		{"What is the difference between v1 and v2?", chat.Compare, chat.High},
		{"policy 2023 vs policy 2024", chat.Compare, chat.High},
		{"What changed between the two versions?", chat.Compare, chat.High},
		{"Check this email against the data policy: Hi Tom, the list is attached.", chat.Audit, chat.High},
		{"Does this email comply with the policy?", chat.Audit, chat.High},
		{"Audit this text", chat.Audit, chat.High},
		{"Is my draft in breach of the circular?", chat.Audit, chat.High},
		{"Please review the attached letter against BankNegara2024.", chat.Audit, chat.High},
		{"What are the capital requirements?", chat.Inquire, chat.High},
		{"How do banks comply with the circular?", chat.Inquire, chat.High},
		{"What happens in case of a breach of contract?", chat.Inquire, chat.High},
		{"Who must approve an audit report?", chat.Inquire, chat.High},
		{"Explain the notice period", chat.Inquire, chat.High},
		{"list the reporting deadlines", chat.Inquire, chat.High},
		{"is remote work allowed on Fridays", chat.Inquire, chat.High},
		{"sumarize the policy", chat.Summarize, chat.High},
		{"tldr the policy", chat.Summarize, chat.High},
		{"give me the gist of the contract", chat.Summarize, chat.High},
		{"Fasse den Vertrag zusammen", chat.Summarize, chat.High},
		{"Vat het contract samen", chat.Summarize, chat.High},
		{"comapre the two contracts", chat.Compare, chat.High},
		{"a comparison of the contracts", chat.Compare, chat.High},
		{"what changed in the contract since v1?", chat.Compare, chat.High},
		{"Quelle est la différence entre A et B ?", chat.Compare, chat.High},
		{"What difference in price does the letter announce?", chat.Inquire, chat.High},
		{"How often may the bank audit Contoso?", chat.Inquire, chat.High},
		{"Which summary of logs is kept for 90 days?", chat.Inquire, chat.High},
		{"Is there a penalty if the contract is breached?", chat.Inquire, chat.High},
		{"Are there any violations of the policy in it?", chat.Audit, chat.High},
		{"Wie lang ist die Garantie?", chat.Inquire, chat.High},
		{"does this break the gifts policy? \"I took a watch.\"", chat.Audit, chat.High},
		{"is that in line with the gifts policy", chat.Audit, chat.High},
		{"letter vs terms: any violations?", chat.Audit, chat.High},
		{"could you wrap up the lease for me", chat.Summarize, chat.High},
		{"When do we wrap up the project?", chat.Inquire, chat.High},
		{"what was decided at the meeting, in brief?", chat.Summarize, chat.High},
		{"what does the contract cover as a whole", chat.Summarize, chat.High},
		{"what do I have to know about the lease, in short?", chat.Summarize, chat.High},
		{"What does the policy say about overtime in general?", chat.Inquire, chat.High},
		{"Lease v1 and v2: where do they diverge?", chat.Compare, chat.High},
		{"how are the two contracts different?", chat.Compare, chat.High},
		{"what did the lawyers change in the contract since v1?", chat.Compare, chat.High},
		{"What did the auditors change?", chat.Inquire, chat.High},
		{"SEC-POL-04", chat.Inquire, chat.Medium},
		{"Tell me about that document", chat.Summarize, chat.High},
		{"minimum capital ratio small banks", chat.Inquire, chat.Medium},
		{"help with this", chat.Inquire, chat.Medium},
		{"the policy", chat.Inquire, chat.Medium},
		{"BankNegara2024", chat.Inquire, chat.Medium},
		{"hello", chat.Inquire, chat.Medium},
		{"", chat.Inquire, chat.Medium},
	} {
		got := Classify(llm.Facts{Message: c.message, Documents: docs})
		if got.Action != c.action || got.Confidence != c.confidence {
			t.Errorf("%q: %s, %s (%s), want %s, %s", c.message, got.Action, got.Confidence, got.Reasoning, c.action, c.confidence)
		}
		if got.MultiAction {
			t.Errorf("%q: multi action", c.message)
		}
		if len(got.Actions) == 0 || got.Actions[0] != got.Action {
			t.Errorf("%q: actions %v do not begin with %s", c.message, got.Actions, got.Action)
		}
	}
}

func TestIntentOfTwoActionsAtOnce(t *testing.T) {
	for _, c := range []struct {
		message string
		want    []chat.Action
	}{
		{"Summarize the policy and compare it with the circular", []chat.Action{chat.Summarize, chat.Compare}},
		{"Compare both contracts, then summarise them", []chat.Action{chat.Compare, chat.Summarize}},
		{"First audit this email, then give me a summary", []chat.Action{chat.Audit, chat.Summarize}},
		{"summarize/compare the policies", []chat.Action{chat.Summarize, chat.Compare}},
		{"audit / summarize the letter", []chat.Action{chat.Audit, chat.Summarize}},
		{"Check the email against the policy and summarize the policy", []chat.Action{chat.Audit, chat.Summarize}},
	} {
		got := Classify(llm.Facts{Message: c.message})
		if !got.MultiAction || !slices.Equal(got.Actions, c.want) {
			t.Errorf("%q: %v (multi %v), want %v", c.message, got.Actions, got.MultiAction, c.want)
		}
	}
}

func TestPastedTextDoesNotDecideTheIntent(t *testing.T) {
	email := "Hi team,\nplease compare the two offers and summarize what changed. Is this still valid today?\nRegards, Ann"
	got := Classify(llm.Facts{Message: "Does this email violate our gift policy?\n\n" + email})
	if got.Action != chat.Audit || got.MultiAction || got.WebSearch {
		t.Errorf("got %+v", got)
	}
}

func TestFollowUpHasTheIntentOfTheLastMessage(t *testing.T) {
	recent := []llm.Message{{Role: llm.User, Text: "Summarize the circular"}, {Role: llm.Assistant, Text: "It says …"}}
	got := Classify(llm.Facts{Message: "and the contract", Recent: recent})
	if got.Action != chat.Summarize || got.Confidence != chat.Medium {
		t.Errorf("got %+v", got)
	}
	if got := Classify(llm.Facts{Message: "do the same with the contract", Recent: recent}); got.Action != chat.Summarize || got.Confidence == chat.Low {
		t.Errorf("got %+v", got)
	}
	if got := Classify(llm.Facts{Message: "help with this", Recent: recent}); got.Action != chat.Inquire {
		t.Errorf("a vague message was taken for a continuation: %+v", got)
	}
}

func TestRecencyAsksForTheWeb(t *testing.T) {
	for message, want := range map[string]bool{
		"What is the latest capital requirement?": true,
		"Is BankNegara still enforced?":           true,
		"What are the current rates?":             true,
		"What applies now?":                       true,
		"Now summarize the contract":              false,
		"What is the notice period?":              false,
		"How do I know the rules?":                false,
	} {
		if got := Classify(llm.Facts{Message: message}).WebSearch; got != want {
			t.Errorf("%q: web search %v", message, got)
		}
	}
}

func TestAuditIsRecognizedWhateverItsDocumentsAreCalled(t *testing.T) {
	for message, want := range map[string]chat.Action{
		"Audit  against ": chat.Audit, // mentions are left out of the message
		"Audit @Email about the list against @Remote Work Policy 2025": chat.Audit,
		"Please audit Email about the list against the policy":         chat.Audit,
		"audit supplier contract against the circular":                 chat.Audit,
		"What does the audit committee decide?":                        chat.Inquire,
		"Which audit reports are due?":                                 chat.Inquire,
	} {
		if got := Classify(llm.Facts{Message: message, Explicit: []string{"a", "b"}}); got.Action != want || got.Confidence == chat.Low {
			t.Errorf("%q: %s, %s; want %s", message, got.Action, got.Confidence, want)
		}
	}
}

func FuzzClassify(f *testing.F) {
	f.Add("Compare the Acme agreement with v2", "and the other one?")
	f.Add("“", "V")
	f.Fuzz(func(t *testing.T, message, before string) {
		in := Classify(llm.Facts{Message: message, Recent: []llm.Message{{Role: llm.User, Text: before}}})
		if !in.Action.Valid() {
			t.Errorf("%q: action %q", message, in.Action)
		}
	})
}
