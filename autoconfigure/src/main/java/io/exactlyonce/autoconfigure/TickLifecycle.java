package io.exactlyonce.autoconfigure;

import io.exactlyonce.time.Clockwork;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.context.SmartLifecycle;

/** Does something again and again, from before the first container starts until after the last has stopped. */
class TickLifecycle implements SmartLifecycle {

    private final Clockwork clockwork;
    private final String thread;
    private final Runnable tick;
    private final Duration interval;
    private volatile Clockwork.@Nullable Ticks ticks;

    TickLifecycle(Clockwork clockwork, String thread, Runnable tick, Duration interval) {
        this.clockwork = clockwork;
        this.thread = thread;
        this.tick = tick;
        this.interval = interval;
    }

    @Override
    public void start() {
        ticks = clockwork.every(interval, thread, tick);
    }

    @Override
    public void stop() {
        Clockwork.Ticks running = ticks;
        if (running != null) {
            running.close();
            ticks = null;
        }
    }

    @Override
    public boolean isRunning() {
        return ticks != null;
    }

    @Override
    public int getPhase() {
        return RenewalLifecycle.PHASE;
    }
}
