package io.exactlyonce.test.contract;

import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.pipeline.DeliveryPipeline;
import io.exactlyonce.test.contract.Worker.ClaimedAction;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/** The kind of a handler: for single messages, with a stored result, or for batches, without a result. */
enum Way {
    SINGLE {
        @Override
        boolean keepsResult() {
            return true;
        }

        @Override
        AlreadyCompleted completed() {
            return new AlreadyCompleted("1");
        }
    },
    /** A batch handler has no result. */
    BATCH {
        @Override
        boolean keepsResult() {
            return false;
        }

        @Override
        AlreadyCompleted completed() {
            return new AlreadyCompleted(null);
        }
    };

    static Way random() {
        return values()[ThreadLocalRandom.current().nextInt(values().length)];
    }

    void process(DeliveryPipeline pipeline, Delivery delivery, ClaimSpec handling, ClaimedAction action)
            throws Throwable {
        delivery.attempt().specify(handling, "", keepsResult());
        pipeline.claim(List.of(delivery)).join();
        pipeline.handle(
                List.of(delivery),
                claimed -> action.run(claimed.get(0).attempt().claim()));
    }

    abstract boolean keepsResult();

    /**
     * Returns the store's answer to a claim of a completed key. The handlers of these tests return 1, but the result of
     * a batch handler is not stored.
     */
    abstract AlreadyCompleted completed();
}
