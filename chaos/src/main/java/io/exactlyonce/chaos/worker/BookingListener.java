package io.exactlyonce.chaos.worker;

import io.exactlyonce.BatchResult;
import io.exactlyonce.Claim;
import io.exactlyonce.Effects;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.MissingKeyPolicy;
import java.util.List;
import org.springframework.context.annotation.Profile;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** Handlers whose effect is a row in the claim database. The table has no unique key that would reject a second row. */
@Component
@Profile("postgresql")
class BookingListener {

    private final Runs runs;
    private final JdbcClient database;
    private final ReplicaReads replica;

    BookingListener(Runs runs, JdbcClient database, ReplicaReads replica) {
        this.runs = runs;
        this.database = database;
        this.replica = replica;
    }

    /** Skips a message without a key. */
    @ExactlyOnceListener(
            id = "bookings",
            queueNames = "bookings",
            key = "#job.claimKey()",
            effects = Effects.DATABASE,
            parkFor = HopelessException.class,
            whenKeyMissing = MissingKeyPolicy.SKIP)
    void book(Job job, Claim claim) throws InterruptedException {
        runs.run(job, claim, call -> insert(job, call));
        announceCommit();
    }

    /** Handles a batch in one transaction. If jobs fail, the transaction is repeated without them. */
    @ExactlyOnceListener(
            id = "postings",
            queueNames = "postings",
            key = "#payload.key",
            effects = Effects.DATABASE,
            parkFor = HopelessException.class)
    BatchResult post(List<Job> jobs, List<Claim> claims) throws InterruptedException {
        BatchResult result = runs.runAll(jobs, claims, (job, claim, call) -> insert(job, call));
        if (result.failures().isEmpty()) {
            announceCommit();
        }
        return result;
    }

    private void insert(Job job, String call) {
        replica.isBooked(job.key());
        database.sql("INSERT INTO booking (key, call) VALUES (?, ?)")
                .params(job.key(), call)
                .update();
    }

    private void announceCommit() {
        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
            @Override
            public void beforeCommit(boolean readOnly) {
                runs.reached(Point.BEFORE_COMPLETION);
            }
        });
    }
}
