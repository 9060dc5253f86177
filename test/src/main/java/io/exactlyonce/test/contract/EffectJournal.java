package io.exactlyonce.test.contract;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/**
 * Records handler calls, effects and completions, independently of the store. Throws if two handlers of one key run at
 * the same time. Also throws if a key's new claim does not have a higher token and a higher attempt number than the
 * claim before.
 */
final class EffectJournal {

    private final ConcurrentMap<ClaimKey, Entry> entries = new ConcurrentHashMap<>();

    /**
     * Checks an acquired claim: its token and its attempt must be higher than those of the key's claim before. Call
     * this method while the claim holds its key.
     */
    void acquired(ClaimKey key, Acquired acquired) {
        Acquired before = of(key).latest.getAndSet(acquired);
        require(acquired.fencingToken() > before.fencingToken(), "given a higher token", key);
        require(acquired.attempt() > before.attempt(), "given a higher attempt", key);
    }

    /** Starts a run of a handler. Throws if another run for this key is not closed yet. */
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

        /** Records an effect, and waits for 50 microseconds, so that other workers can interfere. */
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
