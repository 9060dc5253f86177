package io.exactlyonce.claim.postgres;

import static io.exactlyonce.claim.postgres.schema.TestDatabase.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.claim.postgres.schema.TestDatabase;
import io.exactlyonce.postgres.SynchronousCommit;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.time.NanoClock;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** The claims that a sweep deletes and keeps, and the statements that it uses. */
@Timeout(60)
@ExtendWith(OutputCaptureExtension.class)
class RetentionIT {

    private static final int CONNECTIONS = 4;

    /** Each test sweeps a table of its own. */
    private final TestDatabase database = new TestDatabase(CONNECTIONS);

    private final PostgresClaimStore store = database.store();
    private final RecordedSweeps sweeps = new RecordedSweeps();
    private final List<Duration> pauses = new ArrayList<>();

    @AfterEach
    void close() {
        database.close();
    }

    @Test
    void completedClaimIsKeptForTheRetentionCountedFromItsCompletion() throws Exception {
        ClaimRequest claim = completed();
        assertKeptAt(claim, "14 days - 1 minute");
        assertDeletedAfter(claim, "2 minutes");
    }

    @Test
    void completionThatCameLateCountsAndNotItsClaim() throws Exception {
        ClaimRequest claim = completed();
        age(claim, "14 days + 5 hours");
        database.jdbc()
                .update(
                        "UPDATE exactly_once_claim SET completed_at = claimed_at + interval '6 hours' WHERE claim_id = ?",
                        claim.claimId());
        assertKept(claim);
        assertDeletedAfter(claim, "61 minutes");
    }

    @Test
    void claimIsKeptForTheRetentionOfItsRequest() throws Exception {
        ClaimRequest released = held();
        store.resolve(List.of(new ClaimResolution.Released(released.id(), "failed", false)));
        ClaimKey never = new ClaimKey("orders", UUID.randomUUID().toString());

        for (ClaimKey key : List.of(released.key(), never)) {
            ClaimRequest longer = new ClaimRequest(
                    new ClaimId(key, UUID.randomUUID()),
                    "worker",
                    Duration.ofSeconds(30),
                    ClaimRequest.InDoubt.TAKE_OVER,
                    null,
                    Duration.ofDays(30));
            store.claim(List.of(longer));
            store.resolve(List.of(new ClaimResolution.Completed(longer.id(), null)));

            assertKeptAt(longer, "30 days - 1 minute");
            assertDeletedAfter(longer, "2 minutes");
        }
    }

    @Test
    void releasedClaimIsKeptForTheRetention() throws Exception {
        ClaimRequest claim = held();
        store.resolve(List.of(new ClaimResolution.Released(claim.id(), "failed", true)));
        assertKeptAt(claim, "14 days - 1 minute");
        assertDeletedAfter(claim, "2 minutes");
    }

    @Test
    void claimThatIsHeldIsNeverDeletedHoweverOldItIs() throws Exception {
        ClaimRequest claim = held();
        age(claim, "15 days");
        store.renew(List.of(new LeaseRenewal(claim.id(), Duration.ofMinutes(1))));
        sweep();

        assertThat(exists(claim)).isTrue();
        assertThat(store.resolve(List.of(new ClaimResolution.Completed(claim.id(), "1")))
                        .granted())
                .containsExactly(claim.id());
    }

    @Test
    void claimWhoseOwnerVanishedIsKeptForTheRetentionFromTheEndOfItsLease() throws Exception {
        ClaimRequest claim = held();
        assertKeptAt(claim, "14 days + 30 seconds");
        assertDeletedAfter(claim, "1 minute");
    }

    @Test
    void parkedClaimIsNeverDeleted() throws Exception {
        ClaimRequest claim = held();
        store.resolve(List.of(new ClaimResolution.Parked(claim.id(), "to be decided", false)));
        assertKeptAt(claim, "1000 days");
    }

    @Test
    void claimThatAPersonReleasedIsNotParkedAnyMoreAndExpiresLikeAnyOther() throws Exception {
        ClaimRequest claim = held();
        store.resolve(List.of(new ClaimResolution.Parked(claim.id(), "to be decided", false)));
        new PostgresParkedClaims(database.table()).release(claim.id());
        assertKept(claim);
        assertDeletedAfter(claim, "15 days");
    }

