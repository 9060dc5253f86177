package io.exactlyonce.sample.lab;

import java.io.PrintStream;
import java.util.Locale;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * Prints the lab's progress. Each line begins with the seconds since the start. On a terminal, the last line can be a
 * moving bar, which the next line overwrites.
 */
public final class Console {

    private static final int BAR_WIDTH = 20;

    private final PrintStream out;
    private final boolean isTerminal;
    private final ReentrantLock lock = new ReentrantLock();
    private final long startNanos = System.nanoTime();
    private int barLength;

    /**
     * Starts the clock.
     *
     * @param out the stream to print to
     * @param isTerminal whether a line of the stream can be overwritten
     */
    public Console(PrintStream out, boolean isTerminal) {
        this.out = out;
        this.isTerminal = isTerminal;
    }

    /** Writes a line of progress that begins with the seconds since the start. */
    public void progress(String format, Object... args) {
        line(String.format(Locale.ROOT, "[%5.1f s] %s", seconds(), String.format(Locale.ROOT, format, args)));
    }

    void line(String text) {
        lock.lock();
        try {
            eraseBar();
            out.println(text);
        } finally {
            lock.unlock();
        }
    }

    /** Draws bars in place of the last bars. Without a terminal, the bars are not even computed. */
    void bars(Supplier<String> bars) {
        if (!isTerminal) {
            return;
        }
        String text = String.format(Locale.ROOT, "[%5.1f s] %s", seconds(), bars.get());
        lock.lock();
        try {
            eraseBar();
            out.print(text);
            out.flush();
            barLength = text.length();
        } finally {
            lock.unlock();
        }
    }

    /** Returns a bar, such as {@code orders [#####---------------] 25/100}. */
    static String bar(String title, long done, long all) {
        int filled = (int) (BAR_WIDTH * done / all);
        return "%s [%s%s] %d/%d".formatted(title, "#".repeat(filled), "-".repeat(BAR_WIDTH - filled), done, all);
    }

    private double seconds() {
        return (System.nanoTime() - startNanos) / 1e9;
    }

    private void eraseBar() {
        if (barLength > 0) {
            out.print("\r" + " ".repeat(barLength) + "\r");
            barLength = 0;
        }
    }
}
