#!/bin/sh
# Creates the roles palaver and temporal, and the databases that each of them owns. It is
# idempotent and runs at every start, so that it also sets changed passwords.
set -eu

PGPASSWORD=$(cat "$POSTGRES_PASSWORD_FILE")
export PGPASSWORD

run() { psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --username=postgres "$@"; }

run --dbname=postgres --file=/setup/roles.sql || {
	echo "The superuser postgres must exist and have the password of secrets/postgres_password." >&2
	echo "docs/deploy.md says how to change it (Secrets)." >&2
	exit 1
}
