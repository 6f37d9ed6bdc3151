package api

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"
	limiter "github.com/ulule/limiter/v3"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/openapi"
	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/audit"
)

type (
	personJSON struct {
		ID            string    `json:"id"`
		KnownAs       string    `json:"known_as,omitempty"` // the address or name in the person's token
		LastUsed      time.Time `json:"last_used"`          // to the day
		Conversations int64     `json:"conversations"`
		Documents     int64     `json:"documents"`
		StorageBytes  int64     `json:"storage_bytes"`
		TokensToday   int64     `json:"tokens_today"`
		CostToday     float64   `json:"cost_usd_today"`
	}
	peopleJSON struct {
		list[personJSON]
		Anonymous int64 `json:"anonymous"` // people without an account, who are not listed
	}
	modelUsageJSON struct {
		Day       string  `json:"day"` // of UTC
		Model     string  `json:"model"`
		Calls     int64   `json:"calls"`
		Unpriced  int64   `json:"unpriced_calls,omitempty"` // cost_usd leaves them out
		TokensIn  int64   `json:"tokens_in"`
		TokensOut int64   `json:"tokens_out"`
		CostUSD   float64 `json:"cost_usd"`
	}
	modelUsagesJSON struct {
		Items []modelUsageJSON `json:"items"`
	}
	limitJSON struct {
		Name    string  `json:"name"`
		Of      string  `json:"of"` // for each account, caller (with or without one), address of callers without one, or for everybody without one
		Limit   float64 `json:"limit"`
		Seconds int     `json:"seconds,omitempty"` // in which Limit counts; left out: always, or a day
	}
	installationLimitsJSON struct {
		Items []limitJSON `json:"items"` // only those that are set
	}
	failedDocumentJSON struct {
		ID             string    `json:"id"`
		Owner          string    `json:"owner"`
		Source         string    `json:"source,omitempty"`
		Format         string    `json:"format,omitempty"`
		Bytes          int64     `json:"bytes"`
		Reason         string    `json:"reason"`
		messages.Coded           // of Reason
		CreatedAt      time.Time `json:"created_at"`
	}
	ratedTurnJSON struct {
		Owner string `json:"owner"`
		feedbackJSON
		ConversationID string `json:"conversation_id"`
		Question       string `json:"question,omitempty"` // only if the person has shared it
		Answer         string `json:"answer,omitempty"`   // the same
	}
	toolServersJSON struct {
		Items []toolServerJSON `json:"items"`
	}
	statusJSON struct {
		Version string            `json:"version"`
		Commit  string            `json:"commit"`
		Date    string            `json:"date"`
		Ready   bool              `json:"ready"`
		Parts   map[string]string `json:"parts"`
		Down    []string          `json:"down"`
	}
)

const (
	usageDays    = 30
	maxUsageDays = 365
)

// adminOperations returns the routes of administrators. Nothing changes by them.
func (s *server) adminOperations() []openapi.Operation {
	paged := func(most int, more ...openapi.Param) []openapi.Param {
		return append([]openapi.Param{openapi.ParamCursor, openapi.ParamLimit(most)}, more...)
	}
	all := []openapi.Operation{
		{Route: "GET /api/admin/people", Handle: s.adminPeople, About: "Lists people with an account by their last use, with counts of what they have stored.",
			Query: paged(100), Answers: openapi.OK(peopleJSON{})},
		{Route: "GET /api/admin/usage", Handle: s.adminUsage, About: "Lists tokens and cost of each day by model. Searches of the web and paid tools have rows of their own.",
			Query: []openapi.Param{{Name: "days", About: "How many days, today included. Default: 30.", Least: 1, Most: maxUsageDays}}, Answers: openapi.OK(modelUsagesJSON{})},
		{Route: "GET /api/admin/limits", Handle: s.adminLimits, About: "Lists the limits of callers that are set.", Answers: openapi.OK(installationLimitsJSON{})},
		{Route: "GET /api/admin/audit", Handle: s.adminAudit, About: "Lists the audit log, newest entries first. A page can be empty and have a next_cursor: a page looks through 5,000 entries.",
			Query:   paged(200, openapi.Param{Name: "owner", About: "Lists only entries about this user id."}, openapi.Param{Name: "kind", About: "Lists only entries of this kind.", Enum: openapi.Values(audit.Kinds...)}),
			Answers: openapi.OK(list[db.AuditEntry]{})},
		{Route: "GET /api/admin/feedback", Handle: s.adminFeedback, About: "Lists feedback on answers, newest first, with question and answer where the person has shared them.",
			Query: paged(50), Answers: openapi.OK(list[ratedTurnJSON]{})},
		{Route: "GET /api/admin/documents", Handle: s.adminDocuments, About: "Lists documents that could not be read, newest first, without their names.",
			Query: paged(100), Answers: openapi.OK(list[failedDocumentJSON]{})},
		{Route: "GET /api/admin/tools", Handle: s.adminTools, About: "Lists the MCP servers, and which of their tools are not offered.", Answers: openapi.OK(toolServersJSON{})},
		{Route: "GET /api/admin/status", Handle: s.adminStatus, Probe: true, About: "Returns version and health, as /readyz shows it to operators.", Answers: openapi.OK(statusJSON{})},
	}
	for i := range all {
		all[i].Group, all[i].Admin = groupAdmin, true
	}
	return all
}

// onlyAdmins refuses everybody but administrators, and records who reads what.
func (s *server) onlyAdmins(c *gin.Context) {
	who := identity.Of(c)
	detail := map[string]any{"route": c.FullPath()}
	if !who.Admin {
		s.Audit.Count(entry(who, audit.AdminRefused, detail), c.FullPath())
		s.fail(c, errNoAdmin)
		return
	}
	s.Audit.Record(entry(who, audit.AdminRead, detail))
}

