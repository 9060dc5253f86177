package io.exactlyonce.queue;

import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.sqs.model.Message;

/** Reads the keys of messages outside of deliveries, such as messages in a dead-letter queue. Thread-safe. */
@FunctionalInterface
public interface MessageKeys {

    /**
     * The key of a message.
     *
     * @param attribute the message attribute that a copy of the message needs in order to have the same key: a message
     *     ID as the key changes with each copy. {@code null} if the key is in the content, which a copy has, too
     */
    record Key(String scope, String key, @Nullable String attribute) {

        /** Returns a text without the key, which may be personal data. */
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
