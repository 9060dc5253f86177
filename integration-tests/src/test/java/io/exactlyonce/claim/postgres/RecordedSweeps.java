package io.exactlyonce.claim.postgres;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Records the reports of a retention. */
public final class RecordedSweeps implements RetentionObserver {

    public final List<Integer> batches = new ArrayList<>();
    public final List<Duration> sweeps = new ArrayList<>();
    public final List<@Nullable Duration> oldest = new ArrayList<>();
    public int failures;

    public int deleted() {
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
    public void surveyed(@Nullable Duration oldest) {
        this.oldest.add(oldest);
    }
}
