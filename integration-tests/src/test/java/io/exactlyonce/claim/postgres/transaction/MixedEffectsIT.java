package io.exactlyonce.claim.postgres.transaction;

import static io.exactlyonce.claim.postgres.schema.TestDatabase.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.KeyState;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.claim.postgres.PostgresClaimStore;
import io.exactlyonce.claim.postgres.schema.TestDatabase;
import io.exactlyonce.claim.transaction.ClaimTransaction;
import java.sql.Connection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.interceptor.DefaultTransactionAttribute;

/**
 * A scope that {@code EXTERNAL} and {@code DATABASE} listeners share. The row decides at the end of the transaction. An
 * effect therefore happens once, whatever claims of the other kind did while its handler ran.
 */
@Tag("postgres")
class MixedEffectsIT {

    private static final TestDatabase DATABASE = new TestDatabase(4);

    static {
        DATABASE.jdbc().execute("CREATE TABLE charge (id text)");
    }

    private final ClaimTransaction transaction = new TransactionCheck(
                    DATABASE.table(), new StaticListableBeanFactory(), false)
            .create(new JdbcTransactionManager(DATABASE.application()), new DefaultTransactionAttribute(), true);
    private final PostgresClaimStore external = DATABASE.store();
    private final ClaimRequest request = request();
    private final ClaimKey key = request.key();

    /** Changes of a free row while a handler works on its key. */
    private enum Change {
        COMPLETED(test -> test.end(new ClaimResolution.Completed(test.request.id(), "1"))),
        RENEWED(test -> assertThat(test.external
                        .renew(List.of(new LeaseRenewal(test.request.id(), test.request.lease())))
                        .granted())
                .hasSize(1)),
        RELEASED(test -> test.end(new ClaimResolution.Released(test.request.id(), "failed", false))),
        PARKED(test -> test.end(new ClaimResolution.Parked(test.request.id(), "failed", false))),
        TAKEN_OVER(test ->
                assertThat(test.external.claim(List.of(request(test.key)))).hasOnlyElementsOfType(Acquired.class)),
        DELETED_BY_RETENTION(test -> DATABASE.delete(test.key));

        private final Consumer<MixedEffectsIT> event;

        Change(Consumer<MixedEffectsIT> event) {
            this.event = event;
        }

        void make(MixedEffectsIT test) {
            event.accept(test);
        }
    }

    private void end(ClaimResolution resolution) {
        assertThat(external.resolve(List.of(resolution)).granted()).hasSize(1);
    }

    @AfterAll
    static void close() {
        DATABASE.close();
    }

    private void charge() {
        DATABASE.jdbc().update("INSERT INTO charge VALUES (?)", key.key());
    }

    private int charges() {
        return DATABASE.jdbc()
                .queryForList("SELECT id FROM charge WHERE id = ?", key.key())
                .size();
    }

    private void vanish() {
        external.claim(List.of(request));
        DATABASE.endLease(request.id());
    }

    private ClaimOutcome work(Runnable meanwhile) throws Exception {
        return transaction.execute(request(key), claim -> {
            charge();
            meanwhile.run();
            return "2";
        });
    }

    @Test
    void claimByTheStoreNeitherWaitsForATransactionNorIsOverwritten() throws Exception {
        assertThatThrownBy(() -> work(() -> assertThat(inAnotherThread(() -> external.claim(List.of(request))))
                        .hasOnlyElementsOfType(Acquired.class)))
                .isInstanceOf(ConcurrencyFailureException.class)
                .hasMessageContaining("listeners of one scope should have the same effects")
                .hasStackTraceContaining("rolled back")
                .satisfies(failure -> assertThat(failure).hasNoCause());

        assertThat(charges()).isZero();
        assertThat(DATABASE.row(key)).containsEntry("status", "HELD").containsEntry("claim_id", request.claimId());
        assertThat(work(() -> {})).as("comes again, and waits").isInstanceOf(HeldElsewhere.class);
        assertThat(external.resolve(List.of(new ClaimResolution.Completed(request.id(), "1")))
                        .granted())
                .hasSize(1);
        assertThat(work(() -> {})).isEqualTo(new AlreadyCompleted("1"));
    }

