package io.exactlyonce.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.SmartLifecycle;

class PeriodicTaskLifecycleTests {

    private final List<String> ticks = new ArrayList<>();
    private final PeriodicTaskLifecycle lifecycle = new PeriodicTaskLifecycle(() -> {
        ticks.add("begin");
        return () -> ticks.add("end");
    });

    @Test
    void stoppedLifecycleCanStartAgain() {
        lifecycle.start();
        assertThat(lifecycle.isRunning()).isTrue();
        lifecycle.stop();
        assertThat(lifecycle.isRunning()).isFalse();
        lifecycle.start();

        assertThat(ticks).containsExactly("begin", "end", "begin");
    }

    @Test
    void containersAndWebServersStartLaterAndStopEarlier() {
        assertThat(lifecycle.getPhase()).isLessThan(SmartLifecycle.DEFAULT_PHASE);
        assertThat(lifecycle.getPhase()).isLessThan(WebServerApplicationContext.START_STOP_LIFECYCLE_PHASE);
        assertThat(lifecycle.isAutoStartup()).isTrue();
    }
}
