package stacktest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/palaver-chat/palaver/standalone/stacktest"
)

func getJSON(t *testing.T, c *http.Client, url string, out any) int {
	t.Helper()
	resp, err := c.Get(url)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(body, out), string(body))
	return resp.StatusCode
}

type me struct{ ID string }

type list struct {
	Items []struct{ ID, Status string }
}

func TestRestartedStackKeepsItsDataAndPort(t *testing.T) {
	s := stacktest.Start(t)
	var ready struct{ Down []string }
	require.Equal(t, http.StatusOK, getJSON(t, s.Client, s.URL+"/readyz", &ready))
	assert.Empty(t, ready.Down)
	_, err := s.Temporal().CheckHealth(t.Context(), &client.CheckHealthRequest{})
	require.NoError(t, err)
	var before, after me
	getJSON(t, s.Client, s.URL+"/api/me", &before)
	var samples, again list
	getJSON(t, s.Client, s.URL+"/api/documents", &samples)
	require.NotEmpty(t, samples.Items, "the first run loads sample documents")

	address := s.URL
	s.Restart()
	assert.Equal(t, address, s.URL)
	getJSON(t, s.Client, s.URL+"/api/me", &after)
	assert.Equal(t, before, after, "the cookie's secret is kept")
	getJSON(t, s.Client, s.URL+"/api/documents", &again)
	assert.Equal(t, samples, again, "the samples are loaded once")

	var other me
	getJSON(t, s.NewUser(), s.URL+"/api/me", &other)
	assert.NotEqual(t, before, other)
}

func TestStackRunsWithServerDefaults(t *testing.T) {
	s := stacktest.Start(t, stacktest.ServerDefaults())
	var ready struct{ Down []string }
	require.Equal(t, http.StatusOK, getJSON(t, s.Client, s.URL+"/readyz", &ready))
}

func TestKilledProcessKeepsItsDataAndStoppedProcessExitsWithZero(t *testing.T) {
	p := stacktest.StartProcess(t)
	var before, after me
	getJSON(t, p.Client, p.URL+"/api/me", &before)
	address := p.URL
	p.Kill()
	p.Start()
	assert.Equal(t, address, p.URL)
	getJSON(t, p.Client, p.URL+"/api/me", &after)
	assert.Equal(t, before, after)
	_, err := p.TemporalClient().CheckHealth(t.Context(), &client.CheckHealthRequest{})
	require.NoError(t, err)

	assert.Zero(t, p.Stop())
}

func TestModelOptionSetsTheModel(t *testing.T) {
	s := stacktest.Start(t, stacktest.Model("http://127.0.0.1:1/v1"), stacktest.Flag("turn-deadline", "7s"))
	var config struct {
		Model struct{ Label, Provider string }
	}
	require.Equal(t, http.StatusOK, getJSON(t, s.Client, s.URL+"/api/config", &config))
	assert.Equal(t, "openai-compatible", config.Model.Provider)
	assert.Equal(t, "scripted", config.Model.Label)
	u, err := url.Parse(s.URL)
	require.NoError(t, err)
	assert.NotEqual(t, "0", u.Port())
}
