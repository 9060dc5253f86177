package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.Claim;
import io.exactlyonce.ClaimLostException;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** Another worker has taken the key over while the handler runs. */
@UsesSqs
class LostClaimIT {

    private static final String TAKE_OVER = """
            UPDATE exactly_once_claim
            SET claim_id = gen_random_uuid(), owner = 'another worker', fencing_token = fencing_token + 1,
                lease_until = clock_timestamp() + interval '1 hour'
            """;

    private static final SqsServer SQS = SqsServer.shared();

    static class Listener {
        private final List<String> events = new CopyOnWriteArrayList<>();
        private final CountDownLatch never = new CountDownLatch(1);

        List<String> events() {
            return events;
        }

        @ExactlyOnceListener(id = "orders", queueNames = "${test.queue}", key = "#order")
        void handle(String order, Claim claim) {
            events.add("called");
            try {
                never.await();
            } catch (InterruptedException interrupted) {
                events.add("interrupted");
            }
            try {
                claim.ensureHeld();
            } catch (ClaimLostException lost) {
                events.add("lost");
            }
            // Returns as if nothing had happened: the result must still be discarded.
        }
    }

    @Test
    void handlerIsInterruptedAndItsResultDiscarded() {
        String queue = SQS.createQueue(2);
        try (TestApplication application = TestApplication.start(
                EmbeddedDatabase.shared().createDatabase(), Map.of("test.queue", queue), Listener.class)) {
            Listener listener = application.bean(Listener.class);
            SQS.send(queue, "o1");
            await().until(() -> listener.events().contains("called"));

            application.database().sql(TAKE_OVER).update();

            await().atMost(Duration.ofSeconds(10)).until(() -> listener.events().size() == 3);
            assertThat(listener.events()).containsExactly("called", "interrupted", "lost");
            await().during(Duration.ofSeconds(3)).atMost(Duration.ofSeconds(10)).until(() -> SQS.size(queue) == 1);
            assertThat(application
                            .database()
                            .sql("SELECT status, owner FROM exactly_once_claim")
                            .query()
                            .singleRow())
                    .containsEntry("status", "HELD")
                    .containsEntry("owner", "another worker");
            assertThat(listener.events()).hasSize(3);
        }
    }
}
