package io.exactlyonce.listener.method;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.ClaimMode;
import io.exactlyonce.ExactlyOnceListener;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.mock.env.MockEnvironment;

class ListenerModesTests {

    interface Listeners {
        @ExactlyOnceListener("orders")
        void silent();

        @ExactlyOnceListener(queueNames = "orders", id = "${orders.id}", mode = ClaimMode.ENFORCE)
        void enforced();

        @ExactlyOnceListener(queueNames = "orders", mode = ClaimMode.OBSERVE)
        void observed();
    }

    private final MockEnvironment properties = new MockEnvironment().withProperty("orders.id", "fulfilment");

    private boolean isObserved(String method, ClaimMode otherwise) {
        return new ListenerModes(properties, otherwise).isObserved(ListenerRig.declared(Listeners.class, method));
    }

    @Test
    void configurationOfTheListenerWinsOverItsAnnotation() {
        ListenerModes modes = new ListenerModes(
                properties,
                ClaimMode.ENFORCE,
                Map.of("fulfilment", new ListenerModes.Own(ClaimMode.OBSERVE, null, null, null, null)));

        assertThat(modes.isObserved(ListenerRig.declared(Listeners.class, "enforced")))
                .isTrue();
        assertThat(modes.isObserved(ListenerRig.declared(Listeners.class, "silent")))
                .isFalse();
    }

    @Test
    void attributeWinsOverThePropertyForAll() {
        assertThat(isObserved("silent", ClaimMode.OBSERVE)).isTrue();
        assertThat(isObserved("silent", ClaimMode.ENFORCE)).isFalse();
        assertThat(isObserved("enforced", ClaimMode.OBSERVE)).isFalse();
        assertThat(isObserved("observed", ClaimMode.ENFORCE)).isTrue();
    }
}
