package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"strings"
)

const issuerExample = "https://login.example.com/realms/main"

// Issuer is an OpenID Connect provider whose tokens are accepted.
type Issuer struct {
	URL         string   `json:"issuer"`
	Audiences   []string `json:"audiences"`
	NameClaim   string   `json:"name_claim"`
	EmailClaim  string   `json:"email_claim"`
	GroupsClaim string   `json:"groups_claim"`
}

// Issuers returns the providers of OIDC_ISSUER and OIDC_ISSUERS; call it after Validate.
func (c *Config) Issuers() []Issuer {
	all, _ := c.issuers()
	return all
}

func (c *Config) issuers() ([]Issuer, error) {
	var all []Issuer
	if c.OIDCIssuer != "" {
		all = append(all, Issuer{c.OIDCIssuer, c.audiences(), c.OIDCNameClaim, c.OIDCEmailClaim, c.OIDCGroupsClaim})
	}
	if c.OIDCIssuers == "" {
		return all, nil
	}
	var more []Issuer
	decoder := json.NewDecoder(bytes.NewBufferString(c.OIDCIssuers))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&more); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, io.ErrUnexpectedEOF
	}
	for _, i := range more {
		i.NameClaim, i.EmailClaim, i.GroupsClaim = cmp.Or(i.NameClaim, c.OIDCNameClaim), cmp.Or(i.EmailClaim, c.OIDCEmailClaim), cmp.Or(i.GroupsClaim, c.OIDCGroupsClaim)
		all = append(all, i)
	}
	return all, nil
}

func (c *Config) audiences() []string {
	if c.OIDCAudience == "" && c.OIDCClientID != "" {
		return []string{c.OIDCClientID}
	}
	return list(c.OIDCAudience)
}

func (c *Config) checkOIDC() error {
	if c.OIDCIssuer == "" && c.OIDCClientID+c.OIDCAudience != "" {
		return refuse("OIDC_ISSUER", "missing; OIDC_CLIENT_ID and OIDC_AUDIENCE are of no use without it")
	}
	if c.OIDCIssuer == "" && c.AdminGroups != "" {
		return refuse("ADMIN_GROUPS", "needs OIDC_ISSUER, which says who is in a group")
	}
	if scopes := strings.Fields(c.OIDCScopes); !slices.Contains(scopes, "openid") {
		return refuse("OIDC_SCOPES", "must contain openid")
	}
	all, err := c.issuers()
	if err != nil {
		return refuse("OIDC_ISSUERS", "not a JSON list such as [{\"issuer\":\"%s\",\"audiences\":[\"palaver\"]}]", issuerExample)
	}
	seen := map[string]bool{c.SupabaseIssuer: c.SupabaseIssuer != ""}
	for n, i := range all {
		name, missing := "OIDC_ISSUERS", "each issuer needs audiences"
		if n == 0 && c.OIDCIssuer != "" {
			name, missing = "OIDC_AUDIENCE", "missing; OIDC_ISSUER needs it, or OIDC_CLIENT_ID"
		}
		if len(i.Audiences) == 0 || slices.Contains(i.Audiences, "") {
			return refuse(name, "%s", missing)
		}
		name = strings.Replace(name, "_AUDIENCE", "_ISSUER", 1)
		if err := checkProvider(name, i.URL, issuerExample); err != nil {
			return err
		}
		if seen[i.URL] {
			return refuse(name, "%s is there twice", i.URL)
		}
		seen[i.URL] = true
	}
	return nil
}

// Administrators returns the groups of ADMIN_GROUPS, and the audience of the page's tokens.
func (c *Config) Administrators() (groups []string, audience string) {
	if all := c.audiences(); len(all) > 0 {
		audience = all[0]
	}
	return list(c.AdminGroups), audience
}

// OIDCSignIn is how the page lets people sign in at OIDC_ISSUER.
type OIDCSignIn struct {
	Issuer     string // empty: the page offers no such sign-in
	ClientID   string
	Scopes     string // separated by blanks
	Audience   string // of the access tokens that the page sends; empty: it sends id tokens
	NameClaim  string
	EmailClaim string
}

// OIDCSignIn returns the settings of the page's sign-in at OIDC_ISSUER.
func (c *Config) OIDCSignIn() OIDCSignIn {
	if c.OIDCClientID == "" {
		return OIDCSignIn{}
	}
	in := OIDCSignIn{Issuer: c.OIDCIssuer, ClientID: c.OIDCClientID, Scopes: strings.Join(strings.Fields(c.OIDCScopes), " "), NameClaim: c.OIDCNameClaim, EmailClaim: c.OIDCEmailClaim}
	if c.OIDCAudience != "" {
		in.Audience = list(c.OIDCAudience)[0]
	}
	return in
}
