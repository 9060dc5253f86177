package io.exactlyonce.claim.postgres.transaction;

import static io.exactlyonce.claim.postgres.schema.TestDatabase.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.postgres.PostgresClaimStore;
import io.exactlyonce.claim.postgres.schema.TestDatabase;
import io.exactlyonce.claim.transaction.ClaimTransaction;
import io.exactlyonce.testing.EmbeddedDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;
import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.interceptor.DefaultTransactionAttribute;

/**
 * Applications whose transactions use one snapshot. Claims read their rows outside of the transaction, and the row
 * decides at its end.
 */
@Tag("postgres")
class OneSnapshotIT {

    private static final int HANDLERS = 4;
    private static final TestDatabase DATABASE = new TestDatabase(HANDLERS);

    static {
        DATABASE.jdbc().execute("CREATE TABLE sale (id text)");
    }

    private final PostgresClaimStore external = DATABASE.store();
    private final ClaimRequest request = request();
    private final ClaimKey key = request.key();

    /** Runs a statement before the claim, which takes the transaction's snapshot. */
    @SuppressWarnings("serial")
    private static final class Manager extends JdbcTransactionManager {

        private Runnable afterTheSnapshot = () -> {};

        Manager(PGSimpleDataSource dataSource) {
            super(dataSource);
        }

        @Override
        protected void prepareTransactionalConnection(Connection connection, TransactionDefinition definition)
                throws SQLException {
            connection.createStatement().execute("SELECT 1 FROM sale");
            afterTheSnapshot.run();
        }
    }

    @AfterAll
    static void close() {
        DATABASE.close();
    }

    private static Manager manager(String isolation) {
        PGSimpleDataSource dataSource = new PGSimpleDataSource();
        dataSource.setUrl(DATABASE.url());
        dataSource.setUser("postgres");
        dataSource.setPassword(EmbeddedDatabase.shared().password());
        dataSource.setOptions("-c default_transaction_isolation=" + isolation.replace(" ", "\\ "));
        return new Manager(dataSource);
    }

    private static ClaimTransaction transaction(Manager manager) {
        return new TransactionCheck(DATABASE.table(), new StaticListableBeanFactory(), false)
                .create(manager, new DefaultTransactionAttribute(), true);
    }

    private static void sell(Manager manager, ClaimKey sold) {
        new JdbcTemplate(manager.getDataSource()).update("INSERT INTO sale VALUES (?)", sold.key());
    }

    private int sales() {
        return DATABASE.jdbc()
                .queryForList("SELECT id FROM sale WHERE id = ?", key.key())
                .size();
    }

    /** Trap: reading a missing key conflicts with each concurrent insert at the neighbouring index entry. */
    @ParameterizedTest
    @ValueSource(strings = {"repeatable read", "serializable"})
    void handlersOfNeighbouringKeysDoNotConflict(String isolation) throws Exception {
        JdbcTransactionManager manager =
                new JdbcTransactionManager(manager(isolation).getDataSource());
        ClaimTransaction transaction = new TransactionCheck(DATABASE.table(), new StaticListableBeanFactory(), false)
                .create(manager, new DefaultTransactionAttribute(), true);
        String scope = UUID.randomUUID().toString();
        CyclicBarrier together = new CyclicBarrier(HANDLERS);
        List<FutureTask<Boolean>> handlers = IntStream.range(0, HANDLERS)
                .mapToObj(number -> new FutureTask<>(() -> {
                    ClaimRequest claim = request(new ClaimKey(scope, "order-" + number));
                    return transaction.execute(claim, acquired -> {
                                together.await(20, TimeUnit.SECONDS);
                                return null;
                            })
                            instanceof Acquired;
                }))
                .toList();
        handlers.forEach(handler -> new Thread(handler).start());

        for (FutureTask<Boolean> handler : handlers) {
            assertThat(handler.get(30, TimeUnit.SECONDS)).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"repeatable read", "serializable"})
    void completionThatIsYoungerThanTheSnapshotIsSeen(String isolation) throws Exception {
        Manager manager = manager(isolation);
        ClaimTransaction late = transaction(manager);
        ClaimTransaction early = transaction(manager(isolation));
        manager.afterTheSnapshot = () -> {
            try {
                early.execute(List.of(request), claimed -> Map.of(request.id(), "1"));
            } catch (Exception failure) {
                throw new AssertionError(failure);
            }
        };

        assertThat(late.execute(request(key), claim -> {
                    throw new AssertionError("the work was called");
                }))
                .isEqualTo(new AlreadyCompleted("1"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"repeatable read", "serializable"})
    void claimOfTheStoreThatIsYoungerThanTheSnapshotRollsTheTransactionBack(String isolation) {
        Manager manager = manager(isolation);
        ClaimTransaction transaction = transaction(manager);

        assertThatThrownBy(() -> transaction.execute(request, claim -> {
                    sell(manager, key);
                    assertThat(external.claim(List.of(request(key)))).hasOnlyElementsOfType(Acquired.class);
                    return null;
                }))
                .isInstanceOf(ConcurrencyFailureException.class);

        assertThat(sales()).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"repeatable read", "serializable"})
    void keyWhoseOwnerVanishedIsTakenOver(String isolation) throws Exception {
        external.claim(List.of(request));
        DATABASE.endLease(request.id());
        Manager manager = manager(isolation);

        assertThat(transaction(manager).execute(request(key), claim -> {
                    sell(manager, key);
                    return null;
                }))
                .isInstanceOfSatisfying(
                        Acquired.class,
                        acquired -> assertThat(acquired.inDoubt()).isTrue());

        assertThat(sales()).isEqualTo(1);
        assertThat(DATABASE.row(key)).containsEntry("status", "COMPLETED").containsEntry("attempt", 2);
    }
}
