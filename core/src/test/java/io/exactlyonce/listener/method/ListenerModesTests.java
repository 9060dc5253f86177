package io.exactlyonce.listener.method;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.Mode;
import org.junit.jupiter.api.Test;
import org.springframework.mock.env.MockEnvironment;

class ListenerModesTests {

    interface Listeners {
        @ExactlyOnceListener("orders")
        void silent();

        @ExactlyOnceListener(queueNames = "orders", mode = "enforce")
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

    private static boolean isObserved(String method, Mode otherwise) {
        return new ListenerModes(new MockEnvironment().withProperty("orders.mode", "Enforce"), otherwise)
                .isObserved(ListenerRig.declared(Listeners.class, method));
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
                .hasMessageContaining("mode = 'off' is none of 'enforce' and 'observe'");
    }
}
