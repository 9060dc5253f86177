package io.exactlyonce.boundary;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.CapturedOutput;
import io.exactlyonce.OutputCaptureExtension;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(OutputCaptureExtension.class)
class BoundaryTests {

    private final List<Throwable> crashes = new ArrayList<>();

    @Test
    void crashIsLoggedOnceAndHandedOn(CapturedOutput output) {
        Error crash = new OutOfMemoryError("used up");

        Boundary.guard(
                "poll of orders",
                () -> {
                    throw crash;
                },
                crashes::add);

        assertThat(crashes).containsExactly(crash);
        assertThat(output.getOut().split("poll of orders crashed", -1)).hasSize(2);
    }

    @Test
    void workThatEndsHandsNothingOn() {
        List<String> done = new ArrayList<>();

        Boundary.guard("tick", () -> done.add("work"), crashes::add);

        assertThat(done).containsExactly("work");
        assertThat(crashes).isEmpty();
    }
}
