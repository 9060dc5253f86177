package io.exactlyonce.delivery;

import io.exactlyonce.MismatchPolicy;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.transaction.ClaimTransaction;
import io.exactlyonce.fingerprint.Content;
import org.jspecify.annotations.Nullable;

/**
 * The claim that a listener wants for a delivery.
 *
 * @param key the key to claim
 * @param content is compared with the content for which the key was completed; {@code null} to compare nothing
 * @param doubt what to do with a key that is in doubt, or whose handler keeps failing
 * @param transaction the transaction of the handler and its claim; {@code null} if the handler's effects are outside of
 *     the database
 * @param onMismatch the listener's own policy for a key that is completed for other content
 */
public record ClaimSpec(
        ClaimKey key,
        @Nullable Content content,
        InDoubtSettings doubt,
        @Nullable ClaimTransaction transaction,
        MismatchPolicy onMismatch) {

    /** Makes the spec of a listener that has no own policy for mismatches. */
    public ClaimSpec(
            ClaimKey key, @Nullable Content content, InDoubtSettings doubt, @Nullable ClaimTransaction transaction) {
        this(key, content, doubt, transaction, MismatchPolicy.AS_CONFIGURED);
    }

    /** Makes the spec of a handler whose effects are outside of the claim table's database. */
    public ClaimSpec(ClaimKey key, @Nullable Content content, InDoubtSettings doubt) {
        this(key, content, doubt, null);
    }

    /** Returns this spec without the content, which is needed only until the claim is requested. */
    ClaimSpec withoutContent() {
        return content == null ? this : new ClaimSpec(key, null, doubt, transaction, onMismatch);
    }

    /** Contains only the key, because payloads must not be logged. */
    @Override
    public String toString() {
        return key.toString();
    }
}
