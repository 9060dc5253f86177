package io.exactlyonce.claim.postgres.transaction;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimOutcome.Parked;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.postgres.ClaimRow;
import io.exactlyonce.claim.postgres.FreeRowUpdates;
import io.exactlyonce.claim.postgres.RequestedRow;
import io.exactlyonce.claim.postgres.jdbc.AdvisoryLock;
import io.exactlyonce.claim.postgres.jdbc.ArrayParameters;
import io.exactlyonce.claim.postgres.jdbc.SingleRoundTripQuery;
import io.exactlyonce.primary.SynchronousCommit;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Claims keys within a transaction of the application's own, as the claim store does in one of its own.
 *
 * <p>One statement takes the keys' advisory locks and makes their first claims; a second one reads the rows of earlier claims, if
 * there are any. Both may be run again in the same transaction, which has the locks already.
 */
final class TransactionalClaim {

    private static final int MAX_ROUNDS = 10;

    private static final String DURABILITIES = "'{off,local,remote_write,on,remote_apply}'::text[]";

    /**
     * {@code locked}: never waits. The arrays come from subqueries, so that the planner does not count their entries: it
     * would plan each run anew, for a number that the plan does not depend on. Beside the lock it sets that the transaction's
     * commit waits for what claims' commits wait for, whatever the database's own default, and never for less than the
     * application asks for itself; and marks the transaction until it ends: {@link TransactionalCompletion} asks for that.
     *
     * <p>{@code granted}: empty if no lock is granted, and then nothing is written or waited for. The clock is read after the
     * lock was taken, or a transaction that rolled back meanwhile might have had a higher fencing token.
     *
     * <p>The insert never waits for another transaction of this kind, which has the lock. It proves that the server is a
     * primary: a replica refuses the statement, also where no lock is granted.
     */
    static final String FIRST_CLAIMS = """
            INSERT INTO exactly_once_claim (scope, key, status, claim_id, owner, attempt, fencing_token, ambiguous,
                                            fingerprint, lease_until, first_claimed_at, claimed_at, expires_at)
            SELECT granted.scope, granted.key, 'HELD', granted.claim_id, granted.owner, 1,
                   (extract(epoch FROM granted.reading) * 1000000)::bigint, false, decode(granted.fingerprint, 'hex'),
                   granted.reading + granted.lease_micros * interval '1 microsecond', granted.reading, granted.reading,
                   granted.reading + ? * interval '1 microsecond'
            FROM (
                SELECT locked.*, clock_timestamp() AS reading
                FROM (
                    SELECT wanted.*, pg_try_advisory_xact_lock(wanted.number) AS taken,
                           set_config('synchronous_commit',
                               CASE WHEN coalesce(array_position(%1$s, current_setting('synchronous_commit')), 0)
                                         < array_position(%1$s, ?)
                                    THEN ? ELSE current_setting('synchronous_commit') END, true) AS durability,
                           set_config('exactly_once.transaction', ?, true) AS transaction
                    FROM unnest((SELECT ?::bigint[]), (SELECT ?::text[]), (SELECT ?::text[]), (SELECT ?::uuid[]),
                                (SELECT ?::text[]), (SELECT ?::bigint[]), (SELECT ?::text[]))
                         WITH ORDINALITY AS wanted (number, scope, key, claim_id, owner, lease_micros, fingerprint, position)
                ) AS locked
                WHERE locked.taken
            ) AS granted
            ORDER BY granted.position
            ON CONFLICT (scope, key) DO NOTHING
            RETURNING claim_id, fencing_token
            """.formatted(DURABILITIES);

    /**
     * Of keys that were not inserted: whether the lock is this transaction's, and if so the row, as this statement's snapshot
     * shows it. The snapshot is younger than the insert, and older than a lock that is only granted now. A row that was
     * committed in between is missing, and one that was changed in between is seen as it was: a takeover checks that.
     */
    static final String EARLIER_CLAIMS = """
            SELECT locked.position, locked.taken, met.*
            FROM (
                SELECT wanted.*, pg_try_advisory_xact_lock(wanted.number) AS taken
                FROM unnest((SELECT ?::bigint[]), (SELECT ?::text[]), (SELECT ?::text[])) WITH ORDINALITY
                     AS wanted (number, scope, key, position)
            ) AS locked
            LEFT JOIN LATERAL (
                SELECT
            """ + ClaimRow.COLUMNS + """
                FROM exactly_once_claim AS c WHERE c.scope = locked.scope AND c.key = locked.key AND locked.taken OFFSET 0
            ) AS met ON true
            """;

    private final JdbcTemplate jdbc;
    private final SingleRoundTripQuery earlierClaims;
    private final FreeRowUpdates updates;
    private final long retentionMicros;
    private final String durability;

