package io.exactlyonce.metrics;

import io.exactlyonce.boundary.OneLine;
import io.exactlyonce.boundary.PrintableException;
import io.exactlyonce.claim.ClaimStoreBusyException;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.claim.ParkedClaims.Count;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.MultiGauge.Row;
import io.micrometer.core.instrument.Tags;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gauges that show how many keys are parked in each scope, and for how long. The store counts the keys of all
 * instances, so all instances show the same values. If the store does not respond, the gauges keep their last values.
 *
 * <p>Each scope adds gauges to the metrics system. So only the scopes with the most parked keys have their own gauges,
 * and all others share one.
 */
public final class ParkedMetrics {

    /** The most scopes with their own gauges. */
    static final int MOST_SCOPES = 20;

    /**
     * The value of the tag {@code scope} of one gauge, which counts the parked keys of all scopes that have no gauge of
     * their own.
     */
    static final String OTHERS = "(others)";

    private static final Logger log = LoggerFactory.getLogger(ParkedMetrics.class);

    private static final int LONGEST_LABEL = 100;

    private static final double NANOS_PER_SECOND = TimeUnit.SECONDS.toNanos(1);

    private final ParkedClaims claims;
    private final InstantSource clock;
    private final MultiGauge parked;
    private final MultiGauge age;

    /**
     * Registers the gauges. They have no values before the first {@link #refresh}.
     *
     * @param claims counts parked claims in the store
     * @param clock the current time, from which the ages of parked keys are computed. The store's clock need not agree
     *     exactly
     */
    public ParkedMetrics(MeterRegistry registry, ParkedClaims claims, InstantSource clock) {
        this.claims = claims;
        this.clock = clock;
        Meters meters = new Meters(registry);
        parked = meters.gauges("exactly.once.claims.parked", null);
        age = meters.gauges("exactly.once.claims.parked.age", "seconds");
    }

    /** Counts the parked keys again. If the store is too busy, the gauges keep their last values. */
    public void refresh() {
        try {
            show(claims.count().stream()
                    .sorted(Comparator.comparing(Count::parked).reversed().thenComparing(Count::scope))
                    .toList());
        } catch (ClaimStoreBusyException | ClaimStoreUnavailableException later) {
            log.debug("Parked claims were not counted", PrintableException.of(later));
        }
    }

    private void show(List<Count> counts) {
        List<Count> shown = new ArrayList<>();
        counts.stream()
                .limit(MOST_SCOPES)
                .map(count -> new Count(OneLine.of(count.scope(), LONGEST_LABEL), count.parked(), count.oldest()))
                .forEach(shown::add);
        List<Count> others = counts.subList(shown.size(), counts.size());
        others.stream()
                .map(Count::oldest)
                .min(Instant::compareTo)
                .ifPresent(oldest -> shown.add(new Count(
                        OTHERS, others.stream().mapToLong(Count::parked).sum(), oldest)));
        parked.register(
                shown.stream()
                        .<Row<?>>map(count -> Row.of(tags(count), count::parked))
                        .toList(),
                true);
        age.register(
                shown.stream()
                        .<Row<?>>map(count -> Row.of(tags(count), () -> seconds(count)))
                        .toList(),
                true);
    }

    private static Tags tags(Count count) {
        return Tags.of("scope", count.scope());
    }

    private double seconds(Count count) {
        return Math.max(0, Duration.between(count.oldest(), clock.instant()).toNanos() / NANOS_PER_SECOND);
    }
}
