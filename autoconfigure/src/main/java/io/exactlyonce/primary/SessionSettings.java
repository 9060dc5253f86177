package io.exactlyonce.primary;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * What a session must be set to, whatever the server's, the database's or the user's defaults are.
 *
 * <p>By {@code SET}, and only where the setting differs, rather than by a start-up option of the connection: poolers such
 * as PgBouncer refuse connections with options that they do not know.
 *
 * @param synchronousCommit what commits wait for
 */
record SessionSettings(SynchronousCommit synchronousCommit) {

    /** @param current what the session told of itself */
    void apply(Connection connection, ServerAnswer current) throws SQLException {
        if (!matches(current)) {
            try (Statement statement = connection.createStatement()) {
                statement.execute("SET synchronous_commit = '%s'".formatted(synchronousCommit.setting()));
            }
        }
    }

    boolean matches(ServerAnswer current) {
        return current.synchronousCommit().equals(synchronousCommit.setting());
    }
}
