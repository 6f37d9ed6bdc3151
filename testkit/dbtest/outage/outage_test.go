package outage

import (
	"reflect"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/dbtest"
	"github.com/palaver-chat/palaver/testkit/dbtest/litetest"
)

func TestStoreWithoutAnOutageKeepsTheContract(t *testing.T) {
	dbtest.Run(t, func(t *testing.T) db.Store { return New(litetest.Store(t), func() bool { return false }) })
}

func TestEveryCallInAnOutageIsUnavailable(t *testing.T) {
	s := New(litetest.Store(t), func() bool { return true })
	everyCallIsUnavailable(t, reflect.ValueOf(s), reflect.TypeFor[db.Store]())
	everyCallIsUnavailable(t, reflect.ValueOf(s.Within(db.Bounds{})), reflect.TypeFor[db.Inserter]())
}

func everyCallIsUnavailable(t *testing.T, s reflect.Value, calls reflect.Type) {
	t.Helper()
	for i := range calls.NumMethod() {
		name := calls.Method(i).Name
		if name == "Close" || name == "Within" || name == "VectorSearch" { // they do not call the database
			continue
		}
		call := s.MethodByName(name)
		args := []reflect.Value{reflect.ValueOf(t.Context())}
		for n := 1; n < call.Type().NumIn(); n++ {
			args = append(args, reflect.Zero(call.Type().In(n)))
		}
		results := call.Call(args)
		for n, r := range results[:len(results)-1] {
			require.True(t, r.IsZero(), "%s: result %d", name, n)
		}
		err, _ := results[len(results)-1].Interface().(error)
		require.ErrorIs(t, err, db.ErrUnavailable, name)
	}
}

func TestCallThatAnOutageInterruptsTakesEffectAndReturnsUnavailable(t *testing.T) {
	var asked atomic.Int64
	real := litetest.Store(t)
	s := New(real, func() bool { return asked.Add(1) == 2 }) // before the call, after it
	_, _, _, err := s.InsertTurn(t.Context(), chat.Turn{ID: "t", Owner: "o", ThreadID: "c"})
	require.ErrorIs(t, err, db.ErrUnavailable)
	_, created, _, err := s.InsertTurn(t.Context(), chat.Turn{ID: "t", Owner: "o", ThreadID: "c"})
	require.NoError(t, err)
	require.False(t, created)
}
