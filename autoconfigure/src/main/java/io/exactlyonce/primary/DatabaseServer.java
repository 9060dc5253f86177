package io.exactlyonce.primary;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * The server that answered, by its own account: behind a proxy or a balancer this is not what the JDBC URL names.
 *
 * @param address address and port, or {@code local socket}
 * @param version its {@code server_version}
 * @param database the connection's database
 * @param startedAt when the server started, in seconds since 1970: two servers that share an address differ in it
 */
public record DatabaseServer(String address, String version, String database, String startedAt) {

    /** Which server this is. These functions are stable, not volatile: they may stand in a plain read. */
    static final String IDENTITY = """
            coalesce(host(inet_server_addr()) || ':' || inet_server_port(), 'local socket') AS address,
            current_setting('server_version') AS version,
            current_database() AS database,
            extract(epoch FROM pg_postmaster_start_time())::text AS started_at
            """;

    static DatabaseServer of(ResultSet answer) throws SQLException {
        return new DatabaseServer(
                answer.getString("address"),
                answer.getString("version"),
                answer.getString("database"),
                answer.getString("started_at"));
    }

    public boolean isSameServerAs(DatabaseServer other) {
        return address.equals(other.address) && startedAt.equals(other.startedAt);
    }

    /**
     * What the server that plain reads meet tells of itself, in one round trip.
     *
     * @param server that answered
     * @param readOnly whether the transaction that read this is read-only, as each one on a replica is
     * @param readOnlyBySetting whether new transactions are read-only by a setting
     * @param nextTransaction the first transaction id that this server has not seen yet
     */
    record Answer(DatabaseServer server, boolean readOnly, boolean readOnlyBySetting, long nextTransaction) {

        /** Only stable functions: one volatile function among them would send the whole statement to the primary. */
        private static final String PLAIN_READ = """
                SELECT current_setting('transaction_read_only') = 'on' AS read_only,
                       current_setting('default_transaction_read_only') = 'on' AS read_only_by_setting,
                       pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS next_transaction,
                """ + IDENTITY;

        static Answer of(Connection connection) throws SQLException {
            try (Statement statement = connection.createStatement();
                    ResultSet answer = statement.executeQuery(PLAIN_READ)) {
                answer.next();
                return new Answer(
                        DatabaseServer.of(answer),
                        answer.getBoolean("read_only"),
                        answer.getBoolean("read_only_by_setting"),
                        answer.getLong("next_transaction"));
            }
        }
    }
}
