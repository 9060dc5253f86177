package io.exactlyonce.chaos.run;

import io.exactlyonce.chaos.fault.Scale;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The kind of a run.
 *
 * @param seed decides which messages are sent, and which faults happen
 * @param partitions how many partitions the claim table in PostgreSQL has; 0 for a plain table
 * @param soak how long a run without faults lasts while it measures workers' resources; empty for a run with faults
 */
record Form(Store store, long seed, Scale scale, int partitions, Optional<Duration> soak) {

    /** Reads the system properties of {@link Chaos}. */
    static Form ofProperties() {
        Store store = Store.named(System.getProperty("chaos.store", "postgresql"));
        long seed = Long.getLong("chaos.seed", System.nanoTime() & 0xffffff);
        Optional<Duration> soak =
                Optional.ofNullable(Long.getLong("soak.minutes")).map(Duration::ofMinutes);
        return new Form(
                store,
                seed,
                soak.map(Scale::soak).orElseGet(() -> store.scale(isLong())),
                Integer.getInteger("chaos.partitions", 0),
                soak);
    }

    /** Returns the longest time for faults and sending. */
    Duration longest() {
        return soak.orElseGet(scale::longest);
    }

    private static boolean isLong() {
        @Nullable String value = System.getProperty("chaos.long");
        return value != null && !value.equals("false");
    }
}
