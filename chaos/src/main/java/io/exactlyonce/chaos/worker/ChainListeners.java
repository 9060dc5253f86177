package io.exactlyonce.chaos.worker;

import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import org.springframework.stereotype.Component;

/** A handler that sends a follow-up message, and the handler of all follow-up messages. */
@Component
class ChainListeners {

    private final Runs runs;
    private final PaymentPartner partner;
    private final FollowUps followUps;

    ChainListeners(Runs runs, PaymentPartner partner, FollowUps followUps) {
        this.runs = runs;
        this.partner = partner;
        this.followUps = followUps;
    }

    /** Runs again after a crash, and sends its message again. */
    @ExactlyOnceListener(id = "orders", queueNames = "orders", key = "#job.key", parkFor = HopelessException.class)
    void order(Job job, Claim claim) throws InterruptedException {
        runs.run(job, claim, call -> {
            partner.charge(job, claim, call);
            followUps.send(job.key(), claim.followUp("shipped"));
        });
    }

    /** Claims the follow-up key, and calls a partner that honours the downstream key. */
    @ExactlyOnceListener(id = "shipments", queueNames = "shipments")
    void ship(Job job, Claim claim) throws InterruptedException {
        runs.run(job, claim, call -> partner.charge(job, claim, call));
    }
}
