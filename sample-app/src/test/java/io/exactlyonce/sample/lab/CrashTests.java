package io.exactlyonce.sample.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class CrashTests {

    private final List<String> killed = new ArrayList<>();
    private final Crash crash = new Crash(2, "slow"::equals, (worker, orderId) -> killed.add(worker));

    @Test
    void firstSlowOrderAfterTheStartKillsItsWorkerOnce() {
        crash.confirmationRequested("slow", "a");
        crash.confirmationRequested("slow", "b");
        assertThat(killed).isEmpty();

        crash.confirmationRequested("quick", "c");
        assertThat(killed).isEmpty();

        crash.confirmationRequested("slow", "d");
        crash.confirmationRequested("slow", "e");
        assertThat(killed).containsExactly("d");
    }
}
