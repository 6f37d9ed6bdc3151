package embedded

import (
	"context"
	"fmt"

	"github.com/temporalio/ui-server/v2/server"
	"github.com/temporalio/ui-server/v2/server/config"
	"github.com/temporalio/ui-server/v2/server/server_options"
	"go.temporal.io/server/common/testing/freeport"
)

type uiServer struct {
	server  *server.Server
	address string
}

func startUI(ctx context.Context, o Options, temporal string) (*uiServer, error) {
	port := o.UIPort
	if port == 0 {
		port = freeport.MustGetFreePort()
	}
	s := &uiServer{
		address: local(port),
		server: server.NewServer(server_options.WithConfigProvider(&config.Config{
			TemporalGRPCAddress: temporal,
			Host:                loopback,
			Port:                port,
			EnableUI:            true,
			DefaultNamespace:    Namespace,
			DisableNewsFetch:    true,
			HideLogs:            true,
			CORS:                config.CORS{CookieInsecure: true}, // plain HTTP on loopback
		})),
	}
	go func() { _ = s.server.Start() }()
	if err := answers(ctx, s.address); err != nil {
		s.stop()
		return nil, fmt.Errorf("start the Temporal Web UI: %w", err)
	}
	return s, nil
}

func (s *uiServer) stop() { s.server.Stop() }
