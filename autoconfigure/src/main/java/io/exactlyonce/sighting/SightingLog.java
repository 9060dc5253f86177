package io.exactlyonce.sighting;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.time.NanoClock;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs what enforcing would have prevented, and what could not be observed: each kind once an hour for each listener, and what
 * concerns the store once an hour in all. The meters count what is not logged; the endpoint has the keys.
 */
public final class SightingLog implements SightingObserver {

    private static final Logger log = LoggerFactory.getLogger(SightingLog.class);

    static final Duration INTERVAL = Duration.ofHours(1);

    private final NanoClock clock;
    private final Map<Object, Long> told = new ConcurrentHashMap<>();

    /** A line of a listener's. */
    private record Line(ObservedQueue queue, Enum<?> kind) {}

    /** @param clock monotonic, in nanoseconds */
    public SightingLog(NanoClock clock) {
        this.clock = clock;
    }

    @Override
    public void observing(ObservedQueue queue) {
        log.info(
                "Only observed: {}. Its handlers run as they would without claims, and claims are recorded beside them; with "
                        + "exactly-once.mode=enforce what is told of it from now on would be prevented",
                queue);
    }

    @Override
    public void sighted(ObservedQueue queue, ClaimKey key, Sighting sighting) {
        if (sighting != Sighting.ALONE && isDue(new Line(queue, sighting))) {
            log.warn(
                    "The handler of {} for {} {} (exactly-once.mode=observe). Said once an hour of this listener; meters count "
                            + "all, and the endpoint shows their keys",
                    queue,
                    key,
                    sighting.story());
        }
    }

    @Override
    public void unobserved(ObservedQueue queue, Unobserved reason, @Nullable Throwable failure) {
        if (reason == Unobserved.STORE || reason == Unobserved.OUTCOME) {
            unanswered(failure);
        } else if (isDue(new Line(queue, reason))) {
            log.warn(
                    "A message of {} {}: {}. It is handled as always, but not observed. Said once an hour; meters count all",
                    queue,
                    reason.story(),
                    failure == null ? "wait, or run more instances" : failure.getMessage());
        }
    }

    /** Claims cannot be kept at this moment. */
    public void unanswered(@Nullable Throwable failure) {
        if (isDue(Unobserved.STORE)) {
            log.warn(
                    "The claims' database cannot be asked: what listeners would be spared is not observed until it can. Their "
                            + "handlers run as always. Said once an hour; meters count what is not observed",
                    failure);
        }
    }

    private boolean isDue(Object line) {
        long now = clock.nanoTime();
        Long last = told.putIfAbsent(line, now);
        return last == null || (now - last >= INTERVAL.toNanos() && told.replace(line, last, now));
    }
}
