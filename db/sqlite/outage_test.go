package sqlite

import (
	"path/filepath"
	"reflect"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/must"
)

func TestEveryCallInAnOutageIsUnavailable(t *testing.T) {
	t.Parallel()
	s := openStore(t, filepath.Join(t.TempDir(), "palaver.db"))
	s.FailWhile(func() bool { return true })
	everyCallIsUnavailable(t, reflect.ValueOf(s), reflect.TypeFor[db.Store]())
	everyCallIsUnavailable(t, reflect.ValueOf(s.Within(db.Bounds{})), reflect.TypeFor[db.Inserter]())
}

func everyCallIsUnavailable(t *testing.T, s reflect.Value, calls reflect.Type) {
	t.Helper()
	local := map[string]bool{"Close": true, "Within": true, "VectorSearch": true, "IndexVectors": true} // they do not read the database
	for i := range calls.NumMethod() {
		name := calls.Method(i).Name
		if local[name] {
			continue
		}
		call := s.MethodByName(name)
		args := []reflect.Value{reflect.ValueOf(t.Context())}
		for n := 1; n < call.Type().NumIn(); n++ {
			args = append(args, reflect.Zero(call.Type().In(n)))
		}
		results := call.Call(args)
		err, _ := results[len(results)-1].Interface().(error)
		require.ErrorIs(t, err, db.ErrUnavailable, name)
	}
}

func TestCallThatAnOutageInterruptsTakesEffectAndReturnsUnavailable(t *testing.T) {
	t.Parallel()
	s := openStore(t, filepath.Join(t.TempDir(), "palaver.db"))
	var asked atomic.Int64
	s.FailWhile(func() bool { return asked.Add(1) == 2 }) // before the call, after it
	_, _, _, err := s.InsertTurn(t.Context(), chat.Turn{ID: "t", Owner: "o", ThreadID: "c"})
	require.ErrorIs(t, err, db.ErrUnavailable)
	_, created, _, err := s.InsertTurn(t.Context(), chat.Turn{ID: "t", Owner: "o", ThreadID: "c"})
	require.NoError(t, err)
	require.False(t, created)
}

func TestCallInAnOutageHasNoEffect(t *testing.T) {
	t.Parallel()
	s := openStore(t, filepath.Join(t.TempDir(), "palaver.db"))
	down := true
	s.FailWhile(func() bool { return down })
	require.ErrorIs(t, must.ErrOf(s.CreateConversation(t.Context(), chat.Conversation{ID: "c", Owner: "o"})), db.ErrUnavailable)
	down = false
	require.ErrorIs(t, must.ErrOf(s.Conversation(t.Context(), "o", "c")), db.ErrNotFound)
}
