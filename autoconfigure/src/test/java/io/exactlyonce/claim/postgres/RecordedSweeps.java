package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.RetentionObserver;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Remembers what a retention reported. */
final class RecordedSweeps implements RetentionObserver {

    final List<Integer> batches = new ArrayList<>();
    final List<Duration> sweeps = new ArrayList<>();
    final List<Long> parked = new ArrayList<>();
    final List<@Nullable Duration> oldest = new ArrayList<>();
    int failures;

    int deleted() {
        return batches.stream().mapToInt(Integer::intValue).sum();
    }

    @Override
    public void deleted(int claims) {
        batches.add(claims);
    }

    @Override
    public void swept(Duration elapsed) {
        sweeps.add(elapsed);
    }

    @Override
    public void sweepFailed() {
        failures++;
    }

    @Override
    public void surveyed(@Nullable Duration oldest, long parked) {
        this.oldest.add(oldest);
        this.parked.add(parked);
    }
}
