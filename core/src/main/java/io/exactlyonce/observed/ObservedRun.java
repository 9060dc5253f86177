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

/**
 * A run of an observed handler, with the claim that is recorded for the run. {@link ObservedClaims} begins and ends the
 * run.
 */
public final class ObservedRun {

    /**
     * A run keeps its message's body until the body's fingerprint is made. A body may have 1 MiB, so in the limit on
     * pending observations, each full portion of this number of characters counts as one more run.
     */
    private static final int CHARACTERS_OF_A_RUN = 8_192;

    final ListenerQueue queue;
    final ClaimKey key;
    final int room;
    private final VisibilityWindow lease;
    private final MismatchPolicy onMismatch;
    private @Nullable Content content;

    /** True if the limit on observations admitted this run. */
    boolean isAdmitted;

    /** The failure of the handler; {@code null} if there is none. */
    @Nullable Throwable failure;

    /**
     * The claim to resolve at the end of the run: a claim that was acquired, or that got no answer. {@code null} if
     * there is none.
     */
    @Nullable ClaimId claim;

    /** The fingerprint of the content; {@code null} if contents are not compared. */
    private @Nullable String fingerprint;

    /** True if the store granted the claim. */
    boolean isHeld;

    /**
     * True if a later run of this instance acquired the key. The later run has reported the overlap, so this run does
     * not report the overlap again.
     */
    boolean isTakenOverHere;

    /**
     * @param key the key, made on the handler's thread before the handler can change the payload
     * @param characters the length of the message's body
     * @param content the content to compare; its fingerprint is made on another thread, because long content takes time
     * @param lease the lease of the claim if no lease is configured
     * @param onMismatch the listener's own policy for a key that comes with other content
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
     * Returns the request that claims the key. May be called only once. The request takes over a key in doubt, whatever
     * the listener's policy is. The handler runs anyway, so its key must not be parked.
     */
    ClaimRequest request(OutcomePolicy policy) {
        ClaimSpec spec = new ClaimSpec(key, content, InDoubtSettings.RERUN, null, onMismatch);
        ClaimRequest request = policy.of(queue.listener()).terms().request(spec, lease);
        content = null;
        claim = request.id();
        fingerprint = request.fingerprint();
        return request;
    }

    /** Returns whether the contents of this run and of another run are known to differ. */
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
