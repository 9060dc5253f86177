package io.exactlyonce.claim;

import io.exactlyonce.time.NanoClock;
import java.security.SecureRandom;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Makes identities for claims. {@link UUID#randomUUID()} is not used, because all its callers wait for one lock.
 *
 * <p>Guaranteed: a counter makes ids unique within a process, and random bits make them unique between processes.
 * Several processes that were restored from one image have the same counter and random bits, so ids also contain the
 * time.
 *
 * <p>Not guaranteed: that nobody can guess an id. Ids identify claims, and are not secrets.
 */
public final class ClaimIdGenerator {

    private static final SecureRandom RANDOM = new SecureRandom();
    private static final long PROCESS = RANDOM.nextLong();
    private static final AtomicLong COUNTER = new AtomicLong(RANDOM.nextLong());

    /**
     * An odd multiplier. Because the multiplier is odd, different times have different products. The product spreads
     * the low bits of the time over all bits.
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

    /**
     * Returns a unique identity: a UUID of version 8, which is the version for UUIDs with bits of the creator's choice.
     */
    public UUID next() {
        long random = PROCESS ^ (clock.nanoTime() * SPREAD);
        return new UUID((random & ~VERSION_BITS) | VERSION_8, (COUNTER.incrementAndGet() & COUNTED) | VARIANT);
    }
}
