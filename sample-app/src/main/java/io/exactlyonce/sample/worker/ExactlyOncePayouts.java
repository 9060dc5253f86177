package io.exactlyonce.sample.worker;

import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.InDoubtPolicy;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;

/**
 * Pays out. A repeated payout is worse than a late one. After a crash, the key is therefore parked until an operator
 * has decided whether the money was paid.
 */
@Component
@Profile("exactly-once")
@ConditionalOnProperty("orders.payouts")
class ExactlyOncePayouts {

    private final Provider provider;

    ExactlyOncePayouts(Provider provider) {
        this.provider = provider;
    }

    @ExactlyOnceListener(
            queueNames = "${orders.payouts}",
            id = "payouts",
            key = "#payout.orderId",
            whenInDoubt = InDoubtPolicy.PARK)
    void payOut(Order payout, Claim claim) {
        claim.ensureHeld();
        provider.charge(payout, claim.downstreamKey(), claim.isInDoubt());
        provider.sendConfirmation(payout);
    }
}
