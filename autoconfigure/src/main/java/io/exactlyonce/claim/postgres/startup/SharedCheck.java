package io.exactlyonce.claim.postgres.startup;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ReflectionUtils;

/**
 * A check that many threads ask for. One is under way at a time, on the first thread that asks; threads that ask meanwhile
 * get its answer or its failure, so that none waits for more than one check. A check that has passed is not made again; one
 * that has failed is, for the next thread that asks.
 */
final class SharedCheck {

    private final Runnable check;
    private final AtomicReference<@Nullable Attempt> underWay = new AtomicReference<>();
    private volatile boolean passed;

    SharedCheck(Runnable check) {
        this.check = check;
    }

    boolean hasPassed() {
        return passed;
    }

    /** Returns when the check has passed; throws what it has thrown if it has not. */
    void require() {
        while (!passed) {
            Attempt own = new Attempt();
            Attempt other = underWay.compareAndExchange(null, own);
            if (other == null) {
                own.make();
                own.requirePassed();
            } else if (!other.isBrokenOff()) {
                other.requirePassed();
            }
        }
    }

    private final class Attempt {

        private final CountDownLatch over = new CountDownLatch(1);
        private @Nullable Throwable failure;
        private boolean interrupted;

        void make() {
            try {
                // Another attempt may have passed just before this one began.
                if (!passed) {
                    check.run();
                    passed = true;
                }
            } catch (Throwable thrown) {
                failure = thrown;
                interrupted = Thread.currentThread().isInterrupted();
            } finally {
                underWay.set(null);
                over.countDown();
            }
        }

        /** Awaits its end. Returns whether it failed on a thread that was to stop, which says nothing about the database. */
        boolean isBrokenOff() {
            try {
                over.await();
                return failure != null && interrupted;
            } catch (InterruptedException hurry) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException(
                        "Interrupted while it waited for the check of the claims' database", hurry);
            }
        }

        void requirePassed() {
            if (failure != null) {
                ReflectionUtils.rethrowRuntimeException(failure);
            }
        }
    }
}
