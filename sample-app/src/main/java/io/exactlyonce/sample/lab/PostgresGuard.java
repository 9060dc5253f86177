package io.exactlyonce.sample.lab;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stops PostgreSQL if its lab was killed with SIGKILL. The guard is a shell that waits for the end of its standard
 * input, which ends with the lab in any case. If the server was stopped normally, the guard has nothing to do.
 *
 * <p>After SIGKILL, the run's temporary directory stays, with logs and data. Only its owner can read it. Without a
 * POSIX shell, the server also stays.
 */
public final class PostgresGuard implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(PostgresGuard.class);

    /**
     * Reads the process id from the first line of the server's file, which the server removes when it stops. Requests a
     * fast shutdown with SIGINT. A background process may have inherited that it ignores SIGINT.
     */
    private static final String STOP_AT_END_OF_INPUT = """
            while read -r line; do :; done
            for signal in INT TERM; do
                if [ -f "$1/postmaster.pid" ]; then
                    kill -s "$signal" "$(head -n 1 "$1/postmaster.pid")"
                    sleep 3
                fi
            done
            """;

    private final @Nullable Process shell;

    private PostgresGuard(@Nullable Process shell) {
        this.shell = shell;
    }

    /** Guards the server of a data directory. */
    public static PostgresGuard start(Path dataDirectory) {
        ProcessBuilder builder = new ProcessBuilder(
                        "sh", "-c", STOP_AT_END_OF_INPUT, "postgres-guard", dataDirectory.toString())
                .redirectOutput(Redirect.DISCARD)
                .redirectError(Redirect.DISCARD);
        try {
            return new PostgresGuard(builder.start());
        } catch (IOException e) {
            log.warn("No shell guards PostgreSQL; if this process is killed, stop the server by hand", e);
            return new PostgresGuard(null);
        }
    }

    /** Ends the guard's input, as the end of this process would. */
    @Override
    public void close() throws IOException {
        if (shell != null) {
            shell.getOutputStream().close();
        }
    }
}
