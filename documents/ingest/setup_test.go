package ingest

import (
	"testing"

	"github.com/palaver-chat/palaver/documents/extract"
	"github.com/palaver-chat/palaver/testkit/activitytest"
)

const (
	owner = activitytest.Owner
	leave = activitytest.Leave
)

type bundle struct {
	*activitytest.Fixture
	*Activities
}

func setup(t *testing.T) *bundle {
	t.Helper()
	f := activitytest.New(t)
	b := &bundle{Fixture: f, Activities: &Activities{Kit: f.Kit, DocumentTypes: extract.All()}}
	f.Add(b.Activities)
	return b
}
