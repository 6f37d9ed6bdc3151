package config

import (
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/palaver-chat/palaver/internal/guard"
)

// Rate is a number of events in a period; the zero Rate means no limit.
type Rate struct {
	N   int64
	Per time.Duration
}

var periods = map[string]time.Duration{"second": time.Second, "minute": time.Minute, "hour": time.Hour}

// parseRate reads N/second, N/minute, N/hour or off.
func parseRate(name, value string) (Rate, error) {
	if value == "off" {
		return Rate{}, nil
	}
	n, unit, _ := strings.Cut(value, "/")
	per := periods[strings.TrimSpace(unit)]
	count, err := strconv.ParseInt(strings.TrimSpace(n), 10, 64)
	if err != nil || per == 0 || count < 1 || count > 1_000_000 {
		return Rate{}, refuse(name, "%q is not allowed; use N/second, N/minute, N/hour or off, such as 10/minute", value)
	}
	return Rate{count, per}, nil
}

// Rates returns CHAT_RATE_LIMIT, USER_RATE_LIMIT, MAX_NEW_THREADS_PER_ADDRESS and
// CHANGE_RATE_LIMIT; call it after Validate.
func (c *Config) Rates() (turns, userTurns, threads, changes Rate) {
	turns, _ = parseRate("CHAT_RATE_LIMIT", c.ChatRateLimit)
	userTurns, _ = parseRate("USER_RATE_LIMIT", c.UserRateLimit)
	threads, _ = parseRate("MAX_NEW_THREADS_PER_ADDRESS", c.MaxNewThreads)
	changes, _ = parseRate("CHANGE_RATE_LIMIT", c.ChangeRateLimit)
	return turns, userTurns, threads, changes
}

// Proxies returns TRUSTED_PROXIES; call it after Validate.
func (c *Config) Proxies() []netip.Prefix {
	list, _ := guard.ParsePrefixes(c.TrustedProxies)
	return list
}

// Hosts returns ALLOWED_HOSTS; call it after Validate.
func (c *Config) Hosts() *guard.Hosts {
	hosts, _ := guard.NewHosts(c.Host, c.AllowedHosts)
	return hosts
}

// Origins returns ALLOWED_ORIGINS; call it after Validate.
func (c *Config) Origins() guard.Origins {
	origins, _ := guard.ParseOrigins(c.AllowedOrigins)
	return origins
}

// Exposed reports whether clients of other hosts may reach the API, directly or by a proxy
// on this host.
func (c *Config) Exposed() bool {
	address, err := netip.ParseAddr(c.Host)
	loopback := c.Host == "localhost" || err == nil && address.IsLoopback()
	return !loopback || c.TrustedProxies != "" || c.AllowedHosts != ""
}

func (c *Config) checkCallers() error {
	for name, value := range map[string]string{"CHAT_RATE_LIMIT": c.ChatRateLimit, "USER_RATE_LIMIT": c.UserRateLimit, "MAX_NEW_THREADS_PER_ADDRESS": c.MaxNewThreads,
		"CHANGE_RATE_LIMIT": c.ChangeRateLimit} {
		if _, err := parseRate(name, value); err != nil {
			return err
		}
	}
	if _, err := guard.ParsePrefixes(c.TrustedProxies); err != nil {
		return refuse("TRUSTED_PROXIES", "%v", err)
	}
	return nil
}
