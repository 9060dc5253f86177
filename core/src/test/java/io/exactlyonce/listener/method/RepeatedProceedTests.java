package io.exactlyonce.listener.method;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.exactlyonce.Effects;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.InDoubtPolicy;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.listener.method.ContainerCalls.Called;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.IntConsumer;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.Advisor;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.messaging.Message;

/**
 * Advice that calls {@code proceed()} again and again on one call object. Spring then skips the advice that it has
 * already called, and would call the method itself.
 */
class RepeatedProceedTests {

    static class Orders {

        final List<String> handled = new ArrayList<>();
        final Deque<Runnable> actions = new ArrayDeque<>();

        @ExactlyOnceListener(queueNames = "orders", key = "#order", whenInDoubt = InDoubtPolicy.PARK)
        void external(String order) {
            handle(order);
        }

        @ExactlyOnceListener(queueNames = "orders", key = "#order", effects = Effects.DATABASE)
        void transactional(String order) {
            handle(order);
        }

        private void handle(String order) {
            handled.add(order);
            Runnable action = actions.poll();
            if (action != null) {
                action.run();
            }
        }
    }

    private final ContainerCalls container = new ContainerCalls();
    private final Orders orders = new Orders();
    private final List<MethodInterceptor> outside = new ArrayList<>();
    private final List<MethodInterceptor> inside = new ArrayList<>();

    @AfterEach
    void noInterruptIsLeftBehind() {
        assertThat(Thread.interrupted()).isFalse();
    }

    private Called method(String name) {
        return container.method(container.proxy(orders, outside, inside), name);
    }

    /** Repeats failed calls, and runs something after each of them. */
    private static MethodInterceptor retry(int tries, IntConsumer between) {
        return call -> {
            for (int attempt = 1; ; attempt++) {
                try {
                    return call.proceed();
                } catch (Exception failure) {
                    between.accept(attempt);
                    if (attempt == tries) {
                        throw failure;
                    }
                }
            }
        };
    }

    private static MethodInterceptor retry(int tries) {
        return retry(tries, attempt -> {});
    }

