package service

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	enumspb "go.temporal.io/api/enums/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/palaver-chat/palaver/app/telemetry"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/internal/build"
	"github.com/palaver-chat/palaver/internal/bus"
	"github.com/palaver-chat/palaver/workflows"
)

// observe registers the metrics of the process itself, of its dependencies and its build.
func (p *Process) observe() error {
	state := telemetry.State{OpenTurns: p.parts.Store.OpenTurnCounts, Backlog: p.backlog, Log: p.parts.Log}
	if pool, ok := p.parts.Store.(interface{ Pool() db.Pool }); ok {
		state.Pool = pool.Pool
	}
	if _, without := p.parts.Bus.(bus.Noop); !without {
		state.Connected = p.parts.Bus.Ready
	}
	if err := telemetry.ObserveState(p.metrics, state); err != nil {
		return err
	}
	for _, c := range []prometheus.Collector{collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})} {
		if err := p.metrics.Register(c); err != nil {
			return err
		}
	}
	b := build.Read()
	info := prometheus.NewGauge(prometheus.GaugeOpts{Name: "palaver_build_info", Help: "1, with the build's version, commit and date.",
		ConstLabels: prometheus.Labels{"version": b.Version, "commit": b.Commit, "date": b.Date}})
	info.Set(1)
	return p.metrics.Register(info)
}

// backlog asks Temporal for the tasks that wait for workers, by type.
func (p *Process) backlog(ctx context.Context) (all []telemetry.Backlog, _ error) {
	for name, of := range map[string]struct {
		queue string
		kind  enumspb.TaskQueueType
	}{
		"workflow": {workflows.TaskQueue, enumspb.TASK_QUEUE_TYPE_WORKFLOW},
		"activity": {workflows.TaskQueue, enumspb.TASK_QUEUE_TYPE_ACTIVITY},
		"ingest":   {workflows.IngestQueue, enumspb.TASK_QUEUE_TYPE_ACTIVITY},
		"scan":     {workflows.ScanQueue, enumspb.TASK_QUEUE_TYPE_ACTIVITY},
	} {
		queue, err := p.parts.Temporal.WorkflowService().DescribeTaskQueue(ctx, &workflowservice.DescribeTaskQueueRequest{
			Namespace: p.parts.Namespace, TaskQueue: &taskqueuepb.TaskQueue{Name: of.queue}, TaskQueueType: of.kind, ReportStats: true,
		})
		if err != nil {
			return nil, err
		}
		all = append(all, telemetry.Backlog{Type: name, Tasks: queue.GetStats().GetApproximateBacklogCount(),
			Age: queue.GetStats().GetApproximateBacklogAge().AsDuration(), Pollers: len(queue.GetPollers())})
	}
	return all, nil
}
