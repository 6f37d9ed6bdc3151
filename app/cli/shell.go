package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/palaver-chat/palaver/app/config"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/workflows"
)

type (
	showCmd struct {
		Thread string `arg:"" help:"Thread id, a UUID."`
	}
	cancelCmd struct {
		Thread string `arg:"" help:"Thread id, a UUID."`
	}
	resumeCmd struct {
		Thread string `arg:"" help:"Thread id, a UUID."`
		Value  string `arg:"" optional:"" help:"The answer: the id of an option, or a text."`
		Input  string `placeholder:"JSON" help:"The whole answer instead, such as {\"type\":\"tool_approval\",\"decisions\":[…]}."`
	}
)

// Run prints the state of a thread, with its open question.
func (s showCmd) Run(ctx context.Context, threads *workflows.Client) error {
	state, err := threads.State(ctx, s.Thread)
	if err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", "  ")
	return out.Encode(state)
}

// Run stops the running turn of a thread, or ends its open question.
func (c cancelCmd) Run(ctx context.Context, threads *workflows.Client) error {
	open, err := threads.Cancel(ctx, c.Thread, chat.Cancel{})
	if err == nil && !open {
		err = fmt.Errorf("the thread %s has no open workflow", c.Thread)
	}
	return err
}

// Run answers the open question of a thread, as the signal does.
func (r resumeCmd) Run(ctx context.Context, threads *workflows.Client) error {
	state, err := threads.State(ctx, r.Thread)
	if err != nil {
		return err
	}
	if state.Pending == nil {
		return fmt.Errorf("the thread %s waits for no answer", r.Thread)
	}
	var value chat.ResumeValue
	switch {
	case r.Input != "":
		if err := json.Unmarshal([]byte(r.Input), &value); err != nil {
			return &config.Error{Variable: "--input", Problem: "is no answer: " + err.Error()}
		}
	case r.Value == "":
		return &config.Error{Variable: "value", Problem: "required, or use --input"}
	default:
		value.Value = &r.Value
	}
	value.Type = cmp.Or(value.Type, state.Pending.Type)
	return threads.Resume(ctx, chat.Resume{Owner: state.Owner, ThreadID: r.Thread, InterruptID: state.Pending.ID, Value: value, Channel: chat.BySignal})
}
