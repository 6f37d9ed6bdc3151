package config

import (
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Ways to sign in that are not OAuth providers.
const (
	signInLink     = "link"
	signInPassword = "password"
)

const maxProviders = 12

// providerName matches the names that Supabase gives to OAuth providers.
var providerName = regexp.MustCompile(`^[a-z0-9][a-z0-9_:-]{0,39}$`)

func (c *Config) checkSignIn() error {
	switch {
	case c.SupabaseURL == "" && c.SupabaseAnonKey == "":
		return nil
	case c.SupabaseAnonKey == "":
		return refuse("SUPABASE_ANON_KEY", "missing; SUPABASE_URL needs the project's publishable key")
	case c.SupabaseURL == "":
		return refuse("SUPABASE_URL", "missing; SUPABASE_ANON_KEY is of no use without it")
	}
	if err := checkProvider("SUPABASE_URL", c.SupabaseURL, "https://PROJECT.supabase.co"); err != nil {
		return err
	}
	ways := list(c.SupabaseSignIn)
	if len(ways) == 0 || len(ways) > maxProviders {
		return refuse("SUPABASE_SIGN_IN", "use 1 to %d of link, password and names of OAuth providers", maxProviders)
	}
	for i, way := range ways {
		if !providerName.MatchString(way) || slices.Contains(ways[:i], way) {
			return refuse("SUPABASE_SIGN_IN", "%q is not allowed; use link, password and names of OAuth providers, each once", way)
		}
	}
	return nil
}

// checkProvider checks the address of a provider where people sign in.
func checkProvider(name, address, example string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.ContainsAny(address, " ;,'\"#?") {
		return refuse(name, "not a URL; use one such as %s", example)
	}
	if u.Scheme != "https" && !(u.Scheme == "http" && isLocal(u.Hostname())) {
		return refuse(name, "must begin with https://, because people sign in there")
	}
	return nil
}

func isLocal(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}

// list reads values that are separated by commas.
func list(text string) (values []string) {
	for _, v := range strings.Split(text, ",") {
		if v = strings.TrimSpace(v); v != "" {
			values = append(values, v)
		}
	}
	return values
}

// SignIn is how the page lets people sign in.
type SignIn struct {
	URL       string   // of the Supabase project, without a slash at its end; empty: the page offers no sign-in
	Key       string   // its publishable key
	Methods   []string // link, password
	Providers []string // OAuth
}

// SignIn returns the settings of the page's sign-in.
func (c *Config) SignIn() SignIn {
	if c.SupabaseURL == "" {
		return SignIn{}
	}
	s := SignIn{URL: strings.TrimRight(c.SupabaseURL, "/"), Key: c.SupabaseAnonKey}
	for _, way := range list(c.SupabaseSignIn) {
		if way == signInLink || way == signInPassword {
			s.Methods = append(s.Methods, way)
		} else {
			s.Providers = append(s.Providers, way)
		}
	}
	return s
}

// JWKSURL returns the address of the public keys of tokens, by default that of SUPABASE_URL.
func (c *Config) JWKSURL() string {
	if c.SupabaseJWKSURL+c.SupabaseJWTSecret != "" || c.SupabaseURL == "" {
		return c.SupabaseJWKSURL
	}
	return c.SignIn().URL + "/auth/v1/.well-known/jwks.json"
}
