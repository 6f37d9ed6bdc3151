package api

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"mime"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/audit"
	"github.com/palaver-chat/palaver/documents/chunk"
	"github.com/palaver-chat/palaver/documents/extract"
	"github.com/palaver-chat/palaver/documents/layout"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/internal/naming"
)

type documentJSON struct {
	ID             string          `json:"id"`
	Title          string          `json:"title"`
	Label          string          `json:"label"`          // the title, and what tells it apart from equal ones
	Name           string          `json:"name,omitempty"` // of its file
	OtherNames     []string        `json:"other_names,omitempty"`
	Status         chat.DocStatus  `json:"status"`
	SourceType     chat.SourceType `json:"source_type"`
	Format         string          `json:"format"`
	ExternalID     string          `json:"external_source_id,omitempty"`
	SourceURL      string          `json:"source_url,omitempty"`
	Bytes          int64           `json:"bytes"`
	Chunks         int             `json:"chunks"`
	Pages          int             `json:"pages,omitempty"`        // of its file
	UnreadPages    int             `json:"unread_pages,omitempty"` // those that could not be read
	Progress       *int            `json:"progress,omitempty"`     // percent, while processing
	CreatedAt      string          `json:"created_at"`
	Error          string          `json:"error,omitempty"`
	messages.Coded                 // of Error
	Public         bool            `json:"public"`
	ConversationID string          `json:"conversation_id,omitempty"` // that it belongs to; absent: the library
	SpaceID        string          `json:"space_id,omitempty"`        // that it belongs to
	AddedBy        string          `json:"added_by,omitempty"`        // to the space: a person's id
}

func showDocument(d chat.Document) documentJSON {
	why := messages.Read(d.Error)
	out := documentJSON{ID: d.ID, Title: d.Title, Label: cmp.Or(d.Label, d.Title), Name: d.Name, OtherNames: d.OtherNames, Status: d.Status, SourceType: d.SourceType, Format: d.Format,
		ExternalID: d.ExternalID, SourceURL: d.SourceURL, Bytes: d.Bytes, Chunks: d.Chunks, Pages: d.PageCount, UnreadPages: d.UnreadPages, CreatedAt: dialect.Stamp(d.CreatedAt), Error: why.Text, Coded: why.Coded, Public: d.Owner == chat.PublicOwner, ConversationID: d.ThreadID, SpaceID: chat.SpaceOf(d.Owner), AddedBy: d.AddedBy}
	if d.Status == chat.DocProcessing {
		out.Progress = &d.Progress
	}
	return out
}

// showHere also shows in a space who has attached a document to its conversation.
func showHere(c *gin.Context) func(chat.Document) documentJSON {
	return func(d chat.Document) documentJSON {
		if db.SpaceOf(c.Request.Context()) != "" && d.ThreadID != "" {
			d.AddedBy = d.Owner
		}
		return showDocument(d)
	}
}

const (
	maxDocTitle   = 300
	uploadTimeout = 5 * time.Minute // limits how long a file may take to arrive
	formOverhead  = 64 << 10        // bytes that a form may add to its file
	// Retry-After while the memory for uploads is taken.
	memoryRetryAfter = 5 * time.Second
)

// upload is an uploaded file or text.
type upload struct {
	name, title, mediaType string
	conversation           string               // that the document belongs to; empty: the library
	body                   *request.SpooledBody // as it arrived
	raw                    []byte
}

// uploadMemory is how many bytes of memory storing one byte takes: the bytes, their copy
// for the database, and what the collector has not freed yet.
const uploadMemory = 5

// load acquires the memory for a body and reads it into memory. Call release after its use.
func (s *server) load(ctx context.Context, body *request.SpooledBody) (raw []byte, release func(), _ error) {
	release, err := s.memory.Acquire(ctx, uploadMemory*body.Size)
	if err != nil {
		return nil, nil, problem.TooMany(messages.ManyFiles, memoryRetryAfter)
	}
	if raw, err = body.Bytes(); err != nil {
		release()
		return nil, nil, err
	}
	return raw, release, nil
}

