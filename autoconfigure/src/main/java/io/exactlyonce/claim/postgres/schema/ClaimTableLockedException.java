package io.exactlyonce.claim.postgres.schema;

import java.time.Duration;

/**
 * The claims' table could not be brought forward, since other transactions would not let go of it. Nothing has changed.
 */
public final class ClaimTableLockedException extends ClaimSchemaException {

    ClaimTableLockedException(String database, Duration patience, int found, Throwable cause) {
        super(
                "Version %d of table %s in %s could not be brought to version %d within %d s: other sessions hold it"
                        .formatted(found, ClaimSchema.TABLE, database, ClaimSchema.needed(), patience.toSeconds()),
                "start again when no long transaction uses the table (pg_stat_activity shows them, pg_blocking_pids() who"
                        + " blocks whom), or apply by hand: " + String.join(", ", ClaimSchema.scriptsAfter(found)),
                cause);
    }
}
