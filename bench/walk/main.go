// Command walk asks one question over three documents, steers it once, kills the process with
// kill -9 once, and prints the events of the turn, for docs/research.md:
//
//	make standalone && go -C bench run ./walk
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/palaver-chat/palaver/testkit/llmtest"
)

const thread = "7b1f6f0e-2f0c-4a53-9a39-6b5d3c2c1f11"

// documents are those of the question, by titles and texts.
var documents = [][2]string{
	{"Supply contract", "# Supply contract\n\nDelivery takes place on the agreed day.\n\nFor each full week of late delivery the buyer may deduct 2 % of the invoice's amount, at most 10 %."},
	{"Invoices 2026", "# Invoices 2026\n\nNo | Customer | Amount | Due | Status\nR-101 | Weber GmbH | 1,200.00 | 2026-09-30 | paid\nR-103 | Ek & Co | 480.00 | 2026-09-12 | open\nR-104 | Ek & Co | 2,300.00 | 2026-10-20 | open\nR-105 | Ito Trading | 75.00 | 2026-10-01 | open"},
	{"Delivery log", "# Delivery log\n\nInvoice | Agreed | Delivered\nR-103 | 2026-08-01 | 2026-08-09\nR-104 | 2026-09-01 | 2026-09-15"},
}

func main() {
	binary := flag.String("binary", "../bin/palaver-standalone", "Palaver, relative to bench")
	port := flag.String("port", "12380", "port of Palaver")
	temporal := flag.String("temporal-port", "12333", "port of Temporal")
	flag.Parse()
	data, err := os.MkdirTemp("", "walk")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(data)
	jar, err := cookiejar.New(nil)
	if err != nil {
		log.Fatal(err)
	}
	w := walk{binary: *binary, port: *port, temporal: *temporal, data: data, model: model(), http: http.Client{Jar: jar}}
	ctx, stop := context.WithTimeout(context.Background(), 5*time.Minute)
	defer stop()
	err = w.run(ctx)
	if w.process != nil {
		err = errors.Join(err, w.process.Signal(syscall.SIGTERM))
		_, _ = w.process.Wait() // its end is all that matters
	}
	if err != nil {
		log.Fatal(err)
	}
}

// round matches the model's call after n tool calls.
func round(n int) llmtest.Match {
	return llmtest.Match{Kind: llmtest.Stream, Func: func(r llmtest.Request) bool {
		return len(r.Tools) > 0 && bytes.Count(r.Body, []byte(`"role":"tool"`)) == n
	}}
}

// model does what a careful model does, and says one thing that no passage says.
func model() *llmtest.Server {
	s := llmtest.New(nil)
	slow := func(a llmtest.Answer, d time.Duration) llmtest.Answer { a.Delay = d; return a }
	s.On(round(0), llmtest.Calls(llmtest.Call("search_documents", map[string]any{"query": "penalty for late delivery", "also": []string{"invoices of Ek", "delivery dates of Ek"}})))
	s.On(round(1), slow(llmtest.Calls(llmtest.Call("query_table", map[string]any{"document": "Invoices 2026", "sql": "SELECT no, amount FROM t1 WHERE customer = 'Ek & Co' AND due LIKE '2026-10%'"})), 4*time.Second))
	s.On(round(2), slow(llmtest.Calls(llmtest.Call("calculate", map[string]any{"formulas": []string{"2300 * 2 / 100 * 2"}})), 3*time.Second))
	s.On(round(3), llmtest.Text("R-104 was due on 2026-09-01 and came on 2026-09-15, two weeks late [1]. ", "The contract lets you deduct 2 % a week [2], so 92.00 of 2,300.00 [3]."))
	s.On(llmtest.Match{Kind: llmtest.Stream, Contains: "These words of your answer"},
		llmtest.Text("R-104 was to come on 2026-09-01 and came on 2026-09-15 [1]. ", "The contract lets you deduct 2 % for each full week [2], so 92.00 of 2,300.00 [3]."))
	s.On(llmtest.Match{Schema: "plan"}, llmtest.JSON(map[string]any{"steps": []string{"Search the three documents", "Read the amounts from the table of invoices", "Compute the deduction"}}))
	return s
}

type walk struct {
	binary, port, temporal, data string
	model                        *llmtest.Server
	http                         http.Client
	process                      *os.Process
}

