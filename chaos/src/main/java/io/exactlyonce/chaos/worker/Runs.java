package io.exactlyonce.chaos.worker;

import io.exactlyonce.Claim;
import io.exactlyonce.chaos.history.Kind;
import io.exactlyonce.chaos.history.RecorderClient;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.springframework.stereotype.Component;

/** What all handlers do: work for a while, check the claim, have an effect. Each step is told to the harness. */
@Component
class Runs {

    private final String worker;
    private final RecorderClient recorder;
    private final PointClient points;
    private final AtomicLong calls = new AtomicLong();

    Runs(WorkerProperties properties) {
        this.worker = properties.name();
        this.recorder = new RecorderClient(properties.recorder(), worker);
        this.points = new PointClient(properties.points(), worker);
    }

    void reached(Point point) {
        points.reached(point);
    }

    /**
     * Runs a handler.
     *
     * @throws InterruptedException if the listener stops it
     */
    void run(Job job, Claim claim, Effect effect) throws InterruptedException {
        Witness witness = Witness.enter(recorder, worker + "/" + calls.incrementAndGet(), job, claim);
        try {
            reached(Point.AFTER_CLAIM);
            TimeUnit.MILLISECONDS.sleep(job.work());
            fail(job);
            witness.ensureHeld(claim);
            witness.record(Kind.ACTING);
            effect.happen(witness.call());
            reached(Point.AFTER_EFFECT);
        } catch (RuntimeException | InterruptedException failure) {
            witness.failed(failure);
            throw failure;
        }
        witness.record(Kind.HANDLED);
    }

    private static void fail(Job job) {
        switch (job.kind()) {
            case POISON -> throw new IllegalStateException("This job fails whenever it is tried");
            case HOPELESS -> throw new HopelessException();
            case GOOD -> {}
        }
    }

    /** What a handler does to the world. */
    interface Effect {
        void happen(String call) throws InterruptedException;
    }
}
