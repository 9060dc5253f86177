package io.exactlyonce.delivery.waiting;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.KeyState;
import io.exactlyonce.delivery.ClaimSettings;
import io.exactlyonce.time.NanoClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches the keys of all waiting deliveries with one look at the store for all of them, and none when nobody waits. The
 * same look finds out when a store that went away is back. Deliveries whose claims go through a transaction manager of
 * the application's wait for a probe of that manager besides: that the store answers says nothing of its connections.
 *
 * <p>It has no thread of its own: {@link #tick()} is to be called once in each {@link #INTERVAL}, by one thread.
 */
public final class KeyWatcher {

    /** Time between two looks: what a takeover, or the delete of a duplicate, is late by at most. */
    public static final Duration INTERVAL = Duration.ofMillis(250);

    private static final Logger log = LoggerFactory.getLogger(KeyWatcher.class);

    /** With each look that fails the pause is doubled, this often at most: to 4 s. */
    private static final int MOST_DOUBLINGS = 4;

    private final ClaimStore store;
    private final WaitingDeliveries waiters;
    private final StoreGates gates;
    private final WaitingClaimCheck claims;
    private final StoreRecovery trials;
    private final Function<GuardedClaimTransaction, TransactionProbe> newProbe;
    private final Map<StoreGate, TransactionProbe> probes = new HashMap<>();
    private final NanoClock clock;

    private int failures;
    private long notBefore;

    /**
     * @param store where the keys' claims are
     * @param waiters who waits for keys
     * @param gates learn whether claims are answered; while one is in doubt, no delivery whose claim would go its way is
     *     made visible only to be claimed in vain
     * @param terms on which keys are claimed once more, where payloads are to be compared
     * @param threads for probes of transaction managers, which may wait for connections of the application's
     * @param clock monotonic, in nanoseconds
     */
    public KeyWatcher(
            ClaimStore store,
            WaitingDeliveries waiters,
            StoreGates gates,
            ClaimSettings terms,
            Executor threads,
            NanoClock clock) {
        this.store = store;
        this.waiters = waiters;
        this.gates = gates;
        this.claims = new WaitingClaimCheck(store, terms, waiters);
        this.trials = new StoreRecovery(gates.claims(), claims, clock);
        this.newProbe = transaction -> new TransactionProbe(transaction, terms, threads, clock);
        this.clock = clock;
    }

    /** Looks at the keys, and ends the waits that are over. Throws nothing that the store throws. */
    public void tick() {
        waiters.dropLost();
        boolean areClaimsAnswered = trials.areOver();
        // Who begins to wait during the look is not judged by it: the look may be older than that claim's answer.
        List<WaitingDelivery> waiting = waiters.all();
        probe(waiting);
        if (failures > 0 && clock.nanoTime() - notBefore < 0) {
            return;
        }
        if (waiting.isEmpty() && gates.claims().isOpen()) {
            failures = 0;
            return;
        }
        Map<ClaimKey, KeyState> states;
        try {
            states = new HashMap<>(
                    store.look(waiting.stream().map(WaitingDelivery::key).collect(Collectors.toSet())));
        } catch (RuntimeException failure) {
            of(gates.claims(), waiting).forEach(WaitingDelivery::sawOutage);
            failed(waiting, failure);
            return;
        }
        if (!areClaimsAnswered) {
            List<WaitingDelivery> claiming = of(gates.claims(), waiting);
            trials.next(claiming, free(claiming, states));
        }
        end(waiting, states, areClaimsAnswered);
    }

    private void probe(List<WaitingDelivery> waiting) {
        for (GuardedClaimTransaction transaction : gates.transactions()) {
            StoreGate gate = transaction.gate();
            probes.computeIfAbsent(gate, unknown -> newProbe.apply(transaction)).next(of(gate, waiting));
        }
    }

    private List<WaitingDelivery> of(StoreGate gate, List<WaitingDelivery> waiting) {
        return waiting.stream().filter(waiter -> gates.of(waiter) == gate).toList();
    }

    private static List<WaitingDelivery> free(List<WaitingDelivery> waiting, Map<ClaimKey, KeyState> states) {
        return waiting.stream()
                .filter(waiter -> states.get(waiter.key()) == KeyState.FREE)
                .toList();
    }

    /** Of those who wait for one free key, one goes first: the others would only meet its claim, at the cost of a receive. */
    private void end(List<WaitingDelivery> waiting, Map<ClaimKey, KeyState> states, boolean areClaimsAnswered) {
        Set<ClaimKey> exposed = new HashSet<>();
        List<WaitingDelivery> compared = new ArrayList<>();
        for (WaitingDelivery waiter : waiting) {
            KeyState state = states.getOrDefault(waiter.key(), KeyState.HELD);
            if (state == KeyState.COMPLETED && waiter.comparesPayloads()) {
                compared.add(waiter);
            } else if (state != KeyState.FREE
                    || (wouldBeAnswered(waiter, areClaimsAnswered) && exposed.add(waiter.key()))) {
                waiters.end(waiter, state);
            }
        }
        compare(compared);
    }

    private boolean wouldBeAnswered(WaitingDelivery waiter, boolean areClaimsAnswered) {
        StoreGate gate = gates.of(waiter);
        return gate == gates.claims() ? areClaimsAnswered : !gate.isInDoubt() && waiter.isProved();
    }

    private void compare(List<WaitingDelivery> compared) {
        try {
            claims.ask(compared);
            failures = 0;
        } catch (RuntimeException failure) {
            failed(compared, failure);
        }
    }

    private void failed(List<WaitingDelivery> waiting, RuntimeException failure) {
        Duration pause = INTERVAL.multipliedBy(1L << Math.min(failures, MOST_DOUBLINGS));
        failures++;
        notBefore = clock.nanoTime() + pause.toNanos();
        log.debug("Asking for the keys of {} waiting deliveries failed; again in {}", waiting.size(), pause, failure);
    }
}
