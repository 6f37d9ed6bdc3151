package payload

import (
	"context"
	"errors"
	"log/slog"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/proxy"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
)

// Use makes a client encrypt and decrypt all payloads of its calls, and put the messages of
// errors, which can quote what people and models wrote, into payloads. It works below the
// SDK, so that workflows and callers see plain payloads only. Search attributes stay
// plain: the server indexes them.
func (k *Keys) Use(options *client.Options, log *slog.Logger) error {
	visits := proxy.PayloadVisitorInterceptorOptions{Inbound: visit(k.Decode)}
	if !k.plain {
		visits.Outbound = visit(k.Encode)
	}
	codec, err := proxy.NewPayloadVisitorInterceptor(visits)
	if err != nil {
		return err
	}
	if !k.plain {
		options.FailureConverter = temporal.NewDefaultFailureConverter(temporal.DefaultFailureConverterOptions{EncodeCommonAttributes: true})
	}
	// The outermost interceptor: retries are inside, so that they do not encrypt again.
	options.ConnectionOptions.DialOptions = append(options.ConnectionOptions.DialOptions, grpc.WithUnaryInterceptor(k.guarded(codec, log)))
	return nil
}

func visit(convert func([]*commonpb.Payload) ([]*commonpb.Payload, error)) *proxy.VisitPayloadsOptions {
	return &proxy.VisitPayloadsOptions{
		SkipSearchAttributes: true,
		Visitor: func(_ *proxy.VisitPayloadsContext, payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
			return convert(payloads)
		},
	}
}

// guarded keeps the codec from changing the SDK's own messages, and drops tasks that it
// cannot decrypt. Without the drop, workflow code would see a missing result and fail the
// turn, although another worker may have the key, or this one after its next start. The
// server dispatches a dropped task again after its timeout.
func (k *Keys) guarded(codec grpc.UnaryClientInterceptor, log *slog.Logger) grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		if message, is := req.(proto.Message); is && !k.plain {
			req = proto.Clone(message)
		}
		err := codec(ctx, method, req, reply, cc, invoke, opts...)
		if !errors.Is(err, ErrKey) {
			return err
		}
		switch task := reply.(type) {
		case *workflowservice.PollWorkflowTaskQueueResponse:
			log.Error("workflow task dropped: its payloads cannot be decrypted; check PAYLOAD_ENCRYPTION_KEY", "workflow", task.GetWorkflowExecution().GetWorkflowId(), "error", err)
			proto.Reset(task)
			return nil
		case *workflowservice.PollActivityTaskQueueResponse:
			log.Error("activity task dropped: its payloads cannot be decrypted; check PAYLOAD_ENCRYPTION_KEY", "workflow", task.GetWorkflowExecution().GetWorkflowId(), "error", err)
			proto.Reset(task)
			return nil
		}
		return err
	}
}
