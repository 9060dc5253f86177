package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.awspring.cloud.sqs.listener.QueueMessageVisibility;
import io.awspring.cloud.sqs.listener.SqsHeaders;
import io.awspring.cloud.sqs.listener.Visibility;
import io.awspring.cloud.sqs.listener.errorhandler.ErrorHandler;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.testing.SqsRequests;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.springframework.messaging.Message;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchRequest;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityRequest;

/** A handler changes the visibility of its message by Spring Cloud AWS's {@code Visibility} parameter. */
@UsesSqs
class HandlerVisibilityIT {

    private static final int WINDOW_SECONDS = 4;
    private static final int CHOSEN_SECONDS = 10;
    private static final SqsServer SQS = SqsServer.shared();

    /** Fields are not accessible, because listeners are proxied. */
    static class Recorder {
        private final List<Long> calls = new CopyOnWriteArrayList<>();
        private final CountDownLatch finish = new CountDownLatch(1);

        List<Long> calls() {
            return calls;
        }

        void finish() {
            finish.countDown();
        }

        void awaitFinish() throws InterruptedException {
            finish.await();
        }
    }

    static class Patient extends Recorder {
        @ExactlyOnceListener(id = "orders", queueNames = "${test.queue}", key = "#order")
        void handle(String order, Visibility visibility) throws InterruptedException {
            visibility.changeTo(CHOSEN_SECONDS);
            calls().add(System.nanoTime());
            awaitFinish();
        }
    }

    static class Failing extends Recorder {
        @ExactlyOnceListener(id = "orders", queueNames = "${test.queue}", key = "#order")
        void handle(String order, QueueMessageVisibility visibility) {
            calls().add(System.nanoTime());
            if (calls().size() == 1) {
                visibility.changeTo(CHOSEN_SECONDS);
                throw new IllegalStateException("try again later");
            }
        }
    }

    static class FailingOnce extends Recorder {
        @ExactlyOnceListener(id = "orders", queueNames = "${test.queue}", key = "#order")
        void handle(String order) {
            calls().add(System.nanoTime());
            if (calls().size() == 1) {
                throw new IllegalStateException("try again at once");
            }
        }
    }

    /** Makes the message visible at once and continues, so that renewals become due. */
    static class MakingVisible extends Recorder implements ErrorHandler<Object> {
        @Override
        public void handle(Message<Object> message, Throwable failure) {
            Visibility visibility =
                    message.getHeaders().get(SqsHeaders.SQS_VISIBILITY_TIMEOUT_HEADER, Visibility.class);
            Objects.requireNonNull(visibility).changeTo(0);
            calls().add(System.nanoTime());
            try {
                awaitFinish();
            } catch (InterruptedException stopping) {
                Thread.currentThread().interrupt();
            }
            throw new IllegalStateException(failure);
        }
    }

    private final String queue = SQS.createQueue(WINDOW_SECONDS);

    private TestApplication start(Class<?> listener) {
        return TestApplication.on(queue, listener, SqsRequests.class);
    }

    /** Trap: a renewal overwrote a longer visibility that the handler had set. */
    @Test
    void renewalsLeaveItAloneUntilItIsAboutToEnd() {
        try (TestApplication application = start(Patient.class)) {
            Patient listener = application.bean(Patient.class);
            SqsRequests requests = application.bean(SqsRequests.class);
            SQS.send(queue, "o1");
            await().until(() -> listener.calls().size() == 1);
            // The audit checks its rights once, when the listener starts.
            assertThat(requests.of(ChangeMessageVisibilityRequest.class))
                    .filteredOn(request -> !request.receiptHandle().equals("exactly-once-audit"))
                    .hasSize(1);
            int before = requests.of(ChangeMessageVisibilityBatchRequest.class).size();

            Duration quiet = Duration.ofSeconds(CHOSEN_SECONDS - WINDOW_SECONDS);
            await().during(quiet.minusSeconds(1))
                    .atMost(quiet)
                    .until(() -> requests.of(ChangeMessageVisibilityBatchRequest.class)
                                    .size()
                            == before);
            await().atMost(Duration.ofSeconds(10))
                    .until(() -> requests.of(ChangeMessageVisibilityBatchRequest.class)
                                    .size()
                            >= before + 3);
            listener.finish();

            SQS.awaitEmpty(queue);
            assertThat(listener.calls()).hasSize(1);
            assertThat(requests.received()).hasSize(1);
            assertThat(application.claims("COMPLETED")).isEqualTo(1);
        }
    }

    @Test
    void returnAfterAFailureLeavesItAlone() {
        try (TestApplication application = start(Failing.class)) {
            Failing listener = application.bean(Failing.class);
            SQS.send(queue, "o1");

            await().atMost(Duration.ofSeconds(30)).until(() -> listener.calls().size() == 2);
            SQS.awaitEmpty(queue);
            assertThat(Duration.ofNanos(
                            listener.calls().get(1) - listener.calls().get(0)))
                    .isGreaterThan(Duration.ofSeconds(CHOSEN_SECONDS - 1));
            SqsRequests requests = application.bean(SqsRequests.class);
            String first = requests.received().get(0).receiptHandle();
            assertThat(requests.of(ChangeMessageVisibilityBatchRequest.class))
                    .flatExtracting(ChangeMessageVisibilityBatchRequest::entries)
                    .noneMatch(entry -> entry.receiptHandle().equals(first));
        }
    }

    /** Trap: a renewal was due at once, and treated the visibility timeout as lost. */
    @Test
    void messageThatAnErrorHandlerMakesVisibleIsNeitherRenewedNorReturnedNorLost() {
        try (CapturedLog log = new CapturedLog();
                TestApplication application =
                        TestApplication.on(queue, FailingOnce.class, MakingVisible.class, SqsRequests.class)) {
            FailingOnce listener = application.bean(FailingOnce.class);
            MakingVisible errorHandler = application.bean(MakingVisible.class);
            SqsRequests requests = application.bean(SqsRequests.class);
            SQS.send(queue, "o1");
            await().atMost(Duration.ofSeconds(20)).until(() -> listener.calls().size() == 2);
            await().during(Duration.ofSeconds(WINDOW_SECONDS))
                    .atMost(Duration.ofSeconds(WINDOW_SECONDS + 1))
                    .until(() -> errorHandler.calls().size() == 1);
            errorHandler.finish();

            SQS.awaitEmpty(queue);
            assertThat(listener.calls()).hasSize(2);
            String first = requests.received().get(0).receiptHandle();
            assertThat(requests.of(ChangeMessageVisibilityBatchRequest.class))
                    .flatExtracting(ChangeMessageVisibilityBatchRequest::entries)
                    .noneMatch(entry -> entry.receiptHandle().equals(first));
            assertThat(application.renewals("window", "lost")).isZero();
            assertThat(log.text()).doesNotContain("visibility timeout of");
        }
    }
}
