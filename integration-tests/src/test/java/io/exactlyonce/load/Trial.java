package io.exactlyonce.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.testing.TestApplication;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The size of a trial, and the file of its results: rows of the table in docs/contributing/load.md. */
final class Trial {

    private static final Logger log = LoggerFactory.getLogger(Trial.class);

    /** {@code -Dload.short} only shows that the trials work. */
    private static final boolean SHORT = System.getProperty("load.short") != null;

    private static final Path NOTES = Path.of("target", "load");

    private Trial() {}

    /** Returns one of two sizes, depending on the selected form. */
    static int choose(int full, int brief) {
        return SHORT ? brief : full;
    }

    /**
     * Records a trial that has passed.
     *
     * @param file the name of its file
     * @param trial the load
     * @param held the assertions
     * @param cost the measured cost
     */
    static void note(String file, String trial, String held, String cost) {
        String row = "| %s | %s | %s |%n".formatted(trial, held, cost);
        try {
            Files.createDirectories(NOTES);
            Files.writeString(NOTES.resolve(file + ".md"), row);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
        log.info("{}", row.strip());
    }

    /**
     * Waits until a condition has held for this time without interruption. The condition may begin to hold up to 30 s
     * late.
     */
    static void hold(Duration time, Callable<Boolean> what) {
        await().pollInterval(Duration.ofSeconds(1))
                .during(time)
                .atMost(time.plusSeconds(30))
                .until(what);
    }

    /** Asserts that these listeners lost no visibility timeout and no lease. */
    static void assertNothingLost(TestApplication application, String... listeners) {
        for (String listener : listeners) {
            assertThat(lost(application, listener, "window")).isZero();
            assertThat(lost(application, listener, "lease")).isZero();
        }
    }

    /** Returns how many visibility timeouts or leases of a listener were lost. */
    static double lost(TestApplication application, String listener, String target) {
        return application.count("exactly.once.renewals", "listener", listener, "target", target, "result", "lost");
    }
}