// adminPage answers with a page of a list that is not the caller's.
func adminPage[T, V any](c *gin.Context, normal, most int, show func(T) V, read func(ctx context.Context, cursor string, n int) (db.Page[T], error)) error {
	page, err := readPage(c, normal, most, func(ctx context.Context, _, cursor string, n int) (db.Page[T], error) { return read(ctx, cursor, n) })
	if err != nil {
		return err
	}
	return respond(c, http.StatusOK, listOf(page, show))
}

func (s *server) adminPeople(c *gin.Context) error {
	page, err := readPage(c, 50, 100, func(ctx context.Context, _, cursor string, n int) (db.Page[db.Person], error) {
		return s.Store.People(ctx, s.now(), cursor, n)
	})
	if err != nil {
		return err
	}
	anonymous, err := s.Store.CountAnonymous(c.Request.Context())
	if err != nil {
		return err
	}
	return respond(c, http.StatusOK, peopleJSON{listOf(page, showPerson), anonymous})
}

func showPerson(p db.Person) personJSON {
	return personJSON{p.Owner, p.KnownAs, p.SeenAt.UTC(), p.Threads, p.Documents, p.Bytes, p.Today.Tokens, p.Today.CostUSD}
}

func (s *server) adminUsage(c *gin.Context) error {
	var p dialect.Problems
	days := request.Number(&p, "days", cmp.Or(c.Query("days"), strconv.Itoa(usageDays)), 1, maxUsageDays)
	if err := p.Err(); err != nil {
		return err
	}
	used, err := s.Store.ModelUsage(c.Request.Context(), s.now().AddDate(0, 0, 1-days))
	if err != nil {
		return err
	}
	return respond(c, http.StatusOK, modelUsagesJSON{showAll(used, func(u db.ModelUsage) modelUsageJSON {
		return modelUsageJSON{u.Day.Format(time.DateOnly), u.Model, u.Calls, u.Unpriced, u.TokensIn, u.TokensOut, u.CostUSD}
	})})
}

func (s *server) adminLimits(c *gin.Context) error {
	l := s.Config.Limits
	all := []limitJSON{
		rateOf("turns", "address", l.Turns), rateOf("turns", "account", l.UserTurns), rateOf("new_conversations", "address", l.NewThreads), rateOf("changes", "caller", l.Changes),
		{Name: "busy_conversations", Of: "caller", Limit: float64(l.BusyTurns)}, {Name: "streams", Of: "caller", Limit: float64(l.Streams)}, {Name: "streams", Of: "address", Limit: float64(l.AddressStreams)},
		{Name: string(db.BoundTokens), Of: "caller", Limit: float64(l.Daily.Tokens)}, {Name: string(db.BoundCost), Of: "caller", Limit: l.Daily.CostUSD},
	}
	for _, q := range []struct {
		of string
		db.Quota
	}{{"caller", l.Owner}, {"address", l.PerAddress}, {"everybody", l.Everybody}} {
		for _, one := range []struct {
			name  db.Bound
			limit int64
		}{{db.BoundThreads, q.Threads}, {db.BoundSets, q.Sets}, {db.BoundDocuments, q.Documents}, {db.BoundPictures, q.Pictures}, {db.BoundBoards, q.Boards}, {db.BoundBytes, q.Bytes}} {
			all = append(all, limitJSON{Name: string(one.name), Of: q.of, Limit: float64(one.limit)})
		}
	}
	return respond(c, http.StatusOK, installationLimitsJSON{slices.DeleteFunc(all, func(l limitJSON) bool { return l.Limit <= 0 })})
}

func rateOf(name, of string, r limiter.Rate) limitJSON {
	return limitJSON{name, of, float64(r.Limit), int(r.Period.Seconds())}
}

func (s *server) adminAudit(c *gin.Context) error {
	var p dialect.Problems
	owner := request.Query(c, &p, "owner", request.MaxCursor)
	kind := c.Query("kind")
	if kind != "" && !slices.Contains(audit.Kinds, kind) {
		return problem.Invalid("kind", "is not a kind of entry")
	}
	if err := p.Err(); err != nil {
		return err
	}
	return adminPage(c, 50, 200, func(e db.AuditEntry) db.AuditEntry { return e }, func(ctx context.Context, cursor string, n int) (db.Page[db.AuditEntry], error) {
		return s.Store.AuditPage(ctx, owner, kind, cursor, n)
	})
}

func (s *server) adminFeedback(c *gin.Context) error {
	return adminPage(c, 20, 50, func(r db.RatedTurn) ratedTurnJSON {
		return ratedTurnJSON{r.Owner, showFeedback(r.Feedback), r.ThreadID, r.Question, r.Answer}
	}, s.Store.FeedbackPage)
}

func (s *server) adminDocuments(c *gin.Context) error {
	return adminPage(c, 50, 100, func(d db.FailedDocument) failedDocumentJSON {
		why := messages.Read(d.Reason)
		return failedDocumentJSON{d.ID, d.Owner, d.Source, d.Format, d.Bytes, why.Text, why.Coded, d.CreatedAt.UTC()}
	}, s.Store.FailedDocuments)
}

func (s *server) adminTools(c *gin.Context) error {
	servers, err := s.Store.ToolServers(c.Request.Context(), time.Now().Add(-reportLife))
	if err != nil {
		return err
	}
	return respond(c, http.StatusOK, toolServersJSON{showAll(servers, showServer)})
}

func (s *server) adminStatus(c *gin.Context) error {
	parts, down, required := s.parts(c.Request.Context())
	return respond(c, http.StatusOK, statusJSON{s.Version.Version, s.Version.Commit, s.Version.Date, required == 0, parts, down})
}
