package service

import (
	"context"
	"time"

	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/sdk/client"
)

const (
	// Timeout of a health check of Temporal.
	temporalTimeout       = 2 * time.Second
	temporalRetryInterval = time.Second
)

func (p *Process) checkTemporal(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, temporalTimeout)
	defer cancel()
	_, err := p.parts.Temporal.CheckHealth(ctx, &client.CheckHealthRequest{})
	return err
}

// waitForTemporal waits until Temporal answers or ctx ends.
func (p *Process) waitForTemporal(ctx context.Context) error {
	logged := false
	for {
		err := p.checkTemporal(ctx)
		if err == nil {
			return nil
		}
		if !logged {
			p.parts.Log.Warn("waiting for Temporal (TEMPORAL_ADDRESS)", "error", err)
			logged = true
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(temporalRetryInterval):
		}
	}
}

// ensureSearchAttributes registers the search attributes that threads set. If a workflow
// sets an unknown one, its task fails again and again. If the server does not permit the
// registration, an operator has to register them.
func (p *Process) ensureSearchAttributes(ctx context.Context) {
	namespace := p.parts.Namespace
	missing, err := p.missingAttributes(ctx)
	if err == nil && len(missing) > 0 {
		_, err = p.parts.Temporal.OperatorService().AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{Namespace: namespace, SearchAttributes: missing})
	}
	if err != nil {
		p.parts.Log.Warn("search attributes could not be registered: register PalaverUser and PalaverStatus (Keyword) in the namespace", "namespace", namespace, "error", err)
	}
}
