// Command dbos runs the documents agent's turn on DBOS Transact, in the way that its
// documentation describes for a service: a workflow of steps, checkpointed in
// Postgres, behind net/http. bench/peers starts it and compares Palaver with it.
//
// The turn's steps are Palaver's nodes. DBOS v0.9.0 has no streams, so statuses
// and tokens reach the request over a channel of the process.
package main

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
	"github.com/jackc/pgx/v5/pgxpool"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	config, err := pgxpool.ParseConfig(os.Getenv("DATABASE_URL"))
	if err != nil {
		return err
	}
	config.MaxConns = 20 // also DBOS's default for a database URL
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return err
	}
	defer pool.Close()
	store, err := openStore(ctx, pool)
	if err != nil {
		return err
	}
	prompts, err := readPrompts(os.Getenv("PROMPTS_DIR"))
	if err != nil {
		return err
	}
	engine, err := dbos.NewDBOSContext(context.Background(), dbos.Config{
		AppName: "palaver-bench", SystemDBPool: pool,
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		return err
	}
	a := &agent{store: store, prompts: prompts, model: newModel(os.Getenv("LLM_BASE_URL")), streams: newStreams()}
	dbos.RegisterWorkflow(engine, a.turn, dbos.WithWorkflowName("turn"))
	if err := dbos.Launch(engine); err != nil {
		return fmt.Errorf("launch DBOS: %w", err)
	}
	defer dbos.Shutdown(engine, 2*time.Second)

	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("PORT"))
	if err != nil {
		return err
	}
	server := &http.Server{Handler: routes(engine, a), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		<-ctx.Done()
		_ = server.Close()
	}()
	if err := server.Serve(listener); err != http.ErrServerClosed {
		return err
	}
	return nil
}
