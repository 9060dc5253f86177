package io.exactlyonce.listener.method;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.awspring.cloud.sqs.annotation.SqsListener;
import io.awspring.cloud.sqs.listener.BatchVisibility;
import io.awspring.cloud.sqs.listener.acknowledgement.Acknowledgement;
import io.awspring.cloud.sqs.listener.acknowledgement.BatchAcknowledgement;
import io.exactlyonce.AbandonedPolicy;
import io.exactlyonce.Claim;
import io.exactlyonce.Effects;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.Mode;
import io.exactlyonce.Reconciler;
import io.exactlyonce.Reconciliation;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.InDoubtPolicy;
import io.exactlyonce.delivery.TestResults;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.listener.message.UnknownOrigin;
import io.exactlyonce.sighting.ListenerModes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.support.MessageBuilder;
import org.springframework.mock.env.MockEnvironment;

class ListenerMethodReaderTests {

    static class Listeners {

        @ExactlyOnceListener(queueNames = "orders", key = "#order")
        void plain(String order) {}

        @ExactlyOnceListener(queueNames = "orders", key = "${key}", scope = "${scope}")
        void placeholders(String order) {}

        @ExactlyOnceListener("orders")
        void withoutKey(String order) {}

        @ExactlyOnceListener(queueNames = "orders", key = "#order.")
        void badKey(String order) {}

        @ExactlyOnceListener(queueNames = "orders", effects = Effects.DATABASE)
        CompletableFuture<Void> asynchronousInOneTransaction(String order) {
            return CompletableFuture.completedFuture(null);
        }

        @ExactlyOnceListener(queueNames = "orders", effects = Effects.DATABASE, onAbandoned = AbandonedPolicy.RECONCILE)
        void reconciledInOneTransaction(String order) {}

        @ExactlyOnceListener("orders")
        final void finalMethod(String order) {}

        @ExactlyOnceListener("orders")
        private void privateMethod(String order) {}

        @ExactlyOnceListener("orders")
        static void staticMethod(String order) {}

        @ExactlyOnceListener("orders")
        void batch(List<String> orders) {}

        @ExactlyOnceListener("orders")
        void fullBatch(List<Claim> claims, BatchVisibility visibility, List<Message<String>> orders) {}

        @ExactlyOnceListener("orders")
        void batchWithOneClaim(List<String> orders, Claim claim) {}

        @ExactlyOnceListener("orders")
        void batchWithAcknowledgement(List<String> orders, BatchAcknowledgement<String> acknowledgement) {}

        @ExactlyOnceListener("orders")
        void batchWithHeader(List<String> orders, @Header("tenant") String tenant) {}

        @ExactlyOnceListener("orders")
        void twoBatches(List<String> orders, List<String> others) {}

        @ExactlyOnceListener("orders")
        void onlyClaims(List<Claim> claims) {}

        @ExactlyOnceListener("orders")
        void collectionPayload(Collection<String> orders) {}

        @ExactlyOnceListener("orders")
        void untypedBatch(List<?> orders) {}

        @ExactlyOnceListener("orders")
        void untypedMessages(List<Message<?>> orders) {}

        @ExactlyOnceListener("orders")
        CompletableFuture<Void> asynchronousBatch(List<String> orders) {
            return CompletableFuture.completedFuture(null);
        }

        @ExactlyOnceListener("orders")
        void arrayListPayload(String other, ArrayList<String> orders) {}

        @ExactlyOnceListener("orders")
        FutureTask<Void> futureOfItsOwn(String order) {
            return new FutureTask<>(() -> null);
        }

        @ExactlyOnceListener("orders")
        void acknowledging(String order, Acknowledgement acknowledgement) {}

        @SqsListener("orders")
        @ExactlyOnceListener("orders")
        void annotatedTwice(String order) {}

        @ExactlyOnceListener("orders")
        void twoClaims(String order, Claim one, Claim two) {}

        @ExactlyOnceListener(queueNames = "orders", timeout = "90s")
        void ninetySeconds(String order) {}

        @ExactlyOnceListener(queueNames = "orders", timeout = "PT12H")
        void isoTimeout(String order) {}

        @ExactlyOnceListener(queueNames = "orders", timeout = "${timeout}")
        void placeholderTimeout(String order) {}

        @ExactlyOnceListener(queueNames = "orders", timeout = "soon")
        void unreadableTimeout(String order) {}

        @ExactlyOnceListener(queueNames = "orders", timeout = "999ms")
        void shortTimeout(String order) {}

        @ExactlyOnceListener(queueNames = "orders", timeout = "721m")
        void longTimeout(String order) {}

        @ExactlyOnceListener(queueNames = "orders", timeout = "-5s")
        void negativeTimeout(String order) {}

        @ExactlyOnceListener(queueNames = "orders", timeout = "300")
        void timeoutWithoutUnit(String order) {}

        @ExactlyOnceListener(queueNames = "orders", timeout = "999999999999999999d")
        void hugeTimeout(String order) {}

        @ExactlyOnceListener(queueNames = "orders", onAbandoned = AbandonedPolicy.RECONCILE)
        void reconciled(String order) {}

