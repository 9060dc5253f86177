package io.exactlyonce.observed;

import io.exactlyonce.MismatchPolicy;
import io.exactlyonce.boundary.Causes;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.InDoubtSettings;
import io.exactlyonce.delivery.OutcomePolicy;
import io.exactlyonce.fingerprint.Content;
import io.exactlyonce.queue.ListenerQueue;
import io.exactlyonce.queue.VisibilityWindow;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** One call of a handler in observe mode, with the claim that is recorded for it. */
public final class ObservedRun {

    /**
     * Each 8,192 characters of a message's body count as one more pending observation. The body, of up to 1 MiB, stays
     * in memory until its fingerprint is made.
     */
    private static final int CHARACTERS_OF_A_RUN = 8_192;

    final ListenerQueue queue;
    final ClaimKey key;
    final int room;
    private final VisibilityWindow lease;
    private final MismatchPolicy onMismatch;
    private @Nullable Content content;

    /** False if too many observations were pending when the handler started. */
    boolean isAdmitted;

    @Nullable Throwable failure;

    /**
     * The claim to resolve when the handler ends; {@code null} if the store did not grant it. If the store did not
     * answer, it may have granted the claim, so the claim is resolved as well.
     */
    @Nullable ClaimId claim;

    /** Fingerprint of the content; {@code null} if contents are not compared. */
    private @Nullable String fingerprint;

    /** True if the store granted the claim. */
    boolean isHeld;

    /**
     * True if a later handler in this instance acquired the key. The overlap was reported for the later handler, so it
     * is not reported again for this one.
     */
    boolean isTakenOverHere;

    /**
     * @param key made before the handler is called, because a handler can change the payload
     * @param characters length of the message's body
     * @param content the content to compare. Its fingerprint is made on another thread, because long content takes time
     * @param lease used if no lease is configured
     * @param onMismatch the listener's own policy for other content
     */
    public ObservedRun(
            ListenerQueue queue,
            ClaimKey key,
            int characters,
            Content content,
            VisibilityWindow lease,
            MismatchPolicy onMismatch) {
        this.queue = queue;
        this.key = key;
        this.room = 1 + characters / CHARACTERS_OF_A_RUN;
        this.content = content;
        this.lease = lease;
        this.onMismatch = onMismatch;
    }

    /**
     * Returns the request for the claim. May be called only once. A key in doubt is acquired, and not parked, because
     * the handler runs anyway.
     */
    ClaimRequest request(OutcomePolicy policy) {
        ClaimSpec spec = new ClaimSpec(key, content, InDoubtSettings.RERUN, null, onMismatch);
        ClaimRequest request = policy.of(queue.listener()).terms().request(spec, lease);
        content = null;
        claim = request.id();
        fingerprint = request.fingerprint();
        return request;
    }

    /** Returns whether both runs have fingerprints, and these differ. */
    boolean differsFrom(ObservedRun other) {
        return fingerprint != null && other.fingerprint != null && !fingerprint.equals(other.fingerprint);
    }

    /** Returns the resolution of the run's claim. */
    ClaimResolution resolution() {
        ClaimId held = Objects.requireNonNull(claim);
        Throwable thrown = failure;
        if (thrown == null) {
            return new ClaimResolution.Completed(held, null);
        }
        boolean isInterrupted = Causes.of(thrown).anyMatch(Causes::isInterrupt);
        return new ClaimResolution.Released(held, Causes.root(thrown).getClass().getName(), isInterrupted);
    }
}
