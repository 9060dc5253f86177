package io.exactlyonce.test.contract;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/** Records the effects of keys, outside the store. Fails if an effect happens that must never happen. */
final class EffectJournal {

    private final ConcurrentMap<ClaimKey, Entry> entries = new ConcurrentHashMap<>();

    /**
     * Checks a claim that was acquired: tokens and attempts must grow from claim to claim. Call this while the claim
     * holds its key.
     */
    void acquired(ClaimKey key, Acquired acquired) {
        Acquired before = of(key).latest.getAndSet(acquired);
        require(acquired.fencingToken() > before.fencingToken(), "given a higher token", key);
        require(acquired.attempt() > before.attempt(), "given a higher attempt", key);
    }

    /** Starts a run of a handler. No other run of this key may start until the run is closed. */
    Running running(ClaimKey key) {
        Entry entry = of(key);
        require(entry.running.incrementAndGet() == 1, "run by one worker at a time", key);
        return new Running(entry);
    }

    void completed(ClaimKey key) {
        of(key).completions.incrementAndGet();
    }

    int effects(ClaimKey key) {
        return of(key).effects.get();
    }

    int completions(ClaimKey key) {
        return of(key).completions.get();
    }

    int completions() {
        return entries.values().stream()
                .mapToInt(entry -> entry.completions.get())
                .sum();
    }

    void require(boolean holds, String what, ClaimKey key) {
        if (!holds) {
            throw new AssertionError("%s was not %s".formatted(key, what));
        }
    }

    private Entry of(ClaimKey key) {
        return entries.computeIfAbsent(key, absent -> new Entry());
    }

    /** A run of a handler. */
    static final class Running implements AutoCloseable {

        private final Entry entry;

        private Running(Entry entry) {
            this.entry = entry;
        }

        /** Records the effect. Takes some time, so that other workers can interfere. */
        void effect() {
            entry.effects.incrementAndGet();
            LockSupport.parkNanos(50_000);
        }

        @Override
        public void close() {
            entry.running.decrementAndGet();
        }
    }

    private static final class Entry {

        private final AtomicReference<Acquired> latest = new AtomicReference<>(new Acquired(0, 0, false));
        private final AtomicInteger running = new AtomicInteger();
        private final AtomicInteger effects = new AtomicInteger();
        private final AtomicInteger completions = new AtomicInteger();
    }
}
