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
 * @param owner name of this process in the claim table
 * @param lease how long a claim holds unless it is renewed. If {@code null}, a delivery's lease is its visibility
 *     timeout, so that a dead worker's key is free when the message is redelivered. Actions without a delivery have a
 *     lease of 30 s
 * @param retention how long a completed key is remembered; {@code null} for the store's default
 * @param onMismatch policy for a delivery whose key is completed for other content. A listener's own policy takes
 *     precedence
 * @param ids makes a new id for each claim
 */
public record ClaimSettings(
        String owner,
        @Nullable Duration lease,
        @Nullable Duration retention,
        MismatchPolicy onMismatch,
        Supplier<UUID> ids) {

    private static final Duration LEASE_WITHOUT_WINDOW = Duration.ofSeconds(30);

    /** Makes settings with the policy REFUSE for mismatches, and with random ids. */
    public ClaimSettings(String owner, @Nullable Duration lease) {
        this(owner, lease, null, MismatchPolicy.REFUSE, UUID::randomUUID);
    }

    public ClaimRequest request(ClaimSpec handling, VisibilityWindow window) {
        return request(
                handling,
                window.length(),
                onMismatch(handling.onMismatch()) == MismatchPolicy.OFF ? null : handling.content());
    }

    /**
     * Returns the policy for mismatches: the listener's own policy if there is one, and else the policy of these
     * settings.
     */
    public MismatchPolicy onMismatch(MismatchPolicy own) {
        return own == MismatchPolicy.AS_CONFIGURED ? onMismatch : own;
    }

    /** Makes the request for an action without a delivery. If the action has content, the claim compares it. */
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