        @ExactlyOnceListener(
                queueNames = "orders",
                onAbandoned = AbandonedPolicy.RECONCILE,
                reconciler = "${reconciler}",
                parkFor = IllegalStateException.class)
        void reconciledByName(String order) {}

        @ExactlyOnceListener(queueNames = "orders", onAbandoned = AbandonedPolicy.PARK, reconciler = "charges")
        void reconcilerWithoutUse(String order) {}

        void notAnnotated(String order) {
            privateMethod(order);
        }
    }

    private final MockEnvironment properties = new MockEnvironment()
            .withProperty("key", "#order")
            .withProperty("scope", "fulfilment")
            .withProperty("timeout", "5m")
            .withProperty("reconciler", "charges");
    private final Reconciler charges = (listener, scope, claim) -> Reconciliation.park("unknown");
    private final StaticListableBeanFactory beans = new StaticListableBeanFactory();
    private final ListenerMethodReader reader = new ListenerMethodReader(
            new ListenerModes(properties, Mode.ENFORCE), ListenerRig.beans(beans), TestResults.NONE);

    @ParameterizedTest
    @CsvSource({"ninetySeconds, PT90S", "isoTimeout, PT12H", "placeholderTimeout, PT5M", "plain,"})
    void timeoutIsReadAsADuration(String method, @Nullable Duration timeout) {
        assertThat(reader.timeout(ListenerRig.declared(Listeners.class, method)))
                .isEqualTo(timeout);
    }

    @ParameterizedTest
    @CsvSource({
        "unreadableTimeout, 'soon', is no duration",
        "shortTimeout, 999ms, must be from 1s to 12h",
        "longTimeout, 721m, must be from 1s to 12h",
        "negativeTimeout, -5s, must be from 1s to 12h",
        "timeoutWithoutUnit, 300, must be from 1s to 12h",
        "hugeTimeout, 999999999999999999d, is no duration"
    })
    void timeoutOutOfBoundsIsRefusedWithValueAndRemedy(String method, String value, String problem) {
        assertThatThrownBy(() -> reader.timeout(ListenerRig.declared(Listeners.class, method)))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("Listeners." + method)
                .hasMessageContaining("its timeout '" + value + "' " + problem)
                .hasMessageContaining("90s or 5m");
    }

    @Test
    void proxiedMethodIsRead() {
        assertThat(key("plain")).isEqualTo(new ClaimKey("orders", "A-1"));
    }

    @Test
    void placeholdersInKeyAndScopeAreResolved() {
        assertThat(key("placeholders")).isEqualTo(new ClaimKey("fulfilment", "A-1"));
    }

    @Test
    void methodWithoutKeyIsToldWhatAMessageIdDoesNotCover() {
        assertThat(key("withoutKey")).isEqualTo(new ClaimKey("orders", "message-id"));
        assertThat(read(proxy(new Listeners()), "withoutKey").keyText()).contains("redelivery only");
    }

    @Test
    void onlyAnnotatedMethodsAreExactlyOnce() {
        assertThat(ListenerMethodReader.isExactlyOnce(ListenerRig.method(Listeners.class, "plain")))
                .isTrue();
        assertThat(ListenerMethodReader.isExactlyOnce(ListenerRig.method(Listeners.class, "notAnnotated")))
                .isFalse();
        assertThat(ListenerDeclaration.find(Listeners.class, ListenerRig.method(Listeners.class, "notAnnotated")))
                .isNull();
    }

    @Test
    void reconcilerOfAHandlerInOneTransactionIsRefused() {
        beans.addBean("charges", charges);

        assertThatThrownBy(() -> read(proxy(new Listeners()), "reconciledInOneTransaction"))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("leaves no key in doubt");
    }

    @Test
    void asynchronousHandlerInOneTransactionIsRefused() {
        assertThatThrownBy(() -> read(proxy(new Listeners()), "asynchronousInOneTransaction"))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("bound to one thread");
    }

    @Test
    void beanWithoutAProxyIsRefused() {
        assertThatThrownBy(() -> read(new Listeners(), "plain"))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("Listeners.plain")
                .hasMessageContaining("would run unclaimed");
    }

    @Test
    void beanWhoseProxyDoesNotClaimIsRefused() {
        ProxyFactory other = new ProxyFactory(new Listeners());
        other.setProxyTargetClass(true);

        assertThatThrownBy(() -> read(other.getProxy(), "plain"))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("no proxy that could claim keys");
    }

    @ParameterizedTest
    @CsvSource({"finalMethod", "privateMethod", "staticMethod"})
    void methodThatBypassesTheProxyIsRefused(String method) {
        assertThatThrownBy(() -> read(proxy(new Listeners()), method))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("Listeners." + method)
                .hasMessageContaining("bypasses the proxy");
    }

