package io.exactlyonce.claim.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.claim.postgres.schema.TestDatabase;
import io.exactlyonce.claim.postgres.transaction.TransactionCheck;
import io.exactlyonce.claim.transaction.ClaimTransaction;
import io.exactlyonce.postgres.SynchronousCommit;
import io.exactlyonce.primary.ClaimPool;
import io.exactlyonce.testing.ConnectionProxy;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.NeedsProgram;
import java.io.IOException;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.interceptor.DefaultTransactionAttribute;

/**
 * Claims behind a real pooler that may give each transaction another session, on a database whose default loses
 * commits.
 */
@NeedsProgram(value = "pgbouncer", debianPackage = "pgbouncer")
class PooledTransactionsIT {

    private static final EmbeddedDatabase SERVER = EmbeddedDatabase.shared();
    private static final String URL = SERVER.createDatabase();
    private static final JdbcTemplate DATABASE = new JdbcTemplate(SERVER.dataSource(URL));
    private static final int SESSIONS = 2;
    private static final int CONNECTIONS = 6;
    private static final int KEYS = 40;

    private static ConnectionProxy bouncer;
    private static ClaimPool claims;

    @BeforeAll
    static void start() throws IOException {
        DurabilityLog.losesCommitsByDefault(DATABASE);
        bouncer = ConnectionProxy.pgBouncer("transaction", SESSIONS);
        claims = new ClaimPool(
                new ClaimPool.Target("spring.datasource.url", pooled(), SERVER.username(), SERVER.password()),
                CONNECTIONS,
                Duration.ofSeconds(3));
        new ClaimSchema(TestDatabase.table(claims.dataSource())).create();
        DurabilityLog.install(DATABASE);
    }

    @AfterAll
    static void stop() throws IOException {
        claims.close();
        bouncer.close();
    }

    /** Sessions have another user's settings or none, so each statement must set {@code synchronous_commit} itself. */
    @ParameterizedTest
    @EnumSource(SynchronousCommit.class)
    void everyWriteOfAClaimWaitsForWhatIsConfigured(SynchronousCommit configured) throws Exception {
        forgetSettings();

        assertThat(DurabilityLog.ofEveryWrite(DATABASE, claims.dataSource(), configured))
                .containsExactly(configured.setting());
    }

    private static List<ClaimKey> newKeys() {
        return Stream.generate(() -> request().key()).limit(KEYS).toList();
    }

    /** Calls for each key three times, on several threads. */
    private static List<ClaimOutcome> thrice(
            int threads, List<ClaimKey> keys, Function<ClaimKey, Callable<ClaimOutcome>> call) throws Exception {
        var executor = Executors.newFixedThreadPool(threads);
        try {
            List<ClaimOutcome> outcomes = new ArrayList<>();
            for (Future<ClaimOutcome> outcome : executor.invokeAll(
                    Stream.of(keys, keys, keys).flatMap(List::stream).map(call).toList())) {
                outcomes.add(outcome.get());
            }
            return outcomes;
        } finally {
            executor.shutdownNow();
        }
    }

    /**
     * The test has more threads than connections and more connections than sessions, so transactions share sessions.
     */
    @Test
    void eachKeyIsClaimedOnce() throws Exception {
        var store = TestDatabase.store(claims.dataSource());
        List<ClaimKey> keys = newKeys();

        List<ClaimOutcome> outcomes = thrice(2 * CONNECTIONS, keys, key -> () -> claimAndComplete(store, key));

        assertThat(outcomes).filteredOn(Acquired.class::isInstance).hasSize(KEYS);
        assertThat(store.claim(keys.stream().map(PooledTransactionsIT::request).toList()))
                .allMatch(AlreadyCompleted.class::isInstance);
    }

