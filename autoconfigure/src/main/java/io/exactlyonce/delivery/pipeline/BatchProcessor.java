package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.delivery.BatchItem;
import io.exactlyonce.delivery.BatchKeeper;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.Disposition;
import io.exactlyonce.time.NanoClock;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.function.Function;

/**
 * Takes the deliveries of a batch through claim, handler and completion together, and decides what becomes of each.
 *
 * <p>Guaranteed for each of them: what {@link DeliveryProcessor} guarantees. The handler is called once at most, with
 * those that acquired their keys, in their order; a delivery that does not acquire its key waits, is acknowledged or is
 * returned, as if it had come alone. Whatever costs one of them its claim interrupts the handler once; at its end each
 * is judged by its own claim.
 */
public final class BatchProcessor {

    private final BatchClaims claims;
    private final BatchKeeper keeper;
    private final Function<Delivery, Disposition> retry;
    private final DeliveryObserver observer;
    private final NanoClock clock;

    /** A listener's own work under the claims of a batch. */
    @FunctionalInterface
    public interface Handler {
        /** Does the work; throws {@link io.exactlyonce.BatchItemFailures} if it failed for some items only. */
        void handle(List<ClaimedItem> acquired) throws Throwable;
    }

    BatchProcessor(
            BatchClaims claims,
            BatchKeeper keeper,
            Function<Delivery, Disposition> retry,
            DeliveryObserver observer,
            NanoClock clock) {
        this.claims = claims;
        this.keeper = keeper;
        this.retry = retry;
        this.observer = observer;
        this.clock = clock;
    }

    /**
     * Handles a batch.
     *
     * @param items the messages of one subscription, in their order
     * @throws io.exactlyonce.ClaimLostException if a claim was lost before or while the handler ran, and the handler threw
     *     nothing
     * @throws Throwable what the handler threw; the rest of what went wrong is suppressed in it
     */
    public void process(List<BatchItem> items, Handler handler) throws Throwable {
        List<BatchMember> members = new ArrayList<>(items.size());
        for (int index = 0; index < items.size(); index++) {
            members.add(new BatchMember(index, items.get(index)));
        }
        try {
            claimAndHandle(members, handler);
        } finally {
            members.forEach(BatchMember::leave);
        }
    }

    private void claimAndHandle(List<BatchMember> members, Handler handler) throws Throwable {
        List<BatchMember> entered =
                members.stream().filter(BatchMember::hasEntered).toList();
        if (entered.isEmpty()) {
            throw new CancellationException(
                    "A batch of %d messages was not begun: its listener has stopped".formatted(members.size()));
        }
        // Whatever is thrown from here on, the messages must come again.
        entered.forEach(member -> member.delivery().decide(retry.apply(member.delivery())));
        claims.claim(entered.stream().filter(BatchMember::isClaimable).toList());
        handle(members, handler);
    }

    private void handle(List<BatchMember> members, Handler handler) throws Throwable {
        BatchFailures failures = new BatchFailures();
        List<BatchMember> admitted = BatchAdmission.admit(members, keeper, failures);
        if (!admitted.isEmpty()) {
            BatchRun run = new BatchRun(handler, keeper, failures);
            try {
                run.go(admitted, observer, clock);
            } finally {
                new BatchEnd(keeper, failures).settle(run);
            }
        }
        failures.throwIfAny();
    }
}
