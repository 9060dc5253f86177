package io.exactlyonce.chaos.worker;

import io.exactlyonce.BatchItemFailures;
import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.InDoubtPolicy;
import java.util.List;
import org.springframework.stereotype.Component;

/** Handlers whose effects happen at the partner's: one for each policy, and one for each of the partner's ledgers. */
@Component
class PartnerListeners {

    private final Runs runs;
    private final PaymentPartner partner;

    PartnerListeners(Runs runs, PaymentPartner partner) {
        this.runs = runs;
        this.partner = partner;
    }

    /** Runs again after a crash, at a partner that honours the downstream key. */
    @ExactlyOnceListener(id = "charges", queueNames = "charges", key = "#job.key", parkFor = HopelessException.class)
    Receipt charge(Job job, Claim claim) throws InterruptedException {
        runs.run(job, claim, call -> partner.charge(job, claim, call));
        return receipt(job);
    }

    /** Runs again after a crash, at a partner that acts each time. */
    @ExactlyOnceListener(id = "mails", queueNames = "mails", key = "#job.key", parkFor = HopelessException.class)
    Receipt mail(Job job, Claim claim) throws InterruptedException {
        runs.run(job, claim, call -> partner.ship(job, claim, call));
        return receipt(job);
    }

    /** Is never run again after a crash. */
    @ExactlyOnceListener(
            id = "parcels",
            queueNames = "parcels",
            key = "#job.key",
            whenInDoubt = InDoubtPolicy.PARK,
            parkFor = HopelessException.class)
    Receipt ship(Job job, Claim claim) throws InterruptedException {
        runs.run(job, claim, call -> partner.ship(job, claim, call));
        return receipt(job);
    }

    /** After a crash, the partner is asked first. */
    @ExactlyOnceListener(
            id = "refunds",
            queueNames = "refunds",
            key = "#job.key",
            whenInDoubt = InDoubtPolicy.RECONCILE,
            parkFor = HopelessException.class)
    Receipt refund(Job job, Claim claim) throws InterruptedException {
        runs.run(job, claim, call -> partner.ship(job, claim, call));
        return receipt(job);
    }

    /** Keeps the order of each group. */
    @ExactlyOnceListener(id = "steps", queueNames = "steps.fifo", key = "#job.key", parkFor = HopelessException.class)
    Receipt step(Job job, Claim claim) throws InterruptedException {
        runs.run(job, claim, call -> partner.charge(job, claim, call));
        return receipt(job);
    }

    /** Takes batches. Runs again after a crash, at a partner that acts each time. */
    @ExactlyOnceListener(
            id = "invoices",
            queueNames = "invoices",
            key = "#payload.key",
            parkFor = HopelessException.class)
    void bill(List<Job> jobs, List<Claim> claims) throws BatchItemFailures, InterruptedException {
        runs.runAll(jobs, claims, partner::ship).throwIfAny();
    }

    private Receipt receipt(Job job) {
        return new Receipt(job.key(), () -> runs.reached(Point.BEFORE_COMPLETION));
    }
}
