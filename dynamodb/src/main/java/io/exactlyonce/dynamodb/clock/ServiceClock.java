package io.exactlyonce.dynamodb.clock;

import io.exactlyonce.time.NanoClock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The service's clock, measured: an answer that was asked for at n0 and was there at n1, both monotonic, and that is dated D in
 * whole seconds, was written between the two, so the service's time less the monotonic one lies between D - n1 and
 * D + 1 s - n0. Many answers together leave a few milliseconds. Safe for use by many threads.
 *
 * <p>Guaranteed: what {@link #now()} returns contains the service's time, as long as the clocks of the service's front ends are
 * within {@code error} of each other.
 *
 * <p>Not guaranteed: that there is an answer. A time that cannot be trusted is none.
 */
public final class ServiceClock {

    /** Older answers count no more. */
    static final Duration WINDOW = Duration.ofSeconds(60);

    /** Front ends may be apart by twice this before their answers contradict each other. */
    static final Duration DISAGREEMENT = Duration.ofMillis(100);

    /** Parts of a million by which a machine's monotonic clock may be too fast or too slow. */
    static final long DRIFT_PPM = 200;

    private static final long MICROS_OF_A_DATE = 1_000_000;
    private static final int CONTRADICTIONS = 2;

    private final NanoClock clock;
    private final long errorMicros;
    private final long origin;
    private final ReentrantLock lock = new ReentrantLock();
    private final Deque<Second> window = new ArrayDeque<>();
    private final Deque<Long> contradictions = new ArrayDeque<>();
    private long contradicted;
    private OptionalLong lastHigh = OptionalLong.empty();
    private long lastEstimate;

    /** The tightest bounds of the answers within one second, as if they had come at the clock's origin. */
    private record Second(long start, long low, long high) {

        Second with(long anotherLow, long anotherHigh) {
            return new Second(start, Math.max(low, anotherLow), Math.min(high, anotherHigh));
        }
    }

    /**
     * @param clock monotonic, in nanoseconds
     * @param error by how much the clocks of the service's front ends may differ, and how wide the bounds may be
     */
    public ServiceClock(NanoClock clock, Duration error) {
        this.clock = clock;
        this.errorMicros = micros(error);
        this.origin = clock.nanoTime();
    }

    /**
     * Learns from an answer.
     *
     * @param sentNanos when it was asked for, on the clock
     * @param receivedNanos when it was there, on the clock
     * @param dateMillis what it says, in milliseconds since 1970, cut to whole seconds
     */
    public void answered(long sentNanos, long receivedNanos, long dateMillis) {
        long date = dateMillis * 1000;
        long received = sinceOrigin(receivedNanos);
        long low = date - received - micros(DISAGREEMENT);
        long high = date + MICROS_OF_A_DATE - sinceOrigin(sentNanos) + micros(DISAGREEMENT);
        lock.lock();
        try {
            forget();
            if (!window.isEmpty() && contradicts(low, high, received)) {
                contradicted++;
                contradictions.add(received);
                window.clear();
            }
            add(received, low + drift(received), high - drift(received));
            lastHigh = OptionalLong.of(all().high());
        } finally {
            lock.unlock();
        }
    }

    private boolean contradicts(long low, long high, long at) {
        Second all = all();
        return low > all.high() + drift(at) || high < all.low() - drift(at);
    }

    private void add(long at, long low, long high) {
        Second last = window.peekLast();
        if (last != null && at - last.start() < MICROS_OF_A_DATE) {
            window.removeLast();
            window.addLast(last.with(low, high));
        } else {
            window.addLast(new Second(at, low, high));
        }
    }

    /** Returns the service's time, if it is known well enough to decide by it. */
    public Optional<ServiceTime> now() {
        lock.lock();
        try {
            return soundness() == Soundness.SOUND ? Optional.of(bounds()) : Optional.empty();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Returns about what time it is at the service, in microseconds since 1970, by the best that is known: for times that
     * people read, and for retention; later than what was returned before. Empty before the first answer.
     */
    public OptionalLong estimateMicros() {
        lock.lock();
        try {
            if (lastHigh.isEmpty()) {
                return OptionalLong.empty();
            }
            lastEstimate = Math.max(lastEstimate + 1, lastHigh.getAsLong() + sinceOrigin(clock.nanoTime()));
            return OptionalLong.of(lastEstimate);
        } finally {
            lock.unlock();
        }
    }

    /** Returns whether, and if not why not, the time can be used. */
    public Soundness soundness() {
        lock.lock();
        try {
            forget();
            if (lastHigh.isEmpty()) {
                return Soundness.UNMEASURED;
            }
            if (window.isEmpty()) {
                return Soundness.STALE;
            }
            if (contradictions.size() >= CONTRADICTIONS) {
                return Soundness.CONTRADICTORY;
            }
            return bounds().widthMicros() > errorMicros ? Soundness.IMPRECISE : Soundness.SOUND;
        } finally {
            lock.unlock();
        }
    }

    /** Returns how far apart the bounds are, in seconds; empty if nothing is measured, or only long ago. */
    public OptionalDouble uncertaintySeconds() {
        lock.lock();
        try {
            forget();
            return window.isEmpty() ? OptionalDouble.empty() : OptionalDouble.of(bounds().widthMicros() / 1e6);
        } finally {
            lock.unlock();
        }
    }

    /** Returns how often an answer has contradicted those before it: what was computed in between may be wrong. */
    public long contradicted() {
        lock.lock();
        try {
            return contradicted;
        } finally {
            lock.unlock();
        }
    }

    private ServiceTime bounds() {
        long at = sinceOrigin(clock.nanoTime());
        Second all = all();
        return new ServiceTime(all.low() + at - drift(at), all.high() + at + drift(at));
    }

    private Second all() {
        Second all = window.getFirst();
        for (Second each : window) {
            all = all.with(each.low(), each.high());
        }
        return all;
    }

    private void forget() {
        long oldest = sinceOrigin(clock.nanoTime()) - micros(WINDOW);
        while (!window.isEmpty() && window.getFirst().start() < oldest) {
            window.removeFirst();
        }
        while (!contradictions.isEmpty() && contradictions.getFirst() < oldest) {
            contradictions.removeFirst();
        }
    }

    private long sinceOrigin(long nanos) {
        return (nanos - origin) / 1000;
    }

    private static long drift(long micros) {
        return micros * DRIFT_PPM / 1_000_000;
    }

    private static long micros(Duration time) {
        return time.toNanos() / 1000;
    }
}