    private void failing(int times) {
        for (int i = 1; i <= times; i++) {
            String text = "try " + i;
            orders.actions.add(() -> {
                throw new IllegalStateException(text);
            });
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4, 5})
    void retriesRunUnderOneClaim(int tries) throws Exception {
        inside.add(retry(tries));
        failing(tries - 1);

        container.call(method("external"), "A-1");

        assertThat(orders.handled).hasSize(tries);
        assertThat(container.store.completions()).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4, 5})
    void handlerIsNotCalledOutsideOfItsTransaction(int tries) {
        outside.add(retry(tries));
        failing(1);

        assertThat(catchThrowable(() -> container.call(method("transactional"), "A-1")))
                .hasMessageContaining("outside of the transaction of its claim");

        assertThat(orders.handled).containsExactly("A-1");
        assertThat(container.transactions).containsExactly("rolled back");
    }

    @ParameterizedTest
    @CsvSource({"outside, committed", "inside, rolled back"})
    void handlerThatHasSucceededIsNotCalledAgain(String place, String end) {
        (place.equals("outside") ? outside : inside).add(call -> {
            Object result = call.proceed();
            for (int i = 0; i < 5; i++) {
                assertThat(catchThrowable(call::proceed)).isInstanceOf(IllegalStateException.class);
            }
            return result;
        });

        catchThrowable(() -> container.call(method("transactional"), "A-1"));

        assertThat(orders.handled).containsExactly("A-1");
        assertThat(container.transactions).containsExactly(end);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void handlerIsNotCalledAgainWhenItsLeaseIsOver(int calls) {
        inside.add(retry(6, attempt -> {
            if (attempt == calls) {
                container.clock.advance(Duration.ofMinutes(5));
            }
        }));
        failing(6);

        assertThat(catchThrowable(() -> container.call(method("external"), "A-1")))
                .hasMessage("try " + calls);

        assertThat(orders.handled).hasSize(calls);
    }

    @ParameterizedTest
    @ValueSource(strings = {"external", "transactional"})
    void handlerIsNotCalledOnceItsListenerHasStopped(String name) {
        Called called = method(name);
        List<Message<?>> messages = container.polled(called, "A-1");
        Delivery delivery = ContainerCalls.delivery(messages.get(0));
        inside.add(call -> {
            delivery.stopHandler();
            assertThat(Thread.interrupted()).isTrue();
            return retry(5).invoke(call);
        });

        assertThat(catchThrowable(() -> container.call(method(name), messages)))
                .hasMessageContaining("its listener had stopped");

        assertThat(orders.handled).isEmpty();
    }

    /** One interceptor with several tries, and several interceptors with two, lead to as many calls. */
    @ParameterizedTest
    @CsvSource({"1, 1", "1, 2", "1, 3", "1, 4", "2, 2"})
    void keyIsParkedIfAnyTryIsStopped(int interceptors, int tries) {
        for (int i = 0; i < interceptors; i++) {
            inside.add(retry(tries));
        }
        Called called = method("external");
        List<Message<?>> messages = container.polled(called, "A-1");
        Delivery delivery = ContainerCalls.delivery(messages.get(0));
        int calls = interceptors == 1 ? tries : 3;
        failing(calls - 1);
        orders.actions.add(() -> {
            delivery.stopHandler();
            assertThat(Thread.interrupted()).isTrue();
            throw new IllegalStateException("half done");
        });

        assertThat(catchThrowable(() -> container.call(called, messages))).hasMessage("half done");

        assertThat(orders.handled).hasSize(calls);
        assertThat(container.store.parkings()).hasSize(1);
    }

    /** The transaction begins in the inner proxy, so each call of the outer one's advice gets its own. */
    @ParameterizedTest
    @CsvSource({"external, 3", "transactional, 3", "transactional, 5"})
    void outerProxyRepeatsCallsOfTheInnerOne(String name, int tries) throws Exception {
        ProxyFactory outer = new ProxyFactory(container.proxy(orders, outside, inside));
        outer.setProxyTargetClass(true);
        outer.addAdvisor(container.advisor);
        outer.addAdvice(retry(tries));
        failing(tries - 1);

        container.call(container.method(outer.getProxy(), name), "A-1");

        assertThat(orders.handled).hasSize(tries);
        assertThat(container.transactions).hasSize(name.equals("external") ? 0 : tries);
    }

    /** Advice that is added at the first place comes before the library's first step, and so makes Spring's own calls. */
    @ParameterizedTest
    @ValueSource(strings = {"external", "transactional"})
    void adviceThatIsAddedBeforeAllOtherAdviceMayRepeatClones(String name) throws Exception {
        Object inner = container.proxy(orders, outside, inside);
        ProxyFactory outer = new ProxyFactory(inner);
        outer.setProxyTargetClass(true);
        outer.addAdvisor(container.advisor);
        Called called = container.method(outer.getProxy(), name);
        ((Advised) inner).addAdvice(0, (MethodInterceptor) call -> {
            catchThrowable(() -> ((ProxyMethodInvocation) call).invocableClone().proceed());
            return ((ProxyMethodInvocation) call).invocableClone().proceed();
        });
        failing(1);

        container.call(called, "A-1");

        assertThat(orders.handled).hasSize(2);
        assertThat(container.transactions)
                .isEqualTo(name.equals("external") ? List.of() : List.of("rolled back", "committed"));
    }

    @Test
    void adviceThatReplacesEqualAdviceRuns() throws Exception {
        record Naming(String name, List<String> names) implements MethodInterceptor {

            @Override
            public Object invoke(MethodInvocation call) throws Throwable {
                names.add(name);
                return call.proceed();
            }

            @Override
            public boolean equals(Object other) {
                return other instanceof Naming;
            }

            @Override
            public int hashCode() {
                return 1;
            }
        }
        List<String> names = new ArrayList<>();
        inside.add(new Naming("old", names));
        Advised bean = (Advised) container.proxy(orders, outside, inside);
        Called called = container.method(bean, "external");
        container.call(called, "A-1");
        Advisor old = bean.getAdvisors()[bean.getAdvisorCount() - 1];
        bean.replaceAdvisor(old, new DefaultPointcutAdvisor(new Naming("new", names)));

        container.call(called, "A-2");

        assertThat(names).containsExactly("old", "new");
    }

    @Test
    void adviceThatIsAddedAtRuntimeRuns() throws Exception {
        Object bean = container.proxy(orders, outside, inside);
        Called called = container.method(bean, "external");
        List<String> advised = new ArrayList<>();
        container.call(called, "A-1");
        for (String place : List.of("first", "second")) {
            MethodInterceptor late = call -> {
                advised.add(place);
                return call.proceed();
            };
            ((Advised) bean).addAdvice(late);
            container.call(called, "with " + place);
            ((Advised) bean).removeAdvice(late);
            container.call(called, "without " + place);
        }

        assertThat(advised).containsExactly("first", "second");
        assertThat(orders.handled).hasSize(5);
        assertThat(container.store.completions()).hasSize(5);
    }
}