// createDocument stores a file or a text and starts its ingest.
func (s *server) createDocument(c *gin.Context) error {
	who := identity.Of(c)
	if s.Model.Embedding != "" {
		if err := s.limits.AdmitPaid(c.Request.Context(), who, "uploads"); err != nil {
			return err
		}
	}
	u, read, err := s.receiveUpload(c)
	if err != nil {
		return err
	}
	defer u.body.Close()
	release, err := read(c.Request.Context(), &u)
	if err != nil {
		return err
	}
	defer release()
	if len(u.raw) == 0 {
		return problem.InvalidField("file", messages.FieldFileEmpty)
	}
	named := u.title != ""
	file := fileOf(u.name)
	if !named {
		u.title = titleOf(file)
	}
	var p dialect.Problems
	p.Text("title", u.title, 0, maxDocTitle)
	if u.conversation != "" {
		u.conversation = p.UUID("conversation_id", u.conversation)
	}
	if err := p.Err(); err != nil {
		return err
	}
	if err := s.mayAdd(c, u.conversation); err != nil {
		return err
	}
	d, err := s.storeUpload(c.Request.Context(), who, chat.Document{ID: uuid.NewString(), Title: u.title, Named: named, Name: file, ThreadID: u.conversation}, u.mediaType, u.raw)
	if err != nil {
		return err
	}
	if stored, err := s.Store.Document(c.Request.Context(), who.ID, d.ID); err == nil {
		d = stored // with its label
	}
	return respond(c, http.StatusAccepted, showHere(c)(d))
}

// mayAdd refuses a document in a space from who only reads it, unless it belongs to a conversation, and
// for a conversation of the caller's that is elsewhere.
func (s *server) mayAdd(c *gin.Context, conversation string) error {
	ctx, owner := c.Request.Context(), identity.Of(c).ID
	if db.SpaceOf(ctx) == "" {
		return nil
	}
	if conversation == "" {
		return s.contributes(c)
	}
	v, err := s.Store.Conversation(ctx, owner, conversation)
	if err == nil && v.Space != db.SpaceOf(ctx) {
		return db.ErrOtherSpace
	}
	if notFound(err) { // its first message will make it
		return nil
	}
	return err
}

// storeUpload stores a document of a caller that has its id and names, and starts its ingest.
func (s *server) storeUpload(ctx context.Context, who identity.Caller, d chat.Document, mediaType string, raw []byte) (chat.Document, error) {
	kind, ok := s.DocumentTypes.Detect(d.Name, mediaType, raw)
	if !ok {
		return d, problem.Unsupported(messages.DocumentType.With(messages.Params{"types": s.DocumentTypes.Labels()}))
	}
	d.Owner, d.Status, d.SourceType = who.ID, chat.DocProcessing, chat.SourceUpload
	if space := db.SpaceOf(ctx); space != "" && d.ThreadID == "" { // mayAdd has checked the role
		d.Owner, d.AddedBy = chat.SpaceOwner(space), who.ID
	}
	d.Format, d.Bytes, d.CreatedAt = kind, int64(len(raw)), s.now()
	ctx, cancel := request.Detached(ctx)
	defer cancel()
	if err := s.limits.Insert(who).CreateDocument(ctx, d, raw); err != nil {
		return d, err
	}
	ingest, done := request.FractionOfDeadline(ctx, 2)
	err := s.Threads.Ingest(ingest, d.Owner, d.ID)
	done()
	if err != nil {
		// Without an ingest the document would stay in processing forever.
		return d, problem.Engine(errors.Join(err, s.Store.DeleteDocument(ctx, d.Owner, d.ID)))
	}
	return d, nil
}