    /**
     * Transactions of an application through the same pooler. Lock, transaction number and rows belong to one
     * transaction, in any session.
     */
    @Test
    void transactionsOfTheApplicationHoldTheirClaims() throws Exception {
        DATABASE.execute("CREATE TABLE sale (id text)");
        var application = new DriverManagerDataSource(pooled(), SERVER.username(), SERVER.password());
        var jdbc = new JdbcTemplate(application);
        ClaimTransaction transaction = new TransactionCheck(
                        TestDatabase.table(claims.dataSource()), new StaticListableBeanFactory(), false)
                .create(new JdbcTransactionManager(application), new DefaultTransactionAttribute(), true);
        List<ClaimKey> keys = newKeys();

        thrice(
                SESSIONS,
                keys,
                key -> () -> transaction.execute(request(key), claim -> {
                    jdbc.update("INSERT INTO sale VALUES (?)", key.key());
                    return null;
                }));

        assertThat(DATABASE.queryForList("SELECT id FROM sale", String.class))
                .containsExactlyInAnyOrderElementsOf(
                        keys.stream().map(ClaimKey::key).toList());
    }

    /**
     * Clients that share the claims' sessions share their isolation level; a separate user for claims keeps sessions
     * apart.
     */
    @Test
    void isolationLevelThatIsStricterByDefaultIsLoweredForClientsThatShareTheClaimsUser() {
        String url = SERVER.createDatabase();
        JdbcTemplate database = new JdbcTemplate(SERVER.dataSource(url));
        database.execute("ALTER DATABASE %s SET default_transaction_isolation = 'serializable'"
                .formatted(url.substring(url.lastIndexOf('/') + 1)));
        database.execute("DROP USER IF EXISTS " + ConnectionProxy.OTHER_USER);
        database.execute("CREATE USER %s PASSWORD '%s'".formatted(ConnectionProxy.OTHER_USER, SERVER.password()));
        try (var pool = new ClaimPool(
                new ClaimPool.Target(
                        "spring.datasource.url",
                        bouncer.lead(url) + "?prepareThreshold=0",
                        SERVER.username(),
                        SERVER.password()),
                1,
                Duration.ofSeconds(3))) {
            new JdbcTemplate(pool.dataSource()).execute("SELECT 1");
        }

        assertThat(isolationLevelFor(url, SERVER.username())).isEqualTo("read committed");
        assertThat(isolationLevelFor(url, ConnectionProxy.OTHER_USER)).isEqualTo("serializable");
    }

    private static String isolationLevelFor(String url, String user) {
        var application =
                new DriverManagerDataSource(bouncer.lead(url) + "?prepareThreshold=0", user, SERVER.password());
        return new JdbcTemplate(application).queryForObject("SHOW transaction_isolation", String.class);
    }

    private static ClaimOutcome claimAndComplete(PostgresClaimStore store, ClaimKey key) {
        ClaimRequest request = request(key);
        ClaimOutcome outcome = store.claim(List.of(request)).get(0);
        if (outcome instanceof Acquired) {
            store.renew(List.of(new LeaseRenewal(request.id(), request.lease())));
            assertThat(store.resolve(List.of(new ClaimResolution.Completed(request.id(), null)))
                            .granted())
                    .containsExactly(request.id());
        }
        return outcome;
    }

    /** Resets the sessions' settings, as if other users had changed them. */
    private static void forgetSettings() throws Exception {
        DataSource other = SERVER.dataSource(pooled());
        try (Connection one = other.getConnection();
                Connection two = other.getConnection()) {
            one.setAutoCommit(false);
            two.setAutoCommit(false);
            for (Connection connection : List.of(one, two)) {
                try (Statement statement = connection.createStatement()) {
                    statement.execute("SET synchronous_commit = off");
                }
            }
            one.commit();
            two.commit();
        }
    }

    private static ClaimRequest request() {
        return request(new ClaimKey("pooled", UUID.randomUUID().toString()));
    }

    private static ClaimRequest request(ClaimKey key) {
        return new ClaimRequest(key, UUID.randomUUID(), "worker", Duration.ofMinutes(1));
    }

    private static String pooled() {
        return bouncer.lead(URL) + "?prepareThreshold=0";
    }
}
