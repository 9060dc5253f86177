package io.exactlyonce.listener.expression;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.listener.method.ListenerRig;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.support.StaticListableBeanFactory;

/** Measures the cost of reading expressions at startup. */
class ReadingCostTests {

    record Customer(String name) {}

    record Order(String orderId, Customer customer, long cents) {}

    interface Handlers {
        void order(Order order);
    }

    private static final Map<Purpose, String> EXPRESSIONS = Map.of(
            Purpose.KEY,
            "#headers['tenant'] + '/' + #order.customer.name.trim() + '/' + #order.orderId",
            Purpose.FINGERPRINT,
            "{#order.orderId, #order.cents, #order.customer?.name}");

    private static final Duration MOST = Duration.ofMillis(5);

    /** The fastest run counts, because other tests use the same processors. The first run also loads classes. */
    @Test
    void keyAndFingerprintOfAListenerAreReadInLessThanFiveMilliseconds() {
        HandlerArguments arguments = ListenerRig.arguments(ListenerRig.method(Handlers.class, "order"));

        List<Duration> costs = IntStream.range(0, 100)
                .mapToObj(turn -> cost(arguments))
                .sorted()
                .toList();

        assertThat(costs.get(0)).isLessThan(MOST);
    }

    private static Duration cost(HandlerArguments arguments) {
        BeanFactory beans = new StaticListableBeanFactory();
        long before = System.nanoTime();
        for (Map.Entry<Purpose, String> expression : EXPRESSIONS.entrySet()) {
            new KeyExpression(expression.getKey(), expression.getValue(), arguments, beans);
        }
        return Duration.ofNanos(System.nanoTime() - before);
    }
}
