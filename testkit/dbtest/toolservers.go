package dbtest

import (
	"time"

	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/must"
)

var toolServerTests = []test{
	{"tool servers are listed as they were reported last, for a while", func(b *fixture) {
		name, at := b.owner, b.now()
		listed := func(since time.Time) (found []db.ToolServer) {
			for _, s := range must.Have(b.store.ToolServers(b.ctx, since))(b.t) {
				if s.Name == name {
					found = append(found, s)
				}
			}
			return found
		}
		b.Empty(listed(at.Add(-time.Hour)))
		b.NoError(b.store.PutToolServer(b.ctx, db.ToolServer{Name: name, State: "down"}, at))
		want := db.ToolServer{Name: name, State: "ok", Tools: 2, Notes: []db.ToolNote{{Tool: "odd", Problem: "it has no name", LeftOut: true}}}
		b.NoError(b.store.PutToolServer(b.ctx, want, at.Add(time.Second)))
		b.Equal([]db.ToolServer{want}, listed(at))
		b.Empty(listed(at.Add(time.Second)))
	}},
}
