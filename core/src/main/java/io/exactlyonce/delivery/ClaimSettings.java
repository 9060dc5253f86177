package io.exactlyonce.delivery;

import io.exactlyonce.MismatchPolicy;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.fingerprint.Content;
import io.exactlyonce.queue.VisibilityWindow;
import java.time.Duration;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The application's settings for claims.
 *
 * @param owner the name of this process in the claim table
 * @param lease how long a claim is valid unless it is renewed. If {@code null}, the visibility timeout is used, so that
 *     a dead worker's key is free when SQS redelivers the message. Outside of a listener, {@code null} means 30 s
 * @param retention how long a completed key is remembered; {@code null} for the store's default
 * @param onMismatch what to do if a key is completed, and a later message with this key has different content. A
 *     listener may have its own policy
 * @param ids makes the id of each new claim
 */
public record ClaimSettings(
        String owner,
        @Nullable Duration lease,
        @Nullable Duration retention,
        MismatchPolicy onMismatch,
        Supplier<UUID> ids) {

    private static final Duration LEASE_WITHOUT_WINDOW = Duration.ofSeconds(30);

    /** Uses {@link MismatchPolicy#REFUSE} and random claim ids. */
    public ClaimSettings(String owner, @Nullable Duration lease) {
        this(owner, lease, null, MismatchPolicy.REFUSE, UUID::randomUUID);
    }

    public ClaimRequest request(ClaimSpec handling, VisibilityWindow window) {
        return request(
                handling,
                window.length(),
                onMismatch(handling.onMismatch()) == MismatchPolicy.OFF ? null : handling.content());
    }

    /** Returns the listener's own policy if it has one, and else the policy of these settings. */
    public MismatchPolicy onMismatch(MismatchPolicy own) {
        return own == MismatchPolicy.AS_CONFIGURED ? onMismatch : own;
    }

    /** Makes the claim request of an action outside of a listener. */
    public ClaimRequest request(ClaimSpec action) {
        return request(action, LEASE_WITHOUT_WINDOW, action.content());
    }

    private ClaimRequest request(ClaimSpec wanted, Duration fallback, @Nullable Content content) {
        return new ClaimRequest(
                new ClaimId(wanted.key(), ids.get()),
                owner,
                lease == null ? fallback : lease,
                wanted.doubt().inDoubt(),
                content == null ? null : content.fingerprint(),
                retention);
    }
}
