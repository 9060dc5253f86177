package io.exactlyonce.dynamodb.clock;

import io.exactlyonce.time.NanoClock;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttribute;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.core.retry.ClockSkew;

/**
 * Measures DynamoDB's clock by the {@code Date} header of the latest response. The client calls this interceptor for
 * each response, also for errors. Thread-safe.
 *
 * <p>Suppose that a request was sent at n0 and its response arrived at n1, both by the monotonic clock. DynamoDB wrote
 * the date D in between, in whole seconds. DynamoDB's time minus the monotonic time is then at least D - n1, and at
 * most D + 1 s - n0.
 *
 * <p>Guaranteed: the bounds that {@link #now()} returns contain the time of the front end that wrote the latest
 * response.
 *
 * <p>Not guaranteed: that the time is known. If the latest response took too long, or is too old, it is not used. If
 * two responses contradict each other, the clock is not used for a minute. The front ends may disagree, or this machine
 * may have been suspended.
 */
public final class ServiceClock implements ExecutionInterceptor {

    /** Time for which the clock is not used after responses have contradicted each other. */
    static final Duration DISTRUST = Duration.ofMinutes(1);

    /**
     * Tolerated gap between two responses. Each response gives a range (two bounds) for DynamoDB's time. Two responses
     * contradict each other if the gap between their ranges is longer than this, plus the drift of the monotonic clock.
     */
    static final Duration DISAGREEMENT = Duration.ofMillis(100);

    /** Assumed limit for the drift of a machine's monotonic clock, in parts per million, in either direction. */
    static final long DRIFT_PPM = 200;

    private static final long MICROS_OF_A_DATE = 1_000_000;
    private static final ExecutionAttribute<Long> SENT = new ExecutionAttribute<>("ExactlyOnceSentNanos");

    /** The state of this clock. Its time is used only in the state {@link #MEASURED}. */
    public enum State {
        MEASURED("measured"),
        /** No response had a Date header, for example because a proxy removes it. */
        UNMEASURED("no answer has had a Date header"),
        IMPRECISE("the latest answer with a Date header took too long, or is too old, for clock-error"),
        CONTRADICTORY("answers' Date headers contradict each other");

        private final String reason;

        State(String reason) {
            this.reason = reason;
        }

        /** Returns the reason as text. */
        public String reason() {
            return reason;
        }
    }

    /**
     * DynamoDB's time at one moment, between two bounds.
     *
     * @param earliestMicros the lower bound, in microseconds since 1970
     * @param latestMicros the upper bound, in microseconds since 1970
     */
    public record Time(long earliestMicros, long latestMicros) {}

    /**
     * Bounds of DynamoDB's clock, from the latest response. All times are in microseconds.
     *
     * @param at when the response arrived, counted from the start of this clock
     * @param low lower bound of DynamoDB's time minus the monotonic time
     * @param high upper bound of DynamoDB's time minus the monotonic time
     * @param trustedFrom when this clock may be used again, counted from its start. After two responses with
     *     contradictory times, it is not used for a minute
     */
    private record Answer(long at, long low, long high, long trustedFrom) {

        /**
         * Returns {@code trustedFrom} for the next response: a minute after that response if it contradicts this one.
         * If not, the time stays the same.
         */
        long nextTrustedFrom(long nextAt, long nextLow, long nextHigh) {
            long tolerated = TimeUnit.MICROSECONDS.convert(DISAGREEMENT) + drift(nextAt - at);
            boolean contradicts = nextLow > high + tolerated || nextHigh < low - tolerated;
            return contradicts ? nextAt + TimeUnit.MICROSECONDS.convert(DISTRUST) : trustedFrom;
        }

        Time time(long now) {
            return new Time(low + now - drift(now - at), high + now + drift(now - at));
        }

        long width(long now) {
            return high - low + 2 * drift(now - at);
        }
    }

    private final NanoClock clock;
    private final long errorMicros;
    private final long origin;
    private final AtomicReference<@Nullable Answer> latest = new AtomicReference<>();
    private final AtomicLong lastEstimate = new AtomicLong();

    /**
     * @param clock the monotonic clock, in nanoseconds
     * @param error if the bounds are further apart than this, the time is not used
     */
    public ServiceClock(NanoClock clock, Duration error) {
        this.clock = clock;
        this.errorMicros = TimeUnit.MICROSECONDS.convert(error);
        this.origin = clock.nanoTime();
    }

    @Override
    public void beforeTransmission(Context.BeforeTransmission context, ExecutionAttributes attributes) {
        attributes.putAttribute(SENT, clock.nanoTime());
    }

    @Override
    public void afterTransmission(Context.AfterTransmission context, ExecutionAttributes attributes) {
        long received = clock.nanoTime();
        ClockSkew.getServerTime(context.httpResponse())
                .ifPresent(date -> answered(attributes.getAttribute(SENT), received, date.toEpochMilli()));
    }

    /**
     * Measures DynamoDB's clock by a response.
     *
     * @param sentNanos when the request was sent, by the monotonic clock
     * @param receivedNanos when the response arrived, by the monotonic clock
     * @param dateMillis the response's date, in milliseconds since 1970, cut to whole seconds
     */
    public void answered(long sentNanos, long receivedNanos, long dateMillis) {
        long date = dateMillis * 1000;
        long at = sinceOrigin(receivedNanos);
        long low = date - at;
        long high = date + MICROS_OF_A_DATE - sinceOrigin(sentNanos);
        latest.updateAndGet(
                before -> new Answer(at, low, high, before == null ? at : before.nextTrustedFrom(at, low, high)));
    }

    /** Returns DynamoDB's time. Empty if it is not known exactly enough to decide about leases. */
    public Optional<Time> now() {
        Answer answer = latest.get();
        long now = sinceOrigin(clock.nanoTime());
        return answer != null && state(answer, now) == State.MEASURED
                ? Optional.of(answer.time(now))
                : Optional.empty();
    }

    /**
     * Returns DynamoDB's approximate time, in microseconds since 1970, for fencing tokens, retention and display. Each
     * call returns a later time than all calls before. Empty before the first response.
     */
    public OptionalLong estimateMicros() {
        Answer answer = latest.get();
        if (answer == null) {
            return OptionalLong.empty();
        }
        long estimate = answer.high() + sinceOrigin(clock.nanoTime());
        return OptionalLong.of(lastEstimate.updateAndGet(last -> Math.max(last + 1, estimate)));
    }

    /** Returns whether the time can be used and, if it cannot, the reason. */
    public State state() {
        return state(latest.get(), sinceOrigin(clock.nanoTime()));
    }

    private State state(@Nullable Answer answer, long now) {
        if (answer == null) {
            return State.UNMEASURED;
        }
        if (now < answer.trustedFrom()) {
            return State.CONTRADICTORY;
        }
        return answer.width(now) > errorMicros ? State.IMPRECISE : State.MEASURED;
    }

    /**
     * Returns how far the upper bound of DynamoDB's time is from the lower bound, in seconds. Empty before the first
     * response.
     */
    public OptionalDouble uncertaintySeconds() {
        Answer answer = latest.get();
        return answer == null
                ? OptionalDouble.empty()
                : OptionalDouble.of(answer.width(sinceOrigin(clock.nanoTime())) / 1e6);
    }

    private long sinceOrigin(long nanos) {
        return (nanos - origin) / 1000;
    }

    private static long drift(long micros) {
        return Math.abs(micros) * DRIFT_PPM / 1_000_000;
    }
}
