package main

import (
	"context"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/documents/retrieval"
	"github.com/palaver-chat/palaver/internal/language"
)

// ranking is a way to rank passages.
type ranking struct {
	name   string
	search func(ctx context.Context, store db.Store, query string, k int) ([]chat.Hit, error)
}

// Rankings that must not recall less than BM25.
const (
	product = "words"
	fused   = "words and vectors"
)

var rankings = []ranking{
	{"BM25", func(ctx context.Context, store db.Store, query string, k int) ([]chat.Hit, error) {
		return store.SearchText(ctx, owner, db.Words(language.Distinct(language.ContentWords(query))...), nil, k)
	}},
	{product, func(ctx context.Context, store db.Store, query string, k int) ([]chat.Hit, error) {
		return retrieval.New(store, nil).Search(ctx, owner, query, nil, k)
	}},
}

// byVectors returns the rankings that need vectors.
func byVectors(m means) []ranking {
	return []ranking{
		{"vectors", func(ctx context.Context, store db.Store, query string, k int) ([]chat.Hit, error) {
			vectors, err := m.Embed(ctx, []string{query})
			if err != nil {
				return nil, err
			}
			return store.SearchVector(ctx, owner, vectors[0], nil, k)
		}},
		{fused, func(ctx context.Context, store db.Store, query string, k int) ([]chat.Hit, error) {
			return retrieval.New(store, m).Search(ctx, owner, query, nil, k)
		}},
	}
}
