package smoke;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.springframework.util.FileSystemUtils;

/** A PgBouncer in transaction mode before a PostgreSQL server. */
final class PgBouncer implements AutoCloseable {

    /** PgBouncer does not run as root. */
    private static final int NOBODY = 65534;

    /** The folder has the password of the server. */
    private final Path folder;

    private final Process process;
    private final int port;

    PgBouncer(String program, String server, String user, String password) throws IOException {
        boolean isRoot = System.getProperty("user.name").equals("root");
        folder = Files.createTempDirectory("pgbouncer");
        port = freePort();
        Files.writeString(folder.resolve("users"), "\"%s\" \"%s\"\n".formatted(user, password));
        Files.writeString(folder.resolve("ini"), """
                [databases]
                * = %s
                [pgbouncer]
                listen_addr = 127.0.0.1
                listen_port = %d
                unix_socket_dir =
                auth_type = scram-sha-256
                auth_file = %s/users
                ignore_startup_parameters = extra_float_digits
                pool_mode = transaction
                default_pool_size = 8
                """.formatted(server, port, folder));
        List<String> command = new ArrayList<>();
        if (isRoot) {
            Files.setAttribute(folder, "unix:uid", NOBODY);
            command.addAll(List.of("setpriv", "--reuid=" + NOBODY, "--regid=" + NOBODY, "--clear-groups"));
        }
        command.addAll(List.of(program, folder.resolve("ini").toString()));
        process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("log").toFile())
                .start();
        Awaitility.await("PgBouncer").failFast(() -> !process.isAlive()).until(this::accepts);
    }

    private static int freePort() throws IOException {
        try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private boolean accepts() {
        try (var socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return socket.isConnected();
        } catch (IOException refused) {
            return false;
        }
    }

    /** Returns a database's URL through this pooler, whose sessions do not keep prepared statements. */
    String jdbcUrl(String database) {
        return "jdbc:postgresql://127.0.0.1:%d/%s?prepareThreshold=0".formatted(port, database);
    }

    @Override
    public void close() throws IOException {
        process.destroy();
        FileSystemUtils.deleteRecursively(folder);
    }
}
