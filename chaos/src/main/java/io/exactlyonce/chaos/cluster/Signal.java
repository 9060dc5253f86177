package io.exactlyonce.chaos.cluster;

import java.io.IOException;
import java.io.UncheckedIOException;

/** Signals to a process. */
public enum Signal {
    /** Ends the process at once. The process cannot return, release or report anything. */
    KILL,
    /** Freezes all threads of the process, wherever they are. */
    STOP,
    /** Continues a frozen process. */
    CONT,
    /** Requests a fast shutdown from PostgreSQL. */
    INT;

    /** Sends the signal to a process. Does nothing if the process has ended. */
    public void send(long pid) {
        try {
            new ProcessBuilder("sh", "-c", "kill -s \"$1\" \"$2\" 2>/dev/null", "signal", name(), String.valueOf(pid))
                    .start()
                    .waitFor();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
