package io.exactlyonce.boundary;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class CausesTests {

    @Test
    void rootIsTheLastCauseOrTheFailureItself() {
        Exception root = new IOException("reset");

        assertThat(Causes.root(new IllegalStateException(new IllegalArgumentException(root))))
                .isSameAs(root);
        assertThat(Causes.root(root)).isSameAs(root);
    }

    /** Trap: Spring's NestedExceptionUtils never returns if the causes form a circle. */
    @Test
    @Timeout(5)
    void rootOfACircleIsOneOfIt() {
        Exception first = new IllegalStateException("first");
        Exception second = new IllegalStateException("second", first);
        first.initCause(second);

        assertThat(Causes.root(first)).isIn(first, second);
    }
}
