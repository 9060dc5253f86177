package io.exactlyonce.dynamodb.clock;

import io.exactlyonce.time.NanoClock;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * For how long held items have been seen unchanged, by the monotonic clock alone. Whatever writes an item gives it another
 * version; a holder counts its lease from before it wrote, thus from before the item was first seen. Safe for use by many threads.
 */
final class Observations {

    /** About 3 MB. Beyond them, those that were looked at longest ago are forgotten, and begin anew. */
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

    /** Returns for how long the item has had this version, as far as it was seen, in microseconds. */
    long unchangedMicros(String item, String version) {
        long now = clock.nanoTime();
        Seen since = seen.compute(
                item, (pk, known) -> known != null && known.version().equals(version) ? known : new Seen(version, now));
        return TimeUnit.NANOSECONDS.toMicros(now - since.sinceNanos());
    }
}
