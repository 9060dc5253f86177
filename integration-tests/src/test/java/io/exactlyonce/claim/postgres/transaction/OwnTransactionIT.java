package io.exactlyonce.claim.postgres.transaction;

import static io.exactlyonce.claim.postgres.schema.TestDatabase.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.claim.postgres.schema.TestDatabase;
import io.exactlyonce.claim.transaction.ClaimTransaction;
import io.exactlyonce.claim.transaction.UnsupportedTransactionException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Date;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionTimedOutException;
import org.springframework.transaction.interceptor.DefaultTransactionAttribute;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The claim's transaction has the timeout, the isolation level and the labels of the handler's {@code @Transactional}.
 */
@Tag("postgres")
class OwnTransactionIT {

    private static final TestDatabase DATABASE = new TestDatabase(2);

    static {
        DATABASE.jdbc().execute("CREATE TABLE charge (id text)");
        DATABASE.jdbc().execute("CREATE TABLE slow (id text)");
        DATABASE.jdbc()
                .execute("CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS"
                        + " $$ BEGIN PERFORM pg_sleep(1.5); RETURN NULL; END $$");
        DATABASE.jdbc()
                .execute("CREATE CONSTRAINT TRIGGER waiting AFTER INSERT ON slow DEFERRABLE INITIALLY DEFERRED"
                        + " FOR EACH ROW EXECUTE FUNCTION wait()");
    }

    private final JdbcTransactionManager manager = new JdbcTransactionManager(DATABASE.application());
    private final DefaultTransactionAttribute own = new DefaultTransactionAttribute();
    private final ClaimRequest request = request();
    private final ClaimKey key = request.key();

    @AfterAll
    static void close() {
        DATABASE.close();
    }

    private ClaimTransaction transaction() {
        return transaction(manager);
    }

    private ClaimTransaction transaction(JdbcTransactionManager manager) {
        return new TransactionCheck(DATABASE.table(), new StaticListableBeanFactory(), false)
                .create(manager, own, true);
    }

    private void charge() {
        DATABASE.jdbc().update("INSERT INTO charge VALUES (?)", key.key());
    }

    private int charges() {
        return DATABASE.jdbc()
                .queryForList("SELECT id FROM charge WHERE id = ?", key.key())
                .size();
    }

    private void assertNothingHappenedAndTheNextAttemptIsFree() throws Throwable {
        assertThat(charges()).isZero();
        assertThat(DATABASE.jdbc().queryForList("SELECT 1 FROM exactly_once_claim WHERE key = ?", key.key()))
                .isEmpty();
        assertThat(transaction().execute(request(key), claim -> null)).isInstanceOf(Acquired.class);
    }

    private static void awaitDeadline() {
        ConnectionHolder connection = (ConnectionHolder)
                Objects.requireNonNull(TransactionSynchronizationManager.getResource(DATABASE.application()));
        await().until(() -> Objects.requireNonNull(connection.getDeadline()).before(new Date()));
    }

    /** Trap: a handler of 1.8 s with {@code @Transactional(timeout = 1)} was completed. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void handlerThatPassesItsDeadlineIsNotCompleted(boolean isOfTheManager) throws Throwable {
        if (isOfTheManager) {
            manager.setDefaultTimeout(1);
        } else {
            own.setTimeout(1);
        }

        assertThatThrownBy(() -> transaction().execute(request, claim -> {
                    charge();
                    awaitDeadline();
                    return null;
                }))
                .isInstanceOf(TransactionTimedOutException.class);

        assertNothingHappenedAndTheNextAttemptIsFree();
    }

    @Test
    void statementThatPassesTheDeadlineIsCancelled() throws Throwable {
        own.setTimeout(1);

        assertThatThrownBy(() -> transaction().execute(request, claim -> {
                    charge();
                    new JdbcTemplate(DATABASE.application()).execute("SELECT pg_sleep(20)");
                    return null;
                }))
                .isInstanceOf(QueryTimeoutException.class);

        assertNothingHappenedAndTheNextAttemptIsFree();
    }

    @Test
    void deadlineThatTheHandlerSwallowsIsPassedAllTheSame() throws Throwable {
        own.setTimeout(1);

        assertThatThrownBy(() -> transaction().execute(request, claim -> {
                    charge();
                    awaitDeadline();
                    assertThatThrownBy(this::charge).isInstanceOf(TransactionTimedOutException.class);
                    return null;
                }))
                .isInstanceOf(TransactionTimedOutException.class);

        assertNothingHappenedAndTheNextAttemptIsFree();
    }

    /** The handler was not called. The claim is repeated at once, and uses up no receive. */
    @Test
    void claimThatPassesTheDeadlineGotNoAnswer() throws Throwable {
        own.setTimeout(1);
        ClaimTransaction transaction = transaction();
        try (Connection other = locking("ACCESS EXCLUSIVE")) {
            assertThatThrownBy(() -> transaction.execute(request, claim -> {
                        throw new AssertionError("the work was called");
                    }))
                    .isInstanceOf(ClaimStoreUnavailableException.class)
                    .hasCauseInstanceOf(QueryTimeoutException.class);
            other.rollback();
        }

        assertNothingHappenedAndTheNextAttemptIsFree();
    }

