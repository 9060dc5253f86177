package io.exactlyonce.listener.method;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceEvent.HandlerTimedOut;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.testing.SqsRequests;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.event.EventListener;

/** Handlers that run longer than their listener's timeout. */
@UsesSqs
@ExtendWith(OutputCaptureExtension.class)
class HandlerTimeoutIT {

    private static final int WINDOW_SECONDS = 4;
    private static final SqsServer SQS = SqsServer.shared();

    static class Recorder {
        private final List<String> events = new CopyOnWriteArrayList<>();

        List<String> events() {
            return events;
        }
    }

    static class Obedient extends Recorder {
        private final CountDownLatch never = new CountDownLatch(1);
        private final List<HandlerTimedOut> published = new CopyOnWriteArrayList<>();

        List<HandlerTimedOut> published() {
            return published;
        }

        @EventListener
        void timedOut(HandlerTimedOut event) {
            published.add(event);
        }

        @ExactlyOnceListener(id = "orders", queueNames = "${test.queue}", key = "#order", timeout = "${test.timeout}")
        void handle(String order, Claim claim) throws InterruptedException {
            events().add("attempt %d, in doubt %s".formatted(claim.attempt(), claim.isInDoubt()));
            if (claim.attempt() == 1) {
                try {
                    never.await();
                } finally {
                    claim.ensureHeld();
                    events().add("stopped, still holding its claim");
                }
            }
        }
    }

    static class Stubborn extends Recorder {
        private final CountDownLatch finish = new CountDownLatch(1);

        void finish() {
            finish.countDown();
        }

        @ExactlyOnceListener(id = "orders", queueNames = "${test.queue}", key = "#order", timeout = "${test.timeout}")
        void handle(String order, Claim claim) {
            events().add("attempt " + claim.attempt());
            while (claim.attempt() == 1 && finish.getCount() > 0) {
                try {
                    finish.await();
                } catch (InterruptedException ignored) {
                    events().add("interrupted");
                }
            }
            events().add("end of attempt " + claim.attempt());
        }
    }

    private final String queue = SQS.createQueue(WINDOW_SECONDS);

    private TestApplication start(Class<?> listener) {
        return TestApplication.on(queue, Map.of("test.timeout", "1s"), listener, SqsRequests.class);
    }

    private static double timeouts(TestApplication application) {
        return application.count("exactly.once.handler.timeouts", "listener", "orders");
    }

    @Test
    void handlerIsInterruptedAndTheNextAttemptIsInDoubt(CapturedOutput output) {
        try (TestApplication application = start(Obedient.class)) {
            SQS.send(queue, "o1");

            SQS.awaitEmpty(queue);
            assertThat(application.bean(Obedient.class).events())
                    .containsExactly(
                            "attempt 1, in doubt false",
                            "stopped, still holding its claim",
                            "attempt 2, in doubt true");
            assertThat(timeouts(application)).isEqualTo(1);
            await().untilAsserted(() -> assertThat(
                            application.bean(Obedient.class).published())
                    .containsExactly(new HandlerTimedOut(
                            "orders", queue, new ClaimKey(queue, "o1").keyHash(), Duration.ofSeconds(1))));
            assertThat(output).contains("listener 'orders' on queue '" + queue + "' runs longer than its timeout");
        }
    }

    /** A handler may ignore its interrupt. Its key stays held until the lease ends, and no longer. */
    @Test
    void handlerThatIgnoresItKeepsItsKeyUntilItsLeaseEndsAndIsThenTakenOver() {
        try (TestApplication application = start(Stubborn.class)) {
            Stubborn listener = application.bean(Stubborn.class);
            SQS.send(queue, "o1");
            await().until(() -> timeouts(application) == 1);
            assertThat(application.claims("HELD")).isEqualTo(1);

            await().atMost(Duration.ofSeconds(30)).until(() -> listener.events().contains("end of attempt 2"));
            listener.finish();

            SQS.awaitEmpty(queue);
            await().until(() -> listener.events().contains("end of attempt 1"));
            assertThat(listener.events())
                    .containsExactly("attempt 1", "interrupted", "attempt 2", "end of attempt 2", "end of attempt 1");
            assertThat(application.claims("COMPLETED")).isEqualTo(1);
        }
    }

    @Test
    void handlerThatEndsLateButBeforeAnotherWorkerTookOverIsCompleted() {
        try (TestApplication application = start(Stubborn.class)) {
            Stubborn listener = application.bean(Stubborn.class);
            SQS.send(queue, "o1");
            await().until(() -> listener.events().contains("interrupted"));

            listener.finish();

            SQS.awaitEmpty(queue);
            assertThat(listener.events()).containsExactly("attempt 1", "interrupted", "end of attempt 1");
            assertThat(application.claims("COMPLETED")).isEqualTo(1);
            assertThat(application.bean(SqsRequests.class).received()).hasSize(1);
        }
    }
}
