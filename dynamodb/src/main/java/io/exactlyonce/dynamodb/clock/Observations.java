package io.exactlyonce.dynamodb.clock;

import io.exactlyonce.time.NanoClock;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The times for which held items were seen unchanged. Only the monotonic clock measures these times. Thread-safe.
 *
 * <p>Each write gives an item a new version. An owner begins to count its lease before its write, and an observer
 * begins only when it sees the new version. So a lease that has expired for an observer has also expired for its owner.
 */
final class Observations {

    /**
     * The most items that are observed. They take about 3 MB. If there are more, the least recently read item is
     * forgotten, and its next observation starts from zero.
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

    /** Returns for how long the item has been seen with this version, in microseconds. */
    long unchangedMicros(String item, String version) {
        long now = clock.nanoTime();
        Seen since = seen.compute(
                item, (pk, known) -> known != null && known.version().equals(version) ? known : new Seen(version, now));
        return TimeUnit.NANOSECONDS.toMicros(now - since.sinceNanos());
    }
}
