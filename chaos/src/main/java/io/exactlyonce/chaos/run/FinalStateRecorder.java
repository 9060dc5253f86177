package io.exactlyonce.chaos.run;

import io.exactlyonce.chaos.cluster.ClaimServer;
import io.exactlyonce.chaos.cluster.ClaimServer.ClaimLeft;
import io.exactlyonce.chaos.history.Detail;
import io.exactlyonce.chaos.history.Event;
import io.exactlyonce.chaos.history.Kind;
import io.exactlyonce.chaos.history.Recorder;
import io.exactlyonce.chaos.queue.Keys;
import io.exactlyonce.chaos.queue.Queues;
import java.util.HashSet;
import java.util.Set;

/** Records the final state of each key from the claims, the bookings and the dead-letter queues. */
final class FinalStateRecorder {

    private final Recorder recorder;

    FinalStateRecorder(Recorder recorder) {
        this.recorder = recorder;
    }

    void record(Queues queues, ClaimServer claims) {
        Set<String> parked = new HashSet<>();
        claims.claims().forEach(claim -> recordClaim(claim, parked));
        claims.bookings()
                .forEach(written ->
                        recorder.record(Event.of(Kind.ROW).on(written.key()).in(written.call())));
        queues.takeDeadLetters()
                .forEach(body -> recorder.record(Event.of(Kind.DEAD_LETTERED)
                        .on(Keys.of(body))
                        .with(Detail.REASON, reason(body, parked.contains(Keys.of(body))))));
    }

    private void recordClaim(ClaimLeft claim, Set<String> parked) {
        if (claim.status().equals("PARKED")) {
            parked.add(claim.key());
            recorder.record(Event.of(Kind.PARKED).on(claim.key()).with(Detail.REASON, claim.reason()));
        }
        recorder.record(Event.of(Kind.STATE).on(claim.key()).with(Detail.STATUS, claim.status()));
    }

    private static String reason(String body, boolean parked) {
        if (parked) {
            return "its key is parked";
        }
        // A hopeless message is parked only if an enforced listener handles it.
        if (body.contains("\"POISON\"") || body.contains("\"HOPELESS\"")) {
            return "its handler fails each time";
        }
        return body.endsWith("}") ? "its receives were used up" : "it cannot be read";
    }
}