// keepDocument stores a document inside a message of a thread, to which it belongs unless what
// is attached outside of spaces goes into the library. Its id is made from its content, so that a message that is
// sent again, and a file in a second message, have the same document. One that could not be
// read is stored again.
func (s *server) keepDocument(c *gin.Context, thread string, f dialect.File) (string, error) {
	ctx, who := c.Request.Context(), identity.Of(c)
	if err := s.mayAdd(c, thread); err != nil {
		return "", err
	}
	name := fileOf(f.Name)
	if int64(len(f.Data)) > s.Config.MaxUploadBytes {
		return "", s.tooLong()
	}
	if !s.Config.Features[FeatureChatAttachments] && db.SpaceOf(ctx) == "" {
		thread = ""
	}
	sum := sha256.Sum256(f.Data)
	id := uuid.NewSHA1(threadNamespace, []byte(strings.Join([]string{who.ID, "document", thread, name, string(sum[:])}, "\x00"))).String()
	known, err := s.Store.Document(ctx, who.ID, id)
	switch {
	case err == nil && known.Status != chat.DocFailed:
		return id, nil
	case err == nil:
		if err := s.Store.DeleteDocument(ctx, who.ID, id); err != nil {
			return "", err
		}
	case !notFound(err):
		return "", err
	}
	if s.Model.Embedding != "" {
		if err := s.limits.AdmitPaid(ctx, who, "uploads"); err != nil {
			return "", err
		}
	}
	release, err := s.memory.Acquire(ctx, uploadMemory*int64(len(f.Data)))
	if err != nil {
		return "", problem.TooMany(messages.ManyFiles, memoryRetryAfter)
	}
	defer release()
	_, err = s.storeUpload(ctx, who, chat.Document{ID: id, Title: titleOf(name), Name: name, ThreadID: thread}, f.MediaType, f.Data)
	return id, err
}

// receiveUpload receives the body without keeping it in memory. read then reads the body
// into the upload, within the memory limit of uploads; call its release after the use.
func (s *server) receiveUpload(c *gin.Context) (_ upload, read func(context.Context, *upload) (release func(), _ error), _ error) {
	kind, _, err := mime.ParseMediaType(c.ContentType())
	switch {
	case err == nil && kind == "multipart/form-data":
		u, err := s.receiveForm(c, s.Config.MaxUploadBytes, s.tooLong())
		return u, s.readFile, err
	case err == nil && kind == "application/json":
		u, err := s.receiveText(c)
		return u, s.readText, err
	}
	return upload{}, nil, problem.Unsupported(messages.DocumentBody)
}

func (s *server) tooLong() error {
	return problem.TooLarge(messages.DocumentTooLarge.With(messages.Params{"limit": s.Config.MaxUploadBytes >> 20}))
}

type textBody struct {
	Title          string `json:"title"`
	Text           string `json:"text"`
	ConversationID string `json:"conversation_id"` // that the document belongs to; empty: the library
}

// receiveText receives {title, text}. JSON escapes can make a text longer; a text that
// becomes more than twice as long must be sent as a file.
func (s *server) receiveText(c *gin.Context) (upload, error) {
	request.AllowUpload(c, uploadTimeout)
	body, err := request.SpoolBody(c, s.Config.TempDir, 2*s.Config.MaxUploadBytes+formOverhead)
	if errors.Is(err, request.ErrTooLong) {
		return upload{}, s.tooLong()
	}
	return upload{body: body}, err
}

func (s *server) readText(ctx context.Context, u *upload) (_ func(), err error) {
	raw, release, err := s.load(ctx, u.body)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			release()
		}
	}()
	var b textBody
	if err := dialect.Decode(raw, &b); err != nil {
		return nil, err
	}
	var p dialect.Problems
	title := naming.Normal(chat.OneLine(b.Title))
	p.Text("title", title, 1, maxDocTitle)
	if strings.TrimSpace(b.Text) == "" {
		p.Say("text", messages.FieldEmpty)
	}
	if strings.ContainsRune(b.Text, 0) {
		p.Say("text", messages.FieldNUL)
	}
	if err := p.Err(); err != nil {
		return nil, err
	}
	if int64(len(b.Text)) > s.Config.MaxUploadBytes {
		return nil, s.tooLong()
	}
	u.title, u.mediaType, u.raw, u.conversation = title, "text/plain", []byte(b.Text), b.ConversationID
	return release, nil
}

// readFile reads the file of a form.
func (s *server) readFile(ctx context.Context, u *upload) (release func(), err error) {
	u.raw, release, err = s.load(ctx, u.body)
	return release, err
}

