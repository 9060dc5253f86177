package io.exactlyonce.primary;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Asks whether all that uses a DataSource meets one server: consecutive statements of a connection, and transactions that
 * are read-only. A connection that fails is left as it is then: its failure stops the start, and mending could hide it.
 */
final class RoutingCheck {

    /** A proxy may choose a server by chance for each statement. */
    private static final int ROUNDS = 8;

    /** A write for PostgreSQL and, since one of its functions is volatile (the first is not), for proxies. */
    private static final String WRITE =
            "SELECT pg_current_xact_id()::text::bigint AS transaction, clock_timestamp(), " + DatabaseServer.IDENTITY;

    private RoutingCheck() {}

    /**
     * Requires that the statements of a connection meet one server, and read what was written before. Writes nothing but a
     * transaction id that it uses up: that needs no table and no right, is replicated like any commit, and shows in the
     * snapshot of each later read. So a stale answer is told even from a server that claims to be the primary, such as a
     * cache's.
     *
     * @return that server
     */
    static DatabaseServer requireOneServer(Connection connection) throws SQLException {
        DatabaseServer server = requireFresh(connection);
        for (int round = 1; round < ROUNDS; round++) {
            server = requireFresh(connection);
        }
        return server;
    }

    private static DatabaseServer requireFresh(Connection connection) throws SQLException {
        boolean autoCommit = connection.getAutoCommit();
        connection.setAutoCommit(true);
        Write write = Write.on(connection);
        write.requireSeenBy(PrimaryCheck.requirePrimary(connection), "in autocommit");
        connection.setAutoCommit(false);
        DatabaseServer.Answer first = PrimaryCheck.requirePrimary(connection);
        connection.commit();
        write.requireSeenBy(first, "at the beginning of a transaction");
        connection.setAutoCommit(autoCommit);
        return first.server();
    }

    private record Write(long transaction, DatabaseServer server) {

        static Write on(Connection connection) throws SQLException {
            try (Statement statement = connection.createStatement();
                    ResultSet answer = statement.executeQuery(WRITE)) {
                answer.next();
                return new Write(answer.getLong("transaction"), DatabaseServer.of(answer));
            }
        }

        void requireSeenBy(DatabaseServer.Answer read, String when) throws NotPrimaryException {
            if (!read.server().isSameServerAs(server)) {
                throw NotPrimaryException.routed(
                        read.server(),
                        "it answers reads %s while %s answers other statements".formatted(when, server.address()));
            }
            if (read.nextTransaction() <= transaction) {
                throw NotPrimaryException.routed(
                        read.server(), "a read %s did not see what had been written before".formatted(when));
            }
        }
    }

    /**
     * Requires that a DataSource sends read-only transactions nowhere else. Claims never use one; but where a DataSource
     * decides by the thread's state, its borrower depends on that state for ever.
     *
     * @throws NotPrimaryException if a read-only transaction would meet another server than this one
     */
    static void requireNoReadOnlyRouting(DataSource dataSource, DatabaseServer primary) throws SQLException {
        if (dataSource.isWrapperFor(AbstractRoutingDataSource.class)) {
            throw NotPrimaryException.routed(
                    primary,
                    "%s chooses a server for each connection"
                            .formatted(dataSource
                                    .unwrap(AbstractRoutingDataSource.class)
                                    .getClass()
                                    .getName()));
        }
        DatabaseServer readOnly = serverOfReadOnlyTransactions(dataSource);
        if (!readOnly.isSameServerAs(primary)) {
            throw NotPrimaryException.routed(
                    readOnly, "the DataSource sends read-only transactions there and others to " + primary.address());
        }
    }

    /** Says that the transaction is read-only in both ways that Spring has: by the thread, and by the connection. */
    private static DatabaseServer serverOfReadOnlyTransactions(DataSource dataSource) throws SQLException {
        boolean outer = TransactionSynchronizationManager.isCurrentTransactionReadOnly();
        TransactionSynchronizationManager.setCurrentTransactionReadOnly(true);
        try (Connection connection = dataSource.getConnection()) {
            connection.setReadOnly(true);
            try {
                return DatabaseServer.Answer.of(connection).server();
            } finally {
                if (!connection.getAutoCommit()) {
                    connection.commit();
                }
                // Not every pool resets it.
                connection.setReadOnly(false);
            }
        } finally {
            TransactionSynchronizationManager.setCurrentTransactionReadOnly(outer);
        }
    }
}
