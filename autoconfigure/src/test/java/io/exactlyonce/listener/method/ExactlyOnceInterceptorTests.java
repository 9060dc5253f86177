package io.exactlyonce.listener.method;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.coalescing.ExecutorClaimStore;
import io.exactlyonce.delivery.ClaimSettings;
import io.exactlyonce.delivery.ClaimWriter;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.RetryBackoff;
import io.exactlyonce.delivery.TestResults;
import io.exactlyonce.delivery.pipeline.Attempt;
import io.exactlyonce.delivery.pipeline.Deliveries;
import io.exactlyonce.delivery.pipeline.DeliveryPipeline;
import io.exactlyonce.listener.CapturedLog;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.listener.message.UnknownOrigin;
import io.exactlyonce.renewal.RenewalSchedule;
import io.exactlyonce.renewal.RenewalSupervisor;
import io.exactlyonce.visibility.FakeClock;
import io.exactlyonce.visibility.FakeTimer;
import io.exactlyonce.visibility.ScriptedStore;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import org.aopalliance.intercept.MethodInterceptor;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.aop.Advisor;
import org.springframework.aop.MethodBeforeAdvice;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.messaging.Message;
import org.springframework.messaging.support.MessageBuilder;

class ExactlyOnceInterceptorTests {

    static class Listener {

        final List<String> handled = new ArrayList<>();
        Listener self = this;

        @Nullable CompletableFuture<Integer> later = new CompletableFuture<>();

        @ExactlyOnceListener(queueNames = "orders", key = "#order")
        int fulfil(String order, Claim claim) {
            handled.add(order + " " + claim.key());
            return 7;
        }

        @ExactlyOnceListener(queueNames = "orders", key = "#order")
        void fulfilTwice(String order) {
            handled.add(order);
            self.fulfilTwice(order);
        }

        @ExactlyOnceListener(queueNames = "orders", key = "#payload")
        int batch(List<String> orders, List<Claim> claims) {
            for (int index = 0; index < orders.size(); index++) {
                handled.add(orders.get(index) + " " + claims.get(index).key());
            }
            return 7;
        }

        @ExactlyOnceListener(queueNames = "orders", key = "#order")
        CompletionStage<Integer> fulfilLater(String order) {
            handled.add(order);
            return later;
        }

        void other() {
            handled.add("other");
        }
    }

    private final ScriptedStore store = new ScriptedStore();
    private final FakeClock clock = new FakeClock();
    private final DeliveryObserver noObserver = new DeliveryObserver() {};
    private final RetryBackoff backoff = new RetryBackoff(Duration.ofSeconds(1), Duration.ofMinutes(5));
    private Executor storeThreads = Runnable::run;
    private final DeliveryPipeline pipeline = new DeliveryPipeline(
            new ClaimWriter(store, new ExecutorClaimStore(store, task -> storeThreads.execute(task)), new FakeTimer()),
            new ClaimSettings("worker", null),
            backoff,
            TestResults.writing(Object::toString),
            noObserver,
            clock,
            () -> 0,
            Runnable::run);
    private final Delivery delivery = ListenerRig.delivery();
    private final List<Attempt> bound = new ArrayList<>();
    private Deliveries deliveries;
    private final Listener target = new Listener();
    private Listener proxy = target;

    @BeforeEach
    void prepare() {
        RenewalSupervisor supervisor =
                new RenewalSupervisor(store, new RenewalSchedule(0.5, 0, 3), noObserver, Runnable::run, clock, () -> 0);
        deliveries = new Deliveries(supervisor, noObserver, backoff, clock, () -> 0, 10);
        deliveries.begin(List.of(delivery));
        ProxyFactory proxies = new ProxyFactory(target);
        proxies.setProxyTargetClass(true);
        proxies.addAdvisor(new ExactlyOnceAdvisor(this::claimed, ListenerRig::classProxies, ListenerRig.ENFORCED));
        proxy = (Listener) proxies.getProxy();
        target.self = proxy;
    }

    /** Keys are claimed before the method is called. */
    private DeliveryPipeline claimed() {
        Executor recording = storeThreads;
        storeThreads = Runnable::run;
        ClaimWriter.await(pipeline.claim(bound));
        storeThreads = recording;
        return pipeline;
    }

