package rules

import (
	"context"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/sqlcgen"
)

// within inserts for a caller with bounds. It checks a bound after the insert, in the same
// transaction and under the locks of what is counted. So each of several concurrent inserts
// counts those that committed before it.
type within struct {
	s      *Store
	bounds db.Bounds
}

func (s *Store) Within(b db.Bounds) db.Inserter { return within{s, b} }

func (s *Store) CreateConversation(ctx context.Context, c chat.Conversation) (chat.Conversation, error) {
	return within{s: s}.CreateConversation(ctx, c)
}

func (s *Store) CopyBranch(ctx context.Context, threadID, head string, c chat.Conversation) (chat.Conversation, error) {
	return within{s: s}.CopyBranch(ctx, threadID, head, c)
}

func (s *Store) InsertTurn(ctx context.Context, t chat.Turn) (_ chat.Turn, created, cancelled bool, err error) {
	return within{s: s}.InsertTurn(ctx, t)
}

func (s *Store) PutAttachment(ctx context.Context, a chat.Attachment, data []byte) error {
	return within{s: s}.PutAttachment(ctx, a, data)
}

func (s *Store) PutRepo(ctx context.Context, owner, threadID string, gzipped []byte, sha256 string, match *int) (db.Repo, error) {
	return within{s: s}.PutRepo(ctx, owner, threadID, gzipped, sha256, match)
}

func (s *Store) CreateDocument(ctx context.Context, d chat.Document, raw []byte) error {
	return within{s: s}.CreateDocument(ctx, d, raw)
}

func (s *Store) PutImport(ctx context.Context, d chat.Document, raw []byte) (id string, err error) {
	return within{s: s}.PutImport(ctx, d, raw)
}

func (s *Store) CreateSet(ctx context.Context, set chat.DocumentSet) error {
	return within{s: s}.CreateSet(ctx, set)
}

func (s *Store) MoveToSpace(ctx context.Context, owner, space, id string) error {
	return within{s: s}.MoveToSpace(ctx, owner, space, id)
}

func (s *Store) LeaveSpace(ctx context.Context, owner, space, id string) error {
	return within{s: s}.LeaveSpace(ctx, owner, space, id)
}

func (s *Store) RestoreInSpace(ctx context.Context, owner, space, id string) error {
	return within{s: s}.RestoreInSpace(ctx, owner, space, id)
}

func (s *Store) CreateBoard(ctx context.Context, b db.Board) error {
	return within{s: s}.CreateBoard(ctx, b)
}

func (s *Store) PutBoard(ctx context.Context, b db.Board) (revision int, err error) {
	return within{s: s}.PutBoard(ctx, b)
}

// address returns the address that a new row stores; empty for an owner with an account.
func (w within) address() string {
	if !w.bounds.Anonymous {
		return ""
	}
	return w.bounds.Address
}

// kind is what an insert adds.
type kind struct {
	lock   string // kinds that are counted together share a lock
	bounds []db.Bound
	count  func(ctx context.Context, q Queries, s scope) (db.Stored, error)
}

var (
	aThread   = kind{"threads", []db.Bound{db.BoundThreads}, countThreads}
	aSet      = kind{"sets", []db.Bound{db.BoundSets}, countSets}
	aDocument = kind{"files", []db.Bound{db.BoundDocuments, db.BoundBytes}, countFiles}
	aPicture  = kind{"files", []db.Bound{db.BoundPictures, db.BoundBytes}, countFiles}
	aRepo     = kind{"files", []db.Bound{db.BoundBytes}, countFiles}
	aBoard    = kind{"files", []db.Bound{db.BoundBoards, db.BoundBytes}, countFiles}
)

// scope says whose rows are counted.
type scope struct {
	of    db.Scope
	key   string // owner or address
	quota db.Quota
}

func (s scope) owner() string   { return s.keyOf(db.OfOwner) }
func (s scope) address() string { return s.keyOf(db.OfAddress) }

func (s scope) keyOf(of db.Scope) string {
	if s.of != of {
		return ""
	}
	return s.key
}

