package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimId;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * The statements for rows that are free. A row is free if its claim was released, or if the lease of its claim has
 * expired. A new claim takes the row over, takes it over and completes it at once, or parks it as in doubt.
 */
public final class Takeovers {

    /**
     * Finds and locks a row if it is still free, and still has the same claim and status as when it was read. Its
     * attempt and fencing token are then unchanged, too, because they change only together with the claim.
     *
     * <p>Rows that another transaction has locked are skipped, because a batch must not wait for them.
     */
    private static final String PLACE = """
            CROSS JOIN LATERAL (
                SELECT %s FROM {table} AS c
                WHERE c.scope {=} w.scope AND c.key {=} w.key AND c.claim_id {=} w.held_id AND c.status {=} w.status
                  AND (c.status {=} 'RELEASED' OR c.lease_until {<=} pg_catalog.clock_timestamp())
                LIMIT 1 FOR UPDATE SKIP LOCKED
            ) AS free OFFSET 0) AS w
            WHERE %s
            RETURNING w.claim_id
            """.formatted(ClaimTable.PLACE, ClaimTable.AT_PLACE);

    static final String TAKE_OVER = """
            UPDATE {table} AS claim
            SET status = 'HELD', claim_id = w.claim_id, owner = w.owner, attempt = w.attempt, fencing_token = w.token,
                in_doubt = w.in_doubt, fingerprint = pg_catalog.decode(w.fingerprint, 'hex'),
                claimed_at = pg_catalog.clock_timestamp(), cleared = false,
                lease_until = pg_catalog.clock_timestamp() {+} (w.lease_micros {*} interval '1 microsecond'),
                expires_at = pg_catalog.clock_timestamp() {+} (w.retention_micros {*} interval '1 microsecond')
            FROM (SELECT w.*, free.*
                  FROM unnest((SELECT ?::pg_catalog.text[]), (SELECT ?::pg_catalog.text[]), (SELECT ?::pg_catalog.uuid[]), (SELECT ?::pg_catalog.text[]),
                              (SELECT ?::pg_catalog.uuid[]), (SELECT ?::pg_catalog.text[]), (SELECT ?::bigint[]), (SELECT ?::bigint[]),
                              (SELECT ?::boolean[]), (SELECT ?::pg_catalog.text[]), (SELECT ?::bigint[]), (SELECT ?::bigint[]))
                       AS w (scope, key, held_id, status, claim_id, owner, attempt, token, in_doubt, fingerprint,
                             lease_micros, retention_micros)
            """ + PLACE;

    /**
     * Completes keys in the transaction of their work. The work may have ended this transaction, for example by a
     * {@code COMMIT} of its own. The transaction id is then another one, and the statement fails on purpose, by a
     * division by zero.
     */
    private static final String COMPLETE = """
            UPDATE {table} AS claim
            SET status = 'COMPLETED', claim_id = w.claim_id, owner = w.owner,
                attempt = w.attempt {/} (pg_catalog.pg_current_xact_id() {=} ?::pg_catalog.xid8)::int, fencing_token = w.token,
                in_doubt = w.in_doubt, fingerprint = pg_catalog.decode(w.fingerprint, 'hex'), result = w.result, cleared = false,
                claimed_at = pg_catalog.now(), lease_until = pg_catalog.now(), completed_at = pg_catalog.clock_timestamp(),
                expires_at = pg_catalog.now() {+} (w.retention_micros {*} interval '1 microsecond')
            FROM (SELECT w.*, free.*
                  FROM unnest((SELECT ?::pg_catalog.text[]), (SELECT ?::pg_catalog.text[]), (SELECT ?::pg_catalog.uuid[]), (SELECT ?::pg_catalog.text[]),
                              (SELECT ?::pg_catalog.uuid[]), (SELECT ?::pg_catalog.text[]), (SELECT ?::bigint[]), (SELECT ?::bigint[]),
                              (SELECT ?::boolean[]), (SELECT ?::pg_catalog.text[]), (SELECT ?::bigint[]), (SELECT ?::pg_catalog.text[]))
                       AS w (scope, key, held_id, status, claim_id, owner, attempt, token, in_doubt, fingerprint,
                             retention_micros, result)
            """ + PLACE;

