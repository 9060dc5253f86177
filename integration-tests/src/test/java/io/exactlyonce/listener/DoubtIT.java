package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.awspring.cloud.sqs.listener.SqsHeaders;
import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.ExactlyOnceOperations;
import io.exactlyonce.InDoubtAttempt;
import io.exactlyonce.InDoubtPolicy;
import io.exactlyonce.ParkedClaim;
import io.exactlyonce.ParkedException;
import io.exactlyonce.ParkedKeys;
import io.exactlyonce.Reconciler;
import io.exactlyonce.Reconciliation;
import io.exactlyonce.claim.postgres.ClaimSchema;
import io.exactlyonce.claim.postgres.schema.TestDatabase;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.simple.JdbcClient;

/** The result of each policy for the key of a worker that vanished while its handler ran. */
@UsesSqs
class DoubtIT {

    private static final String ABANDONED = """
            INSERT INTO exactly_once_claim (scope, key, status, claim_id, owner, attempt, fencing_token, in_doubt,
                                            lease_until, first_claimed_at, claimed_at, expires_at)
            VALUES (?, 'o1', 'HELD', gen_random_uuid(), 'killed', 1, 1, false, now(), now(), now(), now() + '1 day')
            """;

    private static final SqsServer SQS = SqsServer.shared();
    private static final Duration LONG = Duration.ofSeconds(60);

    static class Recorder {
        private final List<String> calls = new CopyOnWriteArrayList<>();

        List<String> calls() {
            return calls;
        }

        String handle(Claim claim) {
            calls.add("attempt=%d inDoubt=%s".formatted(claim.attempt(), claim.isInDoubt()));
            return "charged";
        }
    }

    static class Parking extends Recorder {
        @ExactlyOnceListener(
                id = "orders",
                queueNames = "${test.queue}",
                key = "#order",
                whenInDoubt = InDoubtPolicy.PARK)
        String handle(String order, Claim claim) {
            return handle(claim);
        }
    }

    static class Reconciling extends Recorder {
        @ExactlyOnceListener(
                id = "orders",
                queueNames = "${test.queue}",
                key = "#order",
                whenInDoubt = InDoubtPolicy.RECONCILE)
        String handle(String order, Claim claim) {
            return handle(claim);
        }
    }

    static class Answering implements Reconciler<String> {
        private final List<String> asked = new CopyOnWriteArrayList<>();

        List<String> asked() {
            return asked;
        }

        @Override
        public Reconciliation<String> reconcile(InDoubtAttempt attempt) {
            asked.add("%s, attempt %d: %s of %s"
                    .formatted(
                            attempt.listener(),
                            attempt.claim().attempt(),
                            attempt.payload(String.class),
                            attempt.message().getHeaders().get(SqsHeaders.SQS_QUEUE_NAME_HEADER)));
            return Reconciliation.done("found");
        }
    }

    private final String queue = SQS.createQueue(2);
    private final String database = EmbeddedDatabase.shared().createDatabase();

    /** Sends a message whose key has a claim like that of a killed handler. */
    private void abandon() {
        DataSource dataSource = EmbeddedDatabase.shared().dataSource(database);
        new ClaimSchema(TestDatabase.table(dataSource)).create();
        JdbcClient.create(dataSource).sql(ABANDONED).param(queue).update();
        SQS.send(queue, "o1");
    }

    private TestApplication start(Class<?>... beans) {
        return TestApplication.start(database, Map.of("test.queue", queue), beans);
    }

    /** The call would be the first one in which a listener that parks gets a key in doubt. */
    @Test
    void callOfASharedScopeLeavesADoubtToAPersonIfConfigured() {
        abandon();
        try (TestApplication application = start()) {
            ExactlyOnceOperations operations = application.bean(ExactlyOnceOperations.class);

            assertThatThrownBy(() ->
                            operations.once(queue, "o1").parkInDoubt().call(String.class, claim -> "charged again"))
                    .isInstanceOf(ParkedException.class);
            ParkedKeys parked = application.bean(ParkedKeys.class);
            assertThat(parked.release(parked.find(queue, "o1").orElseThrow())).isTrue();

            assertThat(operations
                            .once(queue, "o1")
                            .parkInDoubt()
                            .call(String.class, claim -> "inDoubt=" + claim.isInDoubt()))
                    .isEqualTo("inDoubt=true");
        }
    }

    @Test
    void parkLeavesAnAbandonedKeyToAPersonWhoReleasesIt() {
        abandon();

        try (TestApplication application = start(Parking.class)) {
            await().atMost(LONG).until(() -> application.claims("PARKED") == 1);
            ParkedKeys parked = application.bean(ParkedKeys.class);
            ParkedClaim seen = parked.list(10).get(0);
            assertThat(seen.isInDoubt()).isTrue();
            assertThat(seen.reason()).isEqualTo("its owner vanished");
            assertThat(application.bean(Parking.class).calls()).isEmpty();
            assertThat(SQS.size(queue)).isEqualTo(1);

            assertThat(parked.release(seen)).isTrue();

            await().atMost(LONG).until(() -> SQS.size(queue) == 0);
            assertThat(application.bean(Parking.class).calls()).containsExactly("attempt=2 inDoubt=true");
        }
    }

    @Test
    void reconcilerThatFoundTheEffectSparesTheHandler() {
        abandon();

        try (TestApplication application = start(Reconciling.class, Answering.class)) {
            await().atMost(LONG).until(() -> SQS.size(queue) == 0);

            assertThat(application.claims("COMPLETED")).isEqualTo(1);
            assertThat(application.bean(Reconciling.class).calls()).isEmpty();
            assertThat(result(application)).isEqualTo("\"found\"");
            assertThat(application.bean(Answering.class).asked()).containsExactly("orders, attempt 2: o1 of " + queue);
        }
    }

    private static String result(TestApplication application) {
        return application
                .database()
                .sql("SELECT result FROM exactly_once_claim")
                .query(String.class)
                .single();
    }
}
