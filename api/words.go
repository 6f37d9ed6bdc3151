package api

import (
	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/openapi"
	"github.com/palaver-chat/palaver/chat"
)

// words describes fields for the OpenAPI document: of one schema (Schema.field), or all
// fields with the name.
var words = map[string]openapi.Word{
	"action":               {About: "What to do with the message; empty or null: inferred from it.", Enum: append(openapi.Values(chat.Actions...), "")},
	"agent":                {About: "The agent that answers; left out: the conversation's."},
	"arguments":            {Object: true},
	"attachments":          {About: "Ids of pictures that were uploaded."},
	"checkpoint_id":        {About: "The checkpoint; a later turn can follow it."},
	"client_turn_id":       {About: "The client's own id of this message: sent again with the same content, it returns the turn that it made.", Max: dialect.MaxID},
	"code":                 {About: "The error code, for programs."},
	"created_at":           {Format: "date-time"},
	"details":              {About: "The invalid fields, and why they are invalid."},
	"docs_found":           {About: "The documents that the step has chosen."},
	"enable_web_search":    {About: "true: the web is searched too. false: it never is. Left out: when the message asks for what is current."},
	"event_id":             {About: "The position of the event. Sent as Last-Event-ID, the stream continues after it."},
	"input":                {Object: true},
	"interrupt_id":         {About: "The id of the question.", Max: dialect.MaxID},
	"last_message_at":      {Format: "date-time"},
	"message":              {About: "The message, for a person."},
	"next_cursor":          {About: "The cursor of the next page; absent on the last page."},
	"on_busy":              {About: "What happens when a turn runs in the conversation.", Enum: append(openapi.Values(chat.Supersede, chat.Enqueue, chat.Reject, chat.Rollback), "")},
	"on_disconnect":        {About: "What happens to the turn when this client disconnects and no other follows it.", Enum: openapi.Values("continue", "cancel", "")},
	"parent_checkpoint_id": {About: "The checkpoint that the turn follows."},
	"request_id":           {About: "The id of the request in the server's log."},
	"resume":               {About: "The answer to a question other than a tool approval."},
	"retryable":            {About: "Whether the same message can succeed when it is sent again, as a new turn."},
	"stream_mode":          {About: "messages: without statuses, tokens, and tool calls that no question asked about.", Enum: openapi.Values(StreamEvents, StreamMessages, "")},
	"stream_run_id":        {About: "The client's own id of this request.", Max: dialect.MaxID},
	"tagged_doc_ids":       {About: "Documents that the message is about."},
	"tagged_set_ids":       {About: "Sets of documents that the message is about."},
	"schema":               {About: "The JSON schema of the arguments; missing when it is too large to be sent.", Object: true},
	"tiptap_json":          {About: "The composer's document, of at most 256 kB.", Object: true},

	"Cancel.status":                  {About: "cancelling: the turn is being stopped; pending: it will be stopped when it arrives; idle: no turn runs; else the status with which the turn had ended.", Enum: cancelStatuses},
	"Chunk.end":                      {About: "Offset in the document's text, in characters."},
	"Chunk.start":                    {About: "Offset in the document's text, in characters."},
	"Citation.end":                   {About: "Offset in the document's text, in characters."},
	"Citation.n":                     {About: "The number of the citation's marker [n] in the text."},
	"Citation.quote":                 {About: "The quoted text, verbatim."},
	"Citation.source":                {Enum: openapi.Values("document", "web")},
	"Citation.start":                 {About: "Offset in the document's text, in characters."},
	"Conversation.status":            {Enum: openapi.Values("idle", string(chat.TurnRunning), string(chat.TurnInterrupted))},
	"ConversationBody.id":            {About: "A UUID; left out: a new one.", Format: "uuid"},
	"ConversationBody.message":       {About: "The first message; it begins a turn.", Max: chat.MaxMessage},
	"ConversationBody.title":         {Max: maxTitle},
	"DecisionBody.arguments":         {About: "Arguments that replace the model's; they must satisfy the tool's schema.", Object: true},
	"DecisionBody.decision":          {Enum: openapi.Values(chat.Approved, chat.Rejected)},
	"DecisionBody.reason":            {About: "The reason of a rejection; the model reads it.", Max: chat.MaxReason},
	"DecisionBody.remember":          {About: "Whether this tool runs without approval in the rest of this conversation."},
	"Document.progress":              {About: "The progress in percent, while the document is processed."},
	"ProfileBody.industry":           {Max: maxProfile},
	"ProfileBody.location":           {Max: maxProfile},
	"RPCRequestBody.id":              {About: "A text or a number; left out: a notification."},
	"RPCRequestBody.jsonrpc":         {Enum: openapi.Values("2.0")},
	"RPCResponse.jsonrpc":            {Enum: openapi.Values("2.0")},
	"Ready.down":                     {About: "The parts that are down."},
	"Ready.parts":                    {About: "Each part and its state: ok, down, starting (not asked yet), none (as configured); of the model, its provider."},
	"Ready.status":                   {Enum: openapi.Values("ready", "unavailable")},
	"ConversationPatchBody.archived": {About: "Whether it is in the list of archived conversations only. An archived conversation is not pinned; a new message unarchives it."},
	"ConversationPatchBody.pinned":   {About: "Whether it is listed before the others."},
	"ConversationPatchBody.title":    {Max: maxTitle},
	"BatchBody.action":               {Enum: openapi.Values("archive", "unarchive", "delete")},
	"FeedbackBody.rating":            {Enum: openapi.Values(ratingUp, ratingDown)},
	"FeedbackBody.reason":            {Max: maxReason},
	"NewShare.path":                  {About: "The path of the page that shows the copy. Anyone who has it can read the copy."},
	"SharedMessage.role":             {Enum: openapi.Values("user", "assistant")},
	"RenameBody.title":               {Max: maxDocTitle},
	"RepoVersion.updated_at":         {About: "Seconds since 1970."},
	"ResumeValueBody.decisions":      {About: "One for each call that a tool_approval asks about."},
	"ResumeValueBody.type":           {About: "The question's type; cancel ends the turn; answer (LangGraph) fits any question.", Enum: append(openapi.Values(interruptTypes...), "answer")},
	"ResumeValueBody.value":          {About: "An option's id, or a text.", Max: chat.MaxMessage},
	"SetBody.name":                   {Max: maxSetName},
	"TextBody.title":                 {Max: maxDocTitle},
}

var (
	interruptTypes = []chat.InterruptType{chat.ActionChoice, chat.DocChoice, chat.TextInput, chat.RetrievalLow, chat.ToolApproval, chat.Choice, chat.CancelResume}
	cancelStatuses = openapi.Values(dialect.Cancelling, dialect.CancelPending, dialect.NothingRuns, string(chat.TurnCompleted), string(chat.TurnCancelled), string(chat.TurnFailed))
)