    /**
     * Parks keys in doubt. The reason is the error with which the last attempt released the row. If the row is still
     * HELD, there is no such error, because its owner vanished.
     */
    static final String PARK_IN_DOUBT = """
            UPDATE {table} AS claim
            SET status = 'PARKED', parked_at = pg_catalog.clock_timestamp(), in_doubt = true,
                error = CASE WHEN claim.status {=} 'RELEASED' THEN claim.error ELSE 'its owner vanished' END
            FROM (SELECT w.*, free.*
                  FROM unnest((SELECT ?::pg_catalog.text[]), (SELECT ?::pg_catalog.text[]), (SELECT ?::pg_catalog.uuid[]), (SELECT ?::pg_catalog.text[]),
                              (SELECT ?::pg_catalog.uuid[])) AS w (scope, key, held_id, status, claim_id)
            """ + PLACE;

    private final Supplier<String> takeOver;
    private final Supplier<String> complete;
    private final Supplier<String> parkInDoubt;
    private final Duration retention;

    /**
     * @param around completes each statement with the settings of its transaction, for example
     *     {@link Statements#within}. The settings are subqueries that come first, and have one row
     */
    public Takeovers(ClaimTable table, UnaryOperator<String> around) {
        this.takeOver = table.later(around.apply(TAKE_OVER));
        this.complete = table.later(around.apply(COMPLETE));
        this.parkInDoubt = table.later(around.apply(PARK_IN_DOUBT));
        this.retention = table.retention();
    }

    /**
     * Takes over keys in one round trip.
     *
     * @param free each key once, in key order, so that two batches do not deadlock; may be empty
     * @return the ids of the claims that acquired their key
     */
    Set<UUID> takeOver(Connection connection, List<KeyWrite> free) throws SQLException {
        return Statements.write(connection, takeOver.get(), free, parameters -> {
            bindPlaces(parameters, free);
            bindClaims(parameters, free);
            parameters.longs(free, key -> Statements.micros(key.request().lease()));
            parameters.longs(free, key -> Statements.micros(key.request().retentionOr(retention)));
        });
    }

    /**
     * Completes keys in one round trip.
     *
     * @param free each key once, in key order; may be empty
     * @param transaction PostgreSQL's id of the transaction in which the work ran
     * @param results the result of each claim
     * @return the ids of the claims whose keys were completed
     */
    public Set<UUID> complete(
            Connection connection, List<KeyWrite> free, String transaction, Map<ClaimId, String> results)
            throws SQLException {
        return Statements.write(connection, complete.get(), free, parameters -> {
            parameters.values(transaction);
            bindPlaces(parameters, free);
            bindClaims(parameters, free);
            parameters.longs(free, key -> Statements.micros(key.request().retentionOr(retention)));
            parameters.texts(free, key -> results.get(key.request().id()));
        });
    }

    /**
     * Parks keys in doubt in one round trip.
     *
     * @param inDoubt each key once, in key order; may be empty
     * @return the ids of the claims whose keys were parked
     */
    public Set<UUID> parkInDoubt(Connection connection, List<KeyWrite> inDoubt) throws SQLException {
        return Statements.write(connection, parkInDoubt.get(), inDoubt, parameters -> bindPlaces(parameters, inDoubt));
    }

    private static void bindClaims(Parameters parameters, List<KeyWrite> free) throws SQLException {
        parameters.texts(free, key -> key.request().owner());
        parameters.longs(free, key -> (long) key.decision().claim().attempt());
        parameters.longs(free, key -> key.decision().claim().fencingToken());
        parameters.booleans(free, key -> key.decision().claim().inDoubt());
        parameters.texts(free, key -> key.request().fingerprint());
    }

    private static void bindPlaces(Parameters parameters, List<KeyWrite> free) throws SQLException {
        parameters.keys(free, key -> key.request().key());
        parameters.uuids(free, key -> key.row().claimId());
        parameters.texts(free, key -> key.row().status().name());
        parameters.uuids(free, key -> key.request().claimId());
    }
}
