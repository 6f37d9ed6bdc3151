package service

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"

	"github.com/palaver-chat/palaver/internal/probe"
	"github.com/palaver-chat/palaver/workflows"
)

// maxPollAge is how long after its last poll a worker counts as running. An idle poll lasts
// a minute.
const maxPollAge = 75 * time.Second

// checks returns the readiness checks of /readyz, except that of the database.
func (p *Process) checks() map[string]probe.Check {
	return map[string]probe.Check{
		"temporal": p.temporalReady,
		"workers":  p.workersReady,
		"process": func(context.Context) error {
			if p.draining.Load() {
				return errors.New("the process is stopping")
			}
			return nil
		},
	}
}

// temporalReady checks that the server answers, has the namespace, and has the search
// attributes. Without them no thread can start.
func (p *Process) temporalReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, temporalTimeout)
	defer cancel()
	if _, err := p.parts.Temporal.DescribeTaskQueue(ctx, workflows.TaskQueue, enumspb.TASK_QUEUE_TYPE_WORKFLOW); err != nil {
		return err
	}
	if p.attributes.Load() { // found before; they are not checked again
		return nil
	}
	missing, err := p.missingAttributes(ctx)
	switch {
	case errors.As(err, new(*serviceerror.PermissionDenied)), errors.As(err, new(*serviceerror.Unimplemented)):
		return nil // the server does not list its search attributes, for example Temporal Cloud
	case err != nil:
		return err
	case len(missing) > 0:
		return fmt.Errorf("the namespace %s lacks %d of the search attributes PalaverUser and PalaverStatus (Keyword)", p.parts.Namespace, len(missing))
	}
	p.attributes.Store(true)
	return nil
}

// workersReady checks that a worker polls for threads. If Temporal does not answer, the
// check passes: temporalReady reports the failure.
func (p *Process) workersReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, temporalTimeout)
	defer cancel()
	queue, err := p.parts.Temporal.DescribeTaskQueue(ctx, workflows.TaskQueue, enumspb.TASK_QUEUE_TYPE_WORKFLOW)
	if err != nil {
		return nil
	}
	for _, poller := range queue.GetPollers() {
		if time.Since(poller.GetLastAccessTime().AsTime()) < maxPollAge {
			return nil
		}
	}
	return fmt.Errorf("no worker has polled Temporal in the last %s", maxPollAge)
}

// missingAttributes returns the search attributes that the namespace lacks, or has with
// another type, by name. No thread can start while one is missing.
func (p *Process) missingAttributes(ctx context.Context) (map[string]enumspb.IndexedValueType, error) {
	wanted := map[string]enumspb.IndexedValueType{
		workflows.UserAttribute.GetName():   workflows.UserAttribute.GetValueType(),
		workflows.StatusAttribute.GetName(): workflows.StatusAttribute.GetValueType(),
	}
	known, err := p.parts.Temporal.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: p.parts.Namespace})
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(wanted, func(name string, of enumspb.IndexedValueType) bool { return known.CustomAttributes[name] == of })
	return wanted, nil
}
