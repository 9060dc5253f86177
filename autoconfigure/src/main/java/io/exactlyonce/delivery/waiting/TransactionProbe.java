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
 * The probe of a transaction manager: finds out whether one through which a claim got no answer takes claims again, by
 * claiming a key of its own in a transaction of that manager, which is rolled back. It uses a connection as any claim does,
 * and so it meets whatever claims meet: a pool that is used up, a pooler that is down, a server that takes no writes, a full
 * disk. It costs no delivery anything.
 *
 * <p>A probe may wait for a connection for as long as the application's pool allows. It has a thread of its own, and one is
 * under way at most.
 */
final class TransactionProbe {

    private static final Logger log = LoggerFactory.getLogger(TransactionProbe.class);

    private static final String SCOPE = "exactly-once probe";

    private final GuardedClaimTransaction transaction;
    private final ClaimSettings terms;
    private final Executor threads;
    private final AtomicBoolean underWay = new AtomicBoolean();

    /** Belongs to the probe while one is under way, and to {@link #next} otherwise. */
    private final ProbePauses pauses;

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
        this.pauses = new ProbePauses(KeyWatcher.INTERVAL, KeyWatcher.LONGEST_PAUSE, clock);
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
        if (transaction.breaker().isClosed() && waiting.stream().allMatch(WaitingDelivery::isProved)) {
            pauses.reset();
        } else if (pauses.areOver()) {
            underWay.set(true);
            begin(waiting);
        }
    }

    private void begin(List<WaitingDelivery> waiting) {
        try {
            threads.execute(() -> {
                try {
                    probe(waiting);
                } finally {
                    underWay.set(false);
                }
            });
        } catch (RuntimeException noThread) {
            underWay.set(false);
            throw noThread;
        }
    }

    private void probe(List<WaitingDelivery> waiting) {
        String unique = UUID.randomUUID().toString();
        ClaimRequest request = terms.request(new ClaimSpec(new ClaimKey(SCOPE, unique), null, InDoubtPolicy.RERUN));
        try {
            transaction.execute(request, claim -> {
                throw new Answered();
            });
            answered(waiting);
        } catch (Answered answered) {
            answered(waiting);
        } catch (Throwable unanswered) {
            unanswered(waiting, unanswered);
        }
    }

    private void answered(List<WaitingDelivery> waiting) {
        pauses.reset();
        waiting.forEach(WaitingDelivery::proved);
    }

    private void unanswered(List<WaitingDelivery> waiting, Throwable failure) {
        Duration pause = pauses.begin();
        waiting.forEach(WaitingDelivery::sawOutage);
        log.debug(
                "A probe of {}, for which {} deliveries wait, failed; again in {}",
                transaction,
                waiting.size(),
                pause,
                failure);
    }
}
