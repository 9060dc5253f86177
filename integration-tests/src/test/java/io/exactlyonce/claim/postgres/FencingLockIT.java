package io.exactlyonce.claim.postgres;

import static io.exactlyonce.claim.postgres.schema.TestDatabase.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.claim.postgres.schema.TestDatabase;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Real transactions, paused between their fence, their writes and their commit. */
@Timeout(30)
class FencingLockIT {

    private static final int CONNECTIONS = 4;
    private static final TestDatabase DATABASE = new TestDatabase(CONNECTIONS);

    static {
        DATABASE.jdbc().execute("CREATE TABLE shipment (id text)");
    }

    private final PostgresClaimStore store = DATABASE.store();
    private final TransactionTemplate application =
            new TransactionTemplate(new JdbcTransactionManager(DATABASE.application()));
    private final ClaimRequest request = request();
    private final ClaimId claim = request.id();

    @AfterAll
    static void close() {
        DATABASE.close();
    }

    private ClaimOutcome claim(ClaimRequest request) {
        return store.claim(List.of(request)).get(0);
    }

    private void ship() {
        DATABASE.jdbc().update("INSERT INTO shipment VALUES (?)", request.key().key());
    }

    private int shipments() {
        return DATABASE.jdbc()
                .queryForList(
                        "SELECT id FROM shipment WHERE id = ?", request.key().key())
                .size();
    }

    /** A worker's transaction that ships and is then paused, with or without a fence before the pause. */
    private final class PausedWorker implements AutoCloseable {
        private final CountDownLatch paused = new CountDownLatch(1);
        private final CountDownLatch goOn = new CountDownLatch(1);
        private final CompletableFuture<Boolean> held;

        PausedWorker(boolean fencedBefore) throws InterruptedException {
            held = CompletableFuture.supplyAsync(
                    () -> application.execute(status -> work(fencedBefore)), command -> new Thread(command).start());
            assertThat(paused.await(20, TimeUnit.SECONDS)).isTrue();
        }

        /** Fences as Claim does, whose exception would roll the transaction back. */
        private boolean work(boolean fencedBefore) {
            if (fencedBefore) {
                requireHeld();
            }
            ship();
            paused.countDown();
            try {
                goOn.await();
            } catch (InterruptedException impossible) {
                throw new IllegalStateException(impossible);
            }
            if (!fencedBefore) {
                requireHeld();
            }
            return true;
        }

        private void requireHeld() {
            if (!store.fence(claim)) {
                throw new IllegalStateException("lost");
            }
        }

        CompletableFuture<Boolean> goOn() {
            goOn.countDown();
            return held;
        }

        @Override
        public void close() {
            goOn.countDown();
            held.handle((ignored, failure) -> null).join();
        }
    }

    @Test
    void zombieWhoseClaimWasTakenOverCannotCommit() throws Exception {
        claim(request);
        try (PausedWorker zombie = new PausedWorker(false)) {
            DATABASE.endLease(claim);
            assertThat(claim(request(request.key()))).isInstanceOf(Acquired.class);

            assertThatThrownBy(() -> zombie.goOn().get(20, TimeUnit.SECONDS)).hasMessageContaining("lost");
        }
        assertThat(shipments()).isZero();
    }

    @Test
    void takeoverOfAFencedClaimIsHeldElsewhereUntilTheTransactionEnds() throws Exception {
        claim(request);
        try (PausedWorker zombie = new PausedWorker(true)) {
            DATABASE.endLease(claim);

            assertThat(claim(request(request.key()))).isEqualTo(new HeldElsewhere(Duration.ZERO));
            zombie.goOn().get(20, TimeUnit.SECONDS);
        }
        assertThat(shipments()).isEqualTo(1);
        assertThat(claim(request(request.key())))
                .isInstanceOfSatisfying(
                        Acquired.class,
                        acquired -> assertThat(acquired.inDoubt()).isTrue());
    }

    /** The server ends the session of a vanished process, which the test does by itself. */
    @Test
    void deadWorkersTransactionLeavesNeitherItsWritesNorItsFence() throws Exception {
        claim(request);
        try (PausedWorker worker = new PausedWorker(true)) {
            DATABASE.endLease(claim);
            DATABASE.jdbc().queryForList("""
                    SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
                    WHERE datname = current_database() AND state = 'idle in transaction'
                    """);

            assertThat(claim(request(request.key()))).isInstanceOf(Acquired.class);
            assertThatThrownBy(() -> worker.goOn().get(20, TimeUnit.SECONDS)).isNotNull();
        }
        assertThat(shipments()).isZero();
    }

