package io.exactlyonce.listener.method;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.ClaimMode;
import io.exactlyonce.Effects;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.MismatchPolicy;
import io.exactlyonce.MissingKeyPolicy;
import io.exactlyonce.listener.CapturedLog;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.mock.env.MockEnvironment;

/** Tests policies of the annotation, and properties of a listener that override these policies. */
class ListenerPoliciesTests {

    static class Listeners {

        @ExactlyOnceListener(queueNames = "orders", id = "silent")
        void silent(String order) {}

        @ExactlyOnceListener(queueNames = "orders", id = "warned", onMismatch = MismatchPolicy.WARN)
        void warned(String order) {}

        @ExactlyOnceListener(queueNames = "orders", fingerprint = "#order", onMismatch = MismatchPolicy.OFF)
        void fingerprintThatNothingCompares(String order) {}

        @ExactlyOnceListener(
                queueNames = "orders",
                id = "skipping",
                key = "#order",
                whenKeyMissing = MissingKeyPolicy.SKIP)
        void skipping(String order) {}

        @ExactlyOnceListener(queueNames = "orders", whenKeyMissing = MissingKeyPolicy.SKIP)
        void withoutAKeyToMiss(String order) {}

        @ExactlyOnceListener(
                queueNames = "orders",
                key = "#headers['ExactlyOnce-Key']",
                whenKeyMissing = MissingKeyPolicy.SKIP)
        void keyOfTheAttribute(String order) {}

        @ExactlyOnceListener(
                queueNames = "orders",
                id = "transactional",
                key = "#order",
                effects = Effects.DATABASE,
                whenKeyMissing = MissingKeyPolicy.RUN_UNPROTECTED)
        void unprotectedInOneTransaction(String order) {}
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
        return new ListenerModes.Own(null, null, configured, null, null);
    }

    private static ListenerModes.Own whenKeyMissing(MissingKeyPolicy configured) {
        return new ListenerModes.Own(null, null, null, configured, null);
    }

    @Test
    void policyForMissingKeysIsTheConfigurationsElseTheAnnotations() {
        assertThat(read("silent").whenKeyMissing()).isEqualTo(MissingKeyPolicy.REFUSE);
        assertThat(read("skipping").whenKeyMissing()).isEqualTo(MissingKeyPolicy.SKIP);
        assertThat(read("keyOfTheAttribute").whenKeyMissing()).isEqualTo(MissingKeyPolicy.SKIP);
        assertThat(read("skipping", Map.of("skipping", whenKeyMissing(MissingKeyPolicy.RUN_UNPROTECTED)))
                        .whenKeyMissing())
                .isEqualTo(MissingKeyPolicy.RUN_UNPROTECTED);
        assertThat(read("skipping", Map.of("skipping", whenKeyMissing(MissingKeyPolicy.REFUSE)))
                        .whenKeyMissing())
                .isEqualTo(MissingKeyPolicy.REFUSE);
    }

    @Test
    void policyForAKeyThatIsNeverMissingIsRefused() {
        for (String method : List.of("withoutAKeyToMiss", "silent")) {
            assertThatThrownBy(() -> read(method, Map.of("silent", whenKeyMissing(MissingKeyPolicy.SKIP))))
                    .isInstanceOf(InvalidListenerException.class)
                    .hasMessageContaining("Listeners." + method)
                    .hasMessageContaining("whenKeyMissing = SKIP has no meaning without key")
                    .hasMessageContaining("key = \"#headers['ExactlyOnce-Key']\"");
        }
    }

    @Test
    void unprotectedCallInTheTransactionOfAClaimIsRefused() {
        assertThatThrownBy(() -> read("unprotectedInOneTransaction"))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("whenKeyMissing = RUN_UNPROTECTED has no meaning with effects = DATABASE")
                .hasMessageContaining("set whenKeyMissing = SKIP or REFUSE");
    }

    @Test
    void policyWithoutMeaningOfAnObservedListenerIsOnlyLogged() {
        ListenerModes observing = new ListenerModes(new MockEnvironment(), ClaimMode.OBSERVE);
        try (CapturedLog log = new CapturedLog()) {
            ListenerRig.read(
                    ListenerRig.reader(new StaticListableBeanFactory(), observing),
                    new Listeners(),
                    Listeners.class,
                    "withoutAKeyToMiss");
            assertThat(log.text())
                    .contains("Startup would fail with mode = enforce")
                    .contains("whenKeyMissing = SKIP has no meaning without key");
        }
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
