package io.exactlyonce.delivery;

import org.jspecify.annotations.Nullable;

/**
 * A message of a batch.
 *
 * @param delivery the message's delivery
 * @param group the message's group on a FIFO queue, empty on a standard one
 * @param handling what the listener asks for, or {@code null} if the message has no usable key: it is returned with
 *     backoff
 */
public record BatchItem(
        Delivery delivery, String group, @Nullable ClaimSpec handling) {

    /** Leaves the handling out: a payload is no business of a log's. */
    @Override
    public String toString() {
        return delivery.toString();
    }
}