    @Test
    void fencedClaimDoesNotHoldUpTheOthersOfABatch() throws Exception {
        ClaimRequest expired = request();
        claim(request);
        claim(expired);
        try (PausedWorker zombie = new PausedWorker(true)) {
            DATABASE.endLease(claim);
            DATABASE.endLease(expired.id());

            List<ClaimOutcome> outcomes =
                    store.claim(List.of(request(), request(request.key()), request(expired.key())));

            assertThat(outcomes)
                    .extracting(Object::getClass)
                    .containsExactly(Acquired.class, HeldElsewhere.class, Acquired.class);
            zombie.goOn().get(20, TimeUnit.SECONDS);
        }
    }

    @Test
    void ownersRenewalAndCompletionGoThroughItsFence() throws Exception {
        ClaimRequest neighbour = request();
        claim(request);
        claim(neighbour);
        try (PausedWorker holder = new PausedWorker(true)) {
            Duration lease = Duration.ofMinutes(1);
            assertThat(store.renew(List.of(new LeaseRenewal(claim, lease), new LeaseRenewal(neighbour.id(), lease)))
                            .granted())
                    .containsExactlyInAnyOrder(claim, neighbour.id());
            assertThat(store.resolve(List.of(
                                    new ClaimResolution.Completed(claim, "1"),
                                    new ClaimResolution.Completed(neighbour.id(), "2")))
                            .granted())
                    .containsExactlyInAnyOrder(claim, neighbour.id());
            assertThat(holder.goOn().get(20, TimeUnit.SECONDS)).isTrue();
        }
        assertThat(shipments()).isEqualTo(1);
    }

    /** A renewal writes a new version of the row. The fence must lock that version, too. */
    @Test
    void fenceSurvivesARenewal() throws Exception {
        claim(request);
        try (PausedWorker zombie = new PausedWorker(true)) {
            store.renew(List.of(new LeaseRenewal(claim, Duration.ofMinutes(1))));
            DATABASE.endLease(claim);

            assertThat(claim(request(request.key()))).isInstanceOf(HeldElsewhere.class);
            zombie.goOn().get(20, TimeUnit.SECONDS);
        }
    }

    @Test
    void releaseGoesThroughTheFenceAndLeavesTheKeyUnclaimableUntilItsEnd() throws Exception {
        claim(request);
        try (PausedWorker holder = new PausedWorker(true)) {
            assertThat(store.resolve(List.of(new ClaimResolution.Released(claim, "failed", false)))
                            .granted())
                    .containsExactly(claim);
            assertThat(claim(request(request.key()))).isInstanceOf(HeldElsewhere.class);
            holder.goOn().get(20, TimeUnit.SECONDS);
        }
        assertThat(claim(request(request.key()))).isInstanceOf(Acquired.class);
    }

    @Test
    void completedClaimIsNotHeld() {
        claim(request);
        store.resolve(List.of(new ClaimResolution.Completed(claim, null)));

        assertThat(application.<Boolean>execute(status -> store.fence(claim))).isFalse();
    }

    @Test
    void fenceWithoutATransactionIsRefused() {
        claim(request);

        assertThatThrownBy(() -> store.fence(claim))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("without a transaction")
                .hasMessageContaining("@Transactional");
    }

    @Test
    void fenceInATransactionOfAnotherDatabaseIsRefused() {
        claim(request);
        try (TestDatabase other = new TestDatabase(2)) {
            TransactionTemplate elsewhere = new TransactionTemplate(new JdbcTransactionManager(other.application()));

            for (int attempt = 0; attempt < 2; attempt++) {
                assertThatThrownBy(() -> elsewhere.execute(status -> store.fence(claim)))
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("of another database")
                        .hasMessageContaining("claims are kept in database");
            }
        }
    }

    @Test
    void fenceFindsTheClaimsDatabaseAmongSeveralOpenTransactions() {
        claim(request);
        try (TestDatabase other = new TestDatabase(2)) {
            TransactionTemplate elsewhere = new TransactionTemplate(new JdbcTransactionManager(other.application()));

            assertThat(elsewhere.<Boolean>execute(outer -> application.<Boolean>execute(inner -> store.fence(claim))))
                    .isTrue();
        }
    }
}
