package io.exactlyonce.chaos.cluster;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;

/**
 * Ends the processes and mounts of a harness that was killed with SIGKILL. The guard is a shell that waits for the end
 * of its standard input, which ends with the harness in any case. The guard knows processes and mounts by name. A
 * process or mount that ended normally is forgotten.
 */
public final class ProcessGuard implements AutoCloseable {

    private static final String END_ALL_AT_END_OF_INPUT = """
            processes=" "
            mounts=" "
            while read -r what name; do
                case "$what" in
                    process) processes="$processes$name " ;;
                    mount) mounts="$mounts$name " ;;
                    ended) processes=$(echo "$processes" | sed "s| $name | |") ;;
                    unmounted) mounts=$(echo "$mounts" | sed "s| $name | |") ;;
                esac
            done
            for process in $processes; do kill -s KILL "$process"; done
            [ "$mounts" = " " ] || sleep 1
            for mount in $mounts; do umount -l "$mount"; done
            """;

    private final Writer input;

    private ProcessGuard(Writer input) {
        this.input = input;
    }

    /** Starts the shell. */
    public static ProcessGuard start() throws IOException {
        // Ctrl-C reaches the whole process group, and the guard must survive it.
        Process shell = new ProcessBuilder("sh", "-c", "trap '' INT TERM HUP\n" + END_ALL_AT_END_OF_INPUT)
                .redirectOutput(Redirect.DISCARD)
                .redirectError(Redirect.DISCARD)
                .start();
        return new ProcessGuard(shell.outputWriter(StandardCharsets.UTF_8));
    }

    /** Watches a process that must not outlive the harness. */
    public Process watch(Process process) {
        tell("process " + process.pid());
        CompletableFuture<Void> unused = process.onExit().thenRun(() -> tell("ended " + process.pid()));
        return process;
    }

    void mounted(String directory) {
        tell("mount " + directory);
    }

    void unmounted(String directory) {
        tell("unmounted " + directory);
    }

    private synchronized void tell(String line) {
        try {
            input.write(line + "\n");
            input.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Ends the guard's input, as the end of the harness would. */
    @Override
    public synchronized void close() throws IOException {
        input.close();
    }
}
