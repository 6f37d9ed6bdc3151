#!/bin/sh
# Migrates the schemas of Temporal's two databases, which docker/postgres creates. It is
# idempotent and runs at every start. POSTGRES_SEEDS, POSTGRES_USER and
# POSTGRES_PASSWORD_FILE name the server and the role.
set -eu

SQL_PASSWORD=$(cat "$POSTGRES_PASSWORD_FILE") # the name that temporal-sql-tool expects
export SQL_PASSWORD

schema() {
	database=$1
	versions=$2
	sql="temporal-sql-tool --plugin postgres12 --ep $POSTGRES_SEEDS -p 5432 -u $POSTGRES_USER --db $database"
	$sql setup-schema -v 0.0
	$sql update-schema -d "/etc/temporal/schema/postgresql/v12/$versions/versioned"
}

schema temporal temporal
schema temporal_visibility visibility
