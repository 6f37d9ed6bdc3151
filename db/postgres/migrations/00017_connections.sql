-- +goose Up
-- Accounts of other services that a person has connected.

CREATE TABLE connections (
    owner      TEXT   NOT NULL,
    provider   TEXT   NOT NULL, -- google
    account    TEXT   NOT NULL, -- as its owner knows it, such as an address
    scope      TEXT   NOT NULL, -- what the service has permitted
    token      TEXT   NOT NULL, -- encrypted; '': the service has taken it back
    version    BIGINT NOT NULL, -- one more with each token
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (owner, provider)
);
ALTER TABLE connections ENABLE ROW LEVEL SECURITY; -- no policy: only Palaver reads it