    @AfterEach
    void unbind() {
        CurrentDeliveries.unbind();
    }

    @Test
    void handlerRunsUnderTheClaimOfItsDelivery() {
        bind("fulfil");

        assertThat(proxy.fulfil("A-1", null)).isEqualTo(7);

        assertThat(target.handled).containsExactly("A-1 A-1");
        assertThat(store.claims()).extracting(ClaimRequest::key).containsExactly(new ClaimKey("orders", "A-1"));
        assertThat(store.completions())
                .singleElement()
                .satisfies(completion -> assertThat(completion.result()).isEqualTo("7"));
    }

    @Test
    void duplicateReturnsNothingOfTheMethodsType() {
        bind("fulfil");
        store.onClaim(() -> new AlreadyCompleted(null));

        assertThat(proxy.fulfil("A-1", null)).isZero();

        assertThat(target.handled).isEmpty();
    }

    @Test
    void futureEndsWithItsHandlersAndTheCompletionIsRecordedBehindIt() throws Exception {
        List<Runnable> completions = new ArrayList<>();
        storeThreads = completions::add;
        bind("fulfilLater");
        CompletableFuture<Integer> returned = proxy.fulfilLater("A-1").toCompletableFuture();
        assertThat(CurrentDeliveries.take()).isNull();

        target.later.complete(7);
        assertThat(returned).isCompletedWithValue(7);
        assertThat(store.completions()).isEmpty();
        completions.remove(0).run();

        assertThat(store.completions())
                .singleElement()
                .satisfies(completion -> assertThat(completion.result()).isEqualTo("7"));
    }

    /** It would otherwise be thrown, by a proxy that may not throw it. */
    @Test
    void futureThatHasFailedAlreadyIsAnsweredWithAFailedFuture() {
        bind("fulfilLater");
        Exception checked = new IOException("the carrier's line is dead");
        target.later = CompletableFuture.failedFuture(checked);

        CompletableFuture<Integer> returned = proxy.fulfilLater("A-1").toCompletableFuture();

        assertThat(returned)
                .failsWithin(Duration.ZERO)
                .withThrowableOfType(ExecutionException.class)
                .withCause(checked);
        assertThat(store.completions()).isEmpty();
        assertThat(store.releases()).hasSize(1);
    }

    @Test
    void noFutureIsAFailure() {
        bind("fulfilLater");
        target.later = null;

        assertThatIllegalStateException()
                .isThrownBy(() -> proxy.fulfilLater("A-1"))
                .withMessageContaining("Listener.fulfilLater returned null instead of a future");

        assertThat(store.completions()).isEmpty();
        assertThat(store.releases()).hasSize(1);
    }

    @Test
    void bodyIsClaimedByItsFingerprint() {
        bind("fulfil");

        proxy.fulfil("A-1", null);

        assertThat(store.claims()).extracting(ClaimRequest::fingerprint).containsExactly(ClaimKey.sha256("body"));
    }

    @Test
    void callWithoutADeliveryIsRefused() {
        assertThatIllegalStateException()
                .isThrownBy(() -> proxy.fulfil("A-1", null))
                .withMessageContaining("Listener.fulfil")
                .withMessageContaining("without a delivery");

        assertThat(target.handled).isEmpty();
        assertThat(store.claims()).isEmpty();
    }

    @Test
    void secondCallOnTheSameThreadDoesNotRunUnderTheFirstOnesClaim() {
        bind("fulfilTwice");

        assertThatIllegalStateException()
                .isThrownBy(() -> proxy.fulfilTwice("A-1"))
                .withMessageContaining("without a delivery");

        assertThat(target.handled).containsExactly("A-1");
        assertThat(store.claims()).hasSize(1);
        assertThat(store.releases()).hasSize(1);
    }

