package io.exactlyonce.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.awspring.cloud.sqs.annotation.SqsListener;
import io.exactlyonce.Claim;
import io.exactlyonce.ClaimHeldException;
import io.exactlyonce.ExactlyOnceOperations;
import io.exactlyonce.ExactlyOnceOperations.OnceCall;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.testing.DocumentedCode;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.TestApplication;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.event.TransactionPhase;
import org.springframework.transaction.event.TransactionalEventListener;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Code outside a listener, run once per key on a real database. */
class OperationsIT {

    record Receipt(String id, int amount) {}

    record Placed(String key, TransactionPhase when) {}

    /** Sends mails about orders, in one phase of the transaction that places them. */
    static class Mails {

        private static final String WRITE = "INSERT INTO mail (order_id) VALUES (?)";

        private final ApplicationEventPublisher events;
        private final ExactlyOnceOperations operations;
        private final JdbcTemplate database;
        private final TransactionTemplate transaction;

        Mails(
                ApplicationEventPublisher events,
                ExactlyOnceOperations operations,
                JdbcTemplate database,
                PlatformTransactionManager transactions) {
            this.events = events;
            this.operations = operations;
            this.database = database;
            this.transaction = new TransactionTemplate(transactions);
            this.transaction.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
            database.execute("CREATE TABLE mail (order_id text)");
        }

        void send(String key) {
            operations
                    .once("mails", key)
                    .run(claim -> transaction.executeWithoutResult(status -> database.update(WRITE, key)));
        }

        int sent(String key) {
            return database.queryForObject("SELECT count(*) FROM mail WHERE order_id = ?", Integer.class, key);
        }

        private void sendIn(TransactionPhase phase, Placed placed) {
            if (placed.when() == phase) {
                send(placed.key());
            }
        }

        @TransactionalEventListener(phase = TransactionPhase.BEFORE_COMMIT)
        void beforeCommit(Placed placed) {
            sendIn(TransactionPhase.BEFORE_COMMIT, placed);
        }

        @TransactionalEventListener
        void afterCommit(Placed placed) {
            sendIn(TransactionPhase.AFTER_COMMIT, placed);
        }

        @TransactionalEventListener(phase = TransactionPhase.AFTER_COMPLETION)
        void afterCompletion(Placed placed) {
            sendIn(TransactionPhase.AFTER_COMPLETION, placed);
        }

        @TransactionalEventListener(phase = TransactionPhase.AFTER_ROLLBACK)
        void afterRollback(Placed placed) {
            sendIn(TransactionPhase.AFTER_ROLLBACK, placed);
        }
    }

    private static final Duration LEASE = Duration.ofSeconds(2);

    private static TestApplication application;

    private final ExactlyOnceOperations operations = application.bean(ExactlyOnceOperations.class);
    private final String key = UUID.randomUUID().toString();
    private final AtomicInteger runs = new AtomicInteger();

    @BeforeAll
    static void start() {
        application = TestApplication.start(
                EmbeddedDatabase.shared().createDatabase(),
                Map.of(
                        "exactly-once.claim.lease",
                        LEASE.toSeconds() + "s",
                        "spring.datasource.hikari.maximum-pool-size",
                        "2"),
                Mails.class);
    }

    @AfterAll
    static void stop() {
        application.close();
    }

    private Receipt charge(Claim claim) {
        return new Receipt(claim.downstreamKey(), runs.incrementAndGet());
    }

    @Test
    void secondCallGetsTheStoredResult() {
        OnceCall<RuntimeException> payment = operations.once("payments", key).comparing("body");
        Receipt first = payment.call(Receipt.class, this::charge);

        assertThat(payment.call(Receipt.class, this::charge)).isEqualTo(first);
        assertThat(runs).hasValue(1);
    }

    private void importCompleted(List<String> completed) {
        // tag::import
        for (String id : completed) {
            operations.once("orders", id).run(claim -> {});
        }
        // end::import
    }

    @Test
    void keyThatAnActionCompletedWhichDoesNothingIsADuplicateForAnyMessage() {
        importCompleted(List.of(key));
        importCompleted(List.of(key));

        ClaimRequest message = new ClaimRequest(
                new ClaimId(new ClaimKey("orders", key), UUID.randomUUID()),
                "worker",
                LEASE,
                ClaimRequest.InDoubt.TAKE_OVER,
                ClaimKey.sha256("body"));
        assertThat(application.bean(ClaimStore.class).claim(List.of(message)))
                .hasOnlyElementsOfType(AlreadyCompleted.class);
        assertThat(DocumentedCode.of("adopt.md").block("operations"))
                .isEqualTo(DocumentedCode.example(OperationsIT.class, "import"));
    }

