package io.exactlyonce.claim;

import io.exactlyonce.time.NanoClock;
import java.security.SecureRandom;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Makes unique ids for claims. {@link UUID#randomUUID()} would be slower, because all its callers wait for one lock.
 *
 * <p>Guaranteed: ids are unique. A counter makes them differ within a process, and random bits between processes.
 * Processes that are restored from one snapshot start with the same counter and random bits, so ids also contain the
 * time.
 *
 * <p>Not guaranteed: that nobody can guess an id. Ids are not secrets.
 */
public final class ClaimIdGenerator {

    private static final SecureRandom RANDOM = new SecureRandom();
    private static final long PROCESS = RANDOM.nextLong();
    private static final AtomicLong COUNTER = new AtomicLong(RANDOM.nextLong());

    /**
     * Multiplier that spreads the low bits of the time over all bits of the id. The number is odd, so that two
     * different times never have the same product.
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
