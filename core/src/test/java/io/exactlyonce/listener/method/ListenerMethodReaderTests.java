package io.exactlyonce.listener.method;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.awspring.cloud.sqs.listener.BatchVisibility;
import io.awspring.cloud.sqs.listener.acknowledgement.Acknowledgement;
import io.awspring.cloud.sqs.listener.acknowledgement.BatchAcknowledgement;
import io.exactlyonce.BatchResult;
import io.exactlyonce.Claim;
import io.exactlyonce.ClaimMode;
import io.exactlyonce.Effects;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.InDoubtAttempt;
import io.exactlyonce.InDoubtPolicy;
import io.exactlyonce.Reconciler;
import io.exactlyonce.Reconciliation;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.InDoubtSettings;
import io.exactlyonce.delivery.pipeline.TypedReconciler;
import io.exactlyonce.fingerprint.Content;
import io.exactlyonce.listener.message.ReceivedMessage;
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
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.core.ResolvableType;
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

        @ExactlyOnceListener(queueNames = "orders", key = "#order", fingerprint = "#ordr")
        void badFingerprint(String order) {}

        @ExactlyOnceListener(queueNames = "orders", key = "#payload", fingerprint = "#payload.length()")
        void fingerprint(List<String> orders) {}

        @ExactlyOnceListener(queueNames = "orders", effects = Effects.DATABASE)
        CompletableFuture<Void> asynchronousInOneTransaction(String order) {
            return CompletableFuture.completedFuture(null);
        }

        @ExactlyOnceListener(queueNames = "orders", effects = Effects.DATABASE, whenInDoubt = InDoubtPolicy.RECONCILE)
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
        BatchResult resultOfABatch(String order) {
            return BatchResult.allSucceeded();
        }

        @ExactlyOnceListener(queueNames = "orders")
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

        @ExactlyOnceListener(queueNames = "orders", id = "slow", timeout = "90s")
        void ninetySeconds(String order) {}

        @ExactlyOnceListener(queueNames = "orders", id = "limited", maxAttempts = 3)
        public void threeAttempts(String order) {}

        @ExactlyOnceListener(queueNames = "orders", maxAttempts = -1)
        public void lessThanNoAttempt(String order) {}

        @ExactlyOnceListener(queueNames = "orders", maxAttempts = 1_001)
        public void moreAttemptsThanReceives(String order) {}

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

        @ExactlyOnceListener(queueNames = "orders", timeout = "300")
        void timeoutWithoutUnit(String order) {}

        @ExactlyOnceListener(queueNames = "orders", whenInDoubt = InDoubtPolicy.RECONCILE)
        void reconciled(String order) {}

        @ExactlyOnceListener(queueNames = "orders", whenInDoubt = InDoubtPolicy.RECONCILE)
        CompletableFuture<Integer> reconciledNumber(String order) {
            return CompletableFuture.completedFuture(1);
        }

        @ExactlyOnceListener(queueNames = "orders", whenInDoubt = InDoubtPolicy.RECONCILE)
        String reconciledText(String order) {
            return order;
        }

        @ExactlyOnceListener(
                queueNames = "orders",
                whenInDoubt = InDoubtPolicy.RECONCILE,
                reconciler = "${reconciler}",
                parkFor = IllegalStateException.class)
        void reconciledByName(String order) {}

        @ExactlyOnceListener(queueNames = "orders", whenInDoubt = InDoubtPolicy.PARK, reconciler = "charges")
        void reconcilerWithoutUse(String order) {}
    }

    private final MockEnvironment properties = new MockEnvironment()
            .withProperty("key", "#order")
            .withProperty("scope", "fulfilment")
            .withProperty("timeout", "5m")
            .withProperty("reconciler", "charges");
    private final Reconciler<String> charges = attempt -> Reconciliation.park("unknown");
    private final StaticListableBeanFactory beans = new StaticListableBeanFactory();
    private final ListenerMethodReader reader =
            ListenerRig.reader(beans, new ListenerModes(properties, ClaimMode.ENFORCE));

    @ParameterizedTest
    @CsvSource({"ninetySeconds, PT90S", "isoTimeout, PT12H", "placeholderTimeout, PT5M", "plain,"})
    void timeoutIsReadAsADuration(String method, @Nullable Duration timeout) {
        assertThat(read(method).timeout()).isEqualTo(timeout);
    }

    @ParameterizedTest
    @CsvSource({"unreadableTimeout, 'soon'", "shortTimeout, 999ms", "longTimeout, 721m", "timeoutWithoutUnit, 300"})
    void timeoutOutOfBoundsIsRefusedWithValueAndRemedy(String method, String value) {
        assertThatThrownBy(() -> read(method))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("Listeners." + method)
                .hasMessageContaining("its timeout '" + value + "' is not a duration from 1s to 12h")
                .hasMessageContaining("90s or 5m");
    }

    @Test
    void configurationOfTheListenerWinsOverItsTimeout() {
        ListenerModes.Own slower = new ListenerModes.Own(null, Duration.ofMinutes(10), null, null, null);
        ListenerMethodReader configured =
                ListenerRig.reader(beans, new ListenerModes(properties, ClaimMode.ENFORCE, Map.of("slow", slower)));

        assertThat(ListenerRig.read(configured, ListenerRig.advised(new Listeners()), Listeners.class, "ninetySeconds")
                        .timeout())
                .isEqualTo(Duration.ofMinutes(10));
    }

    @Test
    void numberOfAttemptsIsReadUnlessTheListenersConfigurationHasAnother() {
        assertThat(doubt("plain").maxAttempts()).isZero();
        assertThat(doubt("threeAttempts").maxAttempts()).isEqualTo(3);
        ListenerModes.Own unlimited = new ListenerModes.Own(null, null, null, null, 0);
        ListenerMethodReader configured = ListenerRig.reader(
                beans, new ListenerModes(properties, ClaimMode.ENFORCE, Map.of("limited", unlimited)));

        assertThat(ListenerRig.read(configured, ListenerRig.advised(new Listeners()), Listeners.class, "threeAttempts")
                        .doubt()
                        .maxAttempts())
                .isZero();
    }

    @ParameterizedTest
    @CsvSource({"lessThanNoAttempt, -1", "moreAttemptsThanReceives, 1001"})
    void numberOfAttemptsOutOfItsBoundsIsRefused(String method, String value) {
        assertThatThrownBy(() -> read(method))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("Listeners." + method)
                .hasMessageContaining("its maxAttempts (" + value + ") is not from 1 to 1000");
    }

    @Test
    void whatIsComparedMayBeNamed() {
        assertThat(spec("plain").content()).isEqualTo(Content.ofBody("body"));
        assertThat(spec("fingerprint").content()).isEqualTo(Content.ofValue("3"));
    }

    @Test
    void keyAndScopeAreReadWithTheirPlaceholders() {
        assertThat(key("plain")).isEqualTo(new ClaimKey("orders", "A-1"));
        assertThat(key("placeholders")).isEqualTo(new ClaimKey("fulfilment", "A-1"));
    }

    @Test
    void warningForAMethodWithoutKeyNamesWhatAMessageIdDoesNotCover() {
        assertThat(key("withoutKey")).isEqualTo(new ClaimKey("orders", "message-id"));
        assertThat(read("withoutKey").keyText()).contains("redelivery only");
    }

    @Test
    void reconcilerOfAHandlerInOneTransactionIsRefused() {
        beans.addBean("charges", charges);

        assertThatThrownBy(() -> read("reconciledInOneTransaction"))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("leaves no key in doubt");
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
        assertThatThrownBy(() -> read(method))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("Listeners." + method)
                .hasMessageContaining("bypasses the proxy");
    }

    @ParameterizedTest
    @CsvSource({
        "arrayListPayload, it takes batches of messages, and also a String",
        "batchWithOneClaim, take a List<Claim>",
        "batchWithAcknowledgement, leave it out",
        "batchWithHeader, take a List<Message<T>>",
        "twoBatches, it takes more than one list of messages",
        "onlyClaims, but no messages",
        "collectionPayload, it takes its messages as a Collection",
        "untypedBatch, does not name the type of the payloads",
        "untypedMessages, does not name the type of the payloads",
        "asynchronousBatch, asynchronous",
        "resultOfABatch, it returns a BatchResult",
        "asynchronousInOneTransaction, bound to one thread",
        "futureOfItsOwn, return a CompletableFuture of the work",
        "acknowledging, it takes an Acknowledgement",
        "badKey, key expression '#order.' does not parse",
        "badFingerprint, fingerprint expression '#ordr' names the unknown argument '#ordr'"
    })
    void unsupportedShapeIsRefused(String method, String problem) {
        assertThatThrownBy(() -> read(method))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("Listeners." + method)
                .hasMessageContaining(problem);
    }

    @Test
    void batchesAreRead() {
        assertThat(read("batch").isBatch()).isTrue();
        assertThat(read("fullBatch").isBatch()).isTrue();
        assertThat(read("plain").isBatch()).isFalse();
    }

    /** The text of the expression would be the scope, and two regions that need different scopes would share keys. */
    @ParameterizedTest
    @ValueSource(strings = {"#{@region.name}", "orders-#{systemProperties['region']}"})
    void scopeWithAnExpressionThatNothingEvaluatesIsRefused(String scope) {
        properties.setProperty("scope", scope);

        assertThatThrownBy(() -> read("placeholders"))
                .isInstanceOfSatisfying(
                        InvalidListenerException.class,
                        refused -> assertThat(refused.remedy()).contains("scope = \"orders-${region}\""))
                .hasMessageContaining("its scope '%s' has an expression #{...}, which is not evaluated", scope);
    }

    @Test
    void tooLongAScopeIsRefused() {
        properties.setProperty("scope", "s".repeat(513));

        assertThatThrownBy(() -> read("placeholders"))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("its scope (513 characters) must have at most 512 characters");
    }

    @Test
    void onlyReconcilerIsCalled() {
        beans.addBean("charges", charges);

        assertReconciledBy(charges, List.of(), doubt("reconciled"));
    }

    @Test
    void reconcilerIsChosenByName() {
        Reconciler<String> others = attempt -> Reconciliation.runAgain();
        beans.addBean("others", others);
        beans.addBean("charges", charges);

        assertReconciledBy(charges, List.of(IllegalStateException.class), doubt("reconciledByName"));
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
    void reconcilerThatIsNeverCalledIsRefused() {
        assertThatThrownBy(() -> doubt("reconcilerWithoutUse"))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("names the reconciler 'charges', which is never called with whenInDoubt = PARK");
    }

    private static void assertReconciledBy(
            Reconciler<?> reconciler, List<Class<? extends Throwable>> parkFor, InDoubtSettings doubt) {
        assertThat(doubt.whenInDoubt()).isEqualTo(InDoubtPolicy.RECONCILE);
        assertThat(doubt.parkFor()).isEqualTo(parkFor);
        assertThat(doubt.reconciler()).isInstanceOfSatisfying(TypedReconciler.class, typed -> {
            assertThat(typed.reconciler()).isSameAs(reconciler);
            assertThat(typed.result()).isEqualTo(ResolvableType.NONE);
        });
    }

    static final class Counting implements Reconciler<Integer> {
        @Override
        public Reconciliation<Integer> reconcile(InDoubtAttempt attempt) {
            return Reconciliation.done(1);
        }
    }

    @Test
    void reconcilerThatFindsResultsOfAnotherTypeIsRefused() {
        beans.addBean("charges", new Counting());

        assertThat(doubt("reconciled").reconciler()).isNotNull();
        assertThat(doubt("reconciledNumber").reconciler()).isNotNull();
        assertThatThrownBy(() -> doubt("reconciledText"))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("Listeners.reconciledText")
                .hasMessageContaining(
                        "Counting finds results of type java.lang.Integer, and the method returns java.lang.String")
                .hasMessageContaining("let the reconciler be a Reconciler<java.lang.String>");
    }

    private InDoubtSettings doubt(String method) {
        return spec(method).doubt();
    }

    private ClaimKey key(String method) {
        return spec(method).key();
    }

    private ClaimSpec spec(String method) {
        ReceivedMessage received = ListenerRig.received();
        Message<String> message = MessageBuilder.withPayload("A-1").build();
        ListenerRig.attach(received, message);
        return read(method).spec(received);
    }

    private ListenerMethod read(String method) {
        return read(ListenerRig.advised(new Listeners()), method);
    }

    private ListenerMethod read(Object bean, String method) {
        return ListenerRig.read(reader, bean, Listeners.class, method);
    }
}
