package io.exactlyonce.claim.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.Threads;
import io.exactlyonce.claim.postgres.schema.TestDatabase;
import io.exactlyonce.claim.postgres.schema.TestDatabase.Layout;
import io.exactlyonce.postgres.SynchronousCommit;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Deletion while the same keys are claimed, completed and released. The retention is so short that keys are deleted and
 * claimed again.
 */
class RetentionContentionIT {

    private static final int WORKERS = 8;
    private static final int SWEEPERS = 2;
    private static final int KEYS = 30;
    private static final int LIVES = 3;
    private static final Duration RETENTION = Duration.ofMillis(200);

    private final List<Key> keys =
            IntStream.range(0, KEYS).mapToObj(i -> new Key()).toList();
    private final AtomicInteger workers = new AtomicInteger(WORKERS + SWEEPERS);

    private static final class Key {
        final ClaimKey name = TestDatabase.request().key();
        final AtomicInteger holders = new AtomicInteger();
        final AtomicInteger lives = new AtomicInteger();
        final AtomicLong token = new AtomicLong();
        volatile long completionStart;
    }

    @ParameterizedTest
    @EnumSource
    void completedKeyIsNeverAcquiredAgainWithinItsRetention(Layout layout) throws Exception {
        try (TestDatabase database = new TestDatabase(WORKERS + SWEEPERS, layout)) {
            var store = new PostgresClaimStore(new ClaimTable(database.pool(), RETENTION, SynchronousCommit.ON));

            Threads.run(WORKERS + SWEEPERS, () -> {
                if (workers.getAndDecrement() <= SWEEPERS) {
                    sweepUntilDone(database);
                } else {
                    while (!done()) {
                        work(store, keys.get(ThreadLocalRandom.current().nextInt(KEYS)));
                    }
                }
            });

            assertThat(keys).allMatch(key -> key.lives.get() >= LIVES);
        }
    }

    private boolean done() {
        return keys.stream().allMatch(key -> key.lives.get() >= LIVES);
    }

    private void sweepUntilDone(TestDatabase database) {
        var retention = new Retention(database.table(), 3, List.of(), System::nanoTime, length -> {});
        while (!done()) {
            retention.sweep();
        }
    }

    private static void work(PostgresClaimStore store, Key key) {
        ClaimRequest request = TestDatabase.request(key.name);
        ClaimOutcome outcome = store.claim(List.of(request)).get(0);
        if (!(outcome instanceof Acquired acquired)) {
            return;
        }
        long claimedBy = System.nanoTime();
        assertThat(key.holders.incrementAndGet()).isOne();
        assertThat(acquired.fencingToken()).isGreaterThan(key.token.getAndSet(acquired.fencingToken()));
        if (key.completionStart != 0) {
            // The key was completed after the first reading and claimed again before the second. The measured time
            // therefore exceeds the real one.
            assertThat(Duration.ofNanos(claimedBy - key.completionStart)).isGreaterThanOrEqualTo(RETENTION);
        }
        key.holders.decrementAndGet();
        if (ThreadLocalRandom.current().nextInt(3) == 0) {
            assertThat(store.resolve(List.of(new ClaimResolution.Released(request.id(), "failed", false)))
                            .granted())
                    .hasSize(1);
            return;
        }
        key.completionStart = System.nanoTime();
        key.lives.incrementAndGet();
        assertThat(store.resolve(List.of(new ClaimResolution.Completed(request.id(), "1")))
                        .granted())
                .hasSize(1);
    }
}