// receiveForm receives the part "file" of a form, and "title" and "conversation_id" if there are any. A file of more
// than limit bytes gets tooLong.
func (s *server) receiveForm(c *gin.Context, limit int64, tooLong error) (u upload, err error) {
	if c.Request.ContentLength > limit+formOverhead {
		return upload{}, tooLong
	}
	request.AllowUpload(c, uploadTimeout)
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, limit+formOverhead)
	form, err := c.Request.MultipartReader()
	if err != nil {
		return upload{}, problem.Invalid("body", "must be multipart/form-data")
	}
	defer func() {
		if err != nil && u.body != nil {
			u.body.Close()
		}
	}()
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return u, formError(err, tooLong)
		}
		switch {
		case part.FormName() == "title" && part.FileName() == "":
			raw, err := io.ReadAll(io.LimitReader(part, 4*maxDocTitle+1))
			if err != nil {
				return u, formError(err, tooLong)
			}
			u.title = naming.Normal(chat.OneLine(strings.ToValidUTF8(string(raw), "\uFFFD")))
		case part.FormName() == "conversation_id" && part.FileName() == "":
			raw, err := io.ReadAll(io.LimitReader(part, dialect.MaxID+1))
			if err != nil {
				return u, formError(err, tooLong)
			}
			u.conversation = string(raw)
		case part.FormName() == "file" && u.body == nil:
			// The client chose the name: only its last element is used, and never as a path.
			u.name = path.Base(strings.ReplaceAll(strings.ToValidUTF8(part.FileName(), "_"), "\\", "/"))
			u.mediaType = part.Header.Get("Content-Type")
			if u.body, err = request.Spool(part, s.Config.TempDir, limit); err != nil {
				return u, formError(err, tooLong)
			}
		}
	}
	if u.body == nil {
		return u, problem.Invalid("file", "is missing")
	}
	request.BodyReceived(c)
	return u, nil
}

// formError returns the response to a form that could not be read.
func formError(err, tooLong error) error {
	if errors.Is(err, request.ErrTooLong) || errors.As(err, new(*http.MaxBytesError)) {
		return tooLong
	}
	if errors.As(err, new(*fs.PathError)) { // of the temporary file
		return err
	}
	return problem.Invalid("body", "must be complete multipart/form-data")
}

// titleOf derives a document's title from its file name.
func titleOf(name string) string {
	title, _ := naming.FromFile(name)
	if title == "" {
		return "Untitled"
	}
	return language.Truncate(title, maxDocTitle)
}

// fileOf returns the name of an uploaded file as it is stored: one line, and the end of a
// longer name.
func fileOf(name string) string {
	name = naming.Normal(chat.OneLine(strings.ReplaceAll(name, "\x00", "")))
	if name == "." || name == "/" {
		return ""
	}
	if runes := []rune(name); len(runes) > maxDocTitle {
		return string(runes[len(runes)-maxDocTitle:])
	}
	return name
}

// documentsJSON is a page of documents, and how many of all documents have vectors.
type documentsJSON struct {
	list[documentJSON]
	// Embedding is present while some of the caller's documents are searched by words only,
	// because they have no vectors of the embedding model yet.
	Embedding *embeddingJSON `json:"embedding,omitempty"`
}

func (s *server) listDocuments(c *gin.Context) error {
	if err := ofConversation(c); err != nil {
		return err
	}
	page, err := readPage(c, 50, 200, s.Store.ListDocuments)
	if err != nil {
		return err
	}
	progress, err := s.embedding(c.Request.Context(), identity.Of(c).ID)
	if err != nil {
		return err
	}
	return respond(c, http.StatusOK, documentsJSON{listOf(page, showHere(c)), progress})
}

func (s *server) getDocument(c *gin.Context, id string) error {
	d, err := s.Store.Document(c.Request.Context(), identity.Of(c).ID, id)
	if err != nil {
		return err
	}
	return respond(c, http.StatusOK, showHere(c)(d))
}

// ofConversation lets the request see the documents of the conversation that it names.
func ofConversation(c *gin.Context) error {
	var p dialect.Problems
	id := request.Query(c, &p, "conversation_id", dialect.MaxID)
	if id != "" {
		id = p.UUID("conversation_id", id)
	}
	if err := p.Err(); err != nil {
		return err
	}
	c.Request = c.Request.WithContext(db.InThread(c.Request.Context(), id))
	return nil
}

