#!/bin/sh
# Starts NATS with the token of its file. The quotes make it a text in the configuration,
# also when it is a number.
set -eu

NATS_TOKEN="\"$(cat "$NATS_TOKEN_FILE")\""
export NATS_TOKEN
exec nats-server --config /setup/nats.conf
