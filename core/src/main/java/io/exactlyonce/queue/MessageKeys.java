package io.exactlyonce.queue;

import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.sqs.model.Message;

/** Reads the idempotency keys of messages outside of deliveries, such as those in a dead-letter queue. Thread-safe. */
@FunctionalInterface
public interface MessageKeys {

    /**
     * The key of a message.
     *
     * @param attribute the message attribute that has to carry the key if the message is sent again, because its id is the key;
     *     {@code null} if a copy of the message has the same key by itself
     */
    record Key(String scope, String key, @Nullable String attribute) {

        /** Leaves out the key, which may be personal data. */
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
