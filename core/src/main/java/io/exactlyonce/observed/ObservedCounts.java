package io.exactlyonce.observed;

import io.exactlyonce.boundary.OneLine;
import io.exactlyonce.boundary.PrintableException;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.queue.ListenerQueue;
import io.exactlyonce.queue.RepeatedLines;
import io.exactlyonce.time.NanoClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts what observe mode finds in this instance, for the endpoint. For each listener, each kind of finding is logged
 * at most once an hour. Failures of the claim store are logged at most once an hour, too.
 */
public final class ObservedCounts implements ObservationCounter {

    static final int MOST_KEYS = 100;

    private static final Duration INTERVAL = Duration.ofHours(1);

    private static final int LONGEST_REASON = 1_000;

    /**
     * Reasons that {@link #notObserved} does not log. Failures of the store are already logged by {@link #unavailable}.
     * If a message without a key is skipped or handled without a claim, the listener is configured so, and nothing is
     * wrong.
     */
    private static final Set<NotObserved> NOT_LOGGED =
            EnumSet.of(NotObserved.STORE, NotObserved.OUTCOME, NotObserved.SKIPPED, NotObserved.UNPROTECTED);

    private static final Logger log = LoggerFactory.getLogger(ObservedCounts.class);

    private final NanoClock clock;

    /** The counts of each listener on one queue. */
    private final Map<ListenerQueue, Counts> listeners = new TreeMap<>();

    private final RepeatedLines lines = new RepeatedLines();

    /**
     * Findings about one listener on one queue in this instance since startup, as the endpoint shows them.
     *
     * @param summary a sentence about the double effects that enforce mode would have prevented
     * @param sinceStart number of deliveries for each {@link ObservedOutcome#tag()}
     * @param unobserved number of deliveries that were not observed, for each {@link NotObserved#tag()}
     * @param keys the keys that enforce mode would have handled in another way, the latest first
     */
    public record Seen(
            String listener,
            String queue,
            String summary,
            Map<String, Long> sinceStart,
            Map<String, Long> unobserved,
            List<SeenKey> keys) {}

    /**
     * A key with deliveries that enforce mode would have handled in another way. The parameters below concern only
     * these deliveries of the key.
     *
     * @param key the key's hash, as in logs
     * @param outcome the {@link ObservedOutcome#tag()} of the latest delivery
     * @param times number of deliveries. Only the latest 100 keys are kept. If a dropped key appears again, its number
     *     begins at 1
     * @param secondsAgo seconds since the latest delivery
     */
    public record SeenKey(String key, String outcome, long times, double secondsAgo) {}

    private record KeyCount(ObservedOutcome latest, long times, long at) {}

    private static final class Counts {
        private final Map<Enum<?>, Long> kinds = new HashMap<>();

        /** The findings about each key, by the key's hash. Sorted by the latest observation, the oldest first. */
        private final Map<String, KeyCount> keys = new LinkedHashMap<>();

        long of(Enum<?> kind) {
            return kinds.getOrDefault(kind, 0L);
        }
    }

    /** @param clock monotonic, in nanoseconds */
    public ObservedCounts(NanoClock clock) {
        this.clock = clock;
    }

    @Override
    public void observing(ListenerQueue queue) {
        counts(queue);
        log.info(
                "Only observed: {}. Its handlers run as they would without claims, and claims are "
                        + "recorded beside them; with exactly-once.mode=enforce, the library would prevent "
                        + "what it reports from now on",
                queue);
    }

    @Override
    public void observed(ListenerQueue queue, ClaimKey key, ObservedOutcome outcome) {
        count(queue, outcome);
        if (outcome != ObservedOutcome.ALONE) {
            remember(queue, key.keyHash(), outcome);
            if (isDue(List.of(queue, outcome))) {
                log.warn(
                        "The handler of {} for {} {} (exactly-once.mode=observe). Logged once an hour for "
                                + "this listener; meters count all, and the endpoint shows their keys",
                        queue,
                        key,
                        outcome.story());
            }
        }
    }

    @Override
    public void notObserved(ListenerQueue queue, NotObserved reason, @Nullable Throwable failure) {
        count(queue, reason);
        if (!NOT_LOGGED.contains(reason) && isDue(List.of(queue, reason))) {
            log.warn(
                    "A message of {} {}: {}. It is handled as usual, but not observed. Logged once an "
                            + "hour; meters count all",
                    queue,
                    reason.story(),
                    failure == null
                            ? "wait, or run more instances"
                            : OneLine.of(String.valueOf(failure.getMessage()), LONGEST_REASON));
        }
    }

    @Override
    public void unavailable(RuntimeException failure) {
        if (isDue(NotObserved.STORE)) {
            log.warn(
                    "The claim store does not answer: listeners are not observed until it does. Their "
                            + "handlers run as usual. Logged once an hour; meters count unobserved deliveries",
                    PrintableException.of(failure));
        }
    }

    private boolean isDue(Object line) {
        return lines.isDue(line, INTERVAL, clock.nanoTime());
    }

    private synchronized Counts counts(ListenerQueue queue) {
        return listeners.computeIfAbsent(queue, added -> new Counts());
    }

    private synchronized void count(ListenerQueue queue, Enum<?> kind) {
        counts(queue).kinds.merge(kind, 1L, Long::sum);
    }

    private synchronized void remember(ListenerQueue queue, String hash, ObservedOutcome outcome) {
        Map<String, KeyCount> keys = counts(queue).keys;
        KeyCount before = keys.remove(hash);
        keys.put(hash, new KeyCount(outcome, before == null ? 1 : before.times() + 1, clock.nanoTime()));
        if (keys.size() > MOST_KEYS) {
            keys.remove(keys.keySet().iterator().next());
        }
    }

    /** Returns the findings about each listener on each queue, sorted by listener and queue. */
    public synchronized List<Seen> all() {
        return listeners.entrySet().stream()
                .map(listener -> seen(listener.getKey(), listener.getValue()))
                .toList();
    }

    private Seen seen(ListenerQueue queue, Counts counts) {
        long prevented = counts.of(ObservedOutcome.DUPLICATE) + counts.of(ObservedOutcome.OVERLAP);
        return new Seen(
                queue.listener(),
                queue.queue(),
                "would have prevented %d double %s since startup"
                        .formatted(prevented, prevented == 1 ? "effect" : "effects"),
                byTag(ObservedOutcome.values(), ObservedOutcome::tag, counts),
                byTag(NotObserved.values(), NotObserved::tag, counts),
                keys(counts));
    }

    private static <K extends Enum<K>> Map<String, Long> byTag(K[] kinds, Function<K, String> tag, Counts counts) {
        Map<String, Long> all = new LinkedHashMap<>();
        Stream.of(kinds).forEach(kind -> all.put(tag.apply(kind), counts.of(kind)));
        return all;
    }

    private List<SeenKey> keys(Counts counts) {
        long now = clock.nanoTime();
        List<SeenKey> latestFirst = new ArrayList<>();
        counts.keys.forEach((hash, key) -> {
            long tenths = TimeUnit.NANOSECONDS.toMillis(now - key.at()) / 100;
            latestFirst.add(new SeenKey(hash, key.latest().tag(), key.times(), tenths / 10.0));
        });
        Collections.reverse(latestFirst);
        return latestFirst;
    }
}
