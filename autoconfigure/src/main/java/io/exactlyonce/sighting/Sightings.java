package io.exactlyonce.sighting;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.time.NanoClock;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** What this instance has seen of its observed listeners: of the last 24 hours, and since its start. */
public final class Sightings implements SightingObserver {

    private final NanoClock clock;
    private final Map<ObservedQueue, SightingTally> tallies = new ConcurrentHashMap<>();

    /**
     * What was seen of one listener on one queue, as the endpoint shows it: of this instance alone.
     *
     * @param summary what enforcing would have prevented in the last 24 hours, as a sentence
     * @param lastDay how often, by {@link Sighting#tag()} and {@code unobserved}, in the last 24 hours, to the hour
     * @param sinceStart the same since this instance has started
     * @param unobserved what was not observed since the start, by {@link Unobserved#tag()}
     * @param keys what enforcing would have handled in another way, the latest first
     */
    public record Seen(
            String listener,
            String queue,
            String summary,
            Map<String, Long> lastDay,
            Map<String, Long> sinceStart,
            Map<String, Long> unobserved,
            List<SeenKey> keys) {}

    /**
     * A key of which something was seen.
     *
     * @param key its hash, as logs have it
     * @param sighting the latest {@link Sighting#tag()}
     * @param times how often something was seen of it, as far back as it is remembered
     * @param secondsAgo since the latest
     */
    public record SeenKey(String key, String sighting, long times, double secondsAgo) {}

    /** @param clock monotonic, in nanoseconds */
    public Sightings(NanoClock clock) {
        this.clock = clock;
    }

    @Override
    public void observing(ObservedQueue queue) {
        tally(queue);
    }

    @Override
    public void sighted(ObservedQueue queue, ClaimKey key, Sighting sighting) {
        tally(queue).add(sighting, key.shortHash());
    }

    @Override
    public void unobserved(ObservedQueue queue, Unobserved reason, @Nullable Throwable failure) {
        tally(queue).add(reason);
    }

    private SightingTally tally(ObservedQueue queue) {
        return tallies.computeIfAbsent(queue, added -> new SightingTally(clock));
    }

    /** Returns whether there are listeners that are only observed. */
    public boolean isObserving() {
        return !tallies.isEmpty();
    }

    /** Returns what was seen of each listener, by listener and queue. */
    public List<Seen> all() {
        return tallies.entrySet().stream()
                .sorted(Comparator.comparing((Map.Entry<ObservedQueue, SightingTally> entry) ->
                                entry.getKey().listener())
                        .thenComparing(entry -> entry.getKey().queue()))
                .map(entry -> entry.getValue().seen(entry.getKey()))
                .toList();
    }
}
