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

/** A handler's call in observe mode, with the claim on the message's key. */
public final class ObservedRun {

    /**
     * Each 8,192 characters of a message's body count as one more pending observation, because the body occupies memory
     * until its fingerprint is made. A body may have 1 MiB.
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
     * The claim to resolve when the handler ends; {@code null} if the store did not grant it. Not {@code null} if the
     * store did not answer, because it may have granted the claim.
     */
    @Nullable ClaimId claim;

    /** Fingerprint of the content; {@code null} if contents are not compared. */
    private @Nullable String fingerprint;

    /** True if the store granted the claim. */
    boolean isHeld;

    /**
     * True if a later handler in this instance acquired the key. This overlap was already reported when the later
     * handler started.
     */
    boolean isTakenOverHere;

    /**
     * @param key read before the handler is called, because a handler can change the payload
     * @param characters length of the message's body
     * @param content must be the same in all messages of a key. Its fingerprint is made on another thread, because long
     *     content takes time
     * @param lease how long the claim lasts if no lease is configured
     * @param onMismatch what the listener does if a message has the same key as an earlier message, but other content
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
     * Creates the request for the claim. May be called only once. If the key is in doubt, the claim acquires it, and
     * does not park it, because the handler runs anyway.
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
