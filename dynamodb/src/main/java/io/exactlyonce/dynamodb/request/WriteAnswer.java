package io.exactlyonce.dynamodb.request;

import io.exactlyonce.dynamodb.item.ClaimItem;
import org.jspecify.annotations.Nullable;

/** What became of one write. */
public sealed interface WriteAnswer {

    /** It has happened, now or when it was sent before. */
    record Written() implements WriteAnswer {}

    /**
     * Nothing was written: the item is not as it was expected.
     *
     * @param item how it is, or {@code null} if there is none
     */
    record Differs(@Nullable ClaimItem item) implements WriteAnswer {}

    /** Nothing was written: the item is there already, and the service did not show it. */
    record Taken() implements WriteAnswer {}

    /**
     * Nothing was written, and never can be.
     *
     * @param reason the service's
     */
    record Unstorable(String reason) implements WriteAnswer {}

    /**
     * Nothing was written, most likely: it can be sent again.
     *
     * @param reason the service's
     * @param isLocked whether a transaction of the application's has the item
     */
    record Again(String reason, boolean isLocked) implements WriteAnswer {}

    /**
     * Whether it was written is not known, and sending it again at once would not help.
     *
     * @param failure of the request
     */
    record Failed(Throwable failure) implements WriteAnswer {}
}
