package db

// Word is a word to search for. A chunk's score for it is the best of the scores of the
// word itself and of the words similar to it.
type Word struct {
	Text  string
	Alike []Alike
}

// Alike is a word with the same or a similar meaning. An occurrence of it counts Weight, from
// 0 to 1, times one of the word, and never more because the similar word is rarer.
type Alike struct {
	Text   string
	Weight float64
}

// Words makes a list of words to search for, without similar words.
func Words(texts ...string) []Word {
	words := make([]Word, len(texts))
	for i, text := range texts {
		words[i].Text = text
	}
	return words
}