    @ParameterizedTest
    @CsvSource({
        "arrayListPayload, it takes batches of messages, and a String besides",
        "batchWithOneClaim, take a List<Claim>",
        "batchWithAcknowledgement, leave it out",
        "batchWithHeader, take a List<Message<T>>",
        "twoBatches, it takes more than one list of messages",
        "onlyClaims, but no messages",
        "collectionPayload, it takes its messages as a Collection",
        "untypedBatch, does not say what the messages carry",
        "untypedMessages, does not say what the messages carry",
        "asynchronousBatch, asynchronous",
        "futureOfItsOwn, return a CompletableFuture of the work",
        "acknowledging, it takes an Acknowledgement",
        "twoClaims, it takes more than one Claim",
        "badKey, does not parse"
    })
    void unsupportedShapeIsRefused(String method, String problem) {
        assertThatThrownBy(() -> read(proxy(new Listeners()), method))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("Listeners." + method)
                .hasMessageContaining(problem);
    }

    @Test
    void batchesAreRead() {
        assertThat(read(proxy(new Listeners()), "batch").batch())
                .isEqualTo(new BatchSignature(0, -1, -1, String.class));
        assertThat(read(proxy(new Listeners()), "fullBatch").batch())
                .isEqualTo(new BatchSignature(2, 0, 1, String.class));
        assertThat(read(proxy(new Listeners()), "plain").batch()).isNull();
    }

    @Test
    void tooLongAScopeIsRefused() {
        properties.setProperty("scope", "s".repeat(513));

        assertThatThrownBy(() -> read(proxy(new Listeners()), "placeholders"))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("scope has 513 characters, more than 512");
    }

    @ParameterizedTest
    @CsvSource({"0000, a NUL character", "D83D, half of a surrogate pair"})
    void scopeThatCannotBeStoredIsRefused(String unit, String problem) {
        properties.setProperty("scope", "a" + (char) Integer.parseInt(unit, 16) + "b");

        assertThatThrownBy(() -> read(proxy(new Listeners()), "placeholders"))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("scope contains " + problem);
    }

    @Test
    void containerFactoryThatPreparesNothingIsRefused() {
        beans.addBean(ExactlyOnceListener.CONTAINER_FACTORY, "prepares nothing");

        assertThatThrownBy(() -> read(proxy(new Listeners()), "plain"))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("'exactlyOnceListenerContainerFactory' does not prepare containers");
    }

    @Test
    void plainAnnotationOnTheSameMethodIsRefused() {
        assertThatThrownBy(() -> read(proxy(new Listeners()), "annotatedTwice"))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("awspring's default")
                .hasMessageContaining("@SqsListener off the method");
    }

    @Test
    void listenersRunKeysAgainUnlessTheySayOtherwise() {
        assertThat(doubt("plain")).isEqualTo(InDoubtPolicy.RERUN);
    }

    @Test
    void onlyReconcilerIsAsked() {
        beans.addBean("charges", charges);

        assertThat(doubt("reconciled")).isEqualTo(new InDoubtPolicy(AbandonedPolicy.RECONCILE, charges, List.of()));
    }

    @Test
    void reconcilerIsChosenByName() {
        Reconciler others = (listener, scope, claim) -> Reconciliation.runAgain();
        beans.addBean("others", others);
        beans.addBean("charges", charges);

        assertThat(doubt("reconciledByName"))
                .isEqualTo(new InDoubtPolicy(AbandonedPolicy.RECONCILE, charges, List.of(IllegalStateException.class)));
        assertThatThrownBy(() -> doubt("reconciled"))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("Listeners.reconciled")
                .hasMessageContaining("name it in the attribute reconciler");
    }

    @ParameterizedTest
    @CsvSource({"reconciled", "reconciledByName"})
    void missingReconcilerIsRefused(String method) {
        assertThatThrownBy(() -> doubt(method))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("Listeners." + method)
                .hasMessageContaining("needs a bean of type io.exactlyonce.Reconciler");
    }

    @Test
    void beanThatIsNoReconcilerIsRefused() {
        beans.addBean("charges", "text");

        assertThatThrownBy(() -> doubt("reconciledByName"))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("needs a bean of type io.exactlyonce.Reconciler");
    }

    @Test
    void reconcilerThatIsNeverAskedIsRefused() {
        assertThatThrownBy(() -> doubt("reconcilerWithoutUse"))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("names the reconciler 'charges', which is never asked with onAbandoned = PARK");
    }

    private InDoubtPolicy doubt(String method) {
        return spec(method).doubt();
    }

    private ClaimKey key(String method) {
        return spec(method).key();
    }

    private ClaimSpec spec(String method) {
        ReceivedMessage received =
                new ReceivedMessage(ListenerRig.delivery(), null, "", "body", UnknownOrigin.INSTANCE);
        Message<String> message = MessageBuilder.withPayload("A-1").build();
        return read(proxy(new Listeners()), method).spec(received.attachTo(message, Map.of()));
    }

    private ListenerMethod read(Object bean, String method) {
        ListenerDeclaration read = ListenerRig.declared(Listeners.class, method);
        return reader.read(bean, read, read.method().getReturnType(), ListenerRig.arguments(read.method()));
    }

    private static Object proxy(Object target) {
        ProxyFactory classes = new ProxyFactory(target);
        classes.setProxyTargetClass(true);
        classes.addAdvisor(ListenerRig.advisor());
        return classes.getProxy();
    }
}
