package io.exactlyonce.sample.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class CleanupTests {

    private final Cleanup cleanup = new Cleanup();
    private final List<String> closed = new ArrayList<>();

    @Test
    void closesInReverseOrderAndOnlyOnce() {
        cleanup.add(() -> closed.add("first"));
        cleanup.add(() -> closed.add("second"));
        cleanup.close();
        cleanup.close();

        assertThat(closed).containsExactly("second", "first");
    }

    @Test
    void oneFailureDoesNotKeepTheOthersOpen() {
        cleanup.add(() -> closed.add("first"));
        cleanup.add(() -> {
            throw new IllegalStateException("on purpose");
        });
        cleanup.close();

        assertThat(closed).containsExactly("first");
    }

    @Test
    void whatComesTooLateIsClosedAtOnce() {
        cleanup.close();

        assertThatIllegalStateException().isThrownBy(() -> cleanup.add(() -> closed.add("late")));
        assertThat(closed).containsExactly("late");
    }
}