    /** The attempt has failed, but no server is unavailable. */
    @Test
    void completionThatPassesTheDeadlineIsRolledBack() throws Throwable {
        own.setTimeout(1);
        List<Connection> others = new ArrayList<>();
        try {
            assertThatThrownBy(() -> transaction().execute(request, claim -> {
                        charge();
                        others.add(locking("SHARE"));
                        return null;
                    }))
                    .isInstanceOf(QueryTimeoutException.class);
        } finally {
            for (Connection other : others) {
                other.rollback();
                other.close();
            }
        }

        assertNothingHappenedAndTheNextAttemptIsFree();
    }

    private static Connection locking(String mode) throws SQLException {
        Connection other = DATABASE.application().getConnection();
        other.setAutoCommit(false);
        other.createStatement().execute("LOCK TABLE exactly_once_claim IN %s MODE".formatted(mode));
        return other;
    }

    /** A cancelled commit would no longer wait for replicas, so it is not sent with a statement that has a timeout. */
    @Test
    void commitIsNotCancelled() throws Throwable {
        own.setTimeout(1);

        assertThat(transaction().execute(request, claim -> {
                    charge();
                    new JdbcTemplate(DATABASE.application()).update("INSERT INTO slow VALUES (?)", key.key());
                    return null;
                }))
                .isInstanceOf(Acquired.class);

        assertThat(charges()).isEqualTo(1);
        assertThat(DATABASE.row(key)).containsEntry("status", "COMPLETED");
    }

    @Test
    void isolationLevelIsTheHandlersOwn() throws Throwable {
        own.setIsolationLevel(TransactionDefinition.ISOLATION_SERIALIZABLE);
        List<String> levels = new ArrayList<>();

        transaction().execute(request, claim -> {
            levels.add(new JdbcTemplate(DATABASE.application())
                    .queryForObject("SHOW transaction_isolation", String.class));
            return null;
        });

        assertThat(levels).containsExactly("serializable");
    }

    /** An application's own manager may choose a server by labels. */
    @Test
    void labelsReachTheManager() throws Throwable {
        List<Collection<String>> labels = new ArrayList<>();
        own.setLabels(List.of("slow"));
        @SuppressWarnings("serial")
        JdbcTransactionManager reading = new JdbcTransactionManager(DATABASE.application()) {
            @Override
            protected void doBegin(Object transaction, TransactionDefinition definition) {
                if (definition instanceof TransactionAttribute attribute) {
                    labels.add(attribute.getLabels());
                }
                super.doBegin(transaction, definition);
            }
        };

        transaction(reading).execute(request, claim -> null);

        assertThat(labels).contains(List.of("slow"));
    }

    @Test
    void nestedTransactionOfTheHandlerJoinsWhereTheManagerHasSavepoints() throws Throwable {
        own.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);

        transaction().execute(request, claim -> {
            new TransactionTemplate(manager, own).executeWithoutResult(nested -> charge());
            return null;
        });

        assertThat(charges()).isEqualTo(1);
    }

    /** Each message would fail, because JPA has no savepoints, for example. */
    @Test
    void nestedTransactionOfTheHandlerIsRefusedWhereTheManagerHasNone() {
        own.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);
        manager.setNestedTransactionAllowed(false);

        assertThatThrownBy(this::transaction).isInstanceOfSatisfying(UnsupportedTransactionException.class, refused -> {
            assertThat(refused.problem()).contains("the handler's @Transactional cannot join");
            assertThat(refused.remedy()).contains("propagation REQUIRED");
        });
    }
}
