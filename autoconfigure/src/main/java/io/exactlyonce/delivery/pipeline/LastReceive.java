package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.delivery.ClaimWriter;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.time.NanoClock;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.springframework.util.backoff.BackOffExecution;

/**
 * How long claims are repeated that get no answer, where one of their messages is on its last receive before the dead-letter
 * queue: to wait, and to come again, would be that message's end, untried.
 */
final class LastReceive {

    /** Of deliveries whose claims are not repeated for that: there is no thread for them yet. */
    static final LastReceive NONE = new LastReceive(List.of(), () -> 0);

    private final List<Delivery> deliveries;
    private final NanoClock clock;
    private @Nullable BackOffExecution pauses;

    LastReceive(List<Delivery> deliveries, NanoClock clock) {
        this.deliveries = deliveries;
        this.clock = clock;
    }

    /** Returns whether a claim without an answer is repeated at all. */
    static boolean isAtStake(Delivery delivery) {
        return delivery.isOnItsLastReceive()
                && delivery.mayHandlerBegin()
                && delivery.renewal().isInvisible();
    }

    /**
     * Returns for how long the same claim is repeated, which finds itself if only its answer was lost: what is left of its lease
     * afterwards is for the handler.
     */
    BooleanSupplier within(Duration lease, long begun) {
        return () -> isAtStake() && clock.nanoTime() - begun < lease.toNanos() / 2;
    }

    /** Returns whether anything is repeated for these deliveries at all. */
    boolean isPatient() {
        return !deliveries.isEmpty();
    }

    boolean isAtStake() {
        return deliveries.stream().anyMatch(LastReceive::isAtStake);
    }

    /** Returns how long to wait before a claim is asked for anew. */
    Duration pause() {
        BackOffExecution begun = pauses == null ? ClaimWriter.endlessPauses() : pauses;
        pauses = begun;
        return Duration.ofMillis(begun.nextBackOff());
    }
}