type changeBody struct {
	Title          *string `json:"title"`
	ConversationID *string `json:"conversation_id"` // empty: the library
	SpaceID        *string `json:"space_id"`        // moves the document; empty: to the caller's own
}

// changeDocument renames a document, or makes it belong to a conversation or to the library.
func (s *server) changeDocument(c *gin.Context, id string) (err error) {
	var b changeBody
	if err := request.Decode(c, &b); err != nil {
		return err
	}
	if b.Title == nil && b.ConversationID == nil && b.SpaceID == nil {
		return problem.Invalid("title", "is missing")
	}
	var p dialect.Problems
	title, conversation := "", ""
	if b.Title != nil {
		title = naming.Normal(chat.OneLine(*b.Title))
		p.Text("title", title, 1, maxDocTitle)
	}
	if b.ConversationID != nil && *b.ConversationID != "" {
		conversation = p.UUID("conversation_id", *b.ConversationID)
	}
	if err := p.Err(); err != nil {
		return err
	}
	ctx, owner := c.Request.Context(), identity.Of(c).ID
	space := db.SpaceOf(ctx)
	if space != "" && conversation != "" {
		return problem.Invalid("conversation_id", "must be empty in a space")
	}
	of, err := s.changes(c, id)
	if err != nil {
		return err
	}
	if b.Title != nil {
		if err := s.Store.RenameDocument(ctx, of, id, title); err != nil {
			return err
		}
	}
	if b.ConversationID != nil {
		if space == "" {
			err = s.Store.MoveDocument(ctx, owner, id, conversation)
		} else if of == owner {
			err = s.putIntoSpace(c, id, space)
		}
		if err != nil {
			return err
		}
	}
	if b.SpaceID != nil {
		if ctx, err = s.moveDocument(c, id, *b.SpaceID); err != nil {
			return err
		}
	}
	d, err := s.Store.Document(ctx, owner, id)
	if err != nil {
		return err
	}
	return respond(c, http.StatusOK, showHere(c)(d))
}

func (s *server) deleteDocument(c *gin.Context, id string) error {
	who := identity.Of(c)
	of, err := s.changes(c, id)
	if err != nil {
		return err
	}
	if space := db.SpaceOf(c.Request.Context()); space != "" && of != who.ID {
		if err := s.Store.DeleteInSpace(c.Request.Context(), who.ID, space, id, s.now()); err != nil {
			return err
		}
		s.Audit.Record(entry(who, audit.Deleted, map[string]any{"document": id, "space": space}))
		return respondEmpty(c, nil)
	}
	if err := s.Store.DeleteDocument(c.Request.Context(), who.ID, id); err != nil {
		return err
	}
	s.deleted(who, "document", id)
	return respondEmpty(c, nil)
}

type documentTextJSON struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// documentText serves the stored text, to which the offsets of citations refer: as
// plain text, or as {id, text} for clients that accept JSON.
func (s *server) documentText(c *gin.Context, id string) error {
	ctx, owner := c.Request.Context(), identity.Of(c).ID
	d, err := s.Store.Document(ctx, owner, id)
	if err != nil {
		return err
	}
	media := "text/plain; charset=utf-8"
	asJSON := strings.Contains(c.GetHeader("Accept"), "application/json")
	if asJSON {
		media = gin.MIMEJSON + "; charset=utf-8"
	}
	c.Writer.Header().Add("Vary", "Accept")
	return s.send(c, media, max(d.Bytes, int64(d.Chunks)*chunk.Max), func() ([]byte, error) {
		text, err := s.Store.DocumentText(ctx, owner, id)
		if err != nil || !asJSON {
			return []byte(text), err
		}
		return json.Marshal(documentTextJSON{id, text})
	})
}

