package io.exactlyonce.claim.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.ParkedClaim;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.claim.postgres.schema.TestDatabase;
import io.exactlyonce.claim.postgres.schema.TestDatabase.Layout;
import io.exactlyonce.postgres.SynchronousCommit;
import io.exactlyonce.testing.RoundTrips;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.transaction.support.TransactionTemplate;

/** Facts about parked claims that only PostgreSQL's rows show. */
class PostgresParkedClaimsIT {

    private static final int CONNECTIONS = 4;
    private static final TestDatabase DATABASE = new TestDatabase(CONNECTIONS);

    private final ClaimStore store =
            new PostgresClaimStore(new ClaimTable(DATABASE.pool(), Duration.ofHours(1), SynchronousCommit.ON));
    private final ParkedClaims parked = new PostgresParkedClaims(DATABASE.table());

    @AfterAll
    static void close() {
        DATABASE.close();
    }

    @Test
    void decisionBeginsTheRetentionAnew() {
        ClaimRequest released = parkedClaim();
        ClaimRequest completed = parkedClaim();

        parked.release(released.id());
        parked.complete(new ClaimResolution.Completed(completed.id(), null));

        assertThat(daysLeft(released)).isEqualTo(13);
        assertThat(daysLeft(completed)).isEqualTo(13);
    }

    @Test
    void listContinuesAfterAClaim() {
        ClaimRequest first = parkedClaim();
        ClaimRequest second = parkedClaim();

        ParkedClaim seen = parked.find(first.key()).orElseThrow();

        assertThat(parked.list(null, 1_000)).extracting(ParkedClaim::claimId).contains(first.claimId());
        assertThat(parked.list(seen, 1_000)).extracting(ParkedClaim::claimId).containsExactly(second.claimId());
        assertThat(parked.release(first.id())).isTrue();
        assertThat(parked.release(first.id())).isFalse();
    }

    @Test
    void decisionForAnEarlierParkingChangesNothing() {
        ClaimRequest earlier = parkedClaim();
        parked.release(earlier.id());
        ClaimRequest later = TestDatabase.request(earlier.key());
        store.claim(List.of(later));
        store.resolve(List.of(new ClaimResolution.Parked(later.id(), "again", false)));

        assertThat(parked.release(earlier.id())).isFalse();
        assertThat(parked.complete(new ClaimResolution.Completed(earlier.id(), "1")))
                .isFalse();

        assertThat(parked.find(later.key())).map(ParkedClaim::claimId).hasValue(later.claimId());
    }

    /**
     * A second try would find the key decided, but not by which decision. The refusal would then blame another
     * decision.
     */
    @Test
    void decisionWhoseCommitGotNoReplyIsNotCalledAnothers() {
        ClaimRequest released = parkedClaim();
        ClaimRequest completed = parkedClaim();

        assertThatThrownBy(() -> losingAReply().release(released.id()))
                .isInstanceOf(ClaimStoreUnavailableException.class);
        assertThatThrownBy(() -> losingAReply().complete(new ClaimResolution.Completed(completed.id(), null)))
                .isInstanceOf(ClaimStoreUnavailableException.class);

        assertThat(DATABASE.row(released.key())).containsEntry("status", "RELEASED");
        assertThat(DATABASE.row(completed.key())).containsEntry("status", "COMPLETED");
    }

    private static ParkedClaims losingAReply() {
        return new PostgresParkedClaims(TestDatabase.table(new LosesFirstReply(DATABASE.pool())));
    }

    /** The settings before the statement count as a statement, too. */
    @Test
    void decisionsOnAThousandKeysAreOneStatementEach() {
        List<ClaimId> seen = parkedClaims(1_000);
        assertThat(parked.list(null, 1)).as("the table is looked up once").hasSize(1);

        try (RoundTrips trips = RoundTrips.count()) {
            assertThat(parked.releaseAll(seen.subList(0, 500))).hasSize(500);
            assertThat(parked.completeAll(completions(seen))).hasSize(500);

            assertThat(trips.total()).isEqualTo(2);
            assertThat(trips.statements()).isEqualTo(4);
        }
    }

