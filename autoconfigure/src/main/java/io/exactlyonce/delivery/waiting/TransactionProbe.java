package io.exactlyonce.delivery.waiting;

import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.delivery.ClaimSettings;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.InDoubtPolicy;
import io.exactlyonce.time.NanoClock;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds out whether a transaction manager through which a claim got no answer takes claims again: by claiming a key of
 * its own in a transaction of that manager, which is rolled back. It uses a connection as any claim does, and so it meets
 * whatever claims meet: a pool that is used up, a pooler that is down, a server that takes no writes, a full disk.
 *
 * <p>A probe may wait for a connection for as long as the application's pool allows. It has a thread of its own, and one is
 * awaited at a time. An answer may never come, as from a server that was switched off: connections of the application's need
 * not have a time limit. So a probe is awaited for a minute, the next one for two, and so on: each that hangs costs a
 * connection.
 */
final class TransactionProbe {

    private static final Logger log = LoggerFactory.getLogger(TransactionProbe.class);

    private static final String SCOPE = "exactly-once probe";

    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private static final int MOST_DOUBLINGS_OF_PATIENCE = 8;

    private final GuardedClaimTransaction transaction;
    private final ClaimSettings terms;
    private final Executor threads;
    private final NanoClock clock;

    /** A probe that was given up may end beside the next one, so it is its own lock. */
    private final ProbePauses pauses;

    private CompletableFuture<Void> awaited = CompletableFuture.completedFuture(null);
    private long awaitedUntil;
    private volatile int hanging;

    TransactionProbe(GuardedClaimTransaction transaction, ClaimSettings terms, Executor threads, NanoClock clock) {
        this.transaction = transaction;
        this.terms = terms;
        this.threads = threads;
        this.clock = clock;
        this.pauses = new ProbePauses(KeyWatcher.INTERVAL, KeyWatcher.LONGEST_PAUSE, clock);
    }

    /**
     * Begins a probe if there is a reason, and it is time for it.
     *
     * @param waiting those whose claims go through this manager; they learn how it ends
     */
    void next(List<WaitingDelivery> waiting) {
        if ((awaited.isDone() || isGivenUp()) && isDue(waiting)) {
            awaitedUntil = clock.nanoTime() + patience(hanging).toNanos();
            awaited = CompletableFuture.runAsync(() -> probe(waiting), threads);
        }
    }

    private boolean isDue(List<WaitingDelivery> waiting) {
        synchronized (pauses) {
            if (transaction.breaker().isClosed() && waiting.stream().allMatch(WaitingDelivery::isProved)) {
                pauses.reset();
                return false;
            }
            return pauses.areOver();
        }
    }

    /** One that has ended meanwhile cannot be cancelled any more. */
    private boolean isGivenUp() {
        if (clock.nanoTime() - awaitedUntil < 0) {
            return false;
        }
        if (awaited.cancel(false)) {
            int before = hanging;
            hanging = before + 1;
            log.warn(
                    "A probe of {} got no answer for {}; another one follows. Let its connections give up in time (socketTimeout)",
                    transaction,
                    patience(before));
        }
        return true;
    }

    private static Duration patience(int hanging) {
        return PATIENCE.multipliedBy(1L << Math.min(hanging, MOST_DOUBLINGS_OF_PATIENCE));
    }

    private void probe(List<WaitingDelivery> waiting) {
        String unique = UUID.randomUUID().toString();
        ClaimRequest request = terms.request(new ClaimSpec(new ClaimKey(SCOPE, unique), null, InDoubtPolicy.RERUN));
        Boundary.guard("A probe of " + transaction, () -> probe(request, waiting), crash -> end(waiting, crash));
    }

    private void probe(ClaimRequest request, List<WaitingDelivery> waiting) {
        try {
            transaction.probe(request);
            end(waiting, null);
        } catch (Exception unanswered) {
            end(waiting, unanswered);
        }
    }

    private void end(List<WaitingDelivery> waiting, @Nullable Throwable failure) {
        if (failure == null) {
            synchronized (pauses) {
                pauses.reset();
            }
            hanging = 0;
            waiting.forEach(WaitingDelivery::proved);
            return;
        }
        Duration pause;
        synchronized (pauses) {
            pause = pauses.begin();
        }
        waiting.forEach(WaitingDelivery::sawOutage);
        log.debug(
                "A probe of {}, for which {} deliveries wait, failed; again in {}",
                transaction,
                waiting.size(),
                pause,
                failure);
    }
}
