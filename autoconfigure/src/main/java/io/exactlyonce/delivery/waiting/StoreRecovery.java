package io.exactlyonce.delivery.waiting;

import io.exactlyonce.time.NanoClock;
import java.time.Duration;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The probe of the claim store: finds out whether a store that answers looks takes claims again, too, since a full disk or
 * a missing right fails claims alone. Each trial may cost deliveries a receive, so they come less and less often until a
 * claim is answered.
 *
 * <p>A trial claims the key of a delivery that waits, which costs no receive; every other one half-opens the breaker
 * instead, since that one key's claim may fail for a reason of its own.
 */
final class StoreRecovery {

    private static final Logger log = LoggerFactory.getLogger(StoreRecovery.class);

    private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);

    private final StoreCircuitBreaker breaker;
    private final WaitingClaimCheck claims;
    private final ProbePauses pauses;

    private boolean isPollingNext;

    StoreRecovery(StoreCircuitBreaker breaker, WaitingClaimCheck claims, NanoClock clock) {
        this.breaker = breaker;
        this.claims = claims;
        this.pauses = new ProbePauses(FIRST_PAUSE, LONGEST_PAUSE, clock);
    }

    /** Returns whether claims are answered, as far as is known: there is nothing to be tried. */
    boolean isOver() {
        if (!breaker.isClosed()) {
            return false;
        }
        pauses.reset();
        isPollingNext = false;
        return true;
    }

    /**
     * Makes the next trial if it is time for it.
     *
     * @param waiting those that are claimed through the store; they learn that it does not answer other claims either
     * @param free those of them whose keys can be claimed
     */
    void next(List<WaitingDelivery> waiting, List<WaitingDelivery> free) {
        if (!pauses.areOver()) {
            return;
        }
        int number = pauses.begun();
        pauses.begin();
        if (free.isEmpty() || isPollingNext) {
            isPollingNext = false;
            breaker.halfOpen();
        } else {
            isPollingNext = true;
            // Each in turn: of these trials every other one polls.
            claim(free.get(number / 2 % free.size()), waiting);
        }
    }

    private void claim(WaitingDelivery tried, List<WaitingDelivery> waiting) {
        try {
            claims.ask(List.of(tried));
            breaker.answered();
        } catch (RuntimeException failure) {
            waiting.forEach(WaitingDelivery::sawOutage);
            breaker.unanswered(failure);
            log.debug("The store answers looks, but not the claim of {}", tried.key(), failure);
        }
    }
}
