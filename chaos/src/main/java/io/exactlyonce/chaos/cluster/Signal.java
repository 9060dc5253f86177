package io.exactlyonce.chaos.cluster;

import java.io.IOException;
import java.io.UncheckedIOException;

/** What can be done to a process from outside. */
public enum Signal {
    /** Ends it at once: it can neither return nor release nor report anything. */
    KILL,
    /** Freezes all of its threads wherever they are. */
    STOP,
    /** Lets it go on. */
    CONT,
    /** Asks PostgreSQL for a fast shutdown. */
    INT;

    /** Sends it to one process; does nothing if that has ended. */
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
