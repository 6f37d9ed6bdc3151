#!/bin/sh
# Creates Temporal's two databases and migrates their schemas. It is idempotent and
# runs at every start. POSTGRES_SEEDS, POSTGRES_USER and SQL_PASSWORD name the server.
set -eu

schema() {
	database=$1
	versions=$2
	sql="temporal-sql-tool --plugin postgres12 --ep $POSTGRES_SEEDS -p 5432 -u $POSTGRES_USER --db $database"
	$sql create
	$sql setup-schema -v 0.0
	$sql update-schema -d "/etc/temporal/schema/postgresql/v12/$versions/versioned"
}

schema temporal temporal
schema temporal_visibility visibility