    TransactionalClaim(JdbcTemplate jdbc, Duration retention, SynchronousCommit synchronousCommit) {
        this.jdbc = jdbc;
        this.earlierClaims = SingleRoundTripQuery.within(jdbc, EARLIER_CLAIMS);
        this.updates = new FreeRowUpdates(jdbc, retention);
        this.retentionMicros = ArrayParameters.micros(retention);
        this.durability = synchronousCommit.setting();
    }

    /**
     * Decides in rounds, since another transaction may write, change or delete a key's row in between. First claims
     * and duplicates take one round.
     *
     * @param mark marks the transaction until it ends
     * @return one outcome for each request, in their order
     */
    List<ClaimOutcome> decide(List<ClaimRequest> requests, String mark) {
        List<RequestedRow> entries = requests.stream().map(RequestedRow::new).toList();
        List<RequestedRow> open = firstOfEachKey(entries);
        for (int round = 0; !open.isEmpty(); round++) {
            if (round == MAX_ROUNDS) {
                throw new ConcurrencyFailureException(
                        "%d of %d keys changed in each of %d rounds, so none was claimed: try again"
                                .formatted(open.size(), requests.size(), MAX_ROUNDS));
            }
            run(open, mark);
            write(open.stream().filter(RequestedRow::isOpen).toList());
            open = open.stream().filter(RequestedRow::isOpen).toList();
        }
        return entries.stream().map(RequestedRow::outcome).toList();
    }

    /** In key order, as all that write claims. A second request for a key finds it held by the first one. */
    private static List<RequestedRow> firstOfEachKey(List<RequestedRow> entries) {
        Map<ClaimKey, RequestedRow> first = new TreeMap<>();
        for (RequestedRow entry : entries) {
            if (first.putIfAbsent(entry.key(), entry) != null) {
                entry.decide(new HeldElsewhere(entry.request().lease()));
            }
        }
        return List.copyOf(first.values());
    }

    /** Takes over or parks rows that were met and are free; a row too young to be met is asked for again. */
    private void write(List<RequestedRow> open) {
        List<RequestedRow> free = open.stream().filter(RequestedRow::isMet).toList();
        free.stream()
                .filter(RequestedRow::isOutOfReach)
                .forEach(refused -> refused.decide(new HeldElsewhere(Duration.ZERO)));
        List<RequestedRow> contested =
                free.stream().filter(RequestedRow::isOpen).toList();
        contested.forEach(RequestedRow::contest);
        updates.takeOver(contested.stream().filter(row -> !row.mustBeParked()).toList())
                .forEach(won -> won.decide(won.row().next()));
        updates.parkInDoubt(
                        contested.stream().filter(RequestedRow::mustBeParked).toList())
                .forEach(parked -> parked.decide(new Parked()));
    }

    /** Decides what it can: first claims, and keys that are not free. Of a key that is free its row is noted. */
    private void run(List<RequestedRow> open, String mark) {
        Map<UUID, Long> tokens = new HashMap<>();
        jdbc.query(FIRST_CLAIMS, parameters -> bind(parameters, open, mark), row -> {
            tokens.put(row.getObject("claim_id", UUID.class), row.getLong("fencing_token"));
        });
        List<RequestedRow> earlier = new ArrayList<>();
        for (RequestedRow entry : open) {
            Long token = tokens.get(entry.request().claimId());
            if (token != null) {
                entry.decide(new Acquired(1, token, false));
            } else {
                earlier.add(entry);
            }
        }
        if (!earlier.isEmpty()) {
            earlierClaims.query(
                    parameters -> keys(parameters, 1, earlier),
                    row -> answer(row, earlier.get(row.getInt("position") - 1)));
        }
    }

    private void bind(PreparedStatement parameters, List<RequestedRow> open, String mark) throws SQLException {
        parameters.setLong(1, retentionMicros);
        parameters.setString(2, durability);
        parameters.setString(3, durability);
        parameters.setString(4, mark);
        keys(parameters, 5, open)
                .uuid(entry -> entry.request().claimId())
                .text(entry -> entry.request().owner())
                .bigint(entry -> ArrayParameters.micros(entry.request().lease()))
                .text(entry -> entry.request().fingerprint());
    }

    private static ArrayParameters<RequestedRow> keys(
            PreparedStatement parameters, int first, List<RequestedRow> entries) throws SQLException {
        return new ArrayParameters<>(parameters, first, entries)
                .bigint(entry -> AdvisoryLock.number(entry.key()))
                .text(entry -> entry.key().scope())
                .text(entry -> entry.key().key());
    }

    private static void answer(ResultSet row, RequestedRow entry) throws SQLException {
        if (!row.getBoolean("taken")) {
            // How long the holder will take is unknown: what a lease of our own would be is as good a guess as any.
            entry.decide(new HeldElsewhere(entry.request().lease()));
        } else if (row.getString("status") == null) {
            entry.missed();
        } else {
            ClaimRow found = ClaimRow.read(row, entry.key());
            entry.met(found);
            if (!found.isFree()) {
                entry.decide(found.refusal(entry.request()));
            }
        }
    }
}
