#!/bin/sh
# Creates the namespace at TEMPORAL_ADDRESS if it does not exist.
set -eu

namespace=default
temporal operator namespace describe --namespace "$namespace" >/dev/null 2>&1 ||
	temporal operator namespace create --namespace "$namespace" --retention 7d