func (w *walk) run(ctx context.Context) error {
	if err := w.start(ctx); err != nil {
		return err
	}
	for _, d := range documents {
		if _, err := w.post(ctx, "/api/documents", map[string]any{"title": d[0], "text": d[1]}); err != nil {
			return err
		}
	}
	if err := w.until(ctx, "/api/documents", func(body string) bool { return !strings.Contains(body, `"processing"`) }); err != nil {
		return err
	}
	w.send(ctx, map[string]any{"effort": "thorough", "message": "What may we deduct from the open invoices of Ek & Co for late delivery, according to the supply contract and the delivery log?"})
	if err := w.model.WaitCount(ctx, round(1), 1); err != nil {
		return err
	}
	w.send(ctx, map[string]any{"on_busy": "steer", "message": "Only the invoices due in October."})
	if err := w.model.WaitCount(ctx, round(2), 1); err != nil {
		return err
	}
	time.Sleep(time.Second)
	killed := time.Now()
	if err := w.process.Kill(); err != nil {
		return err
	}
	if _, err := w.process.Wait(); err != nil {
		return err
	}
	if err := w.start(ctx); err != nil {
		return err
	}
	ready := time.Since(killed)
	if err := w.until(ctx, "/api/chat/history/"+thread, func(body string) bool { return strings.Contains(body, `"finished_reason"`) }); err != nil {
		return err
	}
	if err := w.show(ctx, killed); err != nil {
		return err
	}
	fmt.Printf("ready again after %.1f s; calls of the model by round:", ready.Seconds())
	for n := range 4 {
		fmt.Printf(" %d", w.model.Count(round(n)))
	}
	fmt.Println()
	return nil
}

// start starts Palaver and waits until it serves.
func (w *walk) start(ctx context.Context) error {
	c := exec.Command(w.binary, "--port", w.port, "--data-dir", w.data, "--temporal-port", w.temporal, "--temporal-ui-port", "0")
	c.Env = append(os.Environ(), "EMBEDDING_MODEL_NAME=off", "LLM_BASE_URL="+w.model.URL, "LLM_API_KEY=none", "CHAT_MODEL_NAME=scripted")
	out, err := os.OpenFile(filepath.Join(w.data, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	c.Stdout, c.Stderr = out, out
	if err := c.Start(); err != nil {
		return err
	}
	w.process = c.Process
	return w.until(ctx, "/readyz", func(string) bool { return true })
}

// until waits for a good answer of a path.
func (w *walk) until(ctx context.Context, path string, good func(body string) bool) error {
	for ctx.Err() == nil {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1:"+w.port+path, nil)
		if err != nil {
			return err
		}
		if body, err := w.do(req); err == nil && good(body) {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("%s: %w", path, ctx.Err())
}

// send sends a message; what comes of it is in the history.
func (w *walk) send(ctx context.Context, message map[string]any) {
	message["thread_id"] = thread
	go func() { _, _ = w.post(ctx, "/api/chat", message) }() // the process is killed meanwhile
}

func (w *walk) post(ctx context.Context, path string, body any) (string, error) {
	b, err := json.Marshal(body)
	if err != nil {
		return "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://127.0.0.1:"+w.port+path, bytes.NewReader(b))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	return w.do(req)
}

func (w *walk) do(req *http.Request) (string, error) {
	res, err := w.http.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode >= 300 {
		err = fmt.Errorf("%s: %s: %s", req.URL.Path, res.Status, body)
	}
	return string(body), err
}

// show prints the events of the turn: activities (a), markers (m), updates and further attempts.
func (w *walk) show(ctx context.Context, killed time.Time) error {
	c, err := client.Dial(client.Options{HostPort: "127.0.0.1:" + w.temporal})
	if err != nil {
		return err
	}
	defer c.Close()
	var began time.Time
	events := c.GetWorkflowHistory(ctx, "thread:"+thread, "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		if err != nil {
			return err
		}
		at := e.GetEventTime().AsTime()
		if began.IsZero() {
			began = at
			fmt.Printf("killed at %.1f s\n", killed.Sub(began).Seconds())
		}
		summary := ""
		if m := e.GetUserMetadata().GetSummary(); m != nil {
			if err := converter.GetDefaultDataConverter().FromPayload(m, &summary); err != nil {
				return err
			}
		}
		line := ""
		switch e.EventType {
		case enums.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
			line = "a  " + summary
		case enums.EVENT_TYPE_MARKER_RECORDED:
			line = "m  " + summary
		case enums.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED:
			line = "   update " + e.GetWorkflowExecutionUpdateAcceptedEventAttributes().GetAcceptedRequest().GetInput().GetName()
		case enums.EVENT_TYPE_ACTIVITY_TASK_STARTED:
			if a := e.GetActivityTaskStartedEventAttributes(); a.GetAttempt() > 1 {
				line = fmt.Sprintf("   attempt %d: %s", a.GetAttempt(), a.GetLastFailure().GetMessage())
			}
		}
		if line != "" {
			fmt.Printf("%4.1f s  %s\n", at.Sub(began).Seconds(), line)
		}
	}
	return nil
}
