package io.exactlyonce.listener.method;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.ClaimMode;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.MismatchPolicy;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.mock.env.MockEnvironment;

/** Policies of the annotation, and of the configuration of one listener, which overrides it. */
class ListenerPoliciesTests {

    static class Listeners {

        @ExactlyOnceListener(queueNames = "orders", id = "silent")
        void silent(String order) {}

        @ExactlyOnceListener(queueNames = "orders", id = "warned", onMismatch = MismatchPolicy.WARN)
        void warned(String order) {}

        @ExactlyOnceListener(queueNames = "orders", fingerprint = "#order", onMismatch = MismatchPolicy.OFF)
        void fingerprintThatNothingCompares(String order) {}
    }

    private static ListenerMethod read(String method, Map<String, ListenerModes.Own> configured) {
        ListenerModes modes = new ListenerModes(new MockEnvironment(), ClaimMode.ENFORCE, configured);
        return ListenerRig.read(
                ListenerRig.reader(new StaticListableBeanFactory(), modes),
                ListenerRig.advised(new Listeners()),
                Listeners.class,
                method);
    }

    private static ListenerMethod read(String method) {
        return read(method, Map.of());
    }

    private static ListenerModes.Own onMismatch(MismatchPolicy configured) {
        return new ListenerModes.Own(null, null, configured);
    }

    @Test
    void policyForOtherContentIsTheConfigurationsElseTheAnnotations() {
        assertThat(read("silent").onMismatch()).isEqualTo(MismatchPolicy.AS_CONFIGURED);
        assertThat(read("warned").onMismatch()).isEqualTo(MismatchPolicy.WARN);
        assertThat(read("warned", Map.of("warned", onMismatch(MismatchPolicy.REFUSE)))
                        .onMismatch())
                .isEqualTo(MismatchPolicy.REFUSE);
        assertThat(read("silent", Map.of("silent", onMismatch(MismatchPolicy.OFF)))
                        .onMismatch())
                .isEqualTo(MismatchPolicy.OFF);
        assertThat(read("silent", Map.of("warned", onMismatch(MismatchPolicy.OFF)))
                        .onMismatch())
                .isEqualTo(MismatchPolicy.AS_CONFIGURED);
    }

    @Test
    void fingerprintThatNothingComparesIsRefused() {
        assertThatThrownBy(() -> read("fingerprintThatNothingCompares"))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("fingerprint = \"#order\" has no meaning with onMismatch = OFF")
                .hasMessageContaining("leave one of them out");
    }
}
