package request

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/assert"
)

func TestDeadlineStartsWhenTheBodyHasArrived(t *testing.T) {
	t.Parallel()
	synctest.Test(t, deadlineStartsWhenTheBodyHasArrived)
}

func deadlineStartsWhenTheBodyHasArrived(t *testing.T) {
	var before, after time.Time
	gin.SetMode(gin.ReleaseMode)
	e := gin.New()
	e.POST("/", Within(15*time.Second), func(c *gin.Context) {
		before, _ = c.Request.Context().Deadline()
		time.Sleep(time.Millisecond) // the body has not arrived yet
		if _, err := Body(c, 100); err != nil {
			t.Error(err)
		}
		after, _ = c.Request.Context().Deadline()
		if _, bounded := ClientContext(c).Deadline(); bounded {
			t.Error("the client context has a deadline, which would end a stream")
		}
	})
	r := httptest.NewRequest("POST", "/", strings.NewReader("{}"))
	r.Header.Set("Content-Type", "application/json")
	sent := time.Now()
	e.ServeHTTP(httptest.NewRecorder(), r)
	if d := before.Sub(sent); d < 14*time.Second || d > 15*time.Second {
		t.Errorf("the request's deadline is %s after its start, want 14 to 15 s", d)
	}
	assert.True(t, after.After(before), "the deadline did not move when the body arrived: from %s to %s", before, after)
}

func TestFractionOfDeadlineIsPartOfTheRemainingTime(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	half, done := FractionOfDeadline(ctx, 2)
	defer done()
	quarter, done := FractionOfDeadline(half, 2)
	defer done()
	for ctx, want := range map[context.Context]time.Duration{half: 30 * time.Minute, quarter: 15 * time.Minute} {
		deadline, _ := ctx.Deadline()
		if left := time.Until(deadline); left > want || left < want-time.Minute {
			t.Errorf("%s, want %s", left, want)
		}
	}
	client, disconnect := context.WithCancel(ctx)
	detached, done := Detached(client)
	defer done()
	disconnect()
	want, _ := ctx.Deadline()
	if got, _ := detached.Deadline(); detached.Err() != nil || !got.Equal(want) {
		t.Errorf("error %v, deadline %s, want %s", detached.Err(), got, want)
	}
}
