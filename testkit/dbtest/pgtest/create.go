package pgtest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
)

// Create is Database for commands: it makes an empty database on the server at
// 127.0.0.1:5432, or on one that it starts. drop removes both.
func Create(ctx context.Context) (database string, drop func(), err error) {
	server, stop := running(), func() {}
	if server == "" {
		var p *Process
		if server, p, err = start(); err != nil {
			return "", nil, fmt.Errorf("%s: %w", howTo, err)
		}
		stop = p.Stop
	}
	name := fmt.Sprintf("palaver_command_%d_%d", os.Getpid(), time.Now().UnixNano())
	if err := statement(ctx, server, "CREATE DATABASE "+name); err != nil {
		stop()
		return "", nil, err
	}
	return With(server, func(u *url.URL) { u.Path = "/" + name }), func() {
		ctx, cancel := context.WithTimeout(context.Background(), setupTimeout)
		defer cancel()
		_ = statement(ctx, server, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
		stop()
	}, nil
}

func statement(ctx context.Context, url, sql string) (err error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return fmt.Errorf("connect to Postgres: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	_, err = conn.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol)
	return err
}
