package embedded

import (
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	"github.com/temporalio/ui-server/v2/server/api"
	"github.com/temporalio/ui-server/v2/server/config"
	"github.com/temporalio/ui-server/v2/server/csrf"
	"github.com/temporalio/ui-server/v2/server/headers"
	"github.com/temporalio/ui-server/v2/server/route"
	"github.com/temporalio/ui-server/v2/ui"

	"github.com/palaver-chat/palaver/internal/guard"
)

type uiServer struct {
	http    *http.Server
	address string
}

// startUI serves Temporal's Web UI on a loopback address. It has no sign-in, so it is read-only
// unless Options.UIWrite is set, and accepts only its own hosts.
func startUI(o Options, temporal string) (*uiServer, error) {
	handler, err := uiHandler(o, temporal)
	if err != nil {
		return nil, fmt.Errorf("start the Temporal Web UI: %w", err)
	}
	listener, err := net.Listen("tcp", local(o.UIPort))
	if err != nil {
		return nil, fmt.Errorf("start the Temporal Web UI: %w", err)
	}
	s := &uiServer{
		http:    &http.Server{Handler: handler, ReadTimeout: 30 * time.Second, IdleTimeout: time.Minute},
		address: listener.Addr().String(),
	}
	go func() { _ = s.http.Serve(listener) }() // until stop
	return s, nil
}

func (s *uiServer) stop() { _ = s.http.Close() }

// uiHandler sets up the Web UI like ui-server's own server, which can neither check
// hosts nor listen on a free port.
func uiHandler(o Options, temporal string) (http.Handler, error) {
	hosts := o.UIHosts
	if hosts == nil {
		hosts, _ = guard.NewHosts(loopback, "") // both are valid
	}
	settings, err := config.NewConfigProviderWithRefresh(&config.Config{
		TemporalGRPCAddress: temporal,
		EnableUI:            true,
		DefaultNamespace:    Namespace,
		DisableNewsFetch:    true,
		DisableWriteActions: !o.UIWrite,
		HideLogs:            true,
		Codec:               config.Codec{Endpoint: o.Codec, IncludeCredentials: o.Codec != ""},
	})
	if err != nil {
		return nil, err
	}
	assets, err := ui.Assets()
	if err != nil {
		return nil, err
	}
	if assets, err = fs.Sub(assets, "local"); err != nil {
		return nil, err
	}
	const secureCookie = false // plain HTTP on loopback
	e := echo.New()
	e.Use(middleware.Recover(), middleware.Gzip(), middleware.Secure(),
		csrf.EnsureTokenCookie(secureCookie), middleware.CSRFWithConfig(csrf.MiddlewareConfig(settings, secureCookie)))
	route.SetHealthRoute(e)
	forward := headers.WithForwardHeaders([]string{"Caller-Type"})
	if err := route.SetAPIRoutes(e, settings, []api.Middleware{forward}); err != nil {
		return nil, err
	}
	if err := route.SetUIRoutes(e, "", assets); err != nil {
		return nil, err
	}
	route.SetRenderRoute(e, "")
	return hosts.Handler(e), nil
}
