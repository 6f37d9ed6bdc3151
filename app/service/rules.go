package service

import (
	"fmt"
	"strconv"

	"github.com/palaver-chat/palaver/app/config"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/workflows"
)

// Rules returns the settings that apply to all threads. An error names the invalid
// setting.
func Rules(cfg *config.Config) (workflows.Rules, error) {
	version := workflows.DefaultVersion
	if cfg.WorkflowVersion != "" {
		var err error
		version, err = strconv.Atoi(cfg.WorkflowVersion)
		if err != nil || version < 0 || version > workflows.NewestVersion {
			return workflows.Rules{}, &config.Error{Variable: "WORKFLOW_VERSION",
				Problem: fmt.Sprintf("%q is not allowed; use a number from 0 to %d, which is the newest that this release knows", cfg.WorkflowVersion, workflows.NewestVersion)}
		}
	}
	return workflows.Rules{Version: version, Settings: workflows.Settings{
		IdleTimeout: cfg.ThreadIdleTimeout, TurnDeadline: cfg.TurnDeadline, ApprovalTimeout: cfg.ApprovalTimeout,
		MaxSteps: cfg.TurnMaxSteps, MaxTokens: cfg.TurnMaxTokens, MaxCostUSD: cfg.TurnMaxCostUSD, Effort: effort(cfg),
	}}, nil
}

// effort is empty for the one that threads have without a setting.
func effort(cfg *config.Config) chat.Effort {
	if e := chat.Effort(cfg.Effort); e != chat.Quick {
		return e
	}
	return ""
}
