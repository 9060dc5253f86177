package io.exactlyonce.claim;

import io.exactlyonce.time.NanoClock;
import java.security.SecureRandom;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Makes unique ids for claims. This is faster than {@link UUID#randomUUID()}, whose callers all wait for one lock.
 *
 * <p>Guaranteed: ids are unique. A counter distinguishes the ids of one process, and random bits distinguish processes.
 * If processes are restored from one snapshot, their counters and random bits are equal, but the time distinguishes
 * their ids.
 *
 * <p>Not guaranteed: that an id cannot be guessed. Ids are not secrets.
 */
public final class ClaimIdGenerator {

    private static final SecureRandom RANDOM = new SecureRandom();
    private static final long PROCESS = RANDOM.nextLong();
    private static final AtomicLong COUNTER = new AtomicLong(RANDOM.nextLong());

    /**
     * The time is multiplied by this number, so that ids differ in many bits. The number is odd, so different times
     * always have different products.
     */
    private static final long SPREAD = 0x9E3779B97F4A7C15L;

    private static final long VERSION_BITS = 0xF000L;
    private static final long VERSION_8 = 0x8000L;
    private static final long VARIANT = 0x8000_0000_0000_0000L;
    private static final long COUNTED = 0x3FFF_FFFF_FFFF_FFFFL;

    private final NanoClock clock;

    /** @param clock in nanoseconds */
    public ClaimIdGenerator(NanoClock clock) {
        this.clock = clock;
    }

    /** Returns a new unique id: a UUID of version 8, which is the version for custom formats. */
    public UUID next() {
        long random = PROCESS ^ (clock.nanoTime() * SPREAD);
        return new UUID((random & ~VERSION_BITS) | VERSION_8, (COUNTER.incrementAndGet() & COUNTED) | VARIANT);
    }
}
