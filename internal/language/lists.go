package language

var stopWords = Union(misspeltQuestionWords, lists.Set("stop words"))

// requestWords ask for an explanation but do not say of what.
var requestWords = lists.Set("request words")

// DocumentNouns are words that people use for a document. All rules share them; a rule
// that accepts more words adds its own.
var DocumentNouns = lists.Set("document nouns")

// TitleNouns are DocumentNouns and more nouns that stand in titles.
var TitleNouns = Union(DocumentNouns, lists.Set("title nouns"))

// Connecting are the words of a message that only mentions documents: verbs of the
// actions, prepositions, polite phrases, and nouns for a document. They add nothing to
// the action.
var Connecting = lists.Set("connecting")

// Pointing are words by which a message refers to something said before.
var Pointing = lists.Set("pointing")

// Determiners stand before a noun without naming it.
var Determiners = lists.Set("determiners")

// Common are words too frequent to tell documents or subjects apart.
var Common = Union(Connecting, Determiners, Pointing, lists.Set("common"))

// QuestionWords begin a question for a fact.
var QuestionWords = lists.Set("question words")
