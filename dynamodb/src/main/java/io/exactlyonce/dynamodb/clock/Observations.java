package io.exactlyonce.dynamodb.clock;

import io.exactlyonce.time.NanoClock;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The times for which held items were seen unchanged, by the monotonic clock alone. Each write gives an item a new
 * version. An owner starts to count its lease before its write, and so before an observer first sees the new version.
 * Thread-safe.
 */
final class Observations {

    /**
     * The most observed items, which take about 3 MB. Beyond this number, the least recently read item is forgotten,
     * and its next observation starts anew.
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

    /** Returns how long the item was seen with this version, in microseconds. */
    long unchangedMicros(String item, String version) {
        long now = clock.nanoTime();
        Seen since = seen.compute(
                item, (pk, known) -> known != null && known.version().equals(version) ? known : new Seen(version, now));
        return TimeUnit.NANOSECONDS.toMicros(now - since.sinceNanos());
    }
}
