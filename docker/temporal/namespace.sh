#!/bin/sh
# Makes the namespace, unless it is there. TEMPORAL_ADDRESS says where.
set -eu

namespace=default
temporal operator namespace describe --namespace "$namespace" >/dev/null 2>&1 ||
	temporal operator namespace create --namespace "$namespace" --retention 7d
