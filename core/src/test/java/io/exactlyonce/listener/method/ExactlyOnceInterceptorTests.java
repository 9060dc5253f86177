package io.exactlyonce.listener.method;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.BatchResult;
import io.exactlyonce.Claim;
import io.exactlyonce.Effects;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.delivery.FailedItems;
import io.exactlyonce.queue.ScriptedStore;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import org.aopalliance.aop.Advice;
import org.aopalliance.intercept.MethodInterceptor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.aop.MethodBeforeAdvice;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessagingException;
import org.springframework.messaging.handler.annotation.support.DefaultMessageHandlerMethodFactory;

class ExactlyOnceInterceptorTests {

    static class Listener {

        final List<String> handled = new ArrayList<>();
        Listener self = this;

        @Nullable CompletableFuture<Integer> later;

        @ExactlyOnceListener(queueNames = "orders", key = "#order")
        int fulfil(String order, Claim claim) {
            handled.add(order + " " + claim.key());
            return 7;
        }

        @ExactlyOnceListener(queueNames = "orders", key = "#order")
        void refuse(String order) {
            throw new MessagingException("the handler's own");
        }

        @ExactlyOnceListener("orders")
        void fulfilById(String order) {
            handled.add(order);
        }

        @ExactlyOnceListener("orders")
        void fulfilByIdWithClaim(String order, Claim claim) {
            handled.add(order + " " + claim.key());
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

        /** Handles a batch and reports the message A-2 as failed, if the batch contains A-2. */
        @ExactlyOnceListener(queueNames = "orders", key = "#payload", effects = Effects.DATABASE)
        BatchResult batchInTransaction(List<Claim> claims, List<Message<String>> orders) {
            BatchResult result = BatchResult.allSucceeded();
            for (int index = 0; index < orders.size(); index++) {
                String order = orders.get(index).getPayload();
                handled.add(order + " " + claims.get(index).key());
                if (order.equals("A-2")) {
                    result = result.andFailed(index, new IllegalStateException("the carrier refuses"));
                }
            }
            return result;
        }

        @ExactlyOnceListener(queueNames = "orders", key = "#order")
        CompletionStage<Integer> fulfilLater(String order) {
            handled.add(order);
            return later;
        }
    }

    private final ContainerCalls container = new ContainerCalls();
    private final ScriptedStore store = container.store;
    private final Listener target = new Listener();
    private Listener proxy = proxy();

    private Listener proxy(Advice... further) {
        ProxyFactory proxies = new ProxyFactory(target);
        proxies.setProxyTargetClass(true);
        proxies.addAdvisor(ExposeInvocationInterceptor.ADVISOR);
        proxies.addAdvisor(container.advisor);
        Arrays.stream(further).forEach(proxies::addAdvice);
        Listener made = (Listener) proxies.getProxy();
        target.self = made;
        return made;
    }

    private @Nullable Object call(String name, String... payloads) throws Exception {
        return container.call(container.method(proxy, name), payloads);
    }

    @Test
    void handlerRunsUnderTheClaimOfItsDelivery() throws Exception {
        assertThat(call("fulfil", "A-1")).isEqualTo(7);

        assertThat(target.handled).containsExactly("A-1 A-1");
        assertThat(store.claims()).extracting(ClaimRequest::key).containsExactly(new ClaimKey("orders", "A-1"));
        assertThat(store.completions())
                .singleElement()
                .satisfies(completion -> assertThat(completion.result()).isEqualTo("7"));
    }

    @Test
    void duplicateReturnsNothingOfTheMethodsType() throws Exception {
        store.onClaim(() -> new AlreadyCompleted(null));

        assertThat(call("fulfil", "A-1")).isEqualTo(0);

        assertThat(target.handled).isEmpty();
    }

    /**
     * A proxy must not throw the future's failure, because this can be an exception that the method does not declare.
     */
    @Test
    void futureThatHasFailedAlreadyIsAnsweredWithAFailedFuture() throws Exception {
        Exception checked = new IOException("the carrier's line is dead");
        target.later = CompletableFuture.failedFuture(checked);

        CompletableFuture<?> returned = (CompletableFuture<?>) call("fulfilLater", "A-1");

        assertThat(returned)
                .failsWithin(Duration.ZERO)
                .withThrowableOfType(ExecutionException.class)
                .withCause(checked);
        assertThat(store.completions()).isEmpty();
        assertThat(store.releases()).hasSize(1);
    }

    /** The library replaces only the exceptions that Spring throws for arguments, because these quote the payload. */
    @Test
    void whatTheHandlerItselfThrowsIsLeftAlone() {
        assertThatThrownBy(() -> call("refuse", "A-1")).hasMessage("the handler's own");
    }

