package io.exactlyonce.delivery.waiting;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.KeyState;
import io.exactlyonce.delivery.ClaimSettings;
import io.exactlyonce.delivery.ClaimWriter;
import io.exactlyonce.time.NanoClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches the keys of all waiting deliveries with one look at the store for all of them, and none while no delivery waits.
 * With each tick:
 *
 * <ol>
 *   <li>deliveries whose windows are lost are dropped;
 *   <li>each transaction manager through which a claim got no answer is probed on its own connections: that the store
 *       answers says nothing of them;
 *   <li>the store is asked for the states of the keys, which tells as well when a store that went away is back;
 *   <li>while the store's circuit breaker is not closed, a claim is tried;
 *   <li>waits that are over end: a duplicate is deleted, and a delivery whose key is free is made visible, unless its
 *       claim would get no answer.
 * </ol>
 *
 * <p>It has no thread of its own: {@link #tick()} is to be called once in each {@link #INTERVAL}, by one thread.
 */
public final class KeyWatcher {

    /** Time between two looks: what a takeover, or the delete of a duplicate, is late by at most. */
    public static final Duration INTERVAL = Duration.ofMillis(250);

    /** With each look, or probe, that fails the pause before the next one is doubled, up to this. */
    static final Duration LONGEST_PAUSE = INTERVAL.multipliedBy(16);

    private static final Logger log = LoggerFactory.getLogger(KeyWatcher.class);

    private final ClaimWriter store;
    private final WaitingDeliveries deliveries;
    private final StoreCircuitBreakers breakers;
    private final WaitingClaimCheck claims;
    private final StoreRecovery recovery;
    private final Map<StoreCircuitBreaker, TransactionProbe> probes = new HashMap<>();
    private final ProbePauses pauses;
    private final ClaimSettings terms;
    private final Executor threads;
    private final NanoClock clock;

    /**
     * Makes a watcher.
     *
     * @param store where the keys' claims are
     * @param deliveries wait for keys
     * @param breakers know on which way claims are answered
     * @param terms on which keys are claimed once more, where payloads are to be compared
     * @param threads for probes of transaction managers, which may wait for connections of the application's
     * @param clock monotonic, in nanoseconds
     */
    public KeyWatcher(
            ClaimWriter store,
            WaitingDeliveries deliveries,
            StoreCircuitBreakers breakers,
            ClaimSettings terms,
            Executor threads,
            NanoClock clock) {
        this.store = store;
        this.deliveries = deliveries;
        this.breakers = breakers;
        this.terms = terms;
        this.threads = threads;
        this.clock = clock;
        this.claims = new WaitingClaimCheck(store, terms, deliveries);
        this.recovery = new StoreRecovery(breakers.claims(), claims, clock);
        this.pauses = new ProbePauses(INTERVAL, LONGEST_PAUSE, clock);
    }

    /** Looks at the keys, and ends the waits that are over. Throws nothing that the store throws. */
    public void tick() {
        deliveries.dropLost();
        boolean areClaimsAnswered = recovery.isOver();
        // A delivery that starts waiting during the look is left for the next one: the look may be older than its
        // claim.
        List<WaitingDelivery> waiting = deliveries.all();
        probe(waiting);
        if (!pauses.areOver()) {
            return;
        }
        if (waiting.isEmpty() && breakers.claims().permitsPolling()) {
            pauses.reset();
            return;
        }
        Map<ClaimKey, KeyState> states;
        try {
            states = new HashMap<>(
                    store.look(waiting.stream().map(WaitingDelivery::key).collect(Collectors.toSet())));
        } catch (RuntimeException failure) {
            of(breakers.claims(), waiting).forEach(WaitingDelivery::sawOutage);
            failed(waiting, failure);
            return;
        }
        if (!areClaimsAnswered) {
            List<WaitingDelivery> claiming = of(breakers.claims(), waiting);
            recovery.next(claiming, free(claiming, states));
        }
        end(waiting, states, areClaimsAnswered);
    }

    private void probe(List<WaitingDelivery> waiting) {
        for (GuardedClaimTransaction transaction : breakers.transactions()) {
            StoreCircuitBreaker breaker = transaction.breaker();
            probes.computeIfAbsent(breaker, unknown -> new TransactionProbe(transaction, terms, threads, clock))
                    .next(of(breaker, waiting));
        }
    }

    private List<WaitingDelivery> of(StoreCircuitBreaker breaker, List<WaitingDelivery> waiting) {
        return waiting.stream().filter(each -> breakers.of(each) == breaker).toList();
    }

    private static List<WaitingDelivery> free(List<WaitingDelivery> waiting, Map<ClaimKey, KeyState> states) {
        return waiting.stream()
                .filter(each -> states.get(each.key()) == KeyState.FREE)
                .toList();
    }

    /** Exposes one waiting delivery per free key: the rest would be refused, and would use up a receive. */
    private void end(List<WaitingDelivery> waiting, Map<ClaimKey, KeyState> states, boolean areClaimsAnswered) {
        Set<ClaimKey> exposed = new HashSet<>();
        List<WaitingDelivery> compared = new ArrayList<>();
        for (WaitingDelivery each : waiting) {
            KeyState state = states.getOrDefault(each.key(), KeyState.HELD);
            if (state == KeyState.COMPLETED && each.comparesPayloads()) {
                compared.add(each);
            } else if (state != KeyState.FREE
                    || (wouldBeAnswered(each, areClaimsAnswered) && exposed.add(each.key()))) {
                deliveries.end(each, state);
            }
        }
        compare(compared);
    }

    private boolean wouldBeAnswered(WaitingDelivery waiting, boolean areClaimsAnswered) {
        StoreCircuitBreaker breaker = breakers.of(waiting);
        return breaker == breakers.claims() ? areClaimsAnswered : breaker.isClosed() && waiting.isProved();
    }

    private void compare(List<WaitingDelivery> compared) {
        try {
            claims.ask(compared);
            pauses.reset();
        } catch (RuntimeException failure) {
            failed(compared, failure);
        }
    }

    private void failed(List<WaitingDelivery> waiting, RuntimeException failure) {
        Duration pause = pauses.begin();
        log.debug("Asking for the keys of {} waiting deliveries failed; again in {}", waiting.size(), pause, failure);
    }
}
