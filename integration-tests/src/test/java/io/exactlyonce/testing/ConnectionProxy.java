package io.exactlyonce.testing;

import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.postgresql.ds.PGSimpleDataSource;

/** A real pooler or balancer between applications and PostgreSQL. */
public final class ConnectionProxy implements AutoCloseable {

    /** A second user of PgBouncer, which must exist on the server with the superuser's password. */
    public static final String OTHER_USER = "other_user";

    private static final Duration TIME_TO_START = Duration.ofSeconds(20);

    private final SystemProgram program;
    private final int port;

    private ConnectionProxy(SystemProgram program, int port) {
        this.program = program;
        this.port = port;
    }

    /**
     * Starts PgBouncer in front of the shared server.
     *
     * @param poolMode {@code session}, {@code transaction} or {@code statement}
     * @param poolSize most sessions that it opens for each database and user
     */
    public static ConnectionProxy pgBouncer(String poolMode, int poolSize) throws IOException {
        return pgBouncer(
                poolMode, poolSize, OTHER_USER, EmbeddedDatabase.shared().password());
    }

    /** Starts PgBouncer in front of the shared server for one more user. */
    public static ConnectionProxy pgBouncer(String poolMode, int poolSize, String user, String password)
            throws IOException {
        int port = SystemProgram.freePort();
        var program = new SystemProgram("TERM");
        program.file(
                "users",
                "\"postgres\" \"%s\"\n\"%s\" \"%s\"\n"
                        .formatted(EmbeddedDatabase.shared().password(), user, password));
        program.file("pgbouncer.ini", """
                [databases]
                * = host=127.0.0.1 port=%d
                [pgbouncer]
                listen_addr = 127.0.0.1
                listen_port = %d
                unix_socket_dir =
                auth_type = scram-sha-256
                auth_file = %s/users
                ignore_startup_parameters = extra_float_digits
                pool_mode = %s
                default_pool_size = %d
                """.formatted(
                        EmbeddedDatabase.shared().port(), port, program.directory(), poolMode, poolSize));
        program.start("pgbouncer", program.directory().resolve("pgbouncer.ini").toString());
        return new ConnectionProxy(program, port).awaitStart();
    }

    /**
     * Starts Pgpool-II in front of the shared server and a replica of it.
     *
     * @param settings beyond the servers, such as {@code load_balance_mode = on}
     */
    public static ConnectionProxy pgpool(StreamingReplica replica, String settings) throws IOException {
        int port = SystemProgram.freePort();
        var program = new SystemProgram("INT");
        program.file("pcp.conf", "");
        program.file("pool_hba.conf", "host all all 127.0.0.1/32 scram-sha-256\n");
        program.file(
                "pool_passwd",
                "postgres:TEXT%s\n".formatted(EmbeddedDatabase.shared().password()));
        program.file("pgpool.conf", """
                backend_clustering_mode = 'streaming_replication'
                listen_addresses = '127.0.0.1'
                port = %1$d
                socket_dir = '%2$s'
                pcp_listen_addresses = '127.0.0.1'
                pcp_port = %3$d
                pcp_socket_dir = '%2$s'
                pid_file_name = '%2$s/pid'
                logdir = '%2$s'
                num_init_children = 8
                backend_hostname0 = '127.0.0.1'
                backend_port0 = %4$d
                backend_weight0 = 1
                backend_hostname1 = '127.0.0.1'
                backend_port1 = %5$d
                backend_weight1 = 1
                sr_check_period = 1
                sr_check_user = 'postgres'
                sr_check_password = '%6$s'
                sr_check_database = 'postgres'
                enable_pool_hba = on
                pool_passwd = '%2$s/pool_passwd'
                %7$s
                """.formatted(
                        port,
                        program.directory(),
                        SystemProgram.freePort(),
                        EmbeddedDatabase.shared().port(),
                        replica.port(),
                        EmbeddedDatabase.shared().password(),
                        settings));
        program.start(
                "pgpool",
                "-n",
                "-f",
                program.directory().resolve("pgpool.conf").toString(),
                "-F",
                program.directory().resolve("pcp.conf").toString(),
                "-a",
                program.directory().resolve("pool_hba.conf").toString());
        return new ConnectionProxy(program, port).awaitStart();
    }

    /** Returns a URL that connects to a database through the proxy. */
    public String lead(String url) {
        return url.replace(":" + EmbeddedDatabase.shared().port() + "/", ":" + port + "/");
    }

    private ConnectionProxy awaitStart() {
        Awaitility.await()
                .atMost(TIME_TO_START)
                .failFast(program::requireAlive)
                .ignoreExceptions()
                .until(this::accepts);
        return this;
    }

    private boolean accepts() throws SQLException {
        var dataSource = new PGSimpleDataSource();
        dataSource.setUrl("jdbc:postgresql://127.0.0.1:%d/postgres?prepareThreshold=0".formatted(port));
        dataSource.setUser(EmbeddedDatabase.shared().username());
        dataSource.setPassword(EmbeddedDatabase.shared().password());
        try (Connection connection = dataSource.getConnection()) {
            return connection.isValid(1);
        }
    }

    @Override
    public void close() throws IOException {
        program.close();
    }
}
