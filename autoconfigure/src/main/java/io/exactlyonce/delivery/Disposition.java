package io.exactlyonce.delivery;

import io.exactlyonce.claim.ClaimRequest;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What is to become of a delivery.
 *
 * @param kind what to do
 * @param delay after which a returned message is visible again; if it cannot wait although it should, at the earliest;
 *     zero for the other kinds
 * @param awaited what a message that is to be returned waits for before, invisible, if for anything
 */
public record Disposition(
        Kind kind, Duration delay, @Nullable Awaited awaited) {

    public enum Kind {
        ACKNOWLEDGE,
        /** Make the message visible, at once or later, or after somebody else has decided on its key. */
        RETURN,
        /** Neither acknowledge nor return: the message may be somebody else's by now. */
        ABANDON
    }

    /**
     * What a delivery waits for.
     *
     * @param request how it asked for the key that it wants
     * @param unanswered whether the store did not answer; if it did, the key is held elsewhere
     */
    public record Awaited(ClaimRequest request, boolean unanswered) {}

    public static final Disposition ACKNOWLEDGE = new Disposition(Kind.ACKNOWLEDGE, Duration.ZERO, null);
    public static final Disposition ABANDON = new Disposition(Kind.ABANDON, Duration.ZERO, null);

    public static Disposition returnAfter(Duration delay) {
        return new Disposition(Kind.RETURN, delay, null);
    }

    /** Waits for the holder of a key; if there is no room to wait, the message stays away for this long at least. */
    static Disposition waitForHolder(ClaimRequest request, Duration delay) {
        return new Disposition(Kind.RETURN, delay, new Awaited(request, false));
    }

    /** Waits until the store answers. */
    public static Disposition waitForStore(ClaimRequest request) {
        return new Disposition(Kind.RETURN, Duration.ZERO, new Awaited(request, true));
    }
}
