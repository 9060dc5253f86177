package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.awspring.cloud.sqs.annotation.SqsListener;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.listener.container.ConsumerComponents;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.aop.support.AopUtils;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.messaging.Message;

/** Plain {@code @SqsListener} methods in the same application behave as if the starter were not there. */
@UsesSqs
class PlainListenerIT {

    private static final SqsServer SQS = SqsServer.shared();

    static class Plain {
        final List<Message<String>> messages = new CopyOnWriteArrayList<>();

        @SqsListener(id = "plain", queueNames = "${test.plain}")
        void handle(Message<String> message) {
            messages.add(message);
            if (message.getPayload().equals("fails at first") && messages.size() == 1) {
                throw new IllegalStateException("fails at first");
            }
        }
    }

    static class Ours {
        @ExactlyOnceListener(id = "ours", queueNames = "${test.queue}", key = "#order")
        void handle(String order) {}
    }

    private final String plainQueue = SQS.createQueue(5);
    private final String queue = SQS.createQueue(30);

    private TestApplication start() {
        return TestApplication.start(
                EmbeddedDatabase.shared().createDatabase(),
                Map.of("test.plain", plainQueue, "test.queue", queue),
                Plain.class,
                Ours.class);
    }

    @Test
    void plainListenerClaimsNothingAndGetsTheSameMessageTwice() {
        try (TestApplication application = start()) {
            Plain plain = application.bean(Plain.class);
            SQS.send(plainQueue, "same");
            SQS.send(plainQueue, "same");

            await().until(() -> plain.messages.size() == 2);
            await().until(() -> SQS.size(plainQueue) == 0);
            assertThat(application
                            .database()
                            .sql("SELECT count(*) FROM exactly_once_claim")
                            .query(Integer.class)
                            .single())
                    .isZero();
            assertThat(plain.messages)
                    .allSatisfy(
                            message -> assertThat(ReceivedMessage.of(message)).isEmpty());
        }
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void plainListenerOnAQueueOfOneThatClaimsIsWarnedOf(CapturedOutput output) {
        start().close();
        assertThat(output).doesNotContain("claims no keys");

        TestApplication.start(
                        EmbeddedDatabase.shared().createDatabase(),
                        Map.of("test.plain", queue, "test.queue", SQS.urlOf(queue)),
                        Plain.class,
                        Ours.class)
                .close();

        assertThat(output)
                .contains("Listener 'plain' on queue '%s' claims no keys, and listener 'ours' does".formatted(queue));
    }

    @Test
    void plainListenersFailureIsRedeliveredWhenItsWindowEnds() {
        try (TestApplication application = start()) {
            Plain plain = application.bean(Plain.class);
            SQS.send(plainQueue, "fails at first");
            await().until(() -> plain.messages.size() == 1);

            // Far longer than the first return of one of our own, far shorter than the window.
            await().during(Duration.ofSeconds(3)).until(() -> plain.messages.size() == 1);
            await().until(() -> plain.messages.size() == 2);
            await().until(() -> SQS.size(plainQueue) == 0);
        }
    }

    @Test
    void onlyOurContainersAndBeansArePrepared() {
        try (TestApplication application = start()) {
            assertThat(application.container("plain").getContainerComponentFactories())
                    .isEmpty();
            assertThat(application.container("ours").getContainerComponentFactories())
                    .hasOnlyElementsOfTypes(ConsumerComponents.class);
            assertThat(AopUtils.isAopProxy(application.bean(Plain.class))).isFalse();
            assertThat(AopUtils.isAopProxy(application.bean(Ours.class))).isTrue();
        }
    }
}
