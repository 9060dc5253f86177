package io.exactlyonce.dynamodb.clock;

import io.exactlyonce.time.NanoClock;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Remembers for how long this worker has seen the items of held keys unchanged. The time is measured by the monotonic
 * clock. Thread-safe.
 *
 * <p>Every write, also a renewal, gives an item a new version. If a version stays for longer than a lease, the lease
 * has expired for its owner, too: the owner counts the lease from before its last write.
 */
final class Observations {

    /**
     * Limit of observed items, which take about 3 MB. If there are more, the least recently read item is forgotten, and
     * its observation begins again.
     */
    static final int MOST = 16_384;

    private record Seen(String version, long sinceNanos) {}

    private final NanoClock clock;
    private final Map<String, Seen> seen = Collections.synchronizedMap(new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Seen> eldest) {
            return size() > MOST;
        }
    });

    Observations(NanoClock clock) {
        this.clock = clock;
    }

    /**
     * Returns how long the item has been seen with this version, in microseconds. The first call for a version returns
     * 0.
     */
    long unchangedMicros(String item, String version) {
        long now = clock.nanoTime();
        Seen since = seen.compute(
                item, (pk, known) -> known != null && known.version().equals(version) ? known : new Seen(version, now));
        return TimeUnit.NANOSECONDS.toMicros(now - since.sinceNanos());
    }
}
