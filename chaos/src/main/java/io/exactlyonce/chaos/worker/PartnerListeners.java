package io.exactlyonce.chaos.worker;

import io.awspring.cloud.sqs.annotation.SqsListener;
import io.awspring.cloud.sqs.listener.Visibility;
import io.exactlyonce.BatchResult;
import io.exactlyonce.Claim;
import io.exactlyonce.ClaimHeldException;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.ExactlyOnceOperations;
import io.exactlyonce.InDoubtPolicy;
import io.exactlyonce.MissingKeyPolicy;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Component;

/**
 * Handlers whose effects happen at the partner. There is one for each policy, for each ledger of the partner, and for
 * each kind of handler.
 */
@Component
class PartnerListeners {

    private final Runs runs;
    private final PaymentPartner partner;
    private final ExactlyOnceOperations operations;
    private final boolean isObserving;
    private final ExecutorService threads = Executors.newCachedThreadPool();

    PartnerListeners(
            Runs runs,
            PaymentPartner partner,
            ExactlyOnceOperations operations,
            @Value("${exactly-once.listeners.letters.mode:enforce}") String mode) {
        this.runs = runs;
        this.partner = partner;
        this.operations = operations;
        this.isObserving = mode.equals("observe");
    }

    /** Runs again after a crash. The partner honours the downstream key. Parks a key after three failures. */
    @ExactlyOnceListener(
            id = "charges",
            queueNames = "charges",
            key = "#job.key",
            parkFor = HopelessException.class,
            maxAttempts = 3)
    Receipt charge(Job job, Claim claim) throws InterruptedException {
        runs.run(job, claim, call -> partner.charge(job, claim, call));
        return receipt(job);
    }

    /** Runs again after a crash. The partner acts at each call. A message without a key is handled without a claim. */
    @ExactlyOnceListener(
            id = "mails",
            queueNames = "mails",
            key = "#job.claimKey()",
            parkFor = HopelessException.class,
            whenKeyMissing = MissingKeyPolicy.RUN_UNPROTECTED)
    Receipt mail(Job job, Claim claim) throws InterruptedException {
        if (job.claimKey() == null) {
            runs.runUnclaimed(job, call -> partner.ship(job, call));
            return receipt(job);
        }
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

    /** Queries the partner after a crash. */
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

    /** Keeps the order of each group. Skips a message without a key. */
    @ExactlyOnceListener(
            id = "steps",
            queueNames = "steps.fifo",
            key = "#job.claimKey()",
            parkFor = HopelessException.class,
            whenKeyMissing = MissingKeyPolicy.SKIP)
    Receipt step(Job job, Claim claim) throws InterruptedException {
        runs.run(job, claim, call -> partner.charge(job, claim, call));
        return receipt(job);
    }

    /** Handles batches, without messages that have no key. Runs again after a crash. The partner acts at each call. */
    @ExactlyOnceListener(
            id = "invoices",
            queueNames = "invoices",
            key = "#payload.claimKey()",
            parkFor = HopelessException.class,
            whenKeyMissing = MissingKeyPolicy.SKIP)
    BatchResult bill(List<Job> jobs, List<Claim> claims) throws InterruptedException {
        return runs.runAll(jobs, claims, partner::ship);
    }

    /**
     * Returns a future, which another thread completes. Runs again after a crash. The partner acts at each call. Parks a
     * key after three failures.
     */
    @ExactlyOnceListener(
            id = "notices",
            queueNames = "notices",
            key = "#job.key",
            parkFor = HopelessException.class,
            maxAttempts = 3)
    CompletableFuture<Receipt> notify(Job job, Claim claim) {
        return CompletableFuture.supplyAsync(
                () -> {
                    try {
                        runs.run(job, claim, call -> partner.ship(job, claim, call));
                    } catch (InterruptedException stopped) {
                        throw new IllegalStateException("Nobody interrupts these threads", stopped);
                    }
                    return receipt(job);
                },
                threads);
    }

    /**
     * Claims its key with {@code ExactlyOnceOperations}, in a listener of Spring Cloud AWS. Runs again after a crash.
     * The partner acts at each call.
     */
    @SqsListener("errands")
    void run(Job job, Visibility visibility) throws InterruptedException {
        try {
            operations
                    .once("errands", job.key())
                    .throwing(InterruptedException.class)
                    .call(Receipt.class, claim -> {
                        runs.run(job, claim, call -> partner.ship(job, claim, call));
                        return receipt(job);
                    });
        } catch (ClaimHeldException held) {
            visibility.changeTo(Math.toIntExact(held.retryAfter().toSeconds() + 1));
            throw held;
        }
    }

    /**
     * On every other worker, this listener only observes. The listener has the queue's visibility timeout, from which
     * observing derives its leases. Runs again after a crash. The partner acts at each call.
     */
    @ExactlyOnceListener(
            id = "letters",
            queueNames = "letters",
            key = "#job.key",
            messageVisibilitySeconds = "4",
            parkFor = HopelessException.class)
    void write(Job job, Claim claim) throws InterruptedException {
        if (isObserving) {
            runs.runUnclaimed(job, call -> partner.ship(job, claim, call));
        } else {
            runs.run(job, claim, call -> partner.ship(job, claim, call));
        }
    }

    private Receipt receipt(Job job) {
        return new Receipt(job.key(), () -> runs.reached(Point.BEFORE_COMPLETION));
    }
}
