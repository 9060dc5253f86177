package io.exactlyonce.benchmarks.worker;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/** The threads of this process's JIT compiler. Linux counts their processor time, and Java does not. */
final class CompilerThreads {

    /** Linux reports processor times in hundredths of a second. */
    private static final long TICK_MILLIS = 10;

    /** The columns after the name, which may contain blanks: user and system time. */
    private static final int USER = 11;

    private static final int SYSTEM = 12;

    private CompilerThreads() {}

    /** Returns the processor time of these threads. */
    static Duration processorTime() {
        try (Stream<Path> threads = Files.list(Path.of("/proc/self/task"))) {
            return Duration.ofMillis(
                    TICK_MILLIS * threads.mapToLong(CompilerThreads::ticks).sum());
        } catch (IOException elsewhere) {
            return Duration.ZERO;
        }
    }

    private static long ticks(Path thread) {
        try {
            String told = Files.readString(thread.resolve("stat"));
            int behindName = told.lastIndexOf(')') + 2;
            String name = told.substring(told.indexOf('(') + 1, behindName - 2);
            if (!name.startsWith("C1 Compiler") && !name.startsWith("C2 Compiler")) {
                return 0;
            }
            List<String> fields = List.of(told.substring(behindName).split(" "));
            return Long.parseLong(fields.get(USER)) + Long.parseLong(fields.get(SYSTEM));
        } catch (NoSuchFileException ended) {
            return 0;
        } catch (IOException unreadable) {
            throw new IllegalStateException("Cannot read what Linux says of " + thread, unreadable);
        }
    }
}
