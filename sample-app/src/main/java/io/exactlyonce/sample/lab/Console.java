package io.exactlyonce.sample.lab;

import java.io.PrintStream;
import java.util.Locale;

/** Where the lab says what it does: each line of progress with the seconds since the start. */
public final class Console {

    private final PrintStream out;
    private final long startNanos = System.nanoTime();

    /**
     * Starts the clock.
     *
     * @param out where to print
     */
    public Console(PrintStream out) {
        this.out = out;
    }

    void progress(String format, Object... args) {
        double seconds = (System.nanoTime() - startNanos) / 1e9;
        line(String.format(Locale.ROOT, "[%5.1f s] %s", seconds, String.format(Locale.ROOT, format, args)));
    }

    void line(String text) {
        out.println(text);
    }
}