    @Test
    void batchHandlerIsGivenWhatItAcquiredWithItsClaims() {
        bindBatch("A-1", "A-2", "A-3");
        store.onClaim(() -> new Acquired(1, 1, false));
        store.onClaim(() -> new AlreadyCompleted("7"));

        assertThat(proxy.batch(List.of("A-1", "A-2", "A-3"), null)).isZero();

        assertThat(target.handled).containsExactly("A-1 A-1", "A-3 A-3");
        assertThat(store.claims()).extracting(ClaimRequest::fingerprint).containsOnly(ClaimKey.sha256("body"));
        assertThat(store.completions()).hasSize(2).allMatch(completion -> completion.result() == null);
    }

    /** Trap: what a transaction called the handler with again was looked up among the arguments of the call before. */
    @Test
    void batchHandlerThatIsCalledAgainIsGivenItsOwnMessagesByAllAdvice() {
        List<String> advised = new ArrayList<>();
        bindBatch("A-1", "A-2", "A-3", "A-4");
        claimed();
        ProxyFactory proxies = new ProxyFactory(target);
        proxies.setProxyTargetClass(true);
        proxies.addAdvice((MethodInterceptor) invocation -> {
            ListenerCall call = new ListenerCall(CurrentDeliveries.take(), invocation);
            var first = call.handle(List.of(bound.get(1), bound.get(2), bound.get(3)));
            var second = call.handle(List.of(bound.get(1), bound.get(3)));
            return 0;
        });
        proxies.addAdvice((MethodInterceptor) invocation -> {
            advised.add("advised");
            return invocation.proceed();
        });

        ((Listener) proxies.getProxy()).batch(List.of("A-1", "A-2", "A-3", "A-4"), null);

        assertThat(target.handled).containsExactly("A-2 A-2", "A-3 A-3", "A-4 A-4", "A-2 A-2", "A-4 A-4");
        assertThat(advised).hasSize(2);
    }

    /** AspectJ's advice that comes before or after a method is not given the call, but asks for the current one. */
    @Test
    void adviceThatAsksForTheCurrentCallSeesTheClaimThatIsPassed() {
        List<Object> seen = new ArrayList<>();
        bind("fulfil");

        asking(seen, new ExactlyOnceAdvisor(this::claimed, ListenerRig::classProxies, ListenerRig.ENFORCED))
                .fulfil("A-1", null);

        assertThat(seen).hasSize(2).doesNotContainNull();
        assertThat(seen.get(1)).isInstanceOf(Claim.class);
    }

    /** It keeps what it has made of the call, too. */
    @Test
    void adviceThatAsksForTheCurrentCallSeesTheMessagesOfEachCallOfABatchHandler() {
        List<Object> seen = new ArrayList<>();
        bindBatch("A-1", "A-2", "A-3");
        claimed();

        asking(seen, new DefaultPointcutAdvisor((MethodInterceptor) invocation -> {
                    ListenerCall call = new ListenerCall(CurrentDeliveries.take(), invocation);
                    var first = call.handle(List.of(bound.get(1), bound.get(2)));
                    var second = call.handle(List.of(bound.get(2)));
                    return 0;
                }))
                .batch(List.of("A-1", "A-2", "A-3"), null);

        assertThat(seen).hasSize(4);
        assertThat(seen.get(0)).isEqualTo(List.of("A-2", "A-3"));
        assertThat(seen.get(1)).asInstanceOf(InstanceOfAssertFactories.LIST).hasSize(2);
        assertThat(seen.get(2)).isEqualTo(List.of("A-3"));
        assertThat(seen.get(3)).asInstanceOf(InstanceOfAssertFactories.LIST).hasSize(1);
    }

    /** @param seen is told the arguments of each call that advice sees which asks as Spring's for AspectJ does */
    private Listener asking(List<Object> seen, Advisor outer) {
        ProxyFactory proxies = new ProxyFactory(target);
        proxies.setProxyTargetClass(true);
        proxies.addAdvisor(ExposeInvocationInterceptor.ADVISOR);
        proxies.addAdvisor(outer);
        proxies.addAdvice((MethodBeforeAdvice) (method, passed, bean) -> {
            ProxyMethodInvocation call = (ProxyMethodInvocation) ExposeInvocationInterceptor.currentInvocation();
            Object joinPoint = call.getUserAttribute("org.aspectj.lang.JoinPoint");
            if (joinPoint == null) {
                joinPoint = call.getArguments();
                call.setUserAttribute("org.aspectj.lang.JoinPoint", joinPoint);
            }
            seen.addAll(Arrays.asList((Object[]) joinPoint));
        });
        return (Listener) proxies.getProxy();
    }