    record PaymentRequest(String id, String replyTo) {}

    record Payment(String id) {}

    private interface Provider {
        Payment charge(PaymentRequest request, String downstreamKey);
    }

    private interface Replies {
        void send(String queue, Payment payment);
    }

    /** A service that answers each request, but charges only once. */
    private record Payments(ExactlyOnceOperations operations, Provider provider, Replies answers) {

        // tag::answers
        @SqsListener("payments")
        void pay(PaymentRequest request) {
            Payment payment = operations
                    .once("payments", request.id())
                    .call(Payment.class, claim -> provider.charge(request, claim.downstreamKey()));
            answers.send(request.replyTo(), payment);
        }
        // end::answers
    }

    @Test
    void repeatedRequestIsAnsweredAgainWithTheFirstResult() {
        List<Payment> answered = new ArrayList<>();
        Payments payments = new Payments(
                operations,
                (request, downstreamKey) -> new Payment("payment " + runs.incrementAndGet()),
                (queue, payment) -> answered.add(payment));

        payments.pay(new PaymentRequest(key, "replies"));
        payments.pay(new PaymentRequest(key, "replies"));

        assertThat(answered).containsExactly(new Payment("payment 1"), new Payment("payment 1"));
        assertThat(DocumentedCode.of("adopt.md").block("answers"))
                .isEqualTo(DocumentedCode.example(OperationsIT.class, "answers"));
    }

    @Test
    void concurrentCallGetsTheTimeOfItsRepetitionForAsLongAsTheFirstOneRuns() throws Exception {
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch finish = new CountDownLatch(1);
        CompletableFuture<Receipt> first = CompletableFuture.supplyAsync(() -> execute(claim -> {
            started.countDown();
            finish.await();
            claim.ensureHeld();
            return charge(claim);
        }));
        started.await();

        // Waits longer than the lease, which is renewed meanwhile.
        await().during(LEASE.plusSeconds(1))
                .atMost(LEASE.plusSeconds(10))
                .untilAsserted(() -> assertThatThrownBy(() -> execute(this::charge))
                        .isInstanceOfSatisfying(
                                ClaimHeldException.class,
                                held -> assertThat(held.retryAfter()).isBetween(Duration.ofMillis(1), LEASE)));
        finish.countDown();

        assertThat(first.get()).isEqualTo(execute(this::charge));
        assertThat(runs).hasValue(1);
    }

    private void place(Placed placed) {
        application.bean(TransactionTemplate.class).executeWithoutResult(status -> {
            application.bean(Mails.class).events.publishEvent(placed);
            if (placed.when() == TransactionPhase.AFTER_ROLLBACK) {
                status.setRollbackOnly();
            }
        });
    }

    /**
     * The transaction still holds its connection. Claims have their own connections, and the action takes another one.
     */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "BEFORE_COMMIT")
    void actionRunsOnceAfterItsCallersTransaction(TransactionPhase phase) {
        place(new Placed(key, phase));
        assertThat(application.bean(Mails.class).sent(key)).isEqualTo(1);

        place(new Placed(key, phase));
        assertThat(application.bean(Mails.class).sent(key)).isEqualTo(1);
    }

    @Test
    void actionRunsInAfterCommit() {
        Mails mails = application.bean(Mails.class);

        application
                .bean(TransactionTemplate.class)
                .executeWithoutResult(status ->
                        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                            @Override
                            public void afterCommit() {
                                mails.send(key);
                            }
                        }));

        assertThat(mails.sent(key)).isEqualTo(1);
    }

    @Test
    void actionIsRefusedWhileItsCallersTransactionMayBeRolledBack() {
        assertThatThrownBy(() -> place(new Placed(key, TransactionPhase.BEFORE_COMMIT)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("within a transaction");

        assertThat(application.bean(Mails.class).sent(key)).isZero();
    }

    private Receipt execute(ThrowingAction action) {
        try {
            return operations
                    .once("payments", key)
                    .throwing(InterruptedException.class)
                    .call(Receipt.class, action::run);
        } catch (InterruptedException interrupted) {
            throw new AssertionError(interrupted);
        }
    }

    @FunctionalInterface
    private interface ThrowingAction {
        Receipt run(Claim claim) throws InterruptedException;
    }
}
