package io.exactlyonce.listener.method;

import static io.exactlyonce.Effects.DATABASE;
import static io.exactlyonce.InDoubtPolicy.PARK;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.awspring.cloud.sqs.annotation.SnsNotificationMessage;
import io.awspring.cloud.sqs.annotation.SqsListener;
import io.awspring.cloud.sqs.listener.acknowledgement.Acknowledgement;
import io.awspring.cloud.sqs.listener.acknowledgement.BatchAcknowledgement;
import io.awspring.cloud.sqs.support.converter.SnsNotification;
import io.exactlyonce.CapturedOutput;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.OutputCaptureExtension;
import io.exactlyonce.listener.container.SharedQueues;
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
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.reactivestreams.Publisher;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.messaging.Message;
import org.springframework.mock.env.MockEnvironment;
import org.springframework.scheduling.annotation.Async;

/** What listener methods may return and take, and how they may be called. */
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
    void methodWhoseEndCannotBeToldIsRefused(String name, String message) {
        assertThatThrownBy(() -> rules(name, "").requireCompletionSignal())
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("Handlers." + name)
                .hasMessageContaining(message);
    }

    @ParameterizedTest
    @CsvSource({"future", "raw", "text", "open", "acknowledging"})
    void methodWhoseEndCanBeToldIsAccepted(String name) {
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

    /** @param mode what {@code ${mode}} is */
    private static ListenerRules rules(String name, String mode) {
        Method method = ListenerRig.method(Handlers.class, name);
        SqsListener seen = AnnotatedElementUtils.findMergedAnnotation(method, SqsListener.class);
        ListenerDeclaration plain = ListenerRig.declared(Handlers.class, "plain");
        return new ListenerRules(
                new ListenerDeclaration(method, plain.annotation(), seen == null ? plain.seen() : seen, false),
                ResolvableType.forMethodReturnType(method),
                new MockEnvironment().withProperty("mode", mode));
    }

    static class Sharing {

        @ExactlyOnceListener("${queue}")
        void unscoped(String order) {}

        @ExactlyOnceListener(queueNames = "${queue}", scope = "orders")
        void orders(String order) {}

        @ExactlyOnceListener(queueNames = "${queue}", scope = "fulfilment")
        void usual(String order) {}

        @ExactlyOnceListener(queueNames = "${queue}", scope = "fulfilment", whenInDoubt = PARK)
        void careful(String order) {}

        @ExactlyOnceListener(queueNames = "${queue}", scope = "fulfilment", effects = DATABASE)
        void transactional(String order) {}
    }

    /** As an observed one, which needs neither proxy nor transaction manager. */
    private static ListenerMethod listener(String name) {
        return ListenerRig.observed(new Sharing(), name).listener();
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void listenersOnOneQueueWithDifferentScopesAreWarnedOf(CapturedOutput output) {
        SharedQueues scopes = new SharedQueues();

        scopes.add("first", List.of("https://sqs/1/orders", "bills"), listener("unscoped"));
        scopes.add("second", List.of("arn:aws:sqs:eu-west-1:1:orders"), listener("orders"));
        assertThat(output).doesNotContain("second");
        scopes.add("third", List.of("orders"), listener("usual"));

        assertThat(output)
                .contains("Listener 'third' on queue 'orders' has the scope 'fulfilment'", "'first' has 'orders'");
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void listenersOfOneScopeThatDisagreeOnDoubtsAreWarnedOf(CapturedOutput output) {
        SharedQueues scopes = new SharedQueues();

        scopes.add("careful", List.of("orders"), listener("careful"));
        scopes.add("alike", List.of("returns"), listener("careful"));
        scopes.add("elsewhere", List.of("bills"), listener("unscoped"));
        assertThat(output).doesNotContain("whenInDoubt");
        scopes.add("careless", List.of("refunds"), listener("usual"));

        assertThat(output)
                .contains(
                        "Listener 'careless' of scope 'fulfilment' has whenInDoubt = RERUN",
                        "listener 'careful' has PARK",
                        "Give both the same, or each its own scope");
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void listenersOfOneScopeWithDifferentEffectsAreWarnedOf(CapturedOutput output) {
        SharedQueues scopes = new SharedQueues();

        scopes.add("books", List.of("orders"), listener("transactional"));
        scopes.add("alike", List.of("returns"), listener("transactional"));
        scopes.add("elsewhere", List.of("bills"), listener("unscoped"));
        assertThat(output).doesNotContain("effects");
        scopes.add("mails", List.of("refunds"), listener("usual"));

        assertThat(output)
                .contains(
                        "Listener 'mails' of scope 'fulfilment' has effects = EXTERNAL",
                        "listener 'books' has DATABASE",
                        "Give both the same, or each its own scope");
    }
}