    /** If the database's time zone has daylight saving time, two days a year have 23 or 25 hours. */
    @Test
    void retentionIsCountedInHoursWhateverTheSessionsTimeZone() throws Exception {
        database.jdbc()
                .execute("DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET timezone = ''Europe/Berlin''',"
                        + " current_database()); END $$");
        ClaimRequest claim = completed();
        database.jdbc()
                .update("UPDATE exactly_once_claim SET claimed_at = '2026-03-20 12:00Z', completed_at ="
                        + " '2026-03-20 12:00:01Z', expires_at = '2026-04-03 12:00Z'");
        String delete = database.table().sql(Retention.DELETE);
        String deletable = "SELECT count(*) FROM ("
                + delete.substring(delete.indexOf("SELECT c.ctid"), delete.indexOf("ORDER BY"))
                        .replace("(SELECT mine FROM turn) AND", "")
                + ") AS found";
        try (Connection berlin = database.newConnection();
                Statement statement = berlin.createStatement()) {
            assertThat(count(statement, deletable, "2026-04-03 12:00:00.5Z")).isZero();
            assertThat(count(statement, deletable, "2026-04-03 12:00:01Z")).isOne();
        }
        assertThat(exists(claim)).isTrue();
    }

    private static int count(Statement statement, String sql, String now) throws Exception {
        String fixed = sql.replace("now()", "timestamptz '" + now + "'").replace("?", "'-infinity'");
        try (var result = statement.executeQuery(fixed)) {
            result.next();
            return result.getInt(1);
        }
    }

    @Test
    void claimExpiresByTheRetentionUnderWhichItWasMade() throws Exception {
        var shortTerm =
                new PostgresClaimStore(new ClaimTable(database.pool(), Duration.ofDays(1), SynchronousCommit.ON));
        ClaimRequest brief = request();
        ClaimRequest kept = completed();
        shortTerm.claim(List.of(brief));
        shortTerm.resolve(List.of(new ClaimResolution.Completed(brief.id(), "1")));
        age(brief, "2 days");
        age(kept, "2 days");

        sweep();

        assertThat(exists(brief)).isFalse();
        assertThat(exists(kept)).isTrue();
    }

    @Test
    void takeoverStartsTheRetentionAgain() throws Exception {
        ClaimRequest crashed = request();
        store.claim(List.of(crashed));
        age(crashed, "13 days");
        ClaimRequest successor = request(crashed.key());
        store.claim(List.of(successor));
        store.resolve(List.of(new ClaimResolution.Completed(successor.id(), "1")));
        age(successor, "13 days");

        sweep();

        assertThat(exists(successor)).isTrue();
    }

    @Test
    void deletedKeyIsClaimedAsNewWithAHigherToken() throws Exception {
        ClaimRequest first = request();
        Acquired before = (Acquired) store.claim(List.of(first)).get(0);
        store.resolve(List.of(new ClaimResolution.Completed(first.id(), "1")));
        age(first, "15 days");
        sweep();

        ClaimOutcome after = store.claim(List.of(request(first.key()))).get(0);

        assertThat(after).isInstanceOfSatisfying(Acquired.class, acquired -> {
            assertThat(acquired.attempt()).isOne();
            assertThat(acquired.inDoubt()).isFalse();
            assertThat(acquired.fencingToken()).isGreaterThan(before.fencingToken());
        });
    }

    @Test
    void oneTransactionDeletesOneBatchAndAPauseAsLongFollows() throws Exception {
        expired(25);
        AtomicLong clock = new AtomicLong(Long.MAX_VALUE - 3);

        retention(10, () -> clock.getAndAdd(1)).sweep();

        assertThat(sweeps.batches).containsExactly(10, 10, 5);
        assertThat(pauses).containsExactly(Duration.ofNanos(1), Duration.ofNanos(1));
        assertThat(sweeps.sweeps).containsExactly(Duration.ofNanos(6));
    }

    /** All rows of one claim batch have the same age, and they are more than one sweep deletes at once. */
    @Test
    void rowsOfTheSameMomentAreAllDeleted() throws Exception {
        expired(250);

        retention(7).sweep();

        assertThat(sweeps.deleted()).isEqualTo(250);
    }

    @Test
    void rowThatAnotherTransactionWorksOnIsLeftForLater() throws Exception {
        List<ClaimRequest> claims = expired(3);
        try (Connection busy = database.newConnection()) {
            busy.setAutoCommit(false);
            try (var lock = busy.prepareStatement("SELECT 1 FROM exactly_once_claim WHERE claim_id = ? FOR UPDATE")) {
                lock.setObject(1, claims.get(1).claimId());
                lock.executeQuery();
            }
            sweep();
            busy.rollback();
        }
        assertThat(sweeps.batches).containsExactly(2);
        assertThat(exists(claims.get(1))).isTrue();

        sweep();
        assertThat(exists(claims.get(1))).isFalse();
    }

    @Test
    void instanceWaitsForItsTurnWhileAnotherDeletes() throws Exception {
        expired(3);
        try (Connection other = database.newConnection()) {
            other.setAutoCommit(false);
            try (Statement statement = other.createStatement()) {
                statement.executeQuery(
                        "SELECT pg_try_advisory_xact_lock(731744120, to_regclass('exactly_once_claim')::oid::integer)");
            }
            sweep();
            assertThat(sweeps.batches).isEmpty();
            assertThat(sweeps.sweeps).isEmpty();
            assertThat(sweeps.oldest).as("still looks").hasSize(1);
        } // the other one dies
        await().untilAsserted(() -> {
            sweep();
            assertThat(sweeps.deleted()).isEqualTo(3);
        });
    }

