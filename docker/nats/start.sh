#!/bin/sh
# Starts NATS with the token from NATS_TOKEN_FILE. The quotes make the token a string in the
# configuration, even if it consists of digits.
set -eu

NATS_TOKEN="\"$(cat "$NATS_TOKEN_FILE")\""
export NATS_TOKEN
exec nats-server --config /setup/nats.conf
