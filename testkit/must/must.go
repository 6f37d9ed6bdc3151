// Package must shortens tests: it checks the error of a call and returns the value.
package must

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Have takes the results of a call and returns a function that fails the test if the call
// returned an error, and returns the value otherwise: must.Have(store.Head(ctx, owner, thread))(t).
func Have[T any](value T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		require.NoError(t, err)
		return value
	}
}

// ErrOf returns the error of a call and drops its value.
func ErrOf[T any](_ T, err error) error { return err }
