package main

import (
	"context"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/internal/retrieval"
)

// ranking is a way to rank passages.
type ranking struct {
	name   string
	search func(ctx context.Context, store db.Store, query string, k int) ([]chat.Hit, error)
}

const product = "words"

var rankings = []ranking{
	{"BM25", func(ctx context.Context, store db.Store, query string, k int) ([]chat.Hit, error) {
		return store.SearchText(ctx, owner, db.Words(language.Distinct(language.ContentWords(query))...), nil, k)
	}},
	{product, func(ctx context.Context, store db.Store, query string, k int) ([]chat.Hit, error) {
		return retrieval.New(store, nil).Search(ctx, owner, query, nil, k)
	}},
}

func vectorsOf(ctx context.Context, chunks []chat.Chunk) ([][]float32, error) { return nil, nil }
