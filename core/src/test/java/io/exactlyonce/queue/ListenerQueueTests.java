package io.exactlyonce.queue;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class ListenerQueueTests {

    private static final ListenerQueue ORDERS = new ListenerQueue("fulfilment", "orders");
    private static final ListenerQueue RETURNS = new ListenerQueue("fulfilment", "returns");
    private static final ListenerQueue PARCELS = new ListenerQueue("shipping", "orders");

    @Test
    void queuesOfOneListenerStandTogether() {
        assertThat(List.of(PARCELS, RETURNS, ORDERS).stream().sorted()).containsExactly(ORDERS, RETURNS, PARCELS);
    }

    @Test
    void orderFollowsEquality() {
        assertThat(new TreeSet<>(List.of(ORDERS, RETURNS, PARCELS))).hasSize(3);
        assertThat(ORDERS).isEqualByComparingTo(new ListenerQueue("fulfilment", "orders"));
    }

    @Test
    void logsNameListenerAndQueueInOneForm() {
        Subscription subscription =
                new Subscription("fulfilment", "orders", VisibilityWindow.ofSeconds(30), new ScriptedQueue());

        assertThat(ORDERS).hasToString("listener 'fulfilment' on queue 'orders'");
        assertThat(subscription).hasToString(ORDERS.toString());
        assertThat(subscription.listenerQueue()).isEqualTo(ORDERS);
    }
}
