package io.exactlyonce.delivery.waiting;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.delivery.ClaimSettings;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.InDoubtPolicy;
import io.exactlyonce.time.NanoClock;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds out whether a transaction manager through which a claim got no answer takes claims again: by claiming a key of
 * its own in a transaction of that manager, which is rolled back. It uses a connection as any claim does, and so it meets
 * whatever claims meet: a pool that is used up, a pooler that is down, a server that takes no writes, a full disk.
 *
 * <p>A probe may wait for a connection for as long as the application's pool allows. It has a thread of its own, and one is
 * under way at most.
 */
final class TransactionProbe {

    private static final Logger log = LoggerFactory.getLogger(TransactionProbe.class);

    private static final String SCOPE = "exactly-once probe";

    /** With each probe that fails the pause is doubled, this often at most: to 4 s. It costs no delivery anything. */
    private static final int MOST_DOUBLINGS = 4;

    private final GuardedClaimTransaction transaction;
    private final ClaimSettings terms;
    private final Executor threads;
    private final NanoClock clock;
    private final AtomicBoolean underWay = new AtomicBoolean();

    private volatile int failures;
    private volatile long notBefore;

    /** Rolls a probe back. */
    private static final class Answered extends RuntimeException {
        Answered() {
            super("The probe's claim was answered", null, false, false);
        }
    }

    TransactionProbe(GuardedClaimTransaction transaction, ClaimSettings terms, Executor threads, NanoClock clock) {
        this.transaction = transaction;
        this.terms = terms;
        this.threads = threads;
        this.clock = clock;
    }

    /**
     * Begins a probe if there is a reason, and it is time for it.
     *
     * @param waiting those whose claims go through this manager; they learn how it ends
     */
    void next(List<WaitingDelivery> waiting) {
        if (underWay.get()) {
            return;
        }
        if (!transaction.gate().isInDoubt() && waiting.stream().allMatch(WaitingDelivery::isProved)) {
            failures = 0;
        } else if (failures == 0 || clock.nanoTime() - notBefore >= 0) {
            underWay.set(true);
            begin(waiting);
        }
    }

    private void begin(List<WaitingDelivery> waiting) {
        try {
            threads.execute(() -> {
                try {
                    end(waiting, probe());
                } finally {
                    underWay.set(false);
                }
            });
        } catch (RuntimeException noThread) {
            underWay.set(false);
            throw noThread;
        }
    }

    /** Returns why there was no answer. */
    private @Nullable Throwable probe() {
        String unique = UUID.randomUUID().toString();
        ClaimRequest request = terms.request(new ClaimSpec(new ClaimKey(SCOPE, unique), null, InDoubtPolicy.RERUN));
        try {
            transaction.execute(request, claim -> {
                throw new Answered();
            });
            return null;
        } catch (Answered answered) {
            return null;
        } catch (Throwable unanswered) {
            return unanswered;
        }
    }

    private void end(List<WaitingDelivery> waiting, @Nullable Throwable failure) {
        if (failure == null) {
            failures = 0;
            waiting.forEach(WaitingDelivery::proved);
            return;
        }
        int before = failures;
        Duration pause = KeyWatcher.INTERVAL.multipliedBy(1L << Math.min(before, MOST_DOUBLINGS));
        notBefore = clock.nanoTime() + pause.toNanos();
        failures = before + 1;
        waiting.forEach(WaitingDelivery::sawOutage);
        log.debug(
                "A probe of {}, for which {} deliveries wait, failed; again in {}",
                transaction,
                waiting.size(),
                pause,
                failure);
    }
}
