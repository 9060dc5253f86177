package io.exactlyonce.chaos.worker;

import io.exactlyonce.Claim;
import io.exactlyonce.Effects;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.FollowUp;
import org.springframework.context.annotation.Profile;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/** A handler that writes its follow-up message in its transaction. */
@Component
@Profile("postgresql")
class Outbox {

    private final Runs runs;
    private final JdbcClient database;

    Outbox(Runs runs, JdbcClient database) {
        this.runs = runs;
        this.database = database;
    }

    @ExactlyOnceListener(
            id = "sales",
            queueNames = "sales",
            key = "#job.key",
            effects = Effects.DATABASE,
            parkFor = HopelessException.class)
    void sell(Job job, Claim claim) throws InterruptedException {
        runs.run(job, claim, call -> {
            database.sql("INSERT INTO booking (key, call) VALUES (?, ?)")
                    .params(job.key(), call)
                    .update();
            database.sql("INSERT INTO outbox (key, follow_up) VALUES (?, ?)")
                    .params(job.key(), claim.followUp("shipped").key())
                    .update();
        });
    }

    /**
     * Sends the messages of the outbox. All workers do so at the same time, without a lock, and each worker deletes a
     * row after it sent the message. Messages are therefore repeated more often than by any relay in production.
     */
    @Component
    @Profile("postgresql")
    @EnableScheduling
    static class Relay {

        private final JdbcClient database;
        private final FollowUps followUps;

        Relay(JdbcClient database, FollowUps followUps) {
            this.database = database;
            this.followUps = followUps;
        }

        @Scheduled(fixedDelay = 200)
        void send() {
            for (Row row : database.sql("SELECT id, key, follow_up FROM outbox ORDER BY id LIMIT 50")
                    .query(Row.class)
                    .list()) {
                followUps.send(row.key(), new FollowUp(row.followUp()));
                database.sql("DELETE FROM outbox WHERE id = ?").param(row.id()).update();
            }
        }
    }

    /** A message to send. */
    record Row(long id, String key, String followUp) {}
}
