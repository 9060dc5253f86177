package io.exactlyonce.primary;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * Asks a connection whether its server is a primary that takes writes.
 *
 * <p>In two statements, for each sees what the other cannot. A proxy that splits reads and writes takes
 * {@code pg_is_in_recovery()} for a write, since it is volatile, and asks the primary, while it sends plain reads to a
 * replica: only a statement that looks like a plain read is answered by the server that plain reads meet. And a
 * read-only answer alone would not tell a replica from a primary that somebody set to read-only.
 *
 * <p>This tells about the moment of the question only: a server that is demoted later keeps its connections until a
 * write on them fails.
 */
final class PrimaryCheck {

    /** Only stable functions: one volatile function among them would send the whole statement to the primary. */
    private static final String PLAIN_READ = """
            SELECT current_setting('transaction_read_only') = 'on' AS read_only,
                   coalesce(host(inet_server_addr()) || ':' || inet_server_port(), 'local socket') AS address,
                   current_setting('server_version') AS version
            """;

    private static final String IN_RECOVERY = "SELECT pg_is_in_recovery()";

    private PrimaryCheck() {}

    static DatabaseServer requirePrimary(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            boolean inRecovery = isInRecovery(statement);
            try (ResultSet answer = statement.executeQuery(PLAIN_READ)) {
                answer.next();
                var server = new DatabaseServer(answer.getString("address"), answer.getString("version"));
                if (inRecovery) {
                    throw new NotPrimaryException(server.address(), "it is a replica (pg_is_in_recovery() is true)");
                }
                if (answer.getBoolean("read_only")) {
                    throw new NotPrimaryException(
                            server.address(),
                            "its transactions are read-only (transaction_read_only is on): it is a replica behind a"
                                    + " proxy, or default_transaction_read_only is set");
                }
                return server;
            }
        }
    }

    private static boolean isInRecovery(Statement statement) throws SQLException {
        try (ResultSet answer = statement.executeQuery(IN_RECOVERY)) {
            answer.next();
            return answer.getBoolean(1);
        }
    }
}
