package io.exactlyonce.sighting;

import io.exactlyonce.sighting.Sightings.Seen;
import io.exactlyonce.sighting.Sightings.SeenKey;
import io.exactlyonce.time.NanoClock;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/** Counts of one listener on one queue: since the start, and of each of the last 24 hours. */
final class SightingTally {

    static final int MOST_KEYS = 100;

    private static final int HOURS = 24;
    private static final long HOUR = TimeUnit.HOURS.toNanos(1);
    private static final String UNOBSERVED = "unobserved";

    private final NanoClock clock;
    private final long begun;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Long> sinceStart = zeros();
    private final Map<String, Long> unobserved = new LinkedHashMap<>();

    /** By the hours' numbers since the start, none older than a day. */
    private final Map<Long, Map<String, Long>> hours = new HashMap<>();

    /** By hash, the latest last. */
    private final Map<String, KeySeen> keys = new LinkedHashMap<>() {

        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, KeySeen> eldest) {
            return size() > MOST_KEYS;
        }
    };

    private record KeySeen(Sighting latest, long times, long at) {}

    SightingTally(NanoClock clock) {
        this.clock = clock;
        this.begun = clock.nanoTime();
        for (Unobserved reason : Unobserved.values()) {
            unobserved.put(reason.tag(), 0L);
        }
    }

    private static Map<String, Long> zeros() {
        Map<String, Long> zeros = new LinkedHashMap<>();
        for (Sighting kind : Sighting.values()) {
            zeros.put(kind.tag(), 0L);
        }
        zeros.put(UNOBSERVED, 0L);
        return zeros;
    }

    void add(Sighting sighting, String key) {
        lock.lock();
        try {
            count(sighting.tag());
            if (sighting != Sighting.ALONE) {
                KeySeen before = keys.remove(key);
                keys.put(key, new KeySeen(sighting, before == null ? 1 : before.times() + 1, clock.nanoTime()));
            }
        } finally {
            lock.unlock();
        }
    }

    void add(Unobserved reason) {
        lock.lock();
        try {
            count(UNOBSERVED);
            unobserved.merge(reason.tag(), 1L, Long::sum);
        } finally {
            lock.unlock();
        }
    }

    private void count(String tag) {
        sinceStart.merge(tag, 1L, Long::sum);
        hours.computeIfAbsent(forgetUntilNow(), hour -> new HashMap<>()).merge(tag, 1L, Long::sum);
    }

    /** Returns this hour's number. */
    private long forgetUntilNow() {
        long now = (clock.nanoTime() - begun) / HOUR;
        hours.keySet().removeIf(hour -> hour <= now - HOURS);
        return now;
    }

    Seen seen(ObservedQueue queue) {
        lock.lock();
        try {
            forgetUntilNow();
            Map<String, Long> lastDay = zeros();
            hours.values().forEach(hour -> hour.forEach((tag, count) -> lastDay.merge(tag, count, Long::sum)));
            return new Seen(
                    queue.listener(),
                    queue.queue(),
                    summary(lastDay),
                    lastDay,
                    copy(sinceStart),
                    copy(unobserved),
                    keys());
        } finally {
            lock.unlock();
        }
    }

    private static String summary(Map<String, Long> lastDay) {
        long prevented = 0;
        for (Sighting kind : Sighting.values()) {
            prevented += kind.isDoubleEffect() ? lastDay.getOrDefault(kind.tag(), 0L) : 0;
        }
        return "would have prevented %d double %s in the last 24 hours"
                .formatted(prevented, prevented == 1 ? "effect" : "effects");
    }

    /** In the same order. */
    private static Map<String, Long> copy(Map<String, Long> counts) {
        return Collections.unmodifiableMap(new LinkedHashMap<>(counts));
    }

    private List<SeenKey> keys() {
        long now = clock.nanoTime();
        List<SeenKey> latestFirst = new ArrayList<>(keys.size());
        keys.forEach((key, seen) -> latestFirst.add(new SeenKey(
                key, seen.latest().tag(), seen.times(), (now - seen.at()) / (double) TimeUnit.SECONDS.toNanos(1))));
        Collections.reverse(latestFirst);
        return latestFirst;
    }
}
