package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.delivery.ClaimWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Attempts that acquired their keys and are not handled: their claims are released together, without a doubt. */
final class GivenBack {

    private final List<Attempt> attempts = new ArrayList<>();
    private final List<ClaimEnd.Released> releases = new ArrayList<>();

    void add(Attempt attempt, String reason) {
        attempt.giveBack(reason).ifPresent(release -> {
            attempts.add(attempt);
            releases.add(release);
        });
    }

    boolean isEmpty() {
        return attempts.isEmpty();
    }

    /** Each attempt leaves when that is answered, or was asked for the last time. */
    void release(ClaimWriter writer) {
        CompletableFuture<Void> released = writer.release(releases);
        attempts.forEach(attempt -> attempt.endsWith(released));
    }
}
