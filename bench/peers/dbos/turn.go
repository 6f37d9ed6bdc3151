package main

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
	"golang.org/x/sync/errgroup"
)

// agent is what the workflow's steps use.
type agent struct {
	store   *store
	prompts prompts
	model   *model
	streams *streams
}

// message is a turn's input, which DBOS stores with the workflow.
type message struct {
	Thread  string   `json:"thread_id"`
	Turn    string   `json:"client_turn_id"`
	Message string   `json:"message"`
	Tagged  []string `json:"tagged_doc_ids"`
	Action  string   `json:"action"`
}

type resolved struct {
	Action string
	DocIDs []string
}

type written struct {
	Text    string
	Sources []source
}

// source is a passage that the answer may cite.
type source struct {
	N     int    `json:"n"`
	DocID string `json:"doc_id"`
	Chunk int    `json:"chunk"`
	Start int    `json:"start"`
	End   int    `json:"end"`
}

type answered struct {
	Response  string   `json:"response"`
	Citations []source `json:"citations"`
}

const (
	resolverContext = 5 // earlier messages that a prompt repeats
	answerContext   = 6
	answerTimeout   = 24 * time.Hour // of a question
	resumeTopic     = "resume"
)

// turn is the workflow of one message.
func (a *agent) turn(ctx dbos.DBOSContext, m message) (answered, error) {
	say := a.streams.of(m.Turn)
	status := func(node, text string) { say(event{Type: "status", Node: node, Message: text}) }

	// Both resolvers are one step: their model calls run concurrently.
	status("intent_resolver", "Clarifying intent...")
	status("doc_resolver", "Finding documents...")
	found, err := dbos.RunAsStep(ctx, func(ctx context.Context) (resolved, error) { return a.resolve(ctx, m) }, dbos.WithStepName("resolve"))
	if err != nil {
		return answered{}, err
	}

	status("validate_inputs", "Checking what is needed...")
	if len(found.DocIDs) == 0 && found.Action != "inquire" {
		say(event{Type: "interrupt", Message: "Which document do you mean?"})
		id, err := dbos.Recv[string](ctx, resumeTopic, answerTimeout)
		if err != nil {
			return answered{}, err
		}
		if id == "" {
			return answered{}, errors.New("the question was not answered in time")
		}
		found.DocIDs = []string{id}
		say = a.streams.of(m.Turn) // the request with the answer reads the events now
	}

	status("inquire", "Researching your question...")
	w, err := dbos.RunAsStep(ctx, func(ctx context.Context) (written, error) { return a.write(ctx, m, found, say) }, dbos.WithStepName("inquire"))
	if err != nil {
		return answered{}, err
	}

	status("format_response", "Formatting the answer...")
	return dbos.RunAsStep(ctx, func(ctx context.Context) (answered, error) {
		out := answered{Response: w.Text, Citations: cited(w)}
		return out, a.store.save(ctx, m, out)
	}, dbos.WithStepName("format_response"))
}

func (a *agent) resolve(ctx context.Context, m message) (resolved, error) {
	out := resolved{Action: m.Action, DocIDs: m.Tagged}
	if m.Action != "" && len(m.Tagged) > 0 { // no model is needed when the request names both
		return out, nil
	}
	earlier, err := a.store.recent(ctx, m.Thread, resolverContext)
	if err != nil {
		return out, err
	}
	g, ctx := errgroup.WithContext(ctx)
	if m.Action == "" {
		g.Go(func() error {
			var in intent
			err := a.model.structured(ctx, intentSchema, a.prompts.intent, earlier, m.Message, &in)
			out.Action = in.Action
			return err
		})
	}
	g.Go(func() error {
		known, err := a.store.titles(ctx, m.Tagged)
		if err != nil {
			return err
		}
		var found docResolution
		if err := a.model.structured(ctx, docsSchema, a.prompts.documents(known, m.Tagged), earlier, m.Message, &found); err != nil {
			return err
		}
		for _, id := range found.ResolvedIDs {
			visible := slices.ContainsFunc(known, func(d document) bool { return d.ID == id })
			if visible && !slices.Contains(out.DocIDs, id) {
				out.DocIDs = append(out.DocIDs, id)
			}
		}
		return nil
	})
	return out, g.Wait()
}

func (a *agent) write(ctx context.Context, m message, found resolved, say func(event)) (written, error) {
	passages, err := a.store.search(ctx, m.Message, found.DocIDs)
	if err != nil {
		return written{}, err
	}
	earlier, err := a.store.recent(ctx, m.Thread, answerContext)
	if err != nil {
		return written{}, err
	}
	var w written
	for i, p := range passages {
		w.Sources = append(w.Sources, source{N: i + 1, DocID: p.DocID, Chunk: p.Ordinal, Start: p.Start, End: p.End})
	}
	w.Text, err = a.model.stream(ctx, a.prompts.answer, earlier, question(passages, m.Message), func(delta string) {
		say(event{Type: "token", Content: delta})
	})
	return w, err
}

var marker = regexp.MustCompile(`\[(\d{1,3})\]`)

func cited(w written) []source {
	numbers := map[int]bool{}
	for _, m := range marker.FindAllStringSubmatch(w.Text, -1) {
		n, err := strconv.Atoi(m[1])
		numbers[n] = err == nil
	}
	return slices.DeleteFunc(slices.Clone(w.Sources), func(s source) bool { return !numbers[s.N] })
}