    @Test
    void oldestClaimIsReportedByItsAge() throws Exception {
        age(completed(), "3 days");
        completed();

        sweep();

        assertThat(sweeps.oldest.get(0))
                .isBetween(Duration.ofDays(3), Duration.ofDays(3).plusMinutes(5));
    }

    @Test
    void interruptEndsTheSweepBetweenTwoBatches() throws Exception {
        expired(25);
        var retention = new Retention(database.table(), 10, List.of(sweeps), System::nanoTime, length -> {
            throw new InterruptedException();
        });

        retention.sweep();

        assertThat(Thread.interrupted()).isTrue();

        assertThat(sweeps.batches).containsExactly(10);
        assertThat(sweeps.failures).isZero();
    }

    @Test
    void outageIsReportedOnceAndItsEndToo(CapturedOutput output) throws Exception {
        expired(3);
        Retention retention = retention(10);
        EmbeddedDatabase.shared().disconnect(database.url());
        retention.sweep();
        retention.sweep();
        EmbeddedDatabase.shared().reconnect(database.url());

        await().untilAsserted(() -> {
            retention.sweep();
            assertThat(sweeps.deleted()).isEqualTo(3);
        });

        assertThat(sweeps.failures).isGreaterThanOrEqualTo(2);
        assertThat(output.getOut().split("Expired claims could not be deleted", -1))
                .hasSize(2);
        assertThat(output).doesNotContain("GRANT DELETE");
        assertThat(output.getOut().split("Expired claims are deleted again", -1))
                .hasSize(2);
    }

    @Test
    void observerThatFailsStopsNothing() throws Exception {
        expired(25);
        RetentionObserver broken = new RetentionObserver() {
            @Override
            public void deleted(int claims) {
                throw new IllegalStateException("broken");
            }
        };

        new Retention(database.table(), 10, List.of(broken, sweeps), System::nanoTime, length -> {}).sweep();

        assertThat(sweeps.deleted()).isEqualTo(25);
    }

    private List<ClaimRequest> expired(int count) {
        List<ClaimRequest> claims =
                Stream.generate(TestDatabase::request).limit(count).toList();
        store.claim(claims);
        store.resolve(claims.stream()
                .map(claim -> new ClaimResolution.Completed(claim.id(), "1"))
                .toList());
        claims.forEach(claim -> age(claim, "15 days"));
        return claims;
    }

    private ClaimRequest held() {
        ClaimRequest claim = request();
        store.claim(List.of(claim));
        return claim;
    }

    private void assertKeptAt(ClaimRequest claim, String age) {
        age(claim, age);
        assertKept(claim);
    }

    private void assertKept(ClaimRequest claim) {
        sweep();
        assertThat(exists(claim)).isTrue();
    }

    private void assertDeletedAfter(ClaimRequest claim, String longer) {
        age(claim, longer);
        sweep();
        assertThat(exists(claim)).isFalse();
    }

    private ClaimRequest completed() {
        ClaimRequest claim = held();
        store.resolve(List.of(new ClaimResolution.Completed(claim.id(), "1")));
        return claim;
    }

    /** Lets time pass for one claim. */
    private void age(ClaimRequest claim, String interval) {
        database.jdbc()
                .update(
                        "UPDATE exactly_once_claim SET first_claimed_at = first_claimed_at - passed,"
                                + " claimed_at = claimed_at - passed, lease_until = lease_until - passed,"
                                + " completed_at = completed_at - passed, expires_at = expires_at - passed"
                                + " FROM (SELECT extract(epoch FROM (" + interval(interval)
                                + ")) * interval '1 second' AS passed) AS time WHERE claim_id = ?",
                        claim.claimId());
    }

    private static String interval(String sum) {
        return Stream.of(sum.split("(?= [+-] )"))
                .map(part -> part.replaceFirst("^( [+-] )?(.*)$", "$1interval '$2'"))
                .reduce("", String::concat);
    }

    private boolean exists(ClaimRequest claim) {
        return !database.jdbc()
                .queryForList("SELECT 1 FROM exactly_once_claim WHERE claim_id = ?", claim.claimId())
                .isEmpty();
    }

    private void sweep() {
        retention(100).sweep();
    }

    private Retention retention(int batchSize) {
        return retention(batchSize, System::nanoTime);
    }

    private Retention retention(int batchSize, NanoClock clock) {
        return new Retention(database.table(), batchSize, List.of(sweeps), clock, pauses::add);
    }
}
