package io.exactlyonce.queue;

import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.sqs.model.Message;

/**
 * Reads the key of a message without handling it, for example to list the keys in a dead-letter queue. Thread-safe.
 */
@FunctionalInterface
public interface MessageKeys {

    /**
     * The key of a message.
     *
     * @param attribute name of an attribute that a copy of the message must have, with the key as its value. Needed if
     *     the key is the message's ID, because the copy gets another ID; {@code null} if the copy has the same key
     *     anyway
     */
    record Key(String scope, String key, @Nullable String attribute) {

        /** Leaves the key out, because it may be personal data. */
        @Override
        public String toString() {
            return "a key of " + scope;
        }
    }

    /**
     * Returns a message's key.
     *
     * @throws RuntimeException if the message cannot be read, or has no usable key
     */
    Key of(Message message);
}
