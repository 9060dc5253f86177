package io.exactlyonce.chaos.worker;

import io.exactlyonce.Claim;
import io.exactlyonce.chaos.history.Kind;
import io.exactlyonce.chaos.history.RecorderClient;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.springframework.stereotype.Component;

/** What all handlers do: work for a while, check the claim, have an effect. Each step is recorded with the harness. */
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
     * @return the call's name
     * @throws InterruptedException if the listener stops it
     */
    String run(Job job, Claim claim, Effect effect) throws InterruptedException {
        HandlerRecorder run = HandlerRecorder.enter(recorder, worker + "/" + calls.incrementAndGet(), job, claim);
        try {
            reached(Point.AFTER_CLAIM);
            work(job);
            fail(job);
            run.ensureHeld(claim);
            run.record(Kind.ACTING);
            effect.happen(run.call());
            reached(Point.AFTER_EFFECT);
        } catch (RuntimeException | InterruptedException failure) {
            run.failed(failure);
            throw failure;
        }
        run.record(Kind.HANDLED);
        return run.call();
    }

    /** Every other handler does not heed an interrupt while it works: then its check alone stands before its effect. */
    private static void work(Job job) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(job.work());
        for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
            try {
                TimeUnit.NANOSECONDS.sleep(left);
            } catch (InterruptedException interrupted) {
                if (job.work() % 2 == 0) {
                    throw interrupted;
                }
            }
        }
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
