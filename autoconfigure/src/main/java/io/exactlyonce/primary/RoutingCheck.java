package io.exactlyonce.primary;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * Asks whether consecutive statements of a connection meet one server, and read what was written before. Writes nothing but
 * a transaction id that it uses up: that needs no table and no right, is replicated like any commit, and shows in the
 * snapshot of whoever reads later. So a stale answer is told even from a server that claims to be the primary, such as
 * a cache's.
 *
 * <p>A connection that fails is left as it is then: its failure stops the start, and mending could hide it.
 */
final class RoutingCheck {

    /** A proxy may choose a server by chance for each statement. */
    private static final int ROUNDS = 8;

    /** A write for PostgreSQL and, since one of its functions is volatile (the first is not), for proxies. */
    private static final String WRITE =
            "SELECT pg_current_xact_id()::text::bigint AS transaction, clock_timestamp(), " + ServerAnswer.IDENTITY;

    private final Connection connection;

    RoutingCheck(Connection connection) {
        this.connection = connection;
    }

    /** Returns what the one server tells of itself. */
    ServerAnswer requireOneServer() throws SQLException {
        ServerAnswer answer = requireFresh();
        for (int round = 1; round < ROUNDS; round++) {
            answer = requireFresh();
        }
        return answer;
    }

    private ServerAnswer requireFresh() throws SQLException {
        boolean autoCommit = connection.getAutoCommit();
        connection.setAutoCommit(true);
        Write write = write();
        write.requireSeenBy(PrimaryCheck.requirePrimary(connection), "in autocommit");
        connection.setAutoCommit(false);
        ServerAnswer first = PrimaryCheck.requirePrimary(connection);
        connection.commit();
        write.requireSeenBy(first, "at the beginning of a transaction");
        connection.setAutoCommit(autoCommit);
        return first;
    }

    private Write write() throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet answer = statement.executeQuery(WRITE)) {
            answer.next();
            return new Write(answer.getLong("transaction"), ServerAnswer.server(answer));
        }
    }

    private record Write(long transaction, DatabaseServer server) {

        void requireSeenBy(ServerAnswer read, String when) throws NotPrimaryException {
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
}
