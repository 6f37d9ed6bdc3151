#!/bin/sh
# Starts the Temporal server with the password from POSTGRES_PASSWORD_FILE.
set -eu

POSTGRES_PWD=$(cat "$POSTGRES_PASSWORD_FILE")
export POSTGRES_PWD
exec /etc/temporal/entrypoint.sh
