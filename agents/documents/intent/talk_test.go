package intent

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGreetingsAndQuestionsAboutUsAreTalk(t *testing.T) {
	for _, message := range []string{
		"hi", "Hello!", "Hey there", "good morning", "Thanks", "Thank you so much, that helps!", "What can you do?", "hi, who are you?",
		"Help", "How does this work?", "ok great", "bye", "Guten Tag", "Wer bist du?", "merci beaucoup", "Bonjour, que peux-tu faire ?",
		"¿Qué puedes hacer?", "dank je wel", "Wat kun je doen?", "are you a robot", "hola",
		"so what can you do for me?", "Merci, c'est parfait",
		"who made you?", "what can I use you for?", "what questions can I ask?", "Could you tell me what you can do?", "nice to meet you!",
		"talk to you later", "que pouvez-vous faire pour moi ?", "was kannst du für mich tun?", "¿qué puedes hacer por mí?", "great, that is all",
		"Which kinds of questions can I ask you here?", "how do I use this tool", "What is this good for?", "Please explain how this works",
		"Hi giraffe", "hello Ms Okafor!", "Good morning, Priya", "Hallo Jürgen",
		"Great, I'm going home now", "thanks a lot, I will be back after lunch", "That is wrong", "this was really useful", "not what I was looking for",
		"hmm, that's not quite right", "perfect, just what we wanted!", "tschüss!", "aloha", "oops, my fault", "I am off for the day. Goodbye!",
		"are we chatting with a machine?", "is anybody there?", "Hello, anybody listening?", "what is it you can do?", "so what is it that you offer?",
		"thanks, have a nice weekend!", "no problem, thank you", "muchas gracias por todo",
	} {
		require.True(t, IsTalk(message), message)
	}
	for _, message := range []string{
		"hi PH-3", "hello summary", "hey, compare leases", "hi contract", "hello why", "giraffe",
		"", "hi, how many days of leave do I have?", "thanks. And the warranty?", "help with this", "What can you do about late payment?",
		"Who are the parties?", "the good policy", "test of the sprinklers", "What is this policy about?", "it", "and?", "Good Faith Agreement",
		"who made this rule?", "what can I use a company car for?", "what questions can the auditor ask?", "Could you tell me what it can do?",
		"What is this clause good for?", "how do I use this form", "what can I do with leave that is left?", "the weekend", "never", "same", "all",
		"Thanks, I need the fee", "great, we want the lease", "Hello, I lost my badge", "I lost my badge", "that is wrong under which rule?", "that is the wrong lease",
		"Summarize!", "Contract!", "compare!", "Overtime pay!", "bye-laws", "thanks, the invoice is late", "am I talking to the tenant too often?", "is anybody liable?",
		"what is it that you must sign?", "great, what I need is a permit", "good, I would like to know the fee", "useful life of a machine",
		"who runs the help desk?", "what do you know about the penalty?", "have a look at the weekend rules",
	} {
		require.False(t, IsTalk(message), message)
	}
}

func TestTalkAroundAQuestionIsDropped(t *testing.T) {
	for message, want := range map[string]string{
		"quick one before my three o'clock: how long is the probation period?": "how long is the probation period?",
		"Hello! What does it say?":                                                  "What does it say?",
		"hi, thanks. How long is the warranty?":                                     "How long is the warranty?",
		"Audit this: is it allowed to share data?":                                  "Audit this: is it allowed to share data?",
		"What is the fee?":                                                          "What is the fee?",
		"thanks":                                                                    "thanks",
		"Three points: cost, time and quality":                                      "Three points: cost, time and quality",
		"From: Ann\nWhat is the latest on the fee?":                                 "From: Ann\nWhat is the latest on the fee?",
		"Hi Sam, what is the fee?":                                                  "what is the fee?",
		"Dear Palaver, what is the fee? Best regards, Ann Smith":                    "what is the fee?",
		"Hi Sam, hope you are well! What is the notice period? Thanks, Ann":         "What is the notice period?",
		"Thanks, Ann. What is the notice period?":                                   "What is the notice period?",
		"What is the fee?\n\nKind regards\nAnn":                                     "What is the fee?",
		"Sorry to bother you again. How many days may I work abroad? Cheers, Bob":   "How many days may I work abroad?",
		"Hey there, it's Ann from sales. How many days may I work abroad?":          "How many days may I work abroad?",
		"I have a quick question. Who pays for the damage? Many thanks in advance!": "Who pays for the damage?",
		"Is it fine to give thanks, Ann?":                                           "Is it fine to give thanks, Ann?",
		"Dear colleagues may not be paid twice, may they?":                          "Dear colleagues may not be paid twice, may they?",
		"What does it say? Best practice applies to all suppliers.":                 "What does it say? Best practice applies to all suppliers.",
	} {
		require.Equal(t, want, WithoutTalk(message), message)
	}
}