    @Test
    void noFutureIsAFailure() {
        assertThatIllegalStateException()
                .isThrownBy(() -> call("fulfilLater", "A-1"))
                .withMessageContaining("Listener.fulfilLater returned null instead of a future");

        assertThat(store.completions()).isEmpty();
        assertThat(store.releases()).hasSize(1);
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
        assertThatIllegalStateException()
                .isThrownBy(() -> call("fulfilTwice", "A-1"))
                .withMessageContaining("without a delivery");

        assertThat(target.handled).containsExactly("A-1");
        assertThat(store.claims()).hasSize(1);
        assertThat(store.releases()).hasSize(1);
    }

    @Test
    void callAfterAMessagesIsRefusedLikeAnyOther() throws Exception {
        call("batch", "A-1");

        assertThatIllegalStateException().isThrownBy(() -> proxy.batch(List.of("A-1"), null));

        assertThat(target.handled).containsExactly("A-1 A-1");
    }

    @Test
    void batchHandlerIsGivenWhatItAcquiredWithItsClaims() throws Exception {
        store.onClaim(() -> new Acquired(1, 1, false));
        store.onClaim(() -> new AlreadyCompleted("7"));

        assertThat(call("batch", "A-1", "A-2", "A-3")).isEqualTo(0);

        assertThat(target.handled).containsExactly("A-1 A-1", "A-3 A-3");
        assertThat(store.claims()).extracting(ClaimRequest::fingerprint).containsOnly(ClaimKey.sha256("body"));
        assertThat(store.completions()).hasSize(2).allMatch(completion -> completion.result() == null);
    }

    /**
     * Trap: a transaction calls the handler a second time, without the failed message. Advice of the second call must
     * not get the arguments of the first call.
     */
    @Test
    void batchHandlerThatIsCalledAgainIsGivenItsOwnMessagesByAllAdvice() {
        List<String> advised = new ArrayList<>();
        proxy = proxy((MethodInterceptor) invocation -> {
            advised.add("advised");
            return invocation.proceed();
        });

        assertThatThrownBy(() -> call("batchInTransaction", "A-1", "A-2", "A-3"))
                .isInstanceOf(FailedItems.class);

        assertThat(target.handled).containsExactly("A-1 A-1", "A-2 A-2", "A-3 A-3", "A-1 A-1", "A-3 A-3");
        assertThat(advised).hasSize(2);
    }

    /**
     * AspectJ's before and after advice gets the current call from Spring, and not as a parameter. The advice caches a
     * join point with the arguments of the call.
     */
    @Test
    void adviceThatAsksForTheCurrentCallSeesTheMessagesAndClaimsOfEachCall() {
        List<Object> seen = new ArrayList<>();
        proxy = proxy((MethodBeforeAdvice) (method, passed, bean) -> {
            ProxyMethodInvocation call = (ProxyMethodInvocation) ExposeInvocationInterceptor.currentInvocation();
            Object joinPoint = call.getUserAttribute("org.aspectj.lang.JoinPoint");
            if (joinPoint == null) {
                joinPoint = call.getArguments();
                call.setUserAttribute("org.aspectj.lang.JoinPoint", joinPoint);
            }
            seen.addAll(Arrays.asList((Object[]) joinPoint));
        });

        assertThatThrownBy(() -> call("batchInTransaction", "A-1", "A-2")).isInstanceOf(FailedItems.class);

        assertThat(seen).extracting(list -> ((List<?>) list).size()).containsExactly(2, 2, 1, 1);
    }

    @Test
    void listOfABatchMayBeChanged() throws Exception {
        proxy = proxy((MethodBeforeAdvice) (method, passed, bean) -> ((List<?>) passed[0]).clear());
        store.onClaim(() -> new AlreadyCompleted("7"));

        call("batch", "A-1", "A-2");

        assertThat(target.handled).isEmpty();
        assertThat(store.completions()).hasSize(1);
    }

    @Test
    void factoryOfTheApplicationsOwnKindMakesTheArguments() throws Exception {
        var own = new DefaultMessageHandlerMethodFactory();
        own.setArgumentResolvers(ListenerRig.resolvers());
        own.afterPropertiesSet();

        container.call(container.method(own::createInvocableHandlerMethod, proxy, "fulfilById"), "A-1");

        assertThat(target.handled).containsExactly("A-1");
    }

    /**
     * The application's factory would create the claim from the payload. Each message would then be returned until it
     * reaches the dead-letter queue.
     */
    @Test
    void claimThatAFactoryOfTheApplicationsOwnKindWouldMakeIsRefused() {
        var own = new DefaultMessageHandlerMethodFactory();

        assertThatThrownBy(() -> container.method(own::createInvocableHandlerMethod, proxy, "fulfilByIdWithClaim"))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("Listener.fulfilByIdWithClaim")
                .hasMessageContaining("it takes a Claim, which the application's MessageHandlerMethodFactory");
    }

    /** A configurer of the application replaced the list of argument resolvers, so our resolver is not in the list. */
    @Test
    void claimIsMadeByOurResolverWhateverListOfResolversTheApplicationMakes() throws Exception {
        assertThat(container.resolvers).noneMatch(ClaimArgumentResolver.class::isInstance);

        call("fulfil", "A-1");

        assertThat(target.handled).containsExactly("A-1 A-1");
    }
}
