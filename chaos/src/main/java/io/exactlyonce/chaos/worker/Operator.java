package io.exactlyonce.chaos.worker;

import io.exactlyonce.ParkedClaim;
import io.exactlyonce.ParkedKeys;
import io.exactlyonce.chaos.history.Detail;
import io.exactlyonce.chaos.history.Event;
import io.exactlyonce.chaos.history.Kind;
import io.exactlyonce.chaos.history.RecorderClient;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/**
 * Decides on parked keys as an operator does. If the partner has acted, completes the key; otherwise releases it. Keys
 * that can never succeed stay parked. Operators of several workers may decide on the same key at the same time.
 */
@Component
class Operator {

    private static final Logger log = LoggerFactory.getLogger(Operator.class);
    private static final int PAGE = 20;

    private final String worker;
    private final RecorderClient recorder;
    private final ParkedKeys parked;
    private final PaymentPartner partner;
    private final AtomicLong decisions = new AtomicLong();

    Operator(WorkerProperties properties, ParkedKeys parked, PaymentPartner partner) {
        this.worker = properties.name();
        this.recorder = new RecorderClient(properties.recorder(), worker);
        this.parked = parked;
        this.partner = partner;
    }

    /** Decides on all keys that are parked now. Stops if the store does not answer. */
    void decide() throws InterruptedException {
        try {
            List<ParkedClaim> page = parked.list(PAGE);
            while (!page.isEmpty()) {
                for (ParkedClaim claim : page) {
                    if (!isHopeless(claim)) {
                        decide(claim);
                    }
                }
                page = parked.listAfter(page.get(page.size() - 1), PAGE);
            }
        } catch (RuntimeException away) {
            log.info("No decision could be made: {}", away.toString());
        }
    }

    private static boolean isHopeless(ParkedClaim claim) {
        return claim.reason().contains(HopelessException.class.getSimpleName())
                || claim.reason().startsWith("maxAttempts");
    }

    private void decide(ParkedClaim claim) throws InterruptedException {
        String decision = worker + "/" + decisions.incrementAndGet();
        record(Kind.DECIDING, claim, decision);
        boolean acted = partner.hasActed(claim.key());
        boolean counts = acted ? parked.complete(claim, claim.key()) : parked.release(claim);
        if (counts) {
            record(acted ? Kind.COMPLETED : Kind.RELEASED, claim, decision);
        } else {
            record(Kind.OUTDECIDED, claim, decision);
        }
    }

    private void record(Kind kind, ParkedClaim claim, String decision) {
        recorder.record(Event.of(kind)
                .on(claim.key())
                .with(Detail.CLAIM, claim.claimId())
                .with(Detail.DECISION, decision));
    }
}
