package workflows

import "strconv"

// Names of a turn's steps, under which their results are recorded (once). Open threads
// carry them across releases, so they do not change.
const (
	stepBegin = "begin"

	// Imports, before the agent answers.
	stepPlanImports   = "plan imports"
	stepImport        = "import" // numbered
	stepReportImports = "report imports"

	// The documents agent.
	stepResolve        = "resolve"
	stepAskAction      = "ask action"
	stepAnnounceDocs   = "announce docs"
	stepResolveAgain   = "resolve again"
	stepAskDoc         = "ask doc"
	stepAskUnknown     = "ask unknown" // numbered from 0
	stepShowDocs       = "show docs"
	stepValidate       = "validate"
	stepAskMissing     = "ask missing" // numbered from 0
	stepAnnounceAction = "announce action"
	stepRetrieve       = "retrieve"
	stepSayImporting   = "say importing"
	stepAskRetrieval   = "ask retrieval"
	stepReadTags       = "read tags"
	stepRetrieveAgain  = "retrieve again"
	stepSearchWeb      = "search the web"
	stepNotice         = "notice"
	stepReadAfter      = ": read" // after the name of the question's step

	// The tool loop. The steps of a round are numbered; stepRound replaces those of the
	// rounds before.
	stepWrite       = "write"
	stepApprove     = "approve"
	stepRun         = "run"
	stepUnknown     = "unknown"
	stepDecideAfter = ": decide" // after the name of the question's step
	stepRunAfter    = ": run"    // after the name of the question's step
	stepRound       = "round"

	// Custom agents. The kind of the step and the agent's name for it follow.
	stepOwn = "own "
)

// roundSteps begin the names of a round's steps.
var roundSteps = []string{stepWrite, stepApprove, stepRun, stepUnknown}

// stepName is the name of the n-th run of a step.
func stepName(step string, n int) string {
	if n == 1 {
		return step
	}
	return numbered(step, n)
}

func numbered(step string, n int) string { return step + " " + strconv.Itoa(n) }
