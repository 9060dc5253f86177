package io.exactlyonce.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.listener.ListenerFailures;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.context.ApplicationContextException;
import org.springframework.context.support.GenericApplicationContext;

class FailureAnalyzerTests {

    private final GenericApplicationContext context = new GenericApplicationContext();

    @Test
    void invalidListenerIsExplainedHoweverDeepItIs() {
        Throwable failure = new BeanCreationException(
                "orderListener",
                "Initialization failed",
                ListenerFailures.invalidListener("Listener 'orders' has no queue", "name one"));

        FailureAnalysis analysis = FailureReport.of(failure, context);

        assertThat(analysis.getDescription()).isEqualTo("Listener 'orders' has no queue");
        assertThat(analysis.getAction()).isEqualTo("name one");
    }

    @Test
    void missingQueueIsExplainedByItsCauseAndItsListener() {
        Throwable failure = new ApplicationContextException(
                "Failed to start bean 'endpointRegistry'",
                ListenerFailures.queueUnavailable(
                        "orders",
                        "fulfilment",
                        new IllegalStateException("start failed", new IllegalArgumentException("no such queue"))));

        FailureAnalysis analysis = FailureReport.of(failure, context);

        assertThat(analysis.getDescription())
                .isEqualTo("Queue 'orders' of listener 'fulfilment' is not available: no such queue");
        assertThat(analysis.getAction())
                .contains("Create the queue 'orders' with a dead-letter queue")
                .contains("queueNames of the listener 'fulfilment'")
                .contains("spring.cloud.aws.sqs.queue-not-found-strategy=create");
    }
}
