package io.exactlyonce.primary;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * Asks a connection whether its server is a primary that takes writes, by a plain read. A proxy that splits reads and
 * writes takes {@code pg_is_in_recovery()} for a write, since it is volatile, and asks the primary, while it sends plain
 * reads to a replica: only a statement that looks like a plain read is answered by the server that plain reads meet.
 *
 * <p>The answer holds for the moment of the question only: a server that is demoted later keeps its connections until a
 * write on them fails.
 */
final class PrimaryCheck {

    /** Volatile, so that a proxy that splits reads and writes asks the primary. */
    private static final String IN_RECOVERY = "SELECT pg_is_in_recovery() AS in_recovery, " + DatabaseServer.IDENTITY;

    private PrimaryCheck() {}

    static DatabaseServer.Answer requirePrimary(Connection connection) throws SQLException {
        DatabaseServer.Answer answer = DatabaseServer.Answer.of(connection);
        if (answer.readOnly()) {
            throw refusal(connection, answer);
        }
        return answer;
    }

    /** A read-only answer alone does not tell a replica from a primary that is set to read-only. */
    private static NotPrimaryException refusal(Connection connection, DatabaseServer.Answer answer)
            throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet other = statement.executeQuery(IN_RECOVERY)) {
            other.next();
            if (other.getBoolean("in_recovery")) {
                return NotPrimaryException.refused(answer.server(), "it is a replica (pg_is_in_recovery() is true)");
            }
            DatabaseServer writer = DatabaseServer.of(other);
            if (!writer.isSameServerAs(answer.server())) {
                return NotPrimaryException.routed(
                        answer.server(),
                        "a proxy sends plain reads there (its transaction_read_only is on) and other statements to "
                                + writer.address());
            }
            return NotPrimaryException.refused(
                    answer.server(),
                    "its transactions are read-only (transaction_read_only is on%s)"
                            .formatted(answer.readOnlyBySetting() ? " by default_transaction_read_only" : ""));
        }
    }
}
