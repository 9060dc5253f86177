package io.exactlyonce.renewal;

import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * All visibility timeouts, or all leases, in flight. Most ticks come before any of them can be due or over: they look at one
 * moment instead of at each.
 *
 * <p>The moment is not later than the earliest of theirs, unless it is reached already. A tick that reaches it puts it off
 * <em>before</em> it asks each; what is added, or changes, does so before it brings the moment forward. So either the tick finds
 * it, or the moment is its own.
 */
final class InFlight<R extends Renewable> {

    final Set<R> all = ConcurrentHashMap.newKeySet();
    private final AtomicLong quietUntil;

    InFlight(long now) {
        quietUntil = new AtomicLong(now);
    }

    void add(R renewable) {
        all.add(renewable);
        expect(renewable.quietUntil());
    }

    /** Something can be due or over at a moment. */
    void expect(long moment) {
        quietUntil.accumulateAndGet(moment, InFlight::earlier);
    }

    /** Ends expired ones; starts to renew due and nearly due ones, and returns those. */
    Collection<R> due(long now) {
        if (quietUntil.get() - now > 0) {
            return List.of();
        }
        quietUntil.getAndSet(now + Renewable.CEILING_NANOS);
        // If one throws, the next tick asks each again.
        long earliest = now;
        try {
            boolean anyDue = false;
            long found = now + Renewable.CEILING_NANOS;
            for (R each : all) {
                anyDue |= each.check(now);
                found = earlier(found, each.quietUntil());
            }
            earliest = found;
            return anyDue ? all.stream().filter(each -> each.attempt(now)).toList() : List.of();
        } finally {
            expect(earliest);
        }
    }

    private static long earlier(long one, long other) {
        return one - other <= 0 ? one : other;
    }
}
