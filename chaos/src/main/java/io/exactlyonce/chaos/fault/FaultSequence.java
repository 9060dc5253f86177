package io.exactlyonce.chaos.fault;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Faults that follow each other, with pauses in between. Faults of different sequences overlap. */
final class FaultSequence {

    private record Step(Duration pause, Disturbance disturbance) {}

    private final String name;
    private final List<Step> steps;

    private FaultSequence(String name, List<Step> steps) {
        this.name = name;
        this.steps = List.copyOf(steps);
    }

    /** Shuffles faults, and spreads them over a time. */
    static FaultSequence draw(String name, List<Disturbance> disturbances, Duration time, Random random) {
        List<Disturbance> shuffled = new ArrayList<>(disturbances);
        Collections.shuffle(shuffled, random);
        long busy = shuffled.stream().mapToLong(one -> one.length().toMillis()).sum();
        long pause = Math.max(0, time.toMillis() - busy) / Math.max(1, shuffled.size());
        List<Step> steps = new ArrayList<>();
        for (Disturbance disturbance : shuffled) {
            steps.add(new Step(Duration.ofMillis((long) (pause * (0.3 + 1.2 * random.nextDouble()))), disturbance));
        }
        return new FaultSequence(name, steps);
    }

    String name() {
        return name;
    }

    /**
     * Makes all faults, or only those that start before the end. A fault that has started is always finished.
     *
     * @throws Exception if the harness itself failed
     */
    void run(Targets targets, CountDownLatch end) throws Exception {
        for (Step step : steps) {
            step.disturbance().prepare(targets);
            if (end.await(step.pause().toMillis(), TimeUnit.MILLISECONDS)) {
                return;
            }
            step.disturbance().strike(targets);
        }
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        for (Step step : steps) {
            text.append("%s: after %d ms %s%n".formatted(name, step.pause().toMillis(), step.disturbance()));
        }
        return text.toString();
    }
}
