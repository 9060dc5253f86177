package io.exactlyonce.actuate;

import io.exactlyonce.sighting.Sighting;
import io.exactlyonce.sighting.Sightings.Seen;
import io.exactlyonce.sighting.Sightings.SeenKey;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * One listener on one queue that is only observed, as the endpoint shows it: of this instance alone.
 *
 * @param summary what enforcing would have prevented in the last 24 hours, as a sentence
 * @param lastDay how often what was seen in the last 24 hours
 * @param sinceStart the same since this instance has started
 * @param unobserved what was not observed since the start, by reason
 * @param keys hashes of the keys of which something was seen, at most 100, the latest first
 */
public record ObservedDescription(
        String listener,
        String queue,
        String summary,
        Map<String, Long> lastDay,
        Map<String, Long> sinceStart,
        Map<String, Long> unobserved,
        List<SeenKey> keys) {

    static ObservedDescription of(Seen seen) {
        long prevented = Arrays.stream(Sighting.values())
                .filter(Sighting::isDoubleEffect)
                .mapToLong(kind -> seen.lastDay().getOrDefault(kind.tag(), 0L))
                .sum();
        return new ObservedDescription(
                seen.queue().listener(),
                seen.queue().queue(),
                "would have prevented %d double %s in the last 24 hours"
                        .formatted(prevented, prevented == 1 ? "effect" : "effects"),
                seen.lastDay(),
                seen.sinceStart(),
                seen.unobserved(),
                seen.keys());
    }
}
