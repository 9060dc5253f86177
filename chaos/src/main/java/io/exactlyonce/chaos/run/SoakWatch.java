package io.exactlyonce.chaos.run;

import io.exactlyonce.chaos.fleet.Fleet;
import io.exactlyonce.chaos.fleet.Slot;
import io.exactlyonce.chaos.soak.Samples;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Measures the resources of each worker repeatedly. */
final class SoakWatch implements Watch {

    private static final Duration LONGEST_INTERVAL = Duration.ofSeconds(10);
    private static final int SAMPLES = 60;

    private final Samples samples;
    private final Duration interval;

    /** Measures every ten seconds, or more often if a short run would otherwise have too few samples. */
    SoakWatch(Samples samples, Duration time) {
        this.samples = samples;
        Duration even = time.dividedBy(SAMPLES);
        this.interval = even.compareTo(LONGEST_INTERVAL) < 0 ? even : LONGEST_INTERVAL;
    }

    @Override
    public Looking begin(Fleet fleet) {
        Thread thread = new Thread(() -> measure(fleet), "soak");
        thread.setDaemon(true);
        thread.start();
        return thread::interrupt;
    }

    private void measure(Fleet fleet) {
        try {
            while (true) {
                for (Slot slot : fleet.slots()) {
                    slot.measure(samples);
                }
                TimeUnit.MILLISECONDS.sleep(interval.toMillis());
            }
        } catch (InterruptedException over) {
            Thread.currentThread().interrupt();
        }
    }
}
