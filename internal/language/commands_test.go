package language

import "testing"

func TestMisspeltAndForeignCommandsAreRecognized(t *testing.T) {
	for in, want := range map[string]string{
		"sumarize the policy":                "summarize the policy",
		"Summerise this":                     "summarise this",
		"please summrize this":               "please summarize this",
		"compair v1 and v2":                  "compare v1 and v2",
		"comapre both":                       "compare both",
		"whats the warranty period":          "what is the warranty period",
		"vérifie ce texte par rapport à X":   "check ce texte against X",
		"adit this":                          "audit this",
		"a compost heap":                     "a compost heap",
		"the complex case":                   "the complex case",
		"The compact car":                    "The compact car",
		"Prüfe das auf Basis von X":          "check das against X",
		"Toets dit aan de hand van X":        "check dit against X",
		"the audio policy":                   "the audio policy",
		"What does the adit say?":            "What does the adit say?",
		"Which company is compared?":         "Which company is compared?",
		"Fasse den Vertrag zusammen":         "summarize den Vertrag zusammen",
		"Bitte den Vertrag zusammenfassen":   "Bitte den Vertrag summarize",
		"Vergelijk A met B":                  "compare A met B",
		"Résume le contrat":                  "summarize le contrat",
		"Wat is het verschil tussen A en B?": "what is het difference between A en B?",
		"Wie lang ist die Garantie?":         "how lang ist die Garantie?",
		"Was the contract signed?":           "Was the contract signed?",
		"They resume work on Monday":         "They resume work on Monday",
		"":                                   "",
	} {
		if got := Commands(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func FuzzCommands(f *testing.F) {
	f.Add("Fasse den Vertrag zusammen; sumarize \xff it")
	f.Fuzz(func(t *testing.T, message string) {
		if once := Commands(message); len(once) > 12*len(message)+1 {
			t.Errorf("%q became %q", message, once)
		}
	})
}
