package io.exactlyonce.dynamodb.clock;

/**
 * The service's time at one moment, between two bounds.
 *
 * @param earliestMicros it is not earlier than this, in microseconds since 1970
 * @param latestMicros it is not later than this, in microseconds since 1970
 */
public record ServiceTime(long earliestMicros, long latestMicros) {

    /** Returns how far the bounds are apart, in microseconds. */
    public long widthMicros() {
        return latestMicros - earliestMicros;
    }
}
