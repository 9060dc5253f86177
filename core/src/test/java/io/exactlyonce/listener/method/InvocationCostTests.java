package io.exactlyonce.listener.method;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.listener.method.ContainerCalls.Called;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.messaging.Message;

/** Measures the cost of an invocation's steps for each delivery, without the cost of the pipeline. */
class InvocationCostTests {

    static class Listener {

        int handled;

        @ExactlyOnceListener(queueNames = "orders", key = "#order")
        void single(String order) {
            handled++;
        }

        @ExactlyOnceListener(queueNames = "orders", key = "#payload")
        void batch(List<String> orders) {
            handled += orders.size();
        }
    }

    private static final int CALLS = 100;

    /** Each round uses a new store, because the lists of a store grow with each call. */
    private static final int ROUNDS = 40;

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @FunctionalInterface
    private interface Call {

        void make(ContainerCalls container, Called called, Message<?> message) throws Throwable;
    }

    /**
     * The limits are upper bounds: this JVM runs without its optimizing compiler, which would remove allocations.
     * Spring's resolvers and proxies allocate most of the bytes.
     */
    @ParameterizedTest
    @CsvSource({"single, 600", "batch, 2500"})
    void invocationAllocatesLittleBesideThePipeline(String method, long most) throws Throwable {
        long pipeline = bytes(
                method,
                (container, called, message) ->
                        container.pipeline.handle(List.of(ContainerCalls.delivery(message)), held -> null));
        long all = bytes(method, (container, called, message) -> container.call(called, List.of(message)));

        assertThat(all - pipeline).isBetween(0L, most);
    }

    /** Returns the allocated bytes per call, in the round with the fewest bytes. */
    private static long bytes(String method, Call call) throws Throwable {
        long fewest = Long.MAX_VALUE;
        for (int round = 0; round < ROUNDS; round++) {
            ContainerCalls container = new ContainerCalls();
            Called called = container.method(container.proxy(new Listener()), method);
            List<Message<?>> messages = new ArrayList<>(CALLS);
            for (int index = 0; index < CALLS; index++) {
                messages.addAll(container.polled(called, "A-" + index));
            }
            // At the first call, Spring chooses the advice.
            call.make(container, called, container.polled(called, "first").get(0));
            long before = THREADS.getCurrentThreadAllocatedBytes();
            for (Message<?> message : messages) {
                call.make(container, called, message);
            }
            fewest = Math.min(fewest, (THREADS.getCurrentThreadAllocatedBytes() - before) / CALLS);
        }
        return fewest;
    }
}
