package db

// Word is a word to search for. A chunk's score for it is that of the word itself or of
// one that is alike, whichever is best.
type Word struct {
	Text  string
	Alike []Alike
}

// Alike is a word that means the same or nearly so. An occurrence counts Weight, from 0 to
// 1, of one of the word, and never more than the word would if it were as frequent.
type Alike struct {
	Text   string
	Weight float64
}

// Words are words to search for by themselves.
func Words(texts ...string) []Word {
	words := make([]Word, len(texts))
	for i, text := range texts {
		words[i].Text = text
	}
	return words
}
