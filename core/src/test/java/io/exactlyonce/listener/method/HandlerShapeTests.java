package io.exactlyonce.listener.method;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.awspring.cloud.sqs.annotation.SnsNotificationMessage;
import io.awspring.cloud.sqs.annotation.SqsListener;
import io.awspring.cloud.sqs.listener.acknowledgement.Acknowledgement;
import io.awspring.cloud.sqs.listener.acknowledgement.BatchAcknowledgement;
import io.awspring.cloud.sqs.support.converter.SnsNotification;
import io.exactlyonce.ExactlyOnceListener;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.reactivestreams.Publisher;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.messaging.Message;
import org.springframework.mock.env.MockEnvironment;
import org.springframework.scheduling.annotation.Async;

/**
 * Tests which return types, parameters and acknowledgement modes of a listener method are accepted, and which fail
 * startup.
 */
class HandlerShapeTests {

    static class OwnFuture extends CompletableFuture<String> {}

    @SqsListener(acknowledgementMode = "${mode}")
    @Retention(RetentionPolicy.RUNTIME)
    @interface WithMode {}

    static class Handlers {

        @ExactlyOnceListener("orders")
        void plain(String order) {}

        CompletableFuture<List<String>> future() {
            return new CompletableFuture<>();
        }

        @SuppressWarnings("rawtypes")
        CompletionStage raw() {
            return new CompletableFuture<>();
        }

        OwnFuture ownFuture() {
            return new OwnFuture();
        }

        Future<String> blockingFuture() {
            return new CompletableFuture<>();
        }

        Object anything() {
            return "";
        }

        Callable<String> callable() {
            return () -> "";
        }

        CompletableFuture<CompletableFuture<String>> futureOfAFuture() {
            return new CompletableFuture<>();
        }

        CompletionStage<? extends Publisher<String>> futureOfAPublisher() {
            return new CompletableFuture<>();
        }

        Optional<CompletableFuture<String>> futureThatMayBeAbsent() {
            return Optional.empty();
        }

        CompletableFuture<List<CompletableFuture<String>>> futureOfFutures() {
            return new CompletableFuture<>();
        }

        Map<String, Object> open() {
            return Map.of();
        }

        @Async
        void async() {}

        @Async
        CompletableFuture<Void> asyncFuture() {
            return new CompletableFuture<>();
        }

        @SqsListener("orders")
        String text() {
            return "";
        }

        @SqsListener("orders")
        void acknowledging(String order, Acknowledgement acknowledgement) {}

        @SqsListener("orders")
        void batchAcknowledging(String order, BatchAcknowledgement<String> acknowledgement) {}

        @WithMode
        void withMode(String order) {}

        void enveloped(@SnsNotificationMessage String order) {}

        void notification(SnsNotification<String> order) {}

        void notifications(List<SnsNotification<String>> orders) {}

        void notificationMessages(List<Message<SnsNotification<String>>> orders) {}

        void envelopedBatch(@SnsNotificationMessage List<String> orders) {}
    }

    @ParameterizedTest
    @CsvSource({
        "ownFuture, declare the return type as CompletableFuture",
        "blockingFuture, its claim could be completed before its work is done",
        "anything, say in its return type what it returns",
        "callable, 'call it, or collect it, in the method'",
        "futureOfAFuture, thenCompose flattens a future of a future",
        "futureOfAPublisher, and in it org.reactivestreams.Publisher",
        "futureThatMayBeAbsent, and in it java.util.concurrent.CompletableFuture",
        "futureOfFutures, return a future that ends when all work is done",
        "async, @Async runs it on another thread",
        "asyncFuture, @Async runs it on another thread"
    })
    void methodWhoseEndCannotBeDetectedIsRefused(String name, String message) {
        assertThatThrownBy(() -> rules(name, "").requireCompletionSignal())
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("Handlers." + name)
                .hasMessageContaining(message);
    }

    @ParameterizedTest
    @CsvSource({"future", "raw", "text", "open", "acknowledging"})
    void methodWhoseEndCanBeDetectedIsAccepted(String name) {
        assertThatCode(() -> rules(name, "").requireCompletionSignal()).doesNotThrowAnyException();
    }

    @ParameterizedTest
    @CsvSource({
        "acknowledging, ON_SUCCESS, it takes an Acknowledgement",
        "batchAcknowledging, ON_SUCCESS, it takes an Acknowledgement",
        "withMode, ALWAYS, its acknowledgementMode is ALWAYS",
        "withMode, MANUAL, its acknowledgementMode is MANUAL"
    })
    void handlerThatCouldDeleteItsMessageUncompletedIsRefused(String name, String mode, String message) {
        assertThatThrownBy(() -> rules(name, mode).requireNoAcknowledgement())
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("Handlers." + name)
                .hasMessageContaining(message);
    }

    @Test
    void acknowledgementAfterSuccessIsAccepted() {
        assertThatCode(() -> rules("withMode", "ON_SUCCESS").requireNoAcknowledgement())
                .doesNotThrowAnyException();
        assertThatCode(() -> rules("text", "ALWAYS").requireNoAcknowledgement()).doesNotThrowAnyException();
    }

    abstract static class Returning<T> {

        @ExactlyOnceListener("orders")
        abstract T handle(String order);
    }

    static class ReturningText extends Returning<String> {
        @Override
        String handle(String order) {
            return order;
        }
    }

    static class Leaf<T> extends Returning<T> {
        @Override
        T handle(String order) {
            throw new UnsupportedOperationException();
        }
    }

    static class ReturningPublisher extends Leaf<Publisher<String>> {}

    static class ReturningFuture extends Leaf<CompletableFuture<String>> {}

    @Test
    void resultOfAGenericMethodIsResolvedByTheBeansClass() {
        assertThatCode(() -> ListenerRig.settings(new ReturningText(), "handle"))
                .doesNotThrowAnyException();
        assertThat(ListenerRig.settings(new ReturningFuture(), Leaf.class, "handle")
                        .listener()
                        .isAsync())
                .isTrue();
        assertThatThrownBy(() -> ListenerRig.settings(new ReturningPublisher(), Leaf.class, "handle"))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("it returns org.reactivestreams.Publisher<java.lang.String>");
        assertThatThrownBy(() -> ListenerRig.settings(new Leaf<String>(), Leaf.class, "handle"))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("say in its return type what it returns");
    }

    /** @param mode the value of the property {@code mode} */
    private static ListenerRules rules(String name, String mode) {
        Method method = ListenerRig.method(Handlers.class, name);
        SqsListener seen = AnnotatedElementUtils.findMergedAnnotation(method, SqsListener.class);
        ListenerDeclaration plain = ListenerRig.declared(Handlers.class, "plain");
        return new ListenerRules(
                new ListenerDeclaration(method, plain.annotation(), seen == null ? plain.seen() : seen, false),
                ResolvableType.forMethodReturnType(method),
                new MockEnvironment().withProperty("mode", mode));
    }
}
