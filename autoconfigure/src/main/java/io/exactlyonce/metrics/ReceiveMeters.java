package io.exactlyonce.metrics;

import io.exactlyonce.visibility.Subscription;
import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.distribution.TimeWindowMax;
import java.time.Duration;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What one listener receives from one queue: how old, how often, and how near to the dead-letter queue. */
final class ReceiveMeters {

    /** Messages that were received this often or more are counted together. */
    private static final int MOST = 5;

    private static final int STEPS = 5;

    private static final Duration[] AGES = Stream.of(
                    "PT1S", "PT10S", "PT1M", "PT5M", "PT15M", "PT1H", "PT6H", "P1D", "P4D")
            .map(Duration::parse)
            .toArray(Duration[]::new);

    private final Meters meters;
    private final Counter[] receives;
    private final Timer age;
    private final TimeWindowMax mostReceives =
            new TimeWindowMax(Clock.SYSTEM, Meters.MEMORY.dividedBy(STEPS).toMillis(), STEPS);
    private volatile int allowed;
    private @Nullable Meter left;

    ReceiveMeters(Meters meters) {
        this.meters = meters;
        receives = IntStream.rangeClosed(1, MOST)
                .mapToObj(count -> meters.counter(
                        "exactly.once.receives",
                        "Messages received, by how often SQS has delivered them; from 2 on they are redeliveries",
                        "receive",
                        count == MOST ? MOST + "+" : Integer.toString(count)))
                .toArray(Counter[]::new);
        age = meters.timer(
                "exactly.once.message.age",
                "Time between a message's sending and its receive, both by the queue's clock, to the second",
                AGES);
    }

    void received(int count, @Nullable Duration old) {
        receives[Math.min(Math.max(count, 1), MOST) - 1].increment();
        mostReceives.record(count);
        if (old != null) {
            age.record(old);
        }
    }

    /** Without a dead-letter queue there is no number of receives that could be left, and no meter. */
    synchronized void subscribed(Subscription subscription) {
        Integer most = subscription.maxReceiveCount();
        if (most != null) {
            allowed = most;
            if (left == null) {
                left = meters.gauge(
                        "exactly.once.receives.left",
                        null,
                        "Receives left before the dead-letter queue, of the message of the last five minutes that was"
                                + " received most often. Only where the queue has one",
                        () -> Math.max(0, allowed - mostReceives.poll()));
            }
        } else if (left != null) {
            meters.remove(left);
            left = null;
        }
    }
}