// checkBounds checks the bounds of what was just inserted, and marks an owner without an
// account.
func (w within) checkBounds(ctx context.Context, q Queries, owner string, k kind) error {
	scopes := w.scopes(owner, k)
	if err := lockScopes(ctx, q, k, scopes); err != nil {
		return err
	}
	for _, s := range scopes {
		stored, err := k.count(ctx, q, s)
		if err != nil {
			return err
		}
		if err := k.exceeded(stored, s); err != nil {
			return err
		}
	}
	if !w.bounds.Anonymous {
		return nil
	}
	return markAnonymous(ctx, q, owner)
}

// scopes returns the scopes that have a bound for this kind.
func (w within) scopes(owner string, k kind) (bounded []scope) {
	all := []scope{{db.OfOwner, owner, w.bounds.Owner}}
	if w.address() != "" {
		all = append(all, scope{db.OfAddress, w.address(), w.bounds.PerAddress}, scope{of: db.OfEverybody, quota: w.bounds.Everybody})
	}
	for _, s := range all {
		for _, b := range k.bounds {
			if amount(s.quota, b) > 0 {
				bounded = append(bounded, s)
				break
			}
		}
	}
	return bounded
}

// lockScopes takes the locks in the order of the scopes.
func lockScopes(ctx context.Context, q Queries, k kind, scopes []scope) error {
	if len(scopes) == 0 {
		return nil
	}
	var names []string
	for _, s := range scopes {
		names = append(names, k.lock+":"+string(s.of)+":"+s.key)
	}
	return q.LockQuotas(ctx, names)
}

func (k kind) exceeded(stored db.Stored, s scope) error {
	for _, b := range k.bounds {
		if most := amount(s.quota, b); most > 0 && amount(stored, b) > most {
			of := s.of
			if of == db.OfOwner && chat.IsSpaceOwner(s.key) {
				of = db.OfSpace
			}
			return &db.Exceeded{Bound: b, Scope: of, Limit: float64(most)}
		}
	}
	return nil
}

func amount(q db.Quota, b db.Bound) int64 {
	switch b {
	case db.BoundThreads:
		return q.Threads
	case db.BoundSets:
		return q.Sets
	case db.BoundDocuments:
		return q.Documents
	case db.BoundPictures:
		return q.Pictures
	case db.BoundBoards:
		return q.Boards
	}
	return q.Bytes
}

func countThreads(ctx context.Context, q Queries, s scope) (db.Stored, error) {
	n, err := q.StoredThreads(ctx, sqlcgen.StoredThreadsParams{Owner: s.owner(), Address: s.address(), Everybody: s.of == db.OfEverybody})
	return db.Stored{Threads: n.OfOwner + n.OfAddress + n.OfEverybody}, err
}

func countSets(ctx context.Context, q Queries, s scope) (db.Stored, error) {
	n, err := q.StoredSets(ctx, sqlcgen.StoredSetsParams{Owner: s.owner(), Address: s.address(), Everybody: s.of == db.OfEverybody})
	return db.Stored{Sets: n.OfOwner + n.OfAddress + n.OfEverybody}, err
}

func countFiles(ctx context.Context, q Queries, s scope) (db.Stored, error) {
	switch s.of {
	case db.OfOwner:
		n, err := q.FilesOfOwner(ctx, s.key)
		return db.Stored{Documents: n.Documents, Pictures: n.Pictures, Boards: n.Boards, Bytes: n.Bytes}, err
	case db.OfAddress:
		n, err := q.FilesOfAddress(ctx, s.key)
		return db.Stored{Documents: n.Documents, Pictures: n.Pictures, Boards: n.Boards, Bytes: n.Bytes}, err
	}
	n, err := q.FilesOfEverybody(ctx)
	return db.Stored{Documents: n.Documents, Pictures: n.Pictures, Boards: n.Boards, Bytes: n.Bytes}, err
}

func (s *Store) Stored(ctx context.Context, owner, address string) (stored db.Stored, err error) {
	ctx, end := s.short(ctx, "count what is stored")
	defer end(&err)
	of := scope{of: db.OfOwner, key: owner}
	if owner == "" {
		of = scope{of: db.OfAddress, key: address}
	}
	stored, err = countFiles(ctx, s.db.Read, of)
	if err != nil {
		return db.Stored{}, err
	}
	threads, err := countThreads(ctx, s.db.Read, of)
	if err != nil {
		return db.Stored{}, err
	}
	sets, err := countSets(ctx, s.db.Read, of)
	stored.Threads, stored.Sets = threads.Threads, sets.Sets
	return stored, err
}
