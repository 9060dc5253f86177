package io.exactlyonce.delivery;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.time.NanoClock;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/** The parked keys that this instance has logged lately, so that the receives of one make one line. Thread-safe. */
public final class ParkedKeys {

    static final Duration INTERVAL = Duration.ofHours(1);

    static final int MOST = 1_000;

    private final NanoClock clock;

    /** The time of each key's last line, by the hash of the key; the latest line comes last. */
    private final Map<String, Long> logged = new LinkedHashMap<>();

    /** @param clock monotonic, in nanoseconds */
    public ParkedKeys(NanoClock clock) {
        this.clock = clock;
    }

    /** Returns whether a key is to be logged, because it was not within the last hour; it then counts as logged. */
    synchronized boolean isDue(ClaimKey key) {
        String hash = key.hash();
        long now = clock.nanoTime();
        Long last = logged.get(hash);
        if (last != null && now - last < INTERVAL.toNanos()) {
            return false;
        }
        log(hash, now);
        return true;
    }

    /** Counts a key as logged. */
    synchronized void logged(ClaimKey key) {
        log(key.hash(), clock.nanoTime());
    }

    private void log(String hash, long now) {
        logged.remove(hash);
        logged.put(hash, now);
        if (logged.size() > MOST) {
            logged.remove(logged.keySet().iterator().next());
        }
    }
}
