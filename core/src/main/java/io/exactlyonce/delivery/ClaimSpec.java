package io.exactlyonce.delivery;

import io.exactlyonce.MismatchPolicy;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.transaction.ClaimTransaction;
import io.exactlyonce.fingerprint.Content;
import org.jspecify.annotations.Nullable;

/**
 * The claim to request for a delivery.
 *
 * @param content the message's content. If an earlier message has completed the key, the contents of both messages are
 *     compared. {@code null} for no comparison
 * @param doubt what to do if the key is in doubt, or if its handler keeps failing
 * @param transaction runs the handler and claims its key in one transaction; {@code null} if the handler's effects are
 *     outside of the claim table's database
 * @param onMismatch what to do if the contents of both messages differ
 */
public record ClaimSpec(
        ClaimKey key,
        @Nullable Content content,
        InDoubtSettings doubt,
        @Nullable ClaimTransaction transaction,
        MismatchPolicy onMismatch) {

    /** Describes a claim without its own {@link MismatchPolicy}. The application's policy applies. */
    public ClaimSpec(
            ClaimKey key, @Nullable Content content, InDoubtSettings doubt, @Nullable ClaimTransaction transaction) {
        this(key, content, doubt, transaction, MismatchPolicy.AS_CONFIGURED);
    }

    /** Describes a claim outside of a transaction. */
    public ClaimSpec(ClaimKey key, @Nullable Content content, InDoubtSettings doubt) {
        this(key, content, doubt, null);
    }

    /** Drops the content, which is needed only until the claim is requested. */
    ClaimSpec withoutContent() {
        return content == null ? this : new ClaimSpec(key, null, doubt, transaction, onMismatch);
    }

    /** Returns only the key, because payloads must not be logged. */
    @Override
    public String toString() {
        return key.toString();
    }
}
