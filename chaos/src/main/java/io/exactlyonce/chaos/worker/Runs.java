package io.exactlyonce.chaos.worker;

import io.exactlyonce.BatchResult;
import io.exactlyonce.Claim;
import io.exactlyonce.ClaimLostException;
import io.exactlyonce.chaos.history.Kind;
import io.exactlyonce.chaos.history.RecorderClient;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.springframework.stereotype.Component;

/**
 * The common steps of all handlers: work for a while, check the claim, have an effect. The harness records each step.
 */
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
            act(run, job, claim, (sameJob, sameClaim, call) -> effect.happen(call));
        } catch (RuntimeException | InterruptedException failure) {
            run.failed(failure);
            throw failure;
        }
        run.record(Kind.HANDLED);
        return run.call();
    }

    /** Runs a handler without a claim to check: in observe mode, or for a message without a key. */
    void runUnclaimed(Job job, Effect effect) throws InterruptedException {
        HandlerRecorder run = HandlerRecorder.enterUnclaimed(recorder, worker + "/" + calls.incrementAndGet(), job);
        try {
            work(job);
            fail(job);
            run.record(Kind.ACTING);
            effect.happen(run.call());
        } catch (RuntimeException | InterruptedException failure) {
            run.failed(failure);
            throw failure;
        }
        run.record(Kind.HANDLED);
    }

    /**
     * Runs a batch handler, which takes as long as the longest of its jobs. Each job counts as one call.
     *
     * @return a result that names the jobs that failed
     * @throws ClaimLostException in every other batch, instead of a result that names the job whose claim is lost
     * @throws InterruptedException if the listener stops the batch; no job then reports its outcome
     */
    BatchResult runAll(List<Job> jobs, List<Claim> claims, BatchEffect effect) throws InterruptedException {
        List<HandlerRecorder> unfinished = new ArrayList<>();
        for (int index = 0; index < jobs.size(); index++) {
            String call = worker + "/" + calls.incrementAndGet();
            unfinished.add(HandlerRecorder.enter(recorder, call, jobs.get(index), claims.get(index)));
        }
        BatchResult result = BatchResult.allSucceeded();
        try {
            reached(Point.AFTER_CLAIM);
            work(Collections.max(jobs, Comparator.comparingLong(Job::work)));
            List<HandlerRecorder> entered = List.copyOf(unfinished);
            for (int index = 0; index < jobs.size(); index++) {
                HandlerRecorder run = entered.get(index);
                try {
                    act(run, jobs.get(index), claims.get(index), effect);
                } catch (RuntimeException failure) {
                    if (failure instanceof ClaimLostException && namesNoLostClaim(jobs)) {
                        unfinished.forEach(each -> each.failed(failure));
                        throw failure;
                    }
                    run.failed(failure);
                    unfinished.remove(run);
                    result = result.andFailed(index, failure);
                }
            }
        } catch (InterruptedException stopped) {
            unfinished.forEach(run -> run.failed(stopped));
            throw stopped;
        }
        unfinished.forEach(run -> run.record(Kind.HANDLED));
        return result;
    }

    /**
     * Returns whether a lost claim ends the batch. This is the case for every other batch. The outcomes of the other
     * jobs are then in doubt, too.
     */
    private static boolean namesNoLostClaim(List<Job> jobs) {
        return jobs.get(0).work() % 2 == 0;
    }

    private void act(HandlerRecorder run, Job job, Claim claim, BatchEffect effect) throws InterruptedException {
        fail(job);
        run.ensureHeld(claim);
        run.record(Kind.ACTING);
        effect.happen(job, claim, run.call());
        reached(Point.AFTER_EFFECT);
    }

    /**
     * Works for the job's time. Every other handler ignores an interrupt while it works, so that only its check
     * protects the effect.
     */
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
            case GOOD, KEYLESS -> {}
        }
    }

    /** The effect of a handler. */
    interface Effect {
        void happen(String call) throws InterruptedException;
    }

    /** The effect of a batch handler for one of its jobs. */
    interface BatchEffect {
        void happen(Job job, Claim claim, String call) throws InterruptedException;
    }
}
