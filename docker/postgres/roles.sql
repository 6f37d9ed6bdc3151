-- Creates two roles that have no rights except to own their databases. roles.sh runs this file.
\set palaver_password `cat "$PALAVER_PASSWORD_FILE"`
\set temporal_password `cat "$TEMPORAL_PASSWORD_FILE"`

SELECT format('CREATE ROLE %I', name) FROM unnest(ARRAY['palaver', 'temporal']) AS name
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) \gexec

ALTER ROLE palaver LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD :'palaver_password';
ALTER ROLE temporal LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD :'temporal_password';

CREATE TEMPORARY TABLE wanted (database text, owner text);
INSERT INTO wanted VALUES ('palaver', 'palaver'), ('temporal', 'temporal'), ('temporal_visibility', 'temporal');

SELECT format('CREATE DATABASE %I OWNER %I', database, owner) FROM wanted
WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = database) \gexec

SELECT format('ALTER DATABASE %I OWNER TO %I', database, owner) FROM wanted \gexec

-- Only the owner may connect.
SELECT format('REVOKE ALL ON DATABASE %I FROM PUBLIC', database) FROM wanted \gexec
REVOKE ALL ON DATABASE postgres, template1 FROM PUBLIC;