// documentOriginal sends the file that a document was made of, under its name or the
// document's title. Browsers save it and never show it. With ?page= it sends a page of a TIFF
// as PNG, because most browsers show no TIFF.
func (s *server) documentOriginal(c *gin.Context, id string) error {
	ctx, owner := c.Request.Context(), identity.Of(c).ID
	d, err := s.Store.Document(ctx, owner, id)
	if err != nil {
		return err
	}
	page := 0
	if text := c.Query("page"); text != "" {
		var p dialect.Problems
		if page = request.Number(&p, "page", text, 1, max(d.PageCount, 1)); d.Format != "tiff" {
			p.Add("page", "can be given for a TIFF only")
		}
		if err := p.Err(); err != nil {
			return err
		}
	}
	if page > 0 {
		return s.send(c, "image/png", d.Bytes, func() ([]byte, error) {
			raw, err := s.Store.Original(ctx, owner, id)
			if err != nil {
				return nil, err
			}
			picture, err := extract.PagePicture(ctx, d.Format, raw, page)
			if errors.As(err, new(*extract.Unreadable)) {
				return nil, problem.NotFound
			}
			return picture, err
		})
	}
	c.Header("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": fileName(cmp.Or(strings.TrimSuffix(d.Name, path.Ext(d.Name)), d.Title), d.Format)}))
	return s.send(c, "application/octet-stream", d.Bytes, func() ([]byte, error) { return s.Store.Original(ctx, owner, id) })
}

type scansJSON struct {
	Items []scanJSON `json:"items"`
}

type scanJSON struct {
	Page  int                `json:"page"` // from 1
	Words []extract.ScanWord `json:"words"`
}

func (s *server) documentScans(c *gin.Context, id string) error {
	ctx, owner := c.Request.Context(), identity.Of(c).ID
	d, err := s.Store.Document(ctx, owner, id)
	if err != nil {
		return err
	}
	return s.send(c, gin.MIMEJSON+"; charset=utf-8", d.Bytes, func() ([]byte, error) {
		scans, err := s.Store.Scans(ctx, d.Owner, id, d.SourceVersion)
		if err != nil {
			return nil, err
		}
		out := scansJSON{Items: []scanJSON{}}
		for _, page := range slices.Sorted(maps.Keys(scans)) {
			if words := extract.ScanWords(scans[page]); len(words) > 0 {
				out.Items = append(out.Items, scanJSON{page, words})
			}
		}
		return json.Marshal(out)
	})
}

// fileName turns a title into a file name: without a path, and without characters that a
// file system refuses.
func fileName(title, ext string) string {
	name := strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '_'
		}
		return r
	}, title)
	if name = strings.Trim(name, " ."); name == "" {
		name = "document"
	}
	if cut := []rune(name); len(cut) > maxFileName {
		name = string(cut[:maxFileName])
	}
	return name + "." + ext
}

const maxFileName = 100

type chunkJSON struct {
	ID      string `json:"id"`
	DocID   string `json:"doc_id"`
	Text    string `json:"text"`
	Start   int    `json:"start"`
	End     int    `json:"end"`
	Heading string `json:"heading,omitempty"` // the nearest heading above the passage's start, or above the requested character
	Page    int    `json:"page,omitempty"`    // of the passage's start or the requested character, from 1
}

func (s *server) documentChunk(c *gin.Context, id string) error {
	chunkID := c.Param("chunk_id")
	if !dialect.Plain(chunkID) {
		return problem.NotFound
	}
	v, err := s.Store.Chunk(c.Request.Context(), identity.Of(c).ID, id, chunkID)
	if err != nil {
		return err
	}
	at := v.Start
	if text := c.Query("at"); text != "" {
		var p dialect.Problems
		at = request.Number(&p, "at", text, v.Start, v.End)
		if err := p.Err(); err != nil {
			return err
		}
		v.Heading = headingAt(v, at)
	}
	return respond(c, http.StatusOK, chunkJSON{v.ID, v.DocID, v.Text, v.Start, v.End, v.Heading, chat.PageAt(v.Pages, at)})
}

// headingAt returns the nearest heading above the document's character at, which is in
// the passage v.
func headingAt(v chat.Chunk, at int) string {
	heading, place, counted := v.Heading, v.Start, 0
	for _, b := range layout.Blocks(v.Text) {
		place, counted = place+utf8.RuneCountInString(v.Text[counted:b.Start]), b.Start
		if place > at {
			break
		}
		if b.Kind == layout.Heading {
			heading = b.Title
		}
	}
	return heading
}
