package io.exactlyonce.claim.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.postgres.schema.TestDatabase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A measurement, for docs/contributing/measurements.md:
 * {@code ./mvnw verify -Dit.test=RetentionUnderLoadIT -Dmeasure=retention}. Deletes {@code -Dclaims.rows} expired claims while
 * workers claim and complete, and compares their pace with that before and after.
 */
@EnabledIfSystemProperty(named = "measure", matches = "retention", disabledReason = "takes minutes")
class RetentionUnderLoadIT {

    private static final Logger log = LoggerFactory.getLogger(RetentionUnderLoadIT.class);

    private static final int ROWS = Integer.getInteger("claims.rows", 1_000_000);
    private static final int WORKERS = 8;
    private static final Duration ALONE = Duration.ofSeconds(10);

    private final LongAdder pairs = new LongAdder();
    private final AtomicBoolean stopped = new AtomicBoolean();

    @Test
    void workersContinueWhileExpiredClaimsAreDeleted() throws Exception {
        try (TestDatabase database = new TestDatabase(WORKERS + 2)) {
            ClaimPlansIT.fill(database, ROWS, "20 days", "6 days");
            database.jdbc().execute("VACUUM ANALYZE exactly_once_claim");
            var store = database.store();
            RecordedSweeps sweeps = new RecordedSweeps();
            var retention = new Retention(
                    database.table(),
                    500,
                    List.of(sweeps),
                    System::nanoTime,
                    length -> TimeUnit.NANOSECONDS.sleep(length.toNanos()));
            ExecutorService workers = Executors.newFixedThreadPool(WORKERS);
            List<Future<?>> running = new ArrayList<>();
            for (int i = 0; i < WORKERS; i++) {
                running.add(workers.submit(() -> work(store)));
            }
            pace(() -> TimeUnit.NANOSECONDS.sleep(ALONE.toNanos() / 2)); // warms up
            double before = pace(() -> TimeUnit.NANOSECONDS.sleep(ALONE.toNanos()));
            double during = pace(retention::sweep);
            double after = pace(() -> TimeUnit.NANOSECONDS.sleep(ALONE.toNanos()));
            stopped.set(true);
            for (Future<?> worker : running) {
                worker.get();
            }
            workers.shutdown();

            double seconds = sweeps.sweeps.get(0).toNanos() / 1e9;
            log.info(
                    "{}",
                    String.format(
                            "deleted %,d claims in %.1f s (%,.0f/s); claimed and completed: %,.0f/s before, %,.0f/s during,"
                                    + " %,.0f/s after: %.2f of the mean",
                            sweeps.deleted(),
                            seconds,
                            sweeps.deleted() / seconds,
                            before,
                            during,
                            after,
                            2 * during / (before + after)));
            assertThat(sweeps.deleted()).isGreaterThan(ROWS * 9 / 10);
            assertThat(sweeps.failures).isZero();
        }
    }

    private interface Period {
        void pass() throws InterruptedException;
    }

    /** Returns how many claims a second were completed. */
    private double pace(Period period) throws InterruptedException {
        long count = pairs.sum();
        long start = System.nanoTime();
        period.pass();
        return (pairs.sum() - count) * 1e9 / (System.nanoTime() - start);
    }

    private void work(PostgresClaimStore store) {
        while (!stopped.get()) {
            ClaimRequest claim = TestDatabase.request();
            store.claim(List.of(claim));
            store.resolve(List.of(new ClaimResolution.Completed(claim.id(), "1")));
            pairs.increment();
        }
    }
}
