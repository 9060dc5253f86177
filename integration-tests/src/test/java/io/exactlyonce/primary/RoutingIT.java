package io.exactlyonce.primary;

import static io.exactlyonce.primary.ImpatientPool.refusalOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SplittingDataSource;
import io.exactlyonce.testing.StreamingReplica;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.datasource.AbstractDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** Startup fails if some statements or transactions go to a replica, and names its address. */
class RoutingIT {

    private static final EmbeddedDatabase SERVER = EmbeddedDatabase.shared();
    private static final String URL = SERVER.createDatabase();
    private static final DataSource PRIMARY = SERVER.dataSource(URL);
    private static StreamingReplica server;
    private static DataSource replica;

    @BeforeAll
    static void startReplica() throws Exception {
        server = new StreamingReplica(PRIMARY, SERVER.port(), "routed", Duration.ofSeconds(3));
        replica = SERVER.dataSource(onReplica(server));
    }

    @AfterAll
    static void stopReplica() throws Exception {
        server.close();
    }

    /** Routes by the transaction's state, as the most common examples on the web do. */
    private static final class ReadOnlyGoesToReplica extends AbstractRoutingDataSource {

        ReadOnlyGoesToReplica() {
            setTargetDataSources(Map.of(true, replica, false, PRIMARY));
            afterPropertiesSet();
        }

        @Override
        protected Object determineCurrentLookupKey() {
            return TransactionSynchronizationManager.isCurrentTransactionReadOnly();
        }
    }

    /** A DataSource that hides the DataSource that it wraps. */
    private static class Opaque extends AbstractDataSource {

        private final DataSource wrapped;

        Opaque(DataSource wrapped) {
            this.wrapped = wrapped;
        }

        @Override
        public Connection getConnection() throws SQLException {
            return wrapped.getConnection();
        }

        @Override
        public Connection getConnection(String username, String password) throws SQLException {
            return wrapped.getConnection();
        }
    }

    @Test
    void routingDataSource() {
        assertRefused(new ReadOnlyGoesToReplica(), "ReadOnlyGoesToReplica chooses a server for each connection");
        assertThat(TransactionSynchronizationManager.isCurrentTransactionReadOnly())
                .isFalse();
    }

    @Test
    void routingDataSourceThatCannotBeSeen() {
        assertRefused(
                new Opaque(new ReadOnlyGoesToReplica()),
                "sends read-only transactions to server 127.0.0.1:" + server.port() + " and others to 127.0.0.1:"
                        + SERVER.port());
        assertThat(TransactionSynchronizationManager.isCurrentTransactionReadOnly())
                .isFalse();
    }

    @Test
    void lazyConnectionsWithADataSourceForReads() {
        var lazy = new LazyConnectionDataSourceProxy(PRIMARY);
        lazy.setReadOnlyDataSource(replica);

        assertRefused(lazy, "sends read-only transactions to server 127.0.0.1:" + server.port());
    }

    @Test
    void proxyThatSplitsStatements() {
        assertRefused(
                new SplittingDataSource(PRIMARY, replica),
                "server 127.0.0.1:%d answers plain reads and 127.0.0.1:%d other statements"
                        .formatted(server.port(), SERVER.port()));
    }

    @Test
    void proxyThatSplitsStatementsBehindThePoolOfOurOwn() {
        var target = new ClaimPool.Target("spring.datasource.url", URL, null, null);
        try (var claims = ImpatientPool.of(target, new SplittingDataSource(PRIMARY, replica))) {
            ClaimDatabaseException refused = refusalOf(claims);
            assertThat(refused.problem()).contains("connects to more than one server");
            assertThat(refused.problem()).contains("127.0.0.1:" + server.port());
            assertThat(refused.remedy()).contains("exactly-once.datasource.url");
        }
    }

    /** The first connection is to the primary, and the second to another server. */
    @Test
    void balancerThatChoosesAServerForEachConnection() {
        var target = new ClaimPool.Target("spring.datasource.url", URL, null, null);
        var opened = new AtomicInteger();
        var balancer = new Opaque(PRIMARY) {
            @Override
            public Connection getConnection() throws SQLException {
                return opened.incrementAndGet() == 2 ? replica.getConnection() : super.getConnection();
            }
        };
        try (var claims = ImpatientPool.of(target, balancer)) {
            assertThat(refusalOf(claims).problem())
                    .contains("server 127.0.0.1:%d answers some connections and 127.0.0.1:%d others"
                            .formatted(server.port(), SERVER.port()));
        }
    }

    /**
     * Answers like the real pooler of {@link PgBouncerIT}, so that the test also runs on machines without PgBouncer.
     */
    @Test
    void poolerThatMixesUpPreparedStatements() {
        var pooler = new Opaque(PRIMARY) {
            @Override
            public Connection getConnection() throws SQLException {
                return withoutPreparedStatements(super.getConnection());
            }
        };
        try (var claims = marked(pooler)) {
            ClaimDatabaseException refused = refusalOf(claims);
            assertThat(refused.problem()).contains("mixes up prepared statements");
            assertThat(refused.problem()).contains("mixes up prepared statements (SQLSTATE 42P05");
            assertThat(refused.remedy()).startsWith("add prepareThreshold=0 to the URL of the DataSource marked");
        }
    }

    private static Connection withoutPreparedStatements(Connection connection) {
        return proxy((proxy, method, arguments) -> {
            if (method.getName().equals("prepareStatement")) {
                throw new SQLException("prepared statement \"S_1\" already exists", "42P05");
            }
            return method.invoke(connection, arguments);
        });
    }

    @Test
    void serverThatIsTooOld() {
        var old = new Opaque(PRIMARY) {
            @Override
            public Connection getConnection() throws SQLException {
                return thatSays("130004", super.getConnection());
            }
        };
        try (var claims = marked(old)) {
            assertThatThrownBy(() -> new PrimaryCheck(claims).verify())
                    .isInstanceOf(ClaimDatabaseException.class)
                    .hasMessageStartingWith("the DataSource marked @ExactlyOnceDataSource is PostgreSQL 13, but")
                    .hasMessageContaining("; upgrade it, or point the URL of the DataSource marked");
        }
    }

    private static Connection thatSays(String version, Connection connection) {
        return proxy((proxy, method, arguments) -> {
            if (method.getName().equals("prepareStatement")) {
                String question = (String) arguments[0];
                String its = "pg_catalog.current_setting('server_version_num')";
                return connection.prepareStatement(question.replace(its, version));
            }
            return method.invoke(connection, arguments);
        });
    }

    private static Connection proxy(InvocationHandler calls) {
        return (Connection)
                Proxy.newProxyInstance(RoutingIT.class.getClassLoader(), new Class<?>[] {Connection.class}, calls);
    }

    @Test
    void cacheThatAnswersReadsItself() {
        assertRefused(
                new CachingDataSource(PRIMARY),
                "a plain read of server 127.0.0.1:" + SERVER.port() + " did not see what had been written before");
    }

    private static void assertRefused(DataSource dataSource, String observation) {
        try (var claims = marked(dataSource)) {
            ClaimDatabaseException refused = refusalOf(claims);
            assertThat(refused.problem()).contains("connects to more than one server: ", observation);
            assertThat(refused.remedy()).contains("point the DataSource marked @ExactlyOnceDataSource at the primary");
        }
    }

    private static ClaimPool marked(DataSource dataSource) {
        return ClaimPool.around(dataSource, 2);
    }

    private static String onReplica(StreamingReplica replica) {
        return URL.replace(":" + SERVER.port() + "/", ":" + replica.port() + "/");
    }
}
