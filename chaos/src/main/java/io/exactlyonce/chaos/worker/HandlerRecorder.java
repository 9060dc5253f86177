package io.exactlyonce.chaos.worker;

import io.exactlyonce.Claim;
import io.exactlyonce.ClaimLostException;
import io.exactlyonce.chaos.history.Detail;
import io.exactlyonce.chaos.history.Event;
import io.exactlyonce.chaos.history.Kind;
import io.exactlyonce.chaos.history.RecorderClient;

/** Records one run of a handler in the harness's history. */
final class HandlerRecorder {

    private final RecorderClient recorder;
    private final String key;
    private final String call;

    private HandlerRecorder(RecorderClient recorder, String key, String call) {
        this.recorder = recorder;
        this.key = key;
        this.call = call;
    }

    static HandlerRecorder enter(RecorderClient recorder, String call, Job job, Claim claim) {
        HandlerRecorder run = new HandlerRecorder(recorder, job.key(), call);
        recorder.record(run.event(Kind.ENTERED)
                .with(Detail.TOKEN, claim.fencingToken())
                .with(Detail.ATTEMPT, claim.attempt())
                .with(Detail.IN_DOUBT, claim.isInDoubt()));
        return run;
    }

    /** Starts a run without a claim. */
    static HandlerRecorder enterUnclaimed(RecorderClient recorder, String call, Job job) {
        HandlerRecorder run = new HandlerRecorder(recorder, job.key(), call);
        run.record(Kind.OBSERVED);
        return run;
    }

    String call() {
        return call;
    }

    void ensureHeld(Claim claim) {
        record(Kind.CHECKING);
        try {
            claim.ensureHeld();
        } catch (ClaimLostException lost) {
            record(Kind.REFUSED);
            throw lost;
        }
        record(Kind.CHECKED);
    }

    void record(Kind kind) {
        recorder.record(event(kind));
    }

    void failed(Throwable failure) {
        recorder.record(event(Kind.FAILED).with(Detail.REASON, failure.toString()));
    }

    private Event event(Kind kind) {
        return Event.of(kind).on(key).in(call);
    }
}