    @Test
    void keyOfABatchThatTheStoreClaimsRollsAllOfItBack() {
        ClaimRequest other = request();

        assertThatThrownBy(() -> transaction.execute(List.of(request(key), other), claimed -> {
                    charge();
                    assertThat(inAnotherThread(() -> external.claim(List.of(request))))
                            .hasOnlyElementsOfType(Acquired.class);
                    return Map.of();
                }))
                .isInstanceOf(ConcurrencyFailureException.class)
                .hasMessageNotContaining(key.key());

        assertThat(charges()).isZero();
        assertThat(external.claim(List.of(request(other.key())))).hasOnlyElementsOfType(Acquired.class);
    }

    @ParameterizedTest
    @EnumSource
    void freeRowThatChangesWhileTheHandlerWorksRollsItBack(Change change) {
        vanish();

        assertThatThrownBy(() -> work(() -> inAnotherThread(() -> {
                    change.make(this);
                    return true;
                })))
                .isInstanceOf(ConcurrencyFailureException.class);

        assertThat(charges()).isZero();
    }

    /** A zombie that has fenced a transaction causes this. No transaction waits for the end of another one. */
    @Test
    void freeRowThatAnotherTransactionHasLockedRollsTheHandlerBack() throws Exception {
        vanish();
        try (Connection zombie = DATABASE.newConnection()) {
            zombie.setAutoCommit(false);
            new JdbcTemplate(new SingleConnectionDataSource(zombie, true))
                    .queryForList("SELECT 1 FROM exactly_once_claim WHERE key = ? FOR KEY SHARE", key.key());

            assertThatThrownBy(() -> work(() -> {})).isInstanceOf(ConcurrencyFailureException.class);

            zombie.rollback();
        }
        assertThat(charges()).isZero();
        assertThat(work(() -> {})).isInstanceOf(Acquired.class);
        assertThat(charges()).isEqualTo(1);
    }

    /** The insert waits for the other write, up to the timeout of one statement. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void rowThatIsBeingWrittenDecidesOnceItIsCommitted(boolean committed) throws Exception {
        FutureTask<ClaimOutcome> claim;
        try (Connection other = DATABASE.newConnection()) {
            other.setAutoCommit(false);
            TestDatabase.insert(new JdbcTemplate(new SingleConnectionDataSource(other, true)), request.id());
            claim = begin(() -> work(() -> {}));
            await().until(() -> !DATABASE.jdbc()
                    .queryForList("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE"
                            + " 'INSERT INTO \"public\".\"exactly_once_claim\"%' AND datname = current_database()")
                    .isEmpty());
            if (committed) {
                other.commit();
            } else {
                other.rollback();
            }
        }

        Throwable failure = catchThrowable(() -> claim.get(20, TimeUnit.SECONDS));
        if (committed) {
            assertThat(failure).hasCauseInstanceOf(ConcurrencyFailureException.class);
            assertThat(charges()).isZero();
        } else {
            assertThat(claim.get()).isInstanceOf(Acquired.class);
            assertThat(charges()).isEqualTo(1);
        }
    }

    /** In both cases, a missing row and a free row, only the lock shows that the key is held. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void lookupOfAWaitingDuplicateSeesTheHandlerAtWorkAndThenTheCompletion(boolean there) throws Exception {
        if (there) {
            vanish();
        }

        assertThat(work(() -> assertThat(inAnotherThread(() -> external.peek(List.of(key))))
                        .containsEntry(key, KeyState.HELD)))
                .isInstanceOf(Acquired.class);

        assertThat(external.peek(List.of(key))).containsEntry(key, KeyState.completed(null));
    }

    private static <T> T inAnotherThread(ThrowingSupplier<T> action) {
        try {
            return begin(action).get(20, TimeUnit.SECONDS);
        } catch (Exception failure) {
            throw new AssertionError(failure);
        }
    }

    private static <T> FutureTask<T> begin(ThrowingSupplier<T> action) {
        FutureTask<T> task = new FutureTask<>(action::get);
        new Thread(task).start();
        return task;
    }

    @FunctionalInterface
    private interface ThrowingSupplier<T> {
        T get() throws Exception;
    }
}
