package rules

import (
	"context"
	"encoding/json"
	"time"

	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/internal/sqlcgen"
)

func (s *Store) PutToolServer(ctx context.Context, server db.ToolServer, at time.Time) (err error) {
	ctx, end := s.short(ctx, "write the state of a tool server")
	defer end(&err)
	report, err := json.Marshal(server)
	if err != nil {
		return err
	}
	return s.db.Write.PutToolServer(ctx, sqlcgen.PutToolServerParams{Name: server.Name, Report: string(report), At: record.Micros(at)})
}

func (s *Store) ToolServers(ctx context.Context, since time.Time) (out []db.ToolServer, err error) {
	ctx, end := s.short(ctx, "list the states of tool servers")
	defer end(&err)
	rows, err := s.db.Read.ToolServers(ctx, record.Micros(since))
	for _, row := range rows {
		var server db.ToolServer
		if err := json.Unmarshal([]byte(row.Report), &server); err != nil {
			return nil, err
		}
		out = append(out, server)
	}
	return out, err
}
