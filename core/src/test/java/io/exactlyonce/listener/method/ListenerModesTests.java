package io.exactlyonce.listener.method;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.Mode;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.mock.env.MockEnvironment;

class ListenerModesTests {

    interface Listeners {
        @ExactlyOnceListener("orders")
        void silent();

        @ExactlyOnceListener(queueNames = "orders", id = "${orders.id}", mode = "enforce")
        void enforced();

        @ExactlyOnceListener(queueNames = "orders", mode = " OBSERVE ")
        void observed();

        @ExactlyOnceListener(queueNames = "orders", mode = "${orders.mode}")
        void configured();

        @ExactlyOnceListener(queueNames = "orders", mode = "${shipping.mode:}")
        void unconfigured();

        @ExactlyOnceListener(queueNames = "orders", mode = "off")
        void unknown();
    }

    private final MockEnvironment properties =
            new MockEnvironment().withProperty("orders.mode", "Enforce").withProperty("orders.id", "fulfilment");

    private boolean isObserved(String method, Mode otherwise) {
        return new ListenerModes(properties, otherwise).isObserved(ListenerRig.declared(Listeners.class, method));
    }

    @Test
    void configurationOfTheListenerWinsOverItsAnnotation() {
        ListenerModes modes = new ListenerModes(
                properties, Mode.ENFORCE, Map.of("fulfilment", new ListenerModes.Own(Mode.OBSERVE, null)));

        assertThat(modes.isObserved(ListenerRig.declared(Listeners.class, "enforced")))
                .isTrue();
        assertThat(modes.isObserved(ListenerRig.declared(Listeners.class, "silent")))
                .isFalse();
    }

    @Test
    void attributeWinsOverThePropertyForAll() {
        assertThat(isObserved("silent", Mode.OBSERVE)).isTrue();
        assertThat(isObserved("silent", Mode.ENFORCE)).isFalse();
        assertThat(isObserved("enforced", Mode.OBSERVE)).isFalse();
        assertThat(isObserved("observed", Mode.ENFORCE)).isTrue();
        assertThat(isObserved("configured", Mode.OBSERVE)).isFalse();
        assertThat(isObserved("unconfigured", Mode.OBSERVE)).isTrue();
    }

    @Test
    void unknownModeIsRefusedWithThoseThatThereAre() {
        assertThatThrownBy(() -> isObserved("unknown", Mode.ENFORCE))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("Listeners.unknown")
                .hasMessageContaining("mode = 'off' is neither 'enforce' nor 'observe'");
    }
}
