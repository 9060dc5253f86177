package io.exactlyonce.test.contract;

import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.ClaimWriter;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.pipeline.Attempt;
import io.exactlyonce.delivery.pipeline.DeliveryPipeline;
import io.exactlyonce.test.contract.Worker.ClaimedAction;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;

/** How the engine takes a delivery through claim, handler and completion. */
enum Way {
    SINGLE {
        @Override
        Attempt attempt(Delivery delivery, ClaimSpec handling) {
            return Attempt.single(delivery, handling);
        }

        @Override
        AlreadyCompleted completed() {
            return new AlreadyCompleted("1");
        }
    },
    /** Batches have no results. */
    BATCH {
        @Override
        Attempt attempt(Delivery delivery, ClaimSpec handling) {
            return Attempt.ofBatch(delivery, "", handling);
        }

        @Override
        AlreadyCompleted completed() {
            return new AlreadyCompleted(null);
        }
    };

    static Way random() {
        return values()[ThreadLocalRandom.current().nextInt(values().length)];
    }

    void process(DeliveryPipeline pipeline, Delivery delivery, ClaimSpec handling, ClaimedAction action) {
        List<Attempt> attempts = List.of(attempt(delivery, handling));
        ClaimWriter.await(pipeline.claim(attempts));
        ClaimWriter.await(pipeline.process(
                attempts,
                claimed -> CompletableFuture.completedFuture(
                        action.run(claimed.get(0).claim()))));
    }

    abstract Attempt attempt(Delivery delivery, ClaimSpec handling);

    /** Returns what a key is that was completed by a handler which returned 1. */
    abstract AlreadyCompleted completed();
}
