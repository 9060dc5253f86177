package io.exactlyonce.sample.lab;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stops a PostgreSQL whose lab was killed with SIGKILL: a shell that waits for the end of its standard input, which
 * comes with the lab's own end, however that comes. If the server was stopped in good order, nothing is left to do.
 *
 * <p>The run's directory in the temporary directory then stays, logs and data; only its owner can read it. Where
 * there is no POSIX shell, the server stays too.
 */
public final class PostgresGuard implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(PostgresGuard.class);

    /**
     * The server writes its process id into the first line of this file, and removes it when it stops. SIGINT asks for
     * a fast shutdown; a process that was started in the background may have inherited that it ignores it.
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

    /** Ends its input, as the end of this process would. */
    @Override
    public void close() throws IOException {
        if (shell != null) {
            shell.getOutputStream().close();
        }
    }
}