    /** Both decisions lock the rows in the order of their keys. The second one waits, and no deadlock occurs. */
    @Test
    void operatorsWhoDecideOnTheSameKeysDecideOnEachOnce() throws Exception {
        List<ClaimId> seen = parkedClaims(300);
        List<ClaimId> backwards = new ArrayList<>(seen);
        Collections.reverse(backwards);
        ParkedClaims other = new PostgresParkedClaims(DATABASE.table());

        CompletableFuture<Set<ClaimId>> completed =
                CompletableFuture.supplyAsync(() -> other.completeAll(completions(backwards)));
        Set<ClaimId> released = parked.releaseAll(seen);

        assertThat(Collections.disjoint(released, completed.get())).isTrue();
        assertThat(released.size() + completed.get().size()).isEqualTo(300);
    }

    /** A long lock must not look like the decision of another operator. */
    @Test
    void decisionOnARowThatStaysLockedFailsAndDecidesNothing() {
        List<ClaimId> seen = parkedClaims(2);

        new TransactionTemplate(new DataSourceTransactionManager(DATABASE.pool())).executeWithoutResult(open -> {
            new JdbcTemplate(DATABASE.pool())
                    .queryForList(
                            "SELECT 1 FROM exactly_once_claim WHERE claim_id = ? FOR UPDATE",
                            seen.get(0).value());
            assertThatThrownBy(() -> parked.releaseAll(seen)).isInstanceOf(ClaimStoreUnavailableException.class);
        });

        assertThat(parked.releaseAll(seen)).hasSize(2);
    }

    private List<ClaimId> parkedClaims(int count) {
        List<ClaimRequest> requests =
                Stream.generate(TestDatabase::request).limit(count).toList();
        store.claim(requests);
        store.resolve(requests.stream()
                .map(request -> new ClaimResolution.Parked(request.id(), "told to", true))
                .toList());
        return requests.stream().map(ClaimRequest::id).toList();
    }

    private static List<ClaimResolution.Completed> completions(List<ClaimId> claims) {
        return claims.stream()
                .map(claim -> new ClaimResolution.Completed(claim, null))
                .toList();
    }

    /** Parked rows are scattered over the table, and each costs a page. A list of 100 must not read all of them. */
    @Test
    void listReadsNoMoreParkedClaimsThanItReturns() {
        try (TestDatabase database = new TestDatabase(1, Layout.PLAIN)) {
            JdbcTemplate session = new JdbcTemplate(new SingleConnectionDataSource(database.newConnection(), true));
            session.execute("""
                    INSERT INTO exactly_once_claim (scope, key, status, claim_id, owner, attempt, fencing_token, in_doubt,
                                                    lease_until, first_claimed_at, claimed_at, parked_at, expires_at)
                    SELECT 'orders', n::text, CASE WHEN parked THEN 'PARKED' ELSE 'COMPLETED' END, gen_random_uuid(),
                           'worker', 1, 1, parked, now(), now(), now(),
                           CASE WHEN parked THEN now() - n * interval '1 millisecond' END, now() + interval '1 day'
                    FROM (SELECT n, n % 100 = 0 AS parked FROM generate_series(1, 200000) AS n ORDER BY random()) AS claims
                    """);
            session.execute("VACUUM ANALYZE exactly_once_claim");
            session.execute("SET enable_seqscan = off");
            String plan = String.join(
                    "\n",
                    session.queryForList(
                            "EXPLAIN (ANALYZE, TIMING OFF) " + database.table().sql(PostgresParkedClaims.LIST),
                            String.class,
                            0L,
                            0L,
                            "",
                            "",
                            100));

            assertThat(plan).containsPattern("Index Scan using exactly_once_claim_parked_at.*actual rows=101[. ]");
        }
    }

    private ClaimRequest parkedClaim() {
        ClaimRequest request = TestDatabase.request();
        store.claim(List.of(request));
        store.resolve(List.of(new ClaimResolution.Parked(request.id(), "told to", true)));
        return request;
    }

    private static int daysLeft(ClaimRequest request) {
        Integer days = DATABASE.jdbc()
                .queryForObject(
                        "SELECT extract(day FROM expires_at - clock_timestamp())::int FROM exactly_once_claim"
                                + " WHERE claim_id = ?",
                        Integer.class,
                        request.claimId());
        return days == null ? 0 : days;
    }
}
