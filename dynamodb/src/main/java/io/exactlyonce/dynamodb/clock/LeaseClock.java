package io.exactlyonce.dynamodb.clock;

import io.exactlyonce.time.NanoClock;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

/**
 * Computes the ends of leases, and whether they have passed.
 *
 * <p>Guaranteed: an expired lease was not renewed, and has also expired by its owner's count, which started before its
 * last write. By the service's clock this requires that its front ends agree to within {@code error}; by observation it
 * needs only the monotonic clock.
 */
public final class LeaseClock {

    /** An observer counts each lease longer by one in this number, because its monotonic clock and the owner's may drift apart. */
    private static final long OBSERVED_LONGER = 1_000;

    private final ServiceClock service;
    private final ClockMode mode;
    private final Observations observations;
    private final long errorMicros;

    /**
     * @param service measures the service's time
     * @param mode whether that time is used
     * @param error by how much the clocks of the service's front ends may differ
     * @param clock monotonic, in nanoseconds
     */
    public LeaseClock(ServiceClock service, ClockMode mode, Duration error, NanoClock clock) {
        this.service = service;
        this.mode = mode;
        this.errorMicros = TimeUnit.MICROSECONDS.convert(error);
        this.observations = new Observations(clock);
    }

    /**
     * Returns the latest end of a lease that is written now, by the service's clock, in microseconds since 1970. Empty if unknown: the
     * lease then ends by observation only.
     */
    public OptionalLong end(Duration lease) {
        return now().stream()
                .mapToLong(time -> time.latestMicros() + TimeUnit.MICROSECONDS.convert(lease))
                .findAny();
    }

    /**
     * Returns the rest of a lease, in microseconds, at most its length; not positive if it has expired.
     *
     * @param item whose lease it is
     * @param version of the item
     * @param end when it ends by the service's clock, in microseconds since 1970, if its writer measured it
     * @param leaseMicros its length
     */
    public long remainingMicros(String item, String version, OptionalLong end, long leaseMicros) {
        long observed = leaseMicros + leaseMicros / OBSERVED_LONGER - observations.unchangedMicros(item, version);
        Optional<ServiceClock.Time> now = end.isPresent() ? now() : Optional.empty();
        long byClock = now.map(time -> end.getAsLong() + errorMicros - time.earliestMicros())
                .orElse(Long.MAX_VALUE);
        return Math.min(Math.min(observed, byClock), leaseMicros);
    }

    /**
     * Returns whether a lease's end that was computed a moment ago may be wrong: responses have contradicted each other
     * since, for example after a suspension of the machine.
     */
    public boolean isContradicted() {
        return mode == ClockMode.SERVICE && service.state() == ServiceClock.State.CONTRADICTORY;
    }

    /** Returns the approximate time, in microseconds since 1970; empty before the service's first answer. */
    public OptionalLong estimateMicros() {
        return service.estimateMicros();
    }

    private Optional<ServiceClock.Time> now() {
        return mode == ClockMode.SERVICE ? service.now() : Optional.empty();
    }
}
