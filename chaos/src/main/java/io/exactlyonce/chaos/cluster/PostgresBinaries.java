package io.exactlyonce.chaos.cluster;

import io.exactlyonce.servers.LocalPostgres;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/**
 * The server program of the embedded bundle, which has no tools for replicas. Servers are started as plain processes,
 * so that each can be killed by its process id.
 *
 * @param server path of {@code postgres}
 */
record PostgresBinaries(Path server) {

    private static final String DIRECTORY = "SELECT setting FROM pg_config WHERE name = 'BINDIR'";

    /** Unpacks the bundle, and initializes a server's directory with it. */
    static PostgresBinaries initialize(Path data) throws IOException, SQLException {
        try (LocalPostgres postgres = LocalPostgres.start(
                        settings -> settings.setDataDirectory(data).setCleanDataDirectory(false));
                Connection connection = postgres.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(DIRECTORY)) {
            row.next();
            return new PostgresBinaries(Path.of(row.getString(1), "postgres"));
        }
    }

    /**
     * Returns the command that starts a server. PostgreSQL does not run as root, so a namespace maps root to user
     * 65534.
     */
    List<String> command(Path data, int port) {
        List<String> command = new ArrayList<>();
        if ("root".equals(System.getProperty("user.name"))) {
            command.addAll(List.of("unshare", "-U"));
        }
        command.addAll(List.of(server.toString(), "-D", data.toString(), "-p", String.valueOf(port)));
        return command;
    }
}
