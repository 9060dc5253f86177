package io.exactlyonce.dynamodb.clock;

import io.exactlyonce.time.NanoClock;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

/**
 * Computes when leases end, and decides whether they have expired, so that another worker can take the key over.
 *
 * <p>Guaranteed: if this class says that a lease has expired, the lease was not renewed. It has then also expired by
 * its owner's clock, because the owner starts counting earlier: before it sends the write of the lease.
 *
 * <p>If DynamoDB's clock decides, the guarantee requires that the clocks of its front ends differ by at most
 * {@code error}.
 */
public final class LeaseClock {

    /**
     * An observed lease gets a thousandth more time, because the clocks of two machines run at slightly different
     * speeds.
     */
    private static final long OBSERVED_LONGER = 1_000;

    private final ServiceClock service;
    private final ClockMode mode;
    private final Observations observations;
    private final long errorMicros;

    /**
     * @param service measures DynamoDB's clock
     * @param mode whether DynamoDB's clock is used
     * @param error how far the clocks of DynamoDB's front ends may differ
     * @param clock the monotonic clock, in nanoseconds
     */
    public LeaseClock(ServiceClock service, ClockMode mode, Duration error, NanoClock clock) {
        this.service = service;
        this.mode = mode;
        this.errorMicros = TimeUnit.MICROSECONDS.convert(error);
        this.observations = new Observations(clock);
    }

    /**
     * Returns the end of a lease that is written now: the latest possible time, by DynamoDB's clock, in microseconds
     * since 1970. Empty if DynamoDB's time is not known. Other workers then decide by observing whether the item
     * changes.
     */
    public OptionalLong end(Duration lease) {
        return now().stream()
                .mapToLong(time -> time.latestMicros() + TimeUnit.MICROSECONDS.convert(lease))
                .findAny();
    }

    /**
     * Returns how much of a lease is left, in microseconds. Zero or negative if the lease has expired.
     *
     * @param item partition key of the item with the lease
     * @param version the item's version
     * @param end the stored end of the lease, in microseconds since 1970; empty if its writer did not know DynamoDB's
     *     time
     * @param leaseMicros the full length of the lease
     */
    public long remainingMicros(String item, String version, OptionalLong end, long leaseMicros) {
        long observed = leaseMicros + leaseMicros / OBSERVED_LONGER - observations.unchangedMicros(item, version);
        Optional<ServiceClock.Time> now = end.isPresent() ? now() : Optional.empty();
        long byClock = now.map(time -> end.getAsLong() + errorMicros - time.earliestMicros())
                .orElse(Long.MAX_VALUE);
        return Math.min(Math.min(observed, byClock), leaseMicros);
    }

    /**
     * Returns whether the {@code Date} headers of DynamoDB's responses contradict each other, for example because the
     * machine was suspended. A lease that was just written may then have a wrong end.
     */
    public boolean isContradicted() {
        return mode == ClockMode.SERVICE && service.state() == ServiceClock.State.CONTRADICTORY;
    }

    /** Returns DynamoDB's approximate time, in microseconds since 1970. Empty before the first response. */
    public OptionalLong estimateMicros() {
        return service.estimateMicros();
    }

    private Optional<ServiceClock.Time> now() {
        return mode == ClockMode.SERVICE ? service.now() : Optional.empty();
    }
}