    @Test
    void messageOfABatchWithoutAKeyIsToldInOneLineAndTheOthersAreHandled() {
        try (CapturedLog log = new CapturedLog()) {
            bindBatch("A-1", " ", "A-3");
            proxy.batch(List.of("A-1", " ", "A-3"), null);
            assertThat(log.text().strip().lines())
                    .singleElement()
                    .asString()
                    .contains("ERROR", "of listener 'listener' on queue 'orders' is returned", "is blank");
        }

        assertThat(target.handled).containsExactly("A-1 A-1", "A-3 A-3");
        assertThat(store.completions()).hasSize(2);
    }

    @Test
    void batchThatWasResolvedToAnotherNumberOfArgumentsIsRefused() {
        bindBatch("A-1", "A-2");

        assertThatIllegalStateException()
                .isThrownBy(() -> proxy.batch(List.of("A-1"), null))
                .withMessageContaining("A batch of 2 messages was resolved to 1 arguments");

        assertThat(target.handled).isEmpty();
    }

    @Test
    void callOfABatchMethodWithoutABatchIsRefused() {
        assertThatIllegalStateException()
                .isThrownBy(() -> proxy.batch(List.of("A-1"), null))
                .withMessageContaining("without a delivery");

        bindBatch("A-1");
        proxy.batch(List.of("A-1"), null);
        assertThatIllegalStateException().isThrownBy(() -> proxy.batch(List.of("A-1"), null));

        assertThat(target.handled).containsExactly("A-1 A-1");
    }

    @Test
    void otherMethodsAreLeftAlone() {
        proxy.other();

        assertThat(target.handled).containsExactly("other");
    }

    @Test
    void messageWithoutAKeyIsNotClaimed() {
        try (CapturedLog log = new CapturedLog()) {
            bind("fulfil", " ");
            proxy.fulfil(" ", null);
            assertThat(log.text().strip().lines())
                    .singleElement()
                    .asString()
                    .contains(
                            "ERROR",
                            "of listener 'listener' on queue 'orders' is returned",
                            "cannot be made of this message");
        }

        assertThat(target.handled).isEmpty();
        assertThat(store.claims()).isEmpty();
    }

    private void bindBatch(String... payloads) {
        List<Message<String>> messages = Arrays.stream(payloads)
                .map(payload -> {
                    Delivery each = ListenerRig.delivery();
                    deliveries.begin(List.of(each));
                    return new ReceivedMessage(each, null, "", "body", UnknownOrigin.INSTANCE)
                            .attachTo(MessageBuilder.withPayload(payload).build(), Map.of());
                })
                .toList();
        messages.forEach(message -> begin(message, "batch"));
        CurrentDeliveries.of(MessageBuilder.withPayload(messages).build(), read("batch"))
                .bind();
    }

    private void bind(String method) {
        bind(method, "A-1");
    }

    private void bind(String method, String payload) {
        Message<String> message = new ReceivedMessage(delivery, null, "", "body", UnknownOrigin.INSTANCE)
                .attachTo(MessageBuilder.withPayload(payload).build(), Map.of());
        begin(message, method);
        CurrentDeliveries.of(message, read(method)).bind();
    }

    private void begin(Message<String> message, String method) {
        Attempt attempt = ListenerRig.settings(target, method).attempt(message);
        ReceivedMessage.require(message).attempt(attempt);
        bound.add(attempt);
    }

    private ListenerMethod read(String name) {
        ListenerDeclaration declared = ListenerRig.declared(Listener.class, name);
        return new ListenerMethodReader(
                        ListenerRig.ENFORCED,
                        ListenerRig.beans(new StaticListableBeanFactory()),
                        TestResults.reading((json, type) -> Integer.valueOf(json)))
                .read(proxy, declared, declared.method().getReturnType(), ListenerRig.arguments(declared.method()));
    }
}
