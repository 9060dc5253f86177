package io.exactlyonce.autoconfigure;

import io.exactlyonce.time.Clockwork;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.springframework.context.SmartLifecycle;

/** Does something again and again, from before the first container starts until after the last has stopped. */
final class TickLifecycle implements SmartLifecycle {

    private final Clockwork clockwork;
    private final String thread;
    private final Runnable tick;
    private final Duration interval;
    private final BooleanSupplier wanted;
    private volatile Clockwork.@Nullable Ticks ticks;

    TickLifecycle(Clockwork clockwork, String thread, Runnable tick, Duration interval) {
        this(clockwork, thread, tick, interval, () -> true);
    }

    /** @param wanted whether there is anything to do, when all beans are made */
    TickLifecycle(Clockwork clockwork, String thread, Runnable tick, Duration interval, BooleanSupplier wanted) {
        this.clockwork = clockwork;
        this.thread = thread;
        this.tick = tick;
        this.interval = interval;
        this.wanted = wanted;
    }

    @Override
    public void start() {
        if (wanted.getAsBoolean()) {
            ticks = clockwork.every(interval, thread, tick);
        }
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
