package io.exactlyonce.delivery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.exactlyonce.AbandonedPolicy;
import io.exactlyonce.Reconciliation;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.UndeclaredThrowableException;
import java.util.List;
import org.junit.jupiter.api.Test;

class InDoubtPolicyTests {

    private final InDoubtPolicy policy = new InDoubtPolicy(AbandonedPolicy.RERUN, null, List.of(IOException.class));

    @Test
    void parksForItsTypesAndTheirSubtypes() {
        assertThat(policy.parksFor(new IOException())).isTrue();
        assertThat(policy.parksFor(new FileNotFoundException())).isTrue();
        assertThat(policy.parksFor(new IllegalStateException())).isFalse();
        assertThat(InDoubtPolicy.RERUN.parksFor(new IOException())).isFalse();
    }

    @Test
    void looksIntoWhatAProxyMadeOfAnException() {
        assertThat(policy.parksFor(new UndeclaredThrowableException(new IOException())))
                .isTrue();
        assertThat(policy.parksFor(new UndeclaredThrowableException(new InvocationTargetException(new IOException()))))
                .isTrue();
        assertThat(policy.parksFor(new UndeclaredThrowableException(null))).isFalse();
    }

    @Test
    void causesAreTheHandlersOwnBusiness() {
        assertThat(policy.parksFor(new IllegalStateException(new IOException())))
                .isFalse();
    }

    @Test
    void reconcilerBelongsToReconcile() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new InDoubtPolicy(AbandonedPolicy.RECONCILE, null, List.of()));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new InDoubtPolicy(
                        AbandonedPolicy.PARK, (listener, scope, claim) -> Reconciliation.runAgain(), List.of()));
    }
}
