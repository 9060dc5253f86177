package io.exactlyonce.dynamodb.clock;

import io.exactlyonce.time.NanoClock;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

/**
 * Computes the ends of leases, and decides whether leases have expired.
 *
 * <p>Guaranteed: a lease that has expired here was not renewed, and has also expired by its owner's clock. The reason
 * is that the owner begins to count before it sends its last write. A decision by the service's clock has this
 * guarantee if the clocks of the service's front ends differ by at most {@code error}. A decision by observation only
 * needs the monotonic clock.
 */
public final class LeaseClock {

    /**
     * The divisor of the time that an observer adds to each lease: a thousandth of the lease. The time is added because
     * the monotonic clocks of the observer and of the owner may drift apart.
     */
    private static final long OBSERVED_LONGER = 1_000;

    private final ServiceClock service;
    private final ClockMode mode;
    private final Observations observations;
    private final long errorMicros;

    /**
     * @param service measures the service's time
     * @param mode whether the service's time is used
     * @param error the largest difference between the clocks of the service's front ends
     * @param clock the monotonic clock, in nanoseconds
     */
    public LeaseClock(ServiceClock service, ClockMode mode, Duration error, NanoClock clock) {
        this.service = service;
        this.mode = mode;
        this.errorMicros = TimeUnit.MICROSECONDS.convert(error);
        this.observations = new Observations(clock);
    }

    /**
     * Returns the latest time at which a lease that is written now can end, by the service's clock, in microseconds
     * since 1970. Empty if the service's time is not known. The lease then expires only by observation.
     */
    public OptionalLong end(Duration lease) {
        return now().stream()
                .mapToLong(time -> time.latestMicros() + TimeUnit.MICROSECONDS.convert(lease))
                .findAny();
    }

    /**
     * Returns the remaining time of a lease in microseconds, at most the lease's length. The result is not positive if
     * the lease has expired.
     *
     * @param item the partition key of the item with the lease
     * @param version the item's version
     * @param end the end of the lease by the service's clock, in microseconds since 1970; empty if the lease's writer
     *     did not know the time
     * @param leaseMicros the lease's length
     */
    public long remainingMicros(String item, String version, OptionalLong end, long leaseMicros) {
        long observed = leaseMicros + leaseMicros / OBSERVED_LONGER - observations.unchangedMicros(item, version);
        Optional<ServiceClock.Time> now = end.isPresent() ? now() : Optional.empty();
        long byClock = now.map(time -> end.getAsLong() + errorMicros - time.earliestMicros())
                .orElse(Long.MAX_VALUE);
        return Math.min(Math.min(observed, byClock), leaseMicros);
    }

    /**
     * Returns whether the end of a lease that was computed a moment ago may be wrong. This is so if later responses
     * contradict each other, for example because the machine was suspended in between.
     */
    public boolean isContradicted() {
        return mode == ClockMode.SERVICE && service.state() == ServiceClock.State.CONTRADICTORY;
    }

    /** Returns the service's approximate time, in microseconds since 1970. Empty before the service's first answer. */
    public OptionalLong estimateMicros() {
        return service.estimateMicros();
    }

    private Optional<ServiceClock.Time> now() {
        return mode == ClockMode.SERVICE ? service.now() : Optional.empty();
    }
}
