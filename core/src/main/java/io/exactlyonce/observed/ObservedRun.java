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
     * The number of pending observations is limited because of their memory. A body occupies up to 1 MiB until its
     * fingerprint is made, so each 8,192 characters of it count as one more observation.
     */
    private static final int CHARACTERS_OF_A_RUN = 8_192;

    final ListenerQueue queue;
    final ClaimKey key;
    final int room;
    private final VisibilityWindow lease;
    private final MismatchPolicy onMismatch;
    private @Nullable Content content;

    /** False if the handler is not observed, because too many observations were pending when it started. */
    boolean isAdmitted;

    @Nullable Throwable failure;

    /**
     * The claim to complete or release when the handler ends; {@code null} if the store answered that it does not grant
     * the claim. If the store did not answer, the claim is kept here, because the store may have granted it.
     */
    @Nullable ClaimId claim;

    /** Fingerprint of the content; {@code null} if contents are not compared. */
    private @Nullable String fingerprint;

    /** True if the store granted the claim. */
    boolean isHeld;

    /**
     * True if a later handler of the key acquired the key, and runs in this instance, too. The overlap was already
     * reported when the later handler started.
     */
    boolean isTakenOverHere;

    /**
     * @param key read before the handler is called, because a handler can change the payload
     * @param characters length of the message's body
     * @param content must be the same in all messages of a key. Its fingerprint is made on another thread, because long
     *     content takes time
     * @param lease the message's visibility timeout, which is the lease if no lease is configured
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
     * Creates the request for the claim. May be called only once. The request never parks a key in doubt, because the
     * handler runs anyway.
     */
    ClaimRequest request(OutcomePolicy policy) {
        ClaimSpec spec = new ClaimSpec(key, content, InDoubtSettings.RERUN, null, onMismatch);
        ClaimRequest request = policy.of(queue.listener()).terms().request(spec, lease);
        content = null;
        claim = request.id();
        fingerprint = request.fingerprint();
        return request;
    }

    /** Returns whether the two handlers got different content. Returns false if contents are not compared. */
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
