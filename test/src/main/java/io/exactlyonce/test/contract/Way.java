package io.exactlyonce.test.contract;

import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.delivery.BatchItem;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.pipeline.DeliveryProcessor;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/** How the engine takes a delivery through claim, handler and completion. */
enum Way {
    SINGLE {
        @Override
        void process(
                DeliveryProcessor processor, Delivery delivery, ClaimSpec handling, DeliveryProcessor.Handler handler)
                throws Throwable {
            processor.process(delivery, handling, handler);
        }

        @Override
        AlreadyCompleted completed() {
            return new AlreadyCompleted("1");
        }
    },
    /** Batches have no results. */
    BATCH {
        @Override
        void process(
                DeliveryProcessor processor, Delivery delivery, ClaimSpec handling, DeliveryProcessor.Handler handler)
                throws Throwable {
            processor
                    .batches()
                    .process(
                            List.of(new BatchItem(delivery, "", handling)),
                            acquired -> handler.handle(acquired.get(0).claim()));
        }

        @Override
        AlreadyCompleted completed() {
            return new AlreadyCompleted(null);
        }
    };

    static Way random() {
        return values()[ThreadLocalRandom.current().nextInt(values().length)];
    }

    abstract void process(
            DeliveryProcessor processor, Delivery delivery, ClaimSpec handling, DeliveryProcessor.Handler handler)
            throws Throwable;

    /** Returns what a key is that was completed by a handler which returned 1. */
    abstract AlreadyCompleted completed();
}
