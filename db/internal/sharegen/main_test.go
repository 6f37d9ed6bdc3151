package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGeneratedCodeIsThatOfTheSQL(t *testing.T) {
	t.Parallel()
	recorded, err := os.ReadFile("../../" + sumFile)
	require.NoError(t, err)
	require.Equal(t, string(recorded), sum("../.."), "SQL or generated code was changed: run go generate ./db")
}
