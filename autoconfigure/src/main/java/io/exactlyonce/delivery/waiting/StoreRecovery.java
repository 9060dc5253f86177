package io.exactlyonce.delivery.waiting;

import io.exactlyonce.time.NanoClock;
import java.time.Duration;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds out whether a store that answers looks takes claims again, too: a full disk or a missing right fails claims alone.
 * Each trial may cost deliveries a receive, so they come less and less often until a claim is answered.
 *
 * <p>A trial claims the key of a delivery that waits, which costs no receive; every other one lets listeners poll instead,
 * since that one key's claim may fail for a reason of its own.
 */
final class StoreRecovery {

    private static final Logger log = LoggerFactory.getLogger(StoreRecovery.class);

    private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);
    private static final int MOST_DOUBLINGS = 5;

    private final StoreGate gate;
    private final WaitingClaimCheck claims;
    private final NanoClock clock;

    private int begun;
    private long notBefore;
    private boolean polling;

    StoreRecovery(StoreGate gate, WaitingClaimCheck claims, NanoClock clock) {
        this.gate = gate;
        this.claims = claims;
        this.clock = clock;
    }

    /** Tells whether claims are answered as far as anybody knows. */
    boolean areOver() {
        if (gate.isInDoubt()) {
            return false;
        }
        begun = 0;
        polling = false;
        return true;
    }

    /**
     * Makes the next trial if it is time for it.
     *
     * @param waiting learn that the store does not answer others either
     * @param free those of them whose keys can be claimed
     */
    void next(List<WaitingDelivery> waiting, List<WaitingDelivery> free) {
        if (begun > 0 && clock.nanoTime() - notBefore < 0) {
            return;
        }
        notBefore = clock.nanoTime() + pause().toNanos();
        int number = begun++;
        if (free.isEmpty() || polling) {
            polling = false;
            gate.halfOpen();
        } else {
            polling = true;
            ask(waiting, free.get(number % free.size()));
        }
    }

    private Duration pause() {
        Duration pause = FIRST_PAUSE.multipliedBy(1L << Math.min(begun, MOST_DOUBLINGS));
        return pause.compareTo(LONGEST_PAUSE) < 0 ? pause : LONGEST_PAUSE;
    }

    private void ask(List<WaitingDelivery> waiting, WaitingDelivery first) {
        try {
            claims.ask(List.of(first));
            gate.answered();
        } catch (RuntimeException failure) {
            waiting.forEach(WaitingDelivery::sawOutage);
            gate.unanswered(failure);
            log.debug("The store answers looks, but not the claim of {}", first.key(), failure);
        }
    }
}
